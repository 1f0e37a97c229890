/// Why signed data is malformed, not genuine, or not what was expected.
///
/// Branch on ``code``; show ``message``; find the place with ``location``. No error holds a JWS or a part of one.
public struct SignedDataError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // No JWS, or a damaged one.
        /// The JWS is longer than any that Apple makes. Refuse it.
        case tooLong
        /// The text is not three parts joined by two full stops. Check that the right member was read, without
        /// quotation marks.
        case notCompactSerialization
        /// A part is not base64 in the form that it must have here. Check whether the text was cut off or changed on
        /// its way.
        case invalidBase64
        /// The header is not JSON with the members that it needs. Refuse it.
        case malformedHeader
        /// The payload is not JSON of the expected kind. Check that the JWS is of this kind: a transaction, a renewal info, a
        /// notification.
        case malformedPayload

        // The input has the form of a JWS, but is not genuine.
        /// The algorithm is not ES256, the only one that Apple uses. Refuse it.
        case unsupportedAlgorithm
        /// The header's `x5c` is not a chain of three certificates. Refuse it.
        case certificateCount
        /// A certificate cannot be read: one of `x5c`, or one of ``SignedDataTrust/additionalRoots``.
        /// ``SignedDataError/location`` says which.
        case malformedCertificate
        /// The certificates do not lead to a trusted root. Refuse it, unless it comes from a test authority: then add
        /// that root to ``SignedDataTrust/additionalRoots``.
        case untrustedRoot
        /// A certificate is not signed by the one above it. Refuse it.
        case certificateSignatureMismatch
        /// The signer's certificate lacks the extension that marks those of the App Store. Refuse it.
        case missingLeafMarker
        /// The issuer's certificate lacks the extension that marks Apple's intermediates. Refuse it.
        case missingIntermediateMarker
        /// The basic constraints of a certificate do not allow its place in the chain. Refuse it.
        case basicConstraints
        /// The key usage of a certificate does not allow its place in the chain. Refuse it.
        case keyUsage
        /// A certificate has a critical extension that this package does not know. Refuse it.
        case criticalExtension
        /// The key or the signature of a certificate is of a kind that is not accepted. Refuse it.
        case unsupportedCertificateAlgorithm
        /// A certificate was not yet valid when the payload was signed. Refuse it.
        case certificateNotYetValid
        /// A certificate had expired when the payload was signed. Refuse it.
        case certificateExpired
        /// The signature does not prove header and payload: one of them was changed. Refuse it.
        case signatureMismatch
        /// Xcode's StoreKit testing made the data, with a key that proves nothing. Accept it only in tests, with
        /// ``SignedDataTrust/acceptsXcode``.
        case xcodeNotAccepted

        // Genuine, and of another app or environment.
        /// The payload belongs to an app with another bundle id. Refuse it, or correct
        /// ``SignedDataExpectation/bundleId``.
        case bundleIdMismatch
        /// The payload belongs to an app with another Apple ID. Refuse it, or correct
        /// ``SignedDataExpectation/appAppleId``.
        case appAppleIdMismatch
        /// The payload belongs to an environment that is not expected. Send it to the server of that environment, or
        /// add it to ``SignedDataExpectation/environments``.
        case environmentMismatch

        // The online check.
        /// Apple revoked a certificate of the chain. Refuse it.
        case revoked
        /// The responder does not know whether a certificate was revoked. Refuse it.
        case revocationUnknown
        /// The revocation check got no answer. Try again later.
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

    /// The properties are behind one reference: errors are rare, and a thrown value of one word keeps the functions that
    /// throw it small.
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

    /// Two errors with the same code are equal.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
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
