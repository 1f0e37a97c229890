// TEST KEYS. They are public, they were made for this file, and they sign nothing of value: only certificates whose
// subjects begin with "Test" or "Foreign Test", and receipts for apps that do not exist.
// No product trusts them unless a test tells it to.

/// The fixed RSA keys of the test certificate authority.
///
/// They are fixed because PKCS#1 v1.5 signatures are deterministic: the same key over the same bytes gives the same
/// receipt, on every machine and for good.
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
}

extension TestKey {
    /// The private key in PEM (PKCS#1).
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
        }
    }
}
