/// Why bytes are not a receipt, or a receipt is not genuine.
///
/// Branch on ``code``; show ``message``; find the place with ``location``.
public struct ReceiptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // The input is not a receipt at all, or a damaged one.
        /// The input has no bytes. Look at how the receipt was stored or sent.
        case empty
        /// The input is longer than ``DecodingLimits/maximumSize``. Raise the limit if such receipts are expected.
        case tooLarge
        /// The bytes begin neither as a PKCS#7 app receipt nor as a transaction receipt. Check that the right column or
        /// member was read.
        case unrecognizedInput
        /// The text has characters or padding that base64 does not have. Check whether it was cut off, or encoded for a
        /// URL and not decoded.
        case invalidBase64
        /// A length goes beyond the end of the bytes. Look for a complete copy: short database columns cut receipts
        /// off.
        case truncated
        /// The bytes break a rule of BER. The receipt was damaged; look for another copy.
        case malformedEncoding
        /// The ASN.1 structure is nested deeper than ``DecodingLimits/maximumDepth``. No receipt of Apple's is; refuse
        /// it.
        case nestedTooDeeply
        /// The bytes are ASN.1, and not a PKCS#7 SignedData message. Check what was stored: it may be a certificate or
        /// a key.
        case notSignedData
        /// The signed message is a detached signature without content. Look for a complete copy.
        case contentMissing
        /// The signed content is not a set of receipt attributes: the message signs something else. Refuse it.
        case contentNotReceipt
        /// The receipt has more attributes than ``DecodingLimits/maximumAttributes``. Raise the limit if such receipts
        /// are expected.
        case tooManyAttributes
        /// The value of an attribute has another form than documented; ``ReceiptError/location`` names the attribute.
        /// Look for another copy.
        case malformedAttribute
        /// An attribute that every receipt has is missing; ``ReceiptError/location`` names it. Look for another copy.
        case missingAttribute
        /// The property list of a transaction receipt cannot be read. Look for another copy.
        case malformedPropertyList
        /// A key that every transaction receipt has is missing; ``ReceiptError/location`` names it. Look for another
        /// copy.
        case missingKey
        /// The value of a transaction receipt's key has the wrong form; ``ReceiptError/location`` names the key. Look
        /// for another copy.
        case malformedKey
        /// The `signature` of a transaction receipt cannot be split into its parts. Look for another copy.
        case malformedSignature

        // The input has the form of a receipt, but is not genuine.
        /// The receipt has more certificates than ``DecodingLimits/maximumCertificates``. No receipt of Apple's does;
        /// refuse it.
        case tooManyCertificates
        /// The receipt has no certificate, so nothing can prove its signature. Refuse it.
        case certificateMissing
        /// A certificate cannot be read: one in the receipt, or one that the caller added to ``TrustPolicy``.
        /// ``ReceiptError/location`` and ``ReceiptError/detail`` say which.
        case malformedCertificate
        /// The receipt has no signer, or more than one. Apple's have exactly one; refuse it.
        case signerCount
        /// The signer is not named by issuer and serial number, as Apple names it. Refuse it.
        case unsupportedSignerIdentifier
        /// No certificate in the receipt belongs to the signer. Refuse it.
        case signerCertificateNotFound
        /// The digest algorithm is not one that Apple signs receipts with. Refuse it.
        case unsupportedDigestAlgorithm
        /// The signature algorithm is not one that Apple signs receipts with. Refuse it.
        case unsupportedSignatureAlgorithm
        /// The signed attributes are incomplete or do not describe the content. Refuse it.
        case signedAttributesMismatch
        /// The message digest is not that of the content: the content was changed after it was signed. Refuse it.
        case digestMismatch
        /// The signature does not prove the content: content or signature was changed. Refuse it.
        case signatureMismatch
        /// The certificates do not lead to a trusted root. Refuse it, unless it comes from a test authority: then add
        /// that root to ``TrustPolicy/additionalRoots``.
        case untrustedRoot
        /// The leaf of a transaction receipt is not pinned, and no certificate of its issuer is known. Add the issuer's
        /// certificate to ``TrustPolicy/additionalIntermediates`` if the leaf is Apple's.
        case untrustedLeaf
        /// The signer's certificate lacks the extension that marks Apple's certificates for receipts. Refuse it.
        case missingLeafMarker
        /// The issuer's certificate lacks the extension that marks Apple's intermediates. Refuse it.
        case missingIntermediateMarker
        /// A certificate was not yet valid when the receipt was signed. Refuse it.
        case certificateNotYetValid
        /// A certificate had expired when the receipt was signed. Refuse it.
        case certificateExpired
        /// A certificate is not signed by the one that it names as issuer. Refuse it.
        case certificateSignatureMismatch
        /// The basic constraints of a certificate do not allow its place in the chain. Refuse it.
        case basicConstraints
        /// The key usage of a certificate does not allow its place in the chain. Refuse it.
        case keyUsage
        /// A certificate has a critical extension that this package does not know. Refuse it.
        case criticalExtension
        /// Xcode's StoreKit testing made the receipt, with a key that proves nothing. Accept it only in tests, with
        /// ``TrustPolicy/acceptsXcodeReceipts``.
        case xcodeReceipt
        /// The unsigned environment of a transaction receipt contradicts its signed transaction id. Treat the receipt
        /// as one of the sandbox.
        case environmentContradiction
        /// The device hash is not that of the given device: the receipt was copied from another one. Have the app
        /// refresh its receipt.
        case deviceMismatch
    }

    /// The two classes of error codes.
    public enum Verdict: String, Hashable, Sendable {
        /// The input is no legacy receipt, or too damaged to be read as one (verifyReceipt: 21002).
        case notAReceipt
        /// A receipt in form whose signature or certificates do not hold (verifyReceipt: 21003).
        case notGenuine
    }

    /// Where in the input the fault lies.
    public enum Location: Hashable, Sendable {
        /// The input as a whole.
        case input
        /// A byte of the decoded receipt (after base64 is removed), counted from 0.
        case byte(Int)
        /// An attribute of an app receipt; with the index of the purchase, from 0, for attributes of a purchase.
        case attribute(Int64, purchase: Int?)
        /// A key of a transaction receipt's property list.
        case key(String)
        /// A certificate, by its index among those in the receipt.
        case certificate(Int)
    }

    /// The properties are behind one reference: errors are rare, and a thrown value of one word keeps the functions that
    /// throw it small.
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
    /// Where the fault lies.
    public var location: Location { storage.location }
    /// The particulars, a clause that completes the code's sentence.
    public var detail: String { storage.detail }

    /// An error; `detail` is a clause that completes the code's sentence and holds no part of a receipt.
    public init(_ code: Code, at location: Location = .input, _ detail: String = "") {
        storage = Storage(code, location, detail)
    }

    /// Two errors with the same code are equal.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The class of the code.
    public var verdict: Verdict { code.verdict }

    /// A sentence for a person: what is wrong, where.
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

    /// The sentence, without its full stop.
    var sentence: String {
        switch self {
        case .empty: "The input is empty"
        case .tooLarge: "The input is larger than the limit"
        case .unrecognizedInput: "The input is neither a PKCS#7 app receipt nor a transaction receipt"
        case .invalidBase64: "The text is not base64"
        case .truncated: "The receipt is cut off"
        case .malformedEncoding: "The encoding breaks a rule of BER"
        case .nestedTooDeeply: "The encoding is nested deeper than the limit"
        case .notSignedData: "The ASN.1 structure is not a PKCS#7 SignedData message"
        case .contentMissing: "The signed message has no content"
        case .contentNotReceipt: "The signed content is not a set of receipt attributes"
        case .tooManyAttributes: "The receipt has more attributes than the limit"
        case .malformedAttribute: "An attribute is not of its documented form"
        case .missingAttribute: "An attribute that every receipt has is missing"
        case .malformedPropertyList: "The property list cannot be read"
        case .missingKey: "A key that every transaction receipt has is missing"
        case .malformedKey: "A key of the transaction receipt has a value of the wrong form"
        case .malformedSignature: "The signature blob cannot be read"
        case .tooManyCertificates: "The receipt carries more certificates than the limit"
        case .certificateMissing: "The receipt carries no certificate"
        case .malformedCertificate: "A certificate cannot be read"
        case .signerCount: "A receipt has exactly one signer"
        case .unsupportedSignerIdentifier: "The signer is not named by issuer and serial number"
        case .signerCertificateNotFound: "No certificate in the receipt is that of the signer"
        case .unsupportedDigestAlgorithm: "The digest algorithm is not one that Apple signs receipts with"
        case .unsupportedSignatureAlgorithm: "The signature algorithm is not one that Apple signs receipts with"
        case .signedAttributesMismatch: "The signed attributes do not fit the content"
        case .digestMismatch: "The message digest is not that of the content"
        case .signatureMismatch: "The signature is not that of the signer over this content"
        case .untrustedRoot: "The certificates do not lead to a trusted root"
        case .untrustedLeaf: "The leaf certificate is not a pinned one and no intermediate was supplied for it"
        case .missingLeafMarker: "The signer's certificate is not one for signing receipts (marker extension missing)"
        case .missingIntermediateMarker:
            "The issuer's certificate is not Apple's intermediate (marker extension missing)"
        case .certificateNotYetValid: "A certificate was not yet valid when the receipt was signed"
        case .certificateExpired: "A certificate had expired when the receipt was signed"
        case .certificateSignatureMismatch: "A certificate is not signed by the one that it names as issuer"
        case .basicConstraints: "A certificate's basic constraints do not allow its place in the chain"
        case .keyUsage: "A certificate's key usage does not allow its place in the chain"
        case .criticalExtension: "A certificate has a critical extension that is not understood"
        case .xcodeReceipt:
            "This is a receipt of Xcode's StoreKit testing, made on a developer's Mac with a key that everybody has"
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
