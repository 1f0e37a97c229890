import AppStoreModels
import LegacyReceipts

/// A fact that a legacy record can state about a purchase.
enum Fact: Int, CaseIterable, Sendable {
    case quantity, productId, transactionId, purchaseDate, originalTransactionId, originalPurchaseDate, productType
    case expiresDate, webOrderLineItemId, cancellationDate, cancellationReason, isTrialPeriod, isInIntroOfferPeriod
    case promotionalOfferId, ownershipType, isUpgraded, subscriptionGroupIdentifier, appAccountToken, offerCodeRefName
}

/// The statement of a legacy record about one purchase, for all kinds of records.
struct PurchaseFacts: Sendable, Equatable {
    var quantity: Int64?
    var productId: String?
    var transactionId: String?
    var purchaseDate: Int64?
    var originalTransactionId: String?
    var originalPurchaseDate: Int64?
    var productType: ReceiptProductType?
    var expiresDate: Int64?
    var webOrderLineItemId: String?
    var cancellationDate: Int64?
    var cancellationReason: Int64?
    var isTrialPeriod: Bool?
    var isInIntroOfferPeriod: Bool?
    var promotionalOfferId: String?
    var ownershipType: InAppOwnershipType?
    /// Whether the record states an unknown ownership, so that no default applies.
    var hasUnknownOwnership = false
    var isUpgraded: Bool?
    var subscriptionGroupIdentifier: String?
    var appAccountToken: String?
    var offerCodeRefName: String?
    var itemId: String?
}

/// The kind of record, which gives the provenance of each fact.
enum RecordForm: Sendable {
    /// Attributes of an app receipt (Reference.md V5.3).
    case attributes
    /// Keys of a transaction receipt, which may have either of two forms of a date.
    indirect case purchaseInfo(TransactionReceipt)
    /// Keys of a recorded document, by the raw value of ``Fact``.
    case recorded([RecordedKey?], isNotification: Bool)
    /// Members of a verified JWS from this source.
    case signedJWS(FactSource)
    /// Members of decoded StoreKit 2 JSON.
    case recordedStoreKit2

    var source: FactSource {
        switch self {
        case .attributes, .purchaseInfo: .receipt
        case .recorded(_, let isNotification): isNotification ? .recordedNotificationV1 : .recordedReply
        case .signedJWS(let source): source
        case .recordedStoreKit2: .recordedStoreKit2
        }
    }

    func provenance(_ fact: Fact) -> Provenance {
        switch self {
        case .attributes: .signedAttribute(Self.attribute(fact))
        case .purchaseInfo(let receipt): .signedKey(Self.key(fact, receipt))
        case .recorded(let keys, let isNotification):
            switch keys[fact.rawValue] {
            case let key?: isNotification ? .notificationV1(key) : .recordedReply(key)
            case nil: .absent
            }
        case .signedJWS: .signedJWS
        case .recordedStoreKit2: .recordedStoreKit2
        }
    }

    /// The provenance of every field of a modern document; nil for a legacy document.
    var modernProvenance: Provenance? {
        switch self {
        case .signedJWS: .signedJWS
        case .recordedStoreKit2: .recordedStoreKit2
        case .attributes, .purchaseInfo, .recorded: nil
        }
    }

    static func attribute(_ fact: Fact) -> Int {
        switch fact {
        case .quantity: 1701
        case .productId: 1702
        case .transactionId: 1703
        case .purchaseDate: 1704
        case .originalTransactionId: 1705
        case .originalPurchaseDate: 1706
        case .productType: 1707
        case .expiresDate: 1708
        case .webOrderLineItemId: 1711
        case .cancellationDate: 1712
        case .isTrialPeriod: 1713
        case .isInIntroOfferPeriod: 1719
        case .cancellationReason: 1720
        case .promotionalOfferId: 1721
        case .ownershipType: 1722
        // No attribute states these (Reference.md V5.3), so their provenance is never needed.
        case .isUpgraded, .subscriptionGroupIdentifier, .appAccountToken, .offerCodeRefName: -1
        }
    }

    private static func key(_ fact: Fact, _ receipt: TransactionReceipt) -> String {
        switch fact {
        case .quantity: "quantity"
        case .productId: "product-id"
        case .transactionId: "transaction-id"
        case .purchaseDate: receipt.firstKey("purchase-date-ms", else: "purchase-date")
        case .originalTransactionId: "original-transaction-id"
        case .originalPurchaseDate: receipt.firstKey("original-purchase-date-ms", else: "original-purchase-date")
        case .productType: "product-type"
        case .expiresDate: receipt.firstKey("expires-date", else: "expires-date-formatted")
        case .webOrderLineItemId: "web-order-line-item-id"
        case .cancellationDate: receipt.firstKey("cancellation-date-ms", else: "cancellation-date")
        case .isTrialPeriod: "is-trial-period"
        case .isInIntroOfferPeriod: "is-in-intro-offer-period"
        case .cancellationReason: "cancellation-reason"
        case .promotionalOfferId: "promotional-offer-id"
        case .ownershipType: "in-app-ownership-type"
        case .isUpgraded: "is-upgraded"
        case .subscriptionGroupIdentifier: "subscription-group-identifier"
        case .appAccountToken: "app-account-token"
        case .offerCodeRefName: "offer-code-ref-name"
        }
    }
}

extension TransactionReceipt {
    fileprivate func firstKey(_ key: String, else other: String) -> String {
        purchaseInfo.contains { $0.key == key } ? key : other
    }
}

/// Data that applies to all purchases of one record.
struct RecordContext: Sendable {
    var bundleId: String?
    var bundleIdProvenance = Provenance.absent
    var environment: Environment?
    var environmentProvenance = Provenance.absent
    /// When the record was made, in milliseconds since 1970-01-01T00:00:00Z; nil if it does not state that.
    var recordedAt: Int64?
}

extension ReceiptEnvironment {
    var modern: Environment {
        switch self {
        case .production: .production
        case .sandbox: .sandbox
        case .xcode: .xcode
        }
    }
}
