import AppStoreModels
import AppStoreServer
import Encodings
import LegacyReceipts
import Purchases

/// Verifies stored JWS: transactions, renewal info, app transactions and version 2 notifications, detected by their
/// payloads.
struct SignedDataReader: Sendable {
    /// A JWS that is not migrated.
    struct Refused: Error {
        let kind: RecordKind
        let reason: QuarantineReason
        /// Whether other options may verify it: it only lacks its root. A store keeps nothing of Xcode.
        var mayBeVerified = false
    }

    /// A version 2 notification with its three JWS has some 30,000 characters. Longer text is rejected without reading
    /// it.
    private static let maximumLength = 256 * 1024

    private let acceptsXcode: Bool
    private let verifier: StoredSignedDataVerifier

    /// - Throws: `SignedDataError` for a root that cannot be read.
    init(_ trust: SignedDataTrust) throws {
        acceptsXcode = trust.acceptsXcode
        verifier = try StoredSignedDataVerifier(trust: trust)
    }

    /// Verifies a compact JWS for the time of its signature.
    func read(_ text: ArraySlice<UInt8>) throws(Refused) -> (document: SignedDocument, kind: RecordKind) {
        guard text.count <= Self.maximumLength else {
            let error = SignedDataError(.tooLong, "\(text.count) bytes, of at most \(Self.maximumLength)")
            throw Refused(kind: .otherJWS, reason: QuarantineReason(error, RecordKind.otherJWS.subject))
        }
        let jws = String(decoding: text, as: UTF8.self)
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
        let content = parts.count == 3 ? Base64.decodeURL(parts[1]) : nil
        // Unverified: only used to choose how to verify it.
        let claimed = content.flatMap(Self.object)
        let kind = claimed.flatMap(Self.kind) ?? .otherJWS
        guard let content, let claimed, kind != .otherJWS else {
            // Only a JWS with certificates can be a damaged one of Apple's.
            let header = parts.first.flatMap { Base64.decodeURL($0) }.flatMap(Self.object)
            if let header, header["x5c"] == nil { throw Refused(kind: .otherJWS, reason: .otherToken) }
            if claimed != nil { throw Refused(kind: .otherJWS, reason: .otherPayload) }
            let error = SignedDataError(content == nil ? .invalidBase64 : .malformedPayload, at: .payload)
            throw Refused(kind: .otherJWS, reason: QuarantineReason(error, RecordKind.otherJWS.subject))
        }
        do {
            // Xcode's JWS have only one certificate, which would give a misleading error.
            if !acceptsXcode, SignedDataKind.isOfXcode(claimed) {
                throw SignedDataError(.xcodeNotAccepted, at: .payload)
            }
            return (try verified(jws, kind, content), kind)
        } catch let error as SignedDataError {
            if error.code == .certificateCount, let header = parts.first.flatMap({ Base64.decodeURL($0) }),
                Self.object(header)?["x5c"] == nil
            {
                throw Refused(kind: .otherJWS, reason: .otherToken)
            }
            throw Refused(
                kind: kind, reason: QuarantineReason(error, kind.subject), mayBeVerified: error.code == .untrustedRoot)
        } catch {
            throw Refused(
                kind: kind, reason: QuarantineReason(SignedDataError(.malformedPayload, "\(error)"), kind.subject))
        }
    }

    private func verified(_ jws: String, _ kind: RecordKind, _ content: [UInt8]) throws -> SignedDocument {
        switch kind {
        case .signedRenewalInfo: return .renewalInfo(try verifier.renewalInfo(jws))
        case .signedAppTransaction: return .appTransaction(try verifier.appTransaction(jws))
        case .notificationV2:
            let verified = try verifier.notification(jws)
            return .notification(
                verified.notification, payload: content, transaction: verified.transaction,
                renewalInfo: verified.renewalInfo, appTransaction: verified.appTransaction)
        default: return .transaction(try verifier.transaction(jws))
        }
    }

    private static func object(_ bytes: [UInt8]) -> JSONObject? {
        do throws(JSONReadingError) { return try JSONValue.parse(bytes).object } catch { return nil }
    }

    private static func kind(_ object: JSONObject) -> RecordKind? {
        switch SignedDataKind(payload: object) {
        case .notification: .notificationV2
        case .transaction: .signedTransaction
        case .renewalInfo: .signedRenewalInfo
        case .appTransaction: .signedAppTransaction
        case nil: nil
        }
    }
}

extension SignedDataTrust {
    /// The roots of a policy for receipts and its setting for Xcode, applied to JWS.
    init(_ policy: TrustPolicy) {
        self.init(
            roots: policy.roots, additionalRoots: policy.additionalRoots, acceptsXcode: policy.acceptsXcodeReceipts)
    }
}

extension RecordKind {
    /// The subject of a sentence about a JWS.
    fileprivate var subject: String {
        switch self {
        case .signedTransaction: "The signed transaction"
        case .signedRenewalInfo: "The signed renewal info"
        case .signedAppTransaction: "The signed app transaction"
        case .notificationV2: "The version 2 notification"
        default: "The JWS"
        }
    }
}

extension RecordedStoreKit2 {
    /// Reads StoreKit 2 JSON that was stored without its signature.
    /// - Throws: ``SignedDataReader/Refused`` for a value of another type than Apple's.
    init(_ object: JSONObject, _ kind: StoreKit2Kind) throws(SignedDataReader.Refused) {
        if let member = object.members.first(where: \.hasSeconds) {
            throw SignedDataReader.Refused(
                kind: .storeKit2JSON, reason: .malformedStoreKit2JSON("\(member.key) is not in milliseconds"))
        }
        let value = JSONValue.object(object.withoutZeroDates.withTextIds)
        do {
            switch kind {
            case .transaction: self = .transaction(try value.decode())
            case .renewalInfo: self = .renewalInfo(try value.decode())
            case .appTransaction: self = .appTransaction(try value.decode())
            }
        } catch {
            var path = "a member"
            if case .typeMismatch(_, let context)? = error as? DecodingError {
                path = context.codingPath.map(\.stringValue).joined(separator: ".")
            }
            throw SignedDataReader.Refused(kind: .storeKit2JSON, reason: .malformedStoreKit2JSON(path))
        }
    }
}

extension JSONObject.Member {
    /// Whether it is a date in seconds, as Swift and databases write it. Apple's are in milliseconds.
    fileprivate var hasSeconds: Bool {
        key.hasSuffix("Date") && value.integer.map { RecordedDate.seconds.contains($0) } == true
    }
}

extension JSONObject {
    private static let idNames: Set<String> = [
        "transactionId", "originalTransactionId", "webOrderLineItemId", "subscriptionGroupIdentifier",
        "appTransactionId", "previousOriginalTransactionId",
    ]

    /// The object without the dates 0, which programs write for a date that is missing. As a revocation, it would revoke
    /// the purchase.
    fileprivate var withoutZeroDates: JSONObject {
        func isZero(_ member: Member) -> Bool { member.value.integer == 0 && member.key.hasSuffix("Date") }
        return members.contains(where: isZero) ? JSONObject(members: members.filter { !isZero($0) }) : self
    }

    /// The object with ids as texts: some callers decoded them to numbers.
    fileprivate var withTextIds: JSONObject {
        guard members.contains(where: { Self.idNames.contains($0.key) && $0.value.integer != nil }) else { return self }
        return JSONObject(
            members: members.map { member in
                guard Self.idNames.contains(member.key), member.value.string == nil, let id = member.value.integer
                else { return member }
                return Member(key: member.key, value: .string(String(id)))
            })
    }
}
