/// Why signed data is malformed, not genuine, or not what was expected.
///
/// Branch on ``code``; show ``message``; find the place with ``location``. No error holds a JWS or a part of one.
public struct SignedDataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found wrong.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // No JWS, or a damaged one.
        case tooLong
        case notCompactSerialization
        case invalidBase64
        case malformedHeader
        case malformedPayload

        // A JWS in form, and not to be believed.
        case unsupportedAlgorithm
        case certificateCount
        case malformedCertificate
        case untrustedRoot
        case certificateSignatureMismatch
        case missingLeafMarker
        case missingIntermediateMarker
        case basicConstraints
        case keyUsage
        case criticalExtension
        case unsupportedCertificateAlgorithm
        case certificateNotYetValid
        case certificateExpired
        case signatureMismatch
        case xcodeNotAccepted

        // Genuine, and of another app or environment.
        case bundleIdMismatch
        case appAppleIdMismatch
        case environmentMismatch

        // The online check.
        case revoked
        case revocationUnknown
        case revocationCheckFailed
    }

    /// Where the fault lies.
    public enum Location: Hashable, Sendable {
        /// The input as a whole.
        case input
        /// The first part of the JWS.
        case header
        /// The second part of the JWS.
        case payload
        /// The third part of the JWS.
        case signature
        /// A certificate of the header's `x5c`, from 0: leaf, intermediate, root.
        case certificate(Int)
        /// One of ``SignedDataTrust/additionalRoots``, from 0.
        case additionalRoot(Int)
    }

    /// The parts stand behind one reference: errors are rare, and a thrown value of one word keeps every function that can
    /// throw one small.
    private final class Storage: Sendable {
        let code: Code
        let location: Location
        let detail: String
        let member: String?

        init(_ code: Code, _ location: Location, _ detail: String, _ member: String?) {
            self.code = code
            self.location = location
            self.detail = detail
            self.member = member
        }
    }

    private let storage: Storage

    /// What was found wrong.
    public var code: Code { storage.code }
    /// Where the fault lies.
    public var location: Location { storage.location }
    /// The particulars, a clause that completes the code's sentence; may be empty.
    public var detail: String { storage.detail }
    /// The member of a notification that holds the faulty JWS, `data.signedTransactionInfo` for one; nil for the outer JWS.
    public var member: String? { storage.member }

    package init(_ code: Code, at location: Location = .input, _ detail: String = "", in member: String? = nil) {
        storage = Storage(code, location, detail, member)
    }

    /// The same error about a JWS that a member of another one holds.
    func inside(_ member: String) -> SignedDataError {
        SignedDataError(code, at: location, detail, in: self.member.map { "\(member).\($0)" } ?? member)
    }

    /// Whether the same input can pass later: the online check got no answer. All else is final.
    public var isRetryable: Bool { code == .revocationCheckFailed }

    /// A sentence for a person: what is wrong, where.
    public var message: String {
        let particulars = detail.isEmpty ? "" : ": \(detail)"
        return "\(code.sentence)\(particulars)\(location.phrase)\(member.map { " in \($0)" } ?? "")."
    }

    public var description: String { message }

    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.location == right.location && left.detail == right.detail
            && left.member == right.member
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(location)
        hasher.combine(detail)
        hasher.combine(member)
    }
}

extension SignedDataError.Code {
    /// The sentence, without its full stop.
    var sentence: String {
        switch self {
        case .tooLong: "The JWS is longer than the limit"
        case .notCompactSerialization: "The text is not three parts joined by two full stops"
        case .invalidBase64: "A part is not base64 as it must be written here"
        case .malformedHeader: "The header cannot be read"
        case .malformedPayload: "The payload cannot be read"
        case .unsupportedAlgorithm: "The algorithm is not ES256"
        case .certificateCount: "The header's x5c is not a chain of three certificates"
        case .malformedCertificate: "A certificate cannot be read"
        case .untrustedRoot: "The certificates do not lead to a trusted root"
        case .certificateSignatureMismatch: "A certificate is not signed by the one that stands above it"
        case .missingLeafMarker: "The signer's certificate is not one of the App Store (marker extension missing)"
        case .missingIntermediateMarker:
            "The issuer's certificate is not Apple's intermediate (marker extension missing)"
        case .basicConstraints: "A certificate's basic constraints do not allow its place in the chain"
        case .keyUsage: "A certificate's key usage does not allow its place in the chain"
        case .criticalExtension: "A certificate has a critical extension that is not understood"
        case .unsupportedCertificateAlgorithm: "A certificate's key or signature is of a kind that is not accepted"
        case .certificateNotYetValid: "A certificate was not yet valid when the payload was signed"
        case .certificateExpired: "A certificate had expired when the payload was signed"
        case .signatureMismatch: "The signature is not that of the leaf over header and payload"
        case .xcodeNotAccepted: "The data is of Xcode's StoreKit testing, which is not accepted here"
        case .bundleIdMismatch: "The payload is of another app"
        case .appAppleIdMismatch: "The payload is of another app by its Apple ID"
        case .environmentMismatch: "The payload is of another environment"
        case .revoked: "A certificate was revoked"
        case .revocationUnknown: "It cannot be known whether a certificate was revoked"
        case .revocationCheckFailed: "The revocation check got no answer"
        }
    }
}

extension SignedDataError.Location {
    var phrase: String {
        switch self {
        case .input: ""
        case .header: " (header)"
        case .payload: " (payload)"
        case .signature: " (signature)"
        case .certificate(let index): " (x5c[\(index)])"
        case .additionalRoot(let index): " (additional root \(index))"
        }
    }
}
