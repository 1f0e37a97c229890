internal import Encodings

/// The signature and the form of a transaction receipt. Each part can be wrong.
///
/// The signature blob is a version byte, the signature, the length of a certificate in four bytes, and the certificate.
/// The signature covers the version byte and the decoded purchase-info (Reference.md V6).
public struct ForgedTransactionSignature: ForgedDescription {
    /// The leaf in the blob. Its key need not be the one that signs.
    public var certificate: ForgedCertificate
    /// The key that signs.
    public var key: TestKey
    /// The first byte of the blob: 2 with a key of 1024 bits, 3 and 4 with one of 2048.
    public var version: UInt8
    /// SHA-256 in version 4, SHA-1 before it.
    public var digest: ForgedDigest
    /// The signed bytes before the purchase-info: the version byte.
    public var signedPrefix: [UInt8]
    /// The style of the signed purchase-info.
    public var innerStyle = PropertyListStyle.apple
    /// The style of the property list around it, which is not signed.
    public var outerStyle = PropertyListStyle.apple
    /// Signs this receipt's purchase-info in place of the one that is written.
    public var signsInstead: ForgedTransactionReceipt?
    /// Rewrites the purchase-info after signing, so that only the signature is wrong.
    public var innerStyleAfterSigning: PropertyListStyle?
    /// Changes the blob after signing.
    public var changeBlob: (@Sendable (inout [UInt8]) -> Void)?
    /// Changes the signed purchase-info after signing.
    public var changePurchaseInfo: (@Sendable (inout [UInt8]) -> Void)?
    /// Replaces the base64 of the purchase-info.
    public var purchaseInfoText: String?
    /// Omits the `signature` key.
    public var omitsSignature = false

    /// A genuine signature: by the certificate's key, with the digest of the version.
    ///
    /// - Parameters:
    ///   - certificate: the leaf. It must suit the version.
    ///   - version: 2, 3 or 4.
    public init(certificate: ForgedCertificate, version: UInt8) {
        self.certificate = certificate
        key = certificate.key
        self.version = version
        digest = version == 4 ? .sha256 : .sha1
        signedPrefix = [version]
    }

    /// Version 2, by the leaf that was valid at the date of purchase.
    public static func version2(at date: ForgedInstant) throws -> Self {
        let authority = try TestCertificateAuthority.shared()
        let early = date < ForgedInstant(2014, 6, 8)
        return Self(
            certificate: early ? authority.earlyPurchaseReceiptLeaf : authority.purchaseReceiptLeaf, version: 2)
    }

    /// Version 3, by the leaf that also signs SHA-1 app receipts.
    public static func version3() throws -> Self {
        Self(certificate: try TestCertificateAuthority.shared().leaf(.g1), version: 3)
    }

    /// Version 4, by the leaf that also signs SHA-256 app receipts.
    public static func version4() throws -> Self {
        Self(certificate: try TestCertificateAuthority.shared().leaf(.g5), version: 4)
    }

    /// The receipt in the form of the App Store: the text of the outer property list.
    public func signed(_ receipt: ForgedTransactionReceipt) throws -> [UInt8] {
        var information = Array(innerStyle.text(receipt.purchaseInfo).utf8)
        let signedInformation = signsInstead.map { Array(innerStyle.text($0.purchaseInfo).utf8) } ?? information
        let signature = try SigningKey.of(key).signature(over: signedPrefix + signedInformation, digest)
        let length = UInt32(certificate.der.count)
        let lengthBytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) }
        var blob = [version] + signature + lengthBytes + certificate.der
        changeBlob?(&blob)
        if let innerStyleAfterSigning {
            information = Array(innerStyleAfterSigning.text(receipt.purchaseInfo).utf8)
        }
        changePurchaseInfo?(&information)

        let entries: [(String, String?)] = [
            ("signature", omitsSignature ? nil : Base64.encode(blob)),
            ("purchase-info", purchaseInfoText ?? Base64.encode(information)),
            ("environment", receipt.environment),
            ("pod", receipt.pod),
            ("signing-status", receipt.signingStatus),
        ]
        return Array(outerStyle.text(entries.compactMap { key, value in value.map { (key, $0) } }).utf8)
    }
}
