internal import Crypto
internal import CryptoExtras
internal import Foundation

/// Verifies legacy receipts: signature, certificates, markers, trust (Reference.md V7).
///
/// Create one and keep it, because it caches verified chains. It needs no files, no network and no clock. Any number of
/// threads can use it at the same time.
///
/// ```swift
/// let verifier = ReceiptVerifier()
/// let verified = try verifier.verify(stored: Array(base64Text.utf8))
/// ```
public struct ReceiptVerifier: Sendable {
    /// Input beyond a limit throws ``ReceiptError`` before a signature is checked: `tooLarge`, `nestedTooDeeply`,
    /// `tooManyCertificates`, `tooManyAttributes` or `malformedPropertyList`.
    public let limits: DecodingLimits
    let validator: ChainValidator
    private let cache = ChainCache()

    /// The hits and misses of the chain cache.
    package var chainLookups: (hits: Int, misses: Int) { cache.lookups }

    /// A verifier that trusts only Apple's pinned roots.
    public init(limits: DecodingLimits = .standard) {
        self.limits = limits
        validator = ChainValidator()
    }

    /// A verifier with a custom trust policy.
    ///
    /// - Throws: ``ReceiptError`` `malformedCertificate` if a certificate in the policy cannot be read.
    public init(trust: TrustPolicy, limits: DecodingLimits = .standard) throws(ReceiptError) {
        self.limits = limits
        validator = try ChainValidator(policy: trust)
    }

    /// Verifies a stored receipt: raw bytes or base64, see ``ReceiptContainer/init(stored:limits:)-([UInt8],_)``.
    ///
    /// - Throws: ``ReceiptError`` if the input is not a receipt, or not genuine.
    public func verify(stored input: [UInt8]) throws(ReceiptError) -> Verified<LegacyReceipt> {
        try verify(try ReceiptContainer(stored: input, limits: limits))
    }

    /// Verifies a receipt without transport encoding.
    ///
    /// - Throws: ``ReceiptError`` if the input is not a receipt, or not genuine.
    public func verify(_ container: ReceiptContainer) throws(ReceiptError) -> Verified<LegacyReceipt> {
        switch container.form {
        case .pkcs7: try verifyAppReceipt(container.bytes).map { .app($0) }
        case .propertyList: try verifyTransactionReceipt(container.bytes).map { .transaction($0) }
        }
    }

    private func checkSize(_ bytes: [UInt8]) throws(ReceiptError) {
        guard bytes.count <= limits.maximumSize else {
            throw ReceiptError(.tooLarge, "\(bytes.count) bytes, the limit is \(limits.maximumSize)")
        }
    }

    // MARK: App receipts

    /// Verifies an app receipt: the bytes of its PKCS#7 message.
    ///
    /// - Throws: ``ReceiptError`` if the input is not a receipt, or not genuine.
    public func verifyAppReceipt(_ bytes: [UInt8]) throws(ReceiptError) -> Verified<AppReceipt> {
        try checkSize(bytes)
        let message = try SignedDataMessage(bytes, limits: limits)
        let receipt = try ReceiptDecoder(limits: limits).appReceipt(message)
        guard let creationDate = receipt.receiptCreationDate else {
            throw ReceiptError(.missingAttribute, at: .attribute(12, purchase: nil))
        }
        let signer = try message.signer()
        let chain = try chain(of: message, signer, receiptType: receipt.receiptType)
        try Self.check(chain.validity, at: creationDate)
        try Self.checkSignature(of: message, signer, chain.key)
        return Verified(
            payload: receipt, evidence: chain.evidence(digest: signer.digestAlgorithm, validationTime: creationDate))
    }

    private func chain(
        of message: SignedDataMessage, _ signer: SignedDataMessage.SignerInfo, receiptType: ReceiptType?
    ) throws(ReceiptError) -> ValidatedChain {
        guard let first = message.certificates.first, let last = message.certificates.last else {
            throw ReceiptError(.certificateMissing)
        }
        let certificates = message.bytes[first.lowerBound..<last.upperBound]
        let identifier = message.bytes[signer.issuer.lowerBound..<signer.serialNumber.upperBound]
        if let chain = cache.chain(certificates: certificates, signer: identifier) { return chain }
        let chain = try validator.validate(signer, in: message, receiptType: receiptType)
        // Whether Xcode's chain is accepted depends on the receipt too, not only on the chain.
        if chain.anchor != .xcode { cache.insert(chain, certificates: certificates, signer: identifier) }
        return chain
    }

    /// A validity period includes both ends, and its last second completely (RFC 5280, 4.1.2.5).
    static func check(_ validity: ClosedRange<Int64>, at time: Int64) throws(ReceiptError) {
        if time < validity.lowerBound {
            throw ReceiptError(.certificateNotYetValid, detail(time, "from", validity.lowerBound))
        }
        if time > validity.upperBound + 999 {
            throw ReceiptError(.certificateExpired, detail(time, "until", validity.upperBound))
        }
    }

    private static func detail(_ time: Int64, _ word: String, _ bound: Int64) -> String {
        "signed at \(time) ms since 1970, valid \(word) \(bound)"
    }

    /// Checks the digest and the signature over the content (RFC 5652, 5.4 and 5.6).
    static func checkSignature(
        of message: SignedDataMessage, _ signer: SignedDataMessage.SignerInfo, _ key: _RSA.Signing.PublicKey
    ) throws(ReceiptError) {
        let content = message.content.slice
        guard let attributes = signer.signedAttributes else {
            guard key.isValid(signature: signer.signature.slice, over: content, signer.digestAlgorithm) else {
                throw ReceiptError(.signatureMismatch)
            }
            return
        }
        let digest: [UInt8] =
            switch signer.digestAlgorithm {
            case .sha1: Array(Insecure.SHA1.hash(data: content))
            case .sha256: Array(SHA256.hash(data: content))
            }
        guard digest == attributes.messageDigest else { throw ReceiptError(.digestMismatch) }
        guard
            key.isValid(
                signature: signer.signature.slice, over: attributes.encodedForSignature[...], signer.digestAlgorithm)
        else { throw ReceiptError(.signatureMismatch) }
    }

    // MARK: Transaction receipts

    /// Verifies a transaction receipt: its property list.
    ///
    /// The signature covers the purchase information and the version byte, but not the outer environment. Use
    /// ``TransactionReceipt/environment``, which takes this into account.
    ///
    /// - Throws: ``ReceiptError`` if the input is not a receipt, or not genuine.
    public func verifyTransactionReceipt(_ bytes: [UInt8]) throws(ReceiptError) -> Verified<TransactionReceipt> {
        try checkSize(bytes)
        let (receipt, signature) = try TransactionReceiptDecoder.read(bytes, limits: limits)
        let blob = try signature.get()
        guard let purchaseDate = receipt.purchaseDate else {
            throw ReceiptError(.missingKey, at: .key("purchase-date-ms"))
        }
        let chain = try chain(of: blob)
        let time = Self.validationTime(of: receipt, from: purchaseDate, chain.validity)
        try Self.check(chain.validity, at: time)
        try Self.checkSignature(blob, of: receipt, chain.key)
        return Verified(
            payload: receipt, evidence: chain.evidence(digest: blob.digestAlgorithm, validationTime: time))
    }

    /// The time for which the certificates of a transaction receipt are checked: the purchase date, because the receipt
    /// does not state when it was signed. If the signature may be later, it is the first time from the purchase date on
    /// at which the certificates were valid.
    static func validationTime(
        of receipt: TransactionReceipt, from purchaseDate: Int64, _ validity: ClosedRange<Int64>
    ) -> Int64 {
        receipt.keepsPurchaseDate ? max(purchaseDate, validity.lowerBound) : purchaseDate
    }

    /// Checks the signature over the version byte and the purchase information (Reference.md V6).
    static func checkSignature(
        _ blob: TransactionReceiptSignature, of receipt: TransactionReceipt, _ key: _RSA.Signing.PublicKey
    ) throws(ReceiptError) {
        let signed = receipt.signedBytes(blob.version)
        guard key.isValid(signature: blob.signature, over: signed[...], blob.digestAlgorithm) else {
            throw ReceiptError(.signatureMismatch, at: .key("signature"))
        }
    }

    private func chain(of blob: TransactionReceiptSignature) throws(ReceiptError) -> ValidatedChain {
        let version: ArraySlice<UInt8> = [blob.version]
        if let chain = cache.chain(certificates: blob.certificate, signer: version) { return chain }
        let leaf = try X509Certificate.parse(blob.certificate, index: 0)
        let chain = try validator.validate(transactionReceiptLeaf: leaf, version: blob.version)
        cache.insert(chain, certificates: blob.certificate, signer: version)
        return chain
    }
}

extension SignedDataMessage {
    func parsedCertificates() throws(ReceiptError) -> [X509Certificate] {
        try X509Certificate.parse(certificates.map { bytes[$0] })
    }
}

extension TransactionReceipt {
    /// The version byte followed by the decoded purchase information (Reference.md V6).
    func signedBytes(_ version: UInt8) -> [UInt8] { [version] + purchaseInfoBytes }
}

extension ValidatedChain {
    func evidence(digest: DigestAlgorithm, validationTime: Int64) -> SignatureEvidence {
        SignatureEvidence(
            anchor: anchor, leaf: leaf, trustAnchor: trustAnchor, digestAlgorithm: digest,
            validationTime: validationTime, path: path)
    }
}
