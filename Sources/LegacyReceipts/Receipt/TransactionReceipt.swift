/// A transaction receipt (iOS 6 style, `SKPaymentTransaction.transactionReceipt`): one purchase in a property list
/// (Reference.md V4 and V6).
///
/// All dates are milliseconds since 1970-01-01T00:00:00Z. Only ``purchaseInfo`` is signed. ``claimedEnvironment``,
/// ``pod`` and ``signingStatus`` are not, so any sender can edit them.
public struct TransactionReceipt: Hashable, Sendable {
    /// One key of the signed inner property list, and its value.
    public struct Entry: Hashable, Sendable {
        /// The hyphenated key, for example `original-transaction-id`.
        public let key: String
        /// The value; this kind of receipt holds only strings.
        public let value: String

        /// An entry with the given members. The key is not checked.
        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// Every key of the signed inner property list, in the order of the receipt.
    public internal(set) var purchaseInfo: [Entry]
    /// The signed bytes of `purchase-info`, base64 removed.
    public internal(set) var purchaseInfoBytes: [UInt8]
    /// The signature blob.
    public internal(set) var signature: TransactionReceiptSignature?

    /// `bid`: the bundle id.
    public internal(set) var bundleId: String?
    /// `bvrs`: the application version.
    public internal(set) var applicationVersion: String?
    /// `product-id`.
    public internal(set) var productId: String
    /// `transaction-id`.
    public internal(set) var transactionId: String
    /// `original-transaction-id`.
    public internal(set) var originalTransactionId: String?
    /// `quantity`.
    public internal(set) var quantity: Int64?
    /// `purchase-date-ms`, else `purchase-date`: the time for which the leaf certificate is checked, see
    /// `keepsPurchaseDate`.
    public internal(set) var purchaseDate: Int64?
    /// `original-purchase-date-ms`, else `original-purchase-date`.
    public internal(set) var originalPurchaseDate: Int64?
    /// `expires-date` (milliseconds in this kind of receipt), else `expires-date-formatted`.
    public internal(set) var expiresDate: Int64?
    /// `cancellation-date-ms`, else `cancellation-date`.
    public internal(set) var cancellationDate: Int64?
    /// `cancellation-reason`.
    public internal(set) var cancellationReason: Int64?
    /// `web-order-line-item-id`.
    public internal(set) var webOrderLineItemId: String?
    /// `item-id`: the App Store's id of the in-app product.
    public internal(set) var itemId: String?
    /// `app-item-id`: the App Store's id of the app; production only.
    public internal(set) var appItemId: String?
    /// `version-external-identifier`.
    public internal(set) var versionExternalIdentifier: String?
    /// `unique-identifier`: hexadecimal, formerly the UDID.
    public internal(set) var uniqueIdentifier: String?
    /// `unique-vendor-identifier`.
    public internal(set) var uniqueVendorIdentifier: String?
    /// `is-trial-period`.
    public internal(set) var isTrialPeriod: Bool?
    /// `is-in-intro-offer-period`.
    public internal(set) var isInIntroOfferPeriod: Bool?

    /// `in-app-ownership-type`: `PURCHASED` or `FAMILY_SHARED`; only in late receipts.
    public internal(set) var inAppOwnershipType: String?
    /// `subscription-group-identifier`; only in late receipts.
    public internal(set) var subscriptionGroupIdentifier: String?

    /// The outer `environment`, **not signed**: `Sandbox`, or nil (which claims production).
    public internal(set) var claimedEnvironment: String?
    /// The outer `pod`, **not signed**.
    public internal(set) var pod: String?
    /// The outer `signing-status`, **not signed**.
    public internal(set) var signingStatus: String?
    /// Outer keys beyond the five known ones, **not signed**, in the order of the receipt.
    public internal(set) var otherOuterEntries: [Entry]

    init() {
        purchaseInfo = []
        purchaseInfoBytes = []
        productId = ""
        transactionId = ""
        otherOuterEntries = []
    }

    /// The value of a key of the signed inner property list; the last one if a key is repeated.
    public func purchaseInfoValue(forKey key: String) -> String? {
        purchaseInfo.last { $0.key == key }?.value
    }

    /// Whether the *signed* transaction id belongs to the sandbox: 16 digits that begin with 100 or 200 (Reference.md
    /// V7.5, the pod rule).
    public var hasSandboxTransactionId: Bool { Self.isSandbox(transactionId: transactionId) }

    /// The pod rule for transaction ids of iOS 6 style records: 16 digits that begin with 100 or 200 belong to the
    /// sandbox (Reference.md V7.5).
    package static func isSandbox(transactionId id: String) -> Bool {
        id.utf8.count == 16 && id.utf8.allSatisfy { (0x30...0x39).contains($0) }
            && (id.hasPrefix("100") || id.hasPrefix("200"))
    }

    /// The environment to act on. It is production only if the outer list claims production *and* the signed
    /// transaction id is not a sandbox id. So an edit of the unsigned part never turns a sandbox purchase into a
    /// production purchase.
    public var environment: ReceiptEnvironment {
        claimsProduction && !hasSandboxTransactionId ? .production : .sandbox
    }

    /// Whether the unsigned environment contradicts the signed transaction id. In Apple's receipts they agree, so the
    /// receipt was edited.
    public var hasEnvironmentContradiction: Bool { claimsProduction == hasSandboxTransactionId }

    /// Whether the App Store may have signed the receipt long after its purchase date. A restored purchase gets a new
    /// transaction id and signature, and keeps the purchase date. So does the current period of a subscription in
    /// `latest_receipt` (Reference.md V6).
    var keepsPurchaseDate: Bool {
        expiresDate != nil || originalTransactionId.map { $0 != transactionId } ?? false
    }

    /// Whether the unsigned part claims production.
    var claimsProduction: Bool {
        guard let claimedEnvironment else { return true }
        return claimedEnvironment == "Production" || claimedEnvironment == "PROD"
    }
}

/// The signature blob of a transaction receipt (Reference.md V6): version byte, RSA signature, length and DER
/// of the leaf certificate.
public struct TransactionReceiptSignature: Hashable, Sendable {
    /// The version byte: 2 (RSA-1024 with SHA-1), 3 (RSA-2048 with SHA-1) or 4 (RSA-2048 with SHA-256). It is part of
    /// the signed bytes.
    public let version: UInt8
    /// The PKCS#1 v1.5 signature, 128 or 256 bytes.
    public let signature: ArraySlice<UInt8>
    /// The leaf certificate, DER.
    public let certificate: ArraySlice<UInt8>

    /// The digest of the signature, which the version determines.
    var digestAlgorithm: DigestAlgorithm { version == 4 ? .sha256 : .sha1 }
}
