/// The reason why bytes are not a receipt, or a receipt is not genuine.
///
/// Branch on ``code``; show ``message``; find the place with ``location``.
public struct ReceiptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // The input is not a receipt at all, or a damaged one.
        /// The input has no bytes. Check how the receipt was stored or sent.
        case empty
        /// The input is longer than ``DecodingLimits/maximumSize``. Raise the limit if such receipts are expected.
        case tooLarge
        /// The bytes begin neither like a PKCS#7 app receipt nor like a transaction receipt. Check that the right
        /// column or member was read.
        case unrecognizedInput
        /// The text contains characters or padding that are not valid base64. Check whether it was truncated, or
        /// encoded for a URL and not decoded.
        case invalidBase64
        /// A length exceeds the end of the bytes. Look for a complete copy: short database columns truncate receipts.
        case truncated
        /// The bytes violate a rule of BER. The receipt is damaged; look for another copy.
        case malformedEncoding
        /// The ASN.1 structure is nested deeper than ``DecodingLimits/maximumDepth``. Apple's receipts are not.
        /// Reject it.
        case nestedTooDeeply
        /// The bytes are ASN.1, but not a PKCS#7 SignedData message. Check the stored data: it may be a certificate or
        /// a key.
        case notSignedData
        /// The signed message is a detached signature without content. Look for a complete copy.
        case contentMissing
        /// The signed content is not a set of receipt attributes, so the message is something else. Reject it.
        case contentNotReceipt
        /// The receipt has more attributes than ``DecodingLimits/maximumAttributes``. Raise the limit if such receipts
        /// are expected.
        case tooManyAttributes
        /// The value of an attribute is not in the documented form; ``ReceiptError/location`` names the attribute. Look
        /// for another copy.
        case malformedAttribute
        /// A required attribute is missing; ``ReceiptError/location`` names it. Look for another copy.
        case missingAttribute
        /// The property list of a transaction receipt cannot be read. Look for another copy.
        case malformedPropertyList
        /// A required key of a transaction receipt is missing; ``ReceiptError/location`` names it. Look for another
        /// copy.
        case missingKey
        /// The value of a transaction receipt's key has the wrong form; ``ReceiptError/location`` names the key. Look
        /// for another copy.
        case malformedKey
        /// The `signature` of a transaction receipt cannot be split into its parts. Look for another copy.
        case malformedSignature

        // The input has the form of a receipt, but is not genuine.
        /// The receipt has more certificates than ``DecodingLimits/maximumCertificates``. Apple's receipts do not.
        /// Reject it.
        case tooManyCertificates
        /// The receipt has no certificate, so its signature cannot be verified. Reject it.
        case certificateMissing
        /// A certificate in the receipt, or in the caller's ``TrustPolicy``, cannot be read.
        /// ``ReceiptError/location`` and ``ReceiptError/detail`` identify it. Reject the receipt, or correct the policy.
        case malformedCertificate
        /// The receipt has no signer, or more than one. Apple's receipts have exactly one. Reject it.
        case signerCount
        /// The signer is not identified by issuer and serial number, as in Apple's receipts. Reject it.
        case unsupportedSignerIdentifier
        /// No certificate in the receipt belongs to the signer. Reject it.
        case signerCertificateNotFound
        /// Apple does not sign receipts with this digest algorithm. Reject it.
        case unsupportedDigestAlgorithm
        /// Apple does not sign receipts with this signature algorithm. Reject it.
        case unsupportedSignatureAlgorithm
        /// The signed attributes are incomplete or do not describe the content. Reject it.
        case signedAttributesMismatch
        /// The message digest does not match the content: the content was changed after signing. Reject it.
        case digestMismatch
        /// The signature does not match: the content or the signature was changed. Reject it.
        case signatureMismatch
        /// The certificates do not lead to a trusted root. Reject it, unless it comes from a test authority: then add
        /// that root to ``TrustPolicy/additionalRoots``.
        case untrustedRoot
        /// The leaf of a transaction receipt is not pinned, and no certificate of its issuer is known. Add the issuer's
        /// certificate to ``TrustPolicy/additionalIntermediates`` if the leaf is Apple's.
        case untrustedLeaf
        /// The signer's certificate lacks the extension that marks Apple's certificates for receipts. Reject it.
        case missingLeafMarker
        /// The issuer's certificate lacks the extension that marks Apple's intermediates. Reject it.
        case missingIntermediateMarker
        /// A certificate was not yet valid when the receipt was signed. Reject it.
        case certificateNotYetValid
        /// A certificate had expired when the receipt was signed. Reject it.
        case certificateExpired
        /// A certificate is not signed by its stated issuer. Reject it.
        case certificateSignatureMismatch
        /// The basic constraints of a certificate do not allow its place in the chain. Reject it.
        case basicConstraints
        /// The key usage of a certificate does not allow its place in the chain. Reject it.
        case keyUsage
        /// A certificate has a critical extension that this package does not know. Reject it.
        case criticalExtension
        /// Xcode's StoreKit testing created the receipt, with a key that is public. Accept it only in tests, with
        /// ``TrustPolicy/acceptsXcodeReceipts``.
        case xcodeReceipt
        /// The unsigned environment of a transaction receipt contradicts its signed transaction id. Treat the receipt
        /// as a sandbox receipt.
        case environmentContradiction
        /// The device hash does not match the given device: the receipt was copied from another device. Have the app
        /// refresh its receipt.
        case deviceMismatch
    }

    /// The two classes of error codes.
    public enum Verdict: String, Hashable, Sendable {
        /// The input is not a legacy receipt, or is too damaged to be read as one (verifyReceipt: 21002).
        case notAReceipt
        /// The input has the form of a receipt, but its signature or certificates are not valid (verifyReceipt: 21003).
        case notGenuine
    }

    /// The place of the error in the input.
    public enum Location: Hashable, Sendable {
        /// The input as a whole.
        case input
        /// A byte of the decoded receipt (after base64 is removed), counted from 0.
        case byte(Int)
        /// An attribute of an app receipt. For an attribute of a purchase, also the index of the purchase, from 0.
        case attribute(Int64, purchase: Int?)
        /// A key of a transaction receipt's property list.
        case key(String)
        /// A certificate, by its index among those in the receipt.
        case certificate(Int)
    }

    /// The properties are in one object. Errors are rare, and an error of one word keeps throwing functions small.
    private final class Storage: Sendable {
        let code: Code
        let location: Location
        let detail: String

        init(_ code: Code, _ location: Location, _ detail: String) {
            self.code = code
            self.location = location
            self.detail = detail
        }
    }

    private let storage: Storage

    /// The kind of error.
    public var code: Code { storage.code }
    /// The place of the error.
    public var location: Location { storage.location }
    /// The details, as a clause that continues the sentence of the code.
    public var detail: String { storage.detail }

    /// An error. `detail` is a clause that continues the sentence of the code; it must not contain parts of a receipt.
    public init(_ code: Code, at location: Location = .input, _ detail: String = "") {
        storage = Storage(code, location, detail)
    }

    /// Two errors with the same code are equal.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The class of the code.
    public var verdict: Verdict { code.verdict }

    /// A sentence for people: the error and its place.
    public var message: String {
        let particulars = detail.isEmpty ? "" : ": \(detail)"
        return "\(code.sentence)\(particulars)\(location.phrase)."
    }

    public var description: String { message }
}

extension ReceiptError.Code {
    /// The class of this code.
    public var verdict: ReceiptError.Verdict {
        switch self {
        case .empty, .tooLarge, .unrecognizedInput, .invalidBase64, .truncated, .malformedEncoding, .nestedTooDeeply,
            .notSignedData, .contentMissing, .contentNotReceipt, .tooManyAttributes, .malformedAttribute,
            .missingAttribute, .malformedPropertyList, .missingKey, .malformedKey, .malformedSignature:
            .notAReceipt
        default: .notGenuine
        }
    }

    /// The sentence without its period.
    var sentence: String {
        switch self {
        case .empty: "The input is empty"
        case .tooLarge: "The input is larger than the limit"
        case .unrecognizedInput: "The input is neither a PKCS#7 app receipt nor a transaction receipt"
        case .invalidBase64: "The text is not base64"
        case .truncated: "The receipt is truncated"
        case .malformedEncoding: "The encoding breaks a rule of BER"
        case .nestedTooDeeply: "The encoding is nested deeper than the limit"
        case .notSignedData: "The ASN.1 structure is not a PKCS#7 SignedData message"
        case .contentMissing: "The signed message has no content"
        case .contentNotReceipt: "The signed content is not a set of receipt attributes"
        case .tooManyAttributes: "The receipt has more attributes than the limit"
        case .malformedAttribute: "The value of an attribute is not in the documented form"
        case .missingAttribute: "A required attribute is missing"
        case .malformedPropertyList: "The property list cannot be read"
        case .missingKey: "A required key of the transaction receipt is missing"
        case .malformedKey: "A key of the transaction receipt has a value of the wrong form"
        case .malformedSignature: "The signature blob cannot be read"
        case .tooManyCertificates: "The receipt has more certificates than the limit"
        case .certificateMissing: "The receipt has no certificate"
        case .malformedCertificate: "A certificate cannot be read"
        case .signerCount: "The receipt does not have exactly one signer"
        case .unsupportedSignerIdentifier: "The signer is not identified by issuer and serial number"
        case .signerCertificateNotFound: "No certificate in the receipt belongs to the signer"
        case .unsupportedDigestAlgorithm: "Apple does not sign receipts with this digest algorithm"
        case .unsupportedSignatureAlgorithm: "Apple does not sign receipts with this signature algorithm"
        case .signedAttributesMismatch: "The signed attributes do not match the content"
        case .digestMismatch: "The message digest does not match the content"
        case .signatureMismatch: "The signature does not match the content"
        case .untrustedRoot: "The certificates do not lead to a trusted root"
        case .untrustedLeaf: "The leaf certificate is not a pinned one and no intermediate was supplied for it"
        case .missingLeafMarker: "The signer's certificate is not for signing receipts (marker extension missing)"
        case .missingIntermediateMarker:
            "The issuer's certificate is not Apple's intermediate (marker extension missing)"
        case .certificateNotYetValid: "A certificate was not yet valid when the receipt was signed"
        case .certificateExpired: "A certificate had expired when the receipt was signed"
        case .certificateSignatureMismatch: "A certificate is not signed by its stated issuer"
        case .basicConstraints: "A certificate's basic constraints do not allow its place in the chain"
        case .keyUsage: "A certificate's key usage does not allow its place in the chain"
        case .criticalExtension: "A certificate has an unknown critical extension"
        case .xcodeReceipt:
            "Xcode's StoreKit testing created this receipt on a developer's Mac, with a key that is public"
        case .environmentContradiction: "The unsigned environment contradicts the signed transaction id"
        case .deviceMismatch: "The receipt belongs to another device"
        }
    }
}

extension ReceiptError.Location {
    var phrase: String {
        switch self {
        case .input: ""
        case .byte(let offset): " (byte \(offset))"
        case .attribute(let type, purchase: nil): " (attribute \(type))"
        case .attribute(let type, purchase: let index?): " (attribute \(type) of purchase \(index))"
        case .key(let key): " (key \(key))"
        case .certificate(let index): " (certificate \(index))"
        }
    }
}
