// TEST KEYS. They are public, they were made for this file, and they sign nothing of value: only certificates whose
// subjects begin with "Test" or "Foreign Test", and receipts for apps that do not exist.
// No product trusts them unless a test tells it to.

/// The fixed keys of the test certificate authorities: RSA for receipts, elliptic curves for signed data (JWS).
///
/// They are fixed because PKCS#1 v1.5 signatures are deterministic: the same key over the same bytes gives the same
/// receipt, on every machine and for good. ECDSA signatures are not.
public enum TestKey: String, CaseIterable, Hashable, Sendable {
    /// Signs the intermediates, in the place of Apple Root CA.
    case rootCA
    /// The SHA-1 intermediates, in the place of the Worldwide Developer Relations authority.
    case wwdr
    /// The SHA-256 intermediate, in the place of WWDR G5.
    case wwdrG5
    /// The leaves that sign SHA-1 receipts.
    case receiptSigning
    /// The leaf that signs SHA-256 receipts.
    case receiptSigningG5
    /// The intermediate of iOS 6 receipts.
    case iTunesStoreCA
    /// A developer's own certificate under the intermediate.
    case developer
    /// The self-signed certificate in the place of Xcode's StoreKit one.
    case xcode
    /// A root that nobody trusts.
    case foreignRootCA
    /// An intermediate under the foreign root.
    case foreignIntermediate
    /// A leaf under the foreign intermediate.
    case foreignLeaf
    /// The RSA-1024 leaf of iOS 6 receipts of version 2.
    case purchaseReceipt
    /// An RSA-1024 leaf that no one has pinned.
    case foreignPurchaseReceipt
    /// Signs the intermediate of signed data (JWS), in the place of Apple Root CA - G3. P-384.
    case signedDataRootCA
    /// The intermediate of signed data, in the place of WWDR G6. P-384.
    case signedDataIntermediate
    /// The leaf that signs JWS. P-256.
    case signedDataLeaf
    /// A developer's own certificate under the intermediate of signed data. P-256.
    case signedDataDeveloper
    /// The self-signed certificate in the place of Xcode's for JWS. P-256.
    case signedDataXcode
    /// Answers for the intermediate whether a certificate was revoked (OCSP). P-256.
    case signedDataResponder
    /// A root of signed data that nobody trusts. P-384.
    case foreignSignedDataRootCA
    /// An intermediate under that root. P-384.
    case foreignSignedDataIntermediate
    /// A leaf under that intermediate. P-256.
    case foreignSignedDataLeaf
}

extension TestKey {
    /// The private key in PEM (RSA: PKCS#1; elliptic curves: PKCS#8).
    public var privateKeyPEM: String {
        switch self {
        case .rootCA: Self.rootCAPEM
        case .wwdr: Self.wwdrPEM
        case .wwdrG5: Self.wwdrG5PEM
        case .receiptSigning: Self.receiptSigningPEM
        case .receiptSigningG5: Self.receiptSigningG5PEM
        case .iTunesStoreCA: Self.iTunesStoreCAPEM
        case .developer: Self.developerPEM
        case .xcode: Self.xcodePEM
        case .foreignRootCA: Self.foreignRootCAPEM
        case .foreignIntermediate: Self.foreignIntermediatePEM
        case .foreignLeaf: Self.foreignLeafPEM
        case .purchaseReceipt: Self.purchaseReceiptPEM
        case .foreignPurchaseReceipt: Self.foreignPurchaseReceiptPEM
        case .signedDataRootCA: Self.signedDataRootCAPEM
        case .signedDataIntermediate: Self.signedDataIntermediatePEM
        case .signedDataLeaf: Self.signedDataLeafPEM
        case .signedDataDeveloper: Self.signedDataDeveloperPEM
        case .signedDataXcode: Self.signedDataXcodePEM
        case .signedDataResponder: Self.signedDataResponderPEM
        case .foreignSignedDataRootCA: Self.foreignSignedDataRootCAPEM
        case .foreignSignedDataIntermediate: Self.foreignSignedDataIntermediatePEM
        case .foreignSignedDataLeaf: Self.foreignSignedDataLeafPEM
        }
    }
}
