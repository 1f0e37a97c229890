import AppStoreModels
import AppStoreServer
import Foundation
import ReceiptForge
import Testing

/// Payloads, and what is expected of them.
enum Signed {
    static let bundleId = "com.example.orchard"
    static let appAppleId: Int64 = 1_234_567
    /// 2025-06-01T00:00:00Z, while the certificates of the test authority are valid.
    static let date: Int64 = 1_748_736_000_000
    /// Long after the certificates of the test authority have expired, so that a test notices where it is used.
    static let now: Int64 = 4_102_444_800_000

    static let sandbox = SignedDataExpectation(bundleId: bundleId, appAppleId: appAppleId, environments: [.sandbox])
    static let production = SignedDataExpectation(
        bundleId: bundleId, appAppleId: appAppleId, environments: [.production])
    static let anything = SignedDataExpectation()

    static func transaction(_ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }) throws -> [UInt8] {
        var payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "2000000000000001"
            $0.transactionId = "2000000000000002"
            $0.bundleId = bundleId
            $0.productId = "com.example.orchard.apple"
            $0.subscriptionGroupIdentifier = "21000001"
            $0.purchaseDate = date - 5_000
            $0.originalPurchaseDate = date - 86_400_000
            $0.expiresDate = date + 86_400_000
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.inAppOwnershipType = .purchased
            $0.signedDate = date
            $0.environment = .sandbox
            $0.storefront = "USA"
            $0.storefrontId = "143441"
            $0.transactionReason = .renewal
            $0.currency = "USD"
            $0.price = 4_990
        }
        change(&payload)
        return try json(payload)
    }

    static func renewalInfo(_ change: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }) throws -> [UInt8] {
        var payload = JWSRenewalInfoDecodedPayload {
            $0.originalTransactionId = "2000000000000001"
            $0.autoRenewProductId = "com.example.orchard.apple"
            $0.productId = "com.example.orchard.apple"
            $0.autoRenewStatus = .on
            $0.signedDate = date
            $0.environment = .sandbox
        }
        change(&payload)
        return try json(payload)
    }

    static func appTransaction(_ change: (inout AppTransaction) -> Void = { _ in }) throws -> [UInt8] {
        var payload = AppTransaction {
            $0.receiptType = .sandbox
            $0.appAppleId = appAppleId
            $0.bundleId = bundleId
            $0.applicationVersion = "2.1"
            $0.receiptCreationDate = date
            $0.originalPurchaseDate = date - 86_400_000
            $0.originalApplicationVersion = "1.0"
            $0.appTransactionId = "700000000000001"
            $0.originalPlatform = .iOS
        }
        change(&payload)
        return try json(payload)
    }

    static func realtimeRequest(_ change: (inout DecodedRealtimeRequestBody) -> Void = { _ in }) throws -> [UInt8] {
        var payload = DecodedRealtimeRequestBody {
            $0.originalTransactionId = "2000000000000001"
            $0.appAppleId = appAppleId
            $0.productId = "com.example.orchard.apple"
            $0.userLocale = "en-US"
            $0.requestIdentifier = "99b16628-15e4-4668-972b-eeff55eeff55"
            $0.environment = .sandbox
            $0.signedDate = date
        }
        change(&payload)
        return try json(payload)
    }

    static func notification(_ change: (inout ResponseBodyV2DecodedPayload) throws -> Void = { _ in }) throws -> [UInt8]
    {
        var payload = try ResponseBodyV2DecodedPayload {
            $0.notificationType = .didRenew
            $0.notificationUUID = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"
            $0.data = try NotificationData {
                $0.environment = .sandbox
                $0.appAppleId = appAppleId
                $0.bundleId = bundleId
                $0.bundleVersion = "7"
                $0.signedTransactionInfo = try sign(transaction())
                $0.signedRenewalInfo = try sign(renewalInfo())
                $0.status = .active
            }
            $0.version = "2.0"
            $0.signedDate = date
        }
        try change(&payload)
        return try json(payload)
    }

    static func json(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(value))
    }

    // MARK: Signing

    static let authority = TestSignedDataAuthority.standard

    static func sign(_ payload: [UInt8]) throws -> String { try authority.sign(payload: payload) }

    static func trust(_ authority: TestSignedDataAuthority = authority, xcode: Bool = false) -> SignedDataTrust {
        SignedDataTrust(roots: [], additionalRoots: [authority.rootCertificate], acceptsXcode: xcode)
    }

    static func verifier(
        _ authority: TestSignedDataAuthority = authority, xcode: Bool = false
    ) throws -> SignedDataVerifier {
        try SignedDataVerifier(trust: trust(authority, xcode: xcode))
    }

    /// Why a JWS is refused as a transaction.
    @inline(never)
    static func refusal(
        of jws: String, by verifier: SignedDataVerifier? = nil, expecting: SignedDataExpectation = anything,
        now: Int64 = now
    ) async throws -> SignedDataError? {
        let verifier = try verifier ?? self.verifier()
        do {
            _ = try await verifier.verifiedTransaction(jws, expecting: expecting, now: now)
            return nil
        } catch let error as SignedDataError {
            return error
        }
    }
}

/// Takes a JWS apart and puts it together again.
struct JWSParts {
    var header: String
    var payload: String
    var signature: String

    init(_ jws: String) throws {
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        (header, payload, signature) = (parts[0], parts[1], parts[2])
    }

    var text: String { "\(header).\(payload).\(signature)" }

    var signatureBytes: [UInt8] {
        get {
            let base64 = signature.replacing("-", with: "+").replacing("_", with: "/")
            return Array(
                Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)) ?? Data())
        }
        set { signature = ForgedSignedPayload.base64URL(newValue) }
    }
}
