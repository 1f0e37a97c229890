/// Why bytes are not a receipt, or a receipt is not genuine.
///
/// Branch on ``code``; show ``message``; find the place with ``location``. Two errors are equal when all three agree.
public struct ReceiptError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found wrong.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // The input is not a receipt at all, or a damaged one.
        case empty
        case tooLarge
        case unrecognizedInput
        case invalidBase64
        case truncated
        case malformedEncoding
        case nestedTooDeeply
        case notSignedData
        case contentMissing
        case contentNotReceipt
        case tooManyAttributes
        case malformedAttribute
        case missingAttribute
        case malformedPropertyList
        case missingKey
        case malformedKey
        case malformedSignature

        // It has the form of a receipt, and is not to be believed.
        case tooManyCertificates
        case certificateMissing
        case malformedCertificate
        case signerCount
        case unsupportedSignerIdentifier
        case signerCertificateNotFound
        case unsupportedDigestAlgorithm
        case unsupportedSignatureAlgorithm
        case signedAttributesMismatch
        case digestMismatch
        case signatureMismatch
        case untrustedRoot
        case untrustedLeaf
        case missingLeafMarker
        case missingIntermediateMarker
        case certificateNotYetValid
        case certificateExpired
        case certificateSignatureMismatch
        case basicConstraints
        case keyUsage
        case criticalExtension
        case xcodeReceipt
        case environmentContradiction
        case deviceMismatch
    }

    /// What kind of answer a code is.
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

    /// The parts stand behind one reference: errors are rare, and a thrown value of one word keeps every function that
    /// can throw one small.
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

    public var code: Code { storage.code }
    public var location: Location { storage.location }
    /// The particulars, a clause that completes the code's sentence.
    public var detail: String { storage.detail }

    public init(_ code: Code, at location: Location = .input, _ detail: String = "") {
        storage = Storage(code, location, detail)
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.location == right.location && left.detail == right.detail
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(location)
        hasher.combine(detail)
    }

    public var verdict: Verdict { code.verdict }

    /// A sentence for a person: what is wrong, where.
    public var message: String {
        let particulars = detail.isEmpty ? "" : ": \(detail)"
        return "\(code.sentence)\(particulars)\(location.phrase)."
    }

    public var description: String { message }
}

extension ReceiptError.Code {
    /// What kind of answer this code is.
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
