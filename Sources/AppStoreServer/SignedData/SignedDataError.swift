/// Why signed data is malformed, not genuine, or not what was expected.
///
/// Branch on ``code``; show ``message``; find the place with ``location``. Errors never contain a JWS or a part of one.
public struct SignedDataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // The input is not a JWS, or is a damaged one.
        /// The JWS is longer than any JWS from Apple. Reject it.
        case tooLong
        /// The text does not consist of three parts with two periods between them. Check that the right member was
        /// read, without quotation marks.
        case notCompactSerialization
        /// A part is not valid base64 for its position. Check whether the text was truncated or changed in transit.
        case invalidBase64
        /// The header is not JSON with the required members. Reject it.
        case malformedHeader
        /// The payload is not JSON of the expected kind. Check that the JWS is of this kind: a transaction, a renewal
        /// info, a notification.
        case malformedPayload

        // The input has the form of a JWS, but is not genuine.
        /// The algorithm is not ES256, which is the only one that Apple uses. Reject it.
        case unsupportedAlgorithm
        /// The header's `x5c` is not a chain of three certificates. Reject it.
        case certificateCount
        /// A certificate cannot be read: one in `x5c`, or one in ``SignedDataTrust/additionalRoots``.
        /// ``SignedDataError/location`` states which. Reject the JWS, or correct that root.
        case malformedCertificate
        /// The certificates do not lead to a trusted root. Reject it, unless it comes from a test authority: then add
        /// that root to ``SignedDataTrust/additionalRoots``.
        case untrustedRoot
        /// A certificate is not signed by the next one in the chain. Reject it.
        case certificateSignatureMismatch
        /// The signer's certificate lacks the extension that marks the App Store's certificates. Reject it.
        case missingLeafMarker
        /// The issuer's certificate lacks the extension that marks Apple's intermediates. Reject it.
        case missingIntermediateMarker
        /// The basic constraints of a certificate do not allow its place in the chain. Reject it.
        case basicConstraints
        /// The key usage of a certificate does not allow its place in the chain. Reject it.
        case keyUsage
        /// A certificate has a critical extension that this package does not know. Reject it.
        case criticalExtension
        /// The kind of a certificate's key or signature is not accepted. Reject it.
        case unsupportedCertificateAlgorithm
        /// A certificate was not yet valid when the payload was signed. Reject it.
        case certificateNotYetValid
        /// A certificate had expired when the payload was signed. Reject it.
        case certificateExpired
        /// The signature does not match: the header, the payload or the signature was changed. Reject it.
        case signatureMismatch
        /// Xcode's StoreKit testing created the data, with a key that is public. Accept it only in tests, with
        /// ``SignedDataTrust/acceptsXcode``.
        case xcodeNotAccepted

        // Genuine, but of another app or environment.
        /// The payload belongs to an app with another bundle id. Reject it, or correct
        /// ``SignedDataExpectation/bundleId``.
        case bundleIdMismatch
        /// The payload belongs to an app with another Apple ID. Reject it, or correct
        /// ``SignedDataExpectation/appAppleId``.
        case appAppleIdMismatch
        /// The payload belongs to an environment that is not expected. Send it to the server of that environment, or
        /// add it to ``SignedDataExpectation/environments``.
        case environmentMismatch

        // The online check.
        /// Apple revoked a certificate of the chain. Reject it.
        case revoked
        /// The responder does not know whether a certificate was revoked. Reject it.
        case revocationUnknown
        /// The revocation check got no answer. Try again later.
        case revocationCheckFailed
    }

    /// The place of the error.
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

    /// The properties are in one object. Errors are rare, and an error of one word keeps throwing functions small.
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

    /// The kind of error.
    public var code: Code { storage.code }
    /// The place of the error.
    public var location: Location { storage.location }
    /// The details, as a clause that continues the sentence of the code; may be empty.
    public var detail: String { storage.detail }
    /// The member of a notification that contains the faulty JWS, for example `data.signedTransactionInfo`; nil for the
    /// outer JWS.
    public var member: String? { storage.member }

    package init(_ code: Code, at location: Location = .input, _ detail: String = "", in member: String? = nil) {
        storage = Storage(code, location, detail, member)
    }

    /// The same error for a JWS that is nested in a member of another JWS.
    func inside(_ member: String) -> SignedDataError {
        SignedDataError(code, at: location, detail, in: self.member.map { "\(member).\($0)" } ?? member)
    }

    /// Whether the same input can pass later, because the online check got no answer. All other errors are final.
    public var isRetryable: Bool { code == .revocationCheckFailed }

    /// A sentence for a person: what is wrong, and where.
    public var message: String {
        let particulars = detail.isEmpty ? "" : ": \(detail)"
        return "\(code.sentence)\(particulars)\(location.phrase)\(member.map { " in \($0)" } ?? "")."
    }

    public var description: String { message }

    /// Two errors with the same code are equal.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension SignedDataError.Code {
    /// The sentence without its period.
    var sentence: String {
        switch self {
        case .tooLong: "The JWS is longer than the limit"
        case .notCompactSerialization: "The text does not consist of three parts separated by periods"
        case .invalidBase64: "A part is not valid base64 for its position"
        case .malformedHeader: "The header cannot be read"
        case .malformedPayload: "The payload cannot be read"
        case .unsupportedAlgorithm: "The algorithm is not ES256"
        case .certificateCount: "The header's x5c is not a chain of three certificates"
        case .malformedCertificate: "A certificate cannot be read"
        case .untrustedRoot: "The certificates do not lead to a trusted root"
        case .certificateSignatureMismatch: "A certificate is not signed by the next one in the chain"
        case .missingLeafMarker: "The signer's certificate is not an App Store certificate (marker extension missing)"
        case .missingIntermediateMarker:
            "The issuer's certificate is not Apple's intermediate (marker extension missing)"
        case .basicConstraints: "A certificate's basic constraints do not allow its place in the chain"
        case .keyUsage: "A certificate's key usage does not allow its place in the chain"
        case .criticalExtension: "A certificate has a critical extension that is not understood"
        case .unsupportedCertificateAlgorithm: "The kind of a certificate's key or signature is not accepted"
        case .certificateNotYetValid: "A certificate was not yet valid when the payload was signed"
        case .certificateExpired: "A certificate had expired when the payload was signed"
        case .signatureMismatch: "The leaf's signature does not match the header and payload"
        case .xcodeNotAccepted: "The data is from Xcode's StoreKit testing, which is not accepted here"
        case .bundleIdMismatch: "The payload belongs to another app"
        case .appAppleIdMismatch: "The payload belongs to an app with another Apple ID"
        case .environmentMismatch: "The payload belongs to another environment"
        case .revoked: "A certificate was revoked"
        case .revocationUnknown: "The revocation status of a certificate is unknown"
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
