internal import AppStoreModels

/// The content of an iOS 6 transaction receipt (Reference.md V6), before it is signed.
///
/// A property that is nil omits its key.
public struct ForgedTransactionReceipt: ForgedDescription, Hashable {
    /// `transaction-id`. In production it begins with the pod.
    public var transactionId: String
    /// `original-transaction-id`.
    public var originalTransactionId: String
    /// `product-id`.
    public var productId: String
    /// `quantity`, as text.
    public var quantity = "1"
    /// `bid`.
    public var bundleId = "com.example.orchard"
    /// `bvrs`: the version of the app.
    public var applicationVersion = "2.1"
    /// `item-id`: the item id of the in-app purchase.
    public var itemId = "871234567"
    /// `app-item-id`: the item id of the app; `0` or nil in the sandbox (Reference.md V4).
    public var appItemId: String?
    /// `version-external-identifier`; `0` or nil in the sandbox (Reference.md V4).
    public var versionExternalIdentifier: String?
    /// The device, 40 hexadecimal digits.
    public var uniqueIdentifier: String? = Printable.hex(opaqueBytes("unique-identifier", count: 20))
    /// `unique-vendor-identifier`: the `identifierForVendor` of the device.
    public var uniqueVendorIdentifier: String? = "7E57A11C-0000-4000-8000-00000000F06E"
    /// `purchase-date-ms`, in milliseconds, and `purchase-date` and `purchase-date-pst` in text form (Reference.md
    /// V3.4).
    public var purchaseDate: ForgedInstant
    /// `original-purchase-date` in the same three forms.
    public var originalPurchaseDate: ForgedInstant
    /// `expires-date` in milliseconds, and its two text forms. Nil for anything but auto-renewable subscriptions.
    public var expiresDate: ForgedInstant?
    /// `web-order-line-item-id`: the id of the subscription period. Auto-renewable subscriptions only.
    public var webOrderLineItemId: String?
    /// `is-trial-period`: `true` or `false`; nil in receipts before 2017.
    public var isTrialPeriod: Bool?
    /// `is-in-intro-offer-period`: `true` or `false`; nil in receipts before 2017.
    public var isInIntroOfferPeriod: Bool?
    /// `PURCHASED` or `FAMILY_SHARED`; nil in receipts before 2021.
    public var inAppOwnershipType: String?
    /// `cancellation-date` in three forms, for a refund.
    public var cancellationDate: ForgedInstant?
    /// `cancellation-reason`, for a refund.
    public var cancellationReason: String?

    // The outer property list, which is not signed.
    /// "Sandbox"; nil in production.
    public var environment: String?
    /// `pod`: a number, for example 100. A genuine transaction id begins with it (Reference.md V7.5).
    public var pod: String?
    /// `signing-status`: always `0` in Apple's receipts.
    public var signingStatus: String? = "0"

    /// A purchase without an environment and a pod.
    ///
    /// - Parameters:
    ///   - product: `product-id`.
    ///   - id: `transaction-id`.
    ///   - date: the purchase date. Milliseconds are kept.
    ///   - originalId: nil for `id`, as in a first purchase.
    ///   - originalDate: nil for `date`.
    public init(
        product: String, id: String, at date: ForgedInstant, originalId: String? = nil,
        originallyAt originalDate: ForgedInstant? = nil
    ) {
        productId = product
        transactionId = id
        originalTransactionId = originalId ?? id
        purchaseDate = date
        originalPurchaseDate = originalDate ?? date
    }

    /// A purchase in the sandbox: pod 100, which is also the start of its transaction id.
    public static func sandbox(product: String, id: String, at date: ForgedInstant) -> Self {
        Self(product: product, id: id, at: date).with {
            $0.environment = "Sandbox"
            $0.pod = "100"
        }
    }

    /// A purchase in production: no `environment`, and a transaction id that begins with the pod.
    public static func production(product: String, pod: String, serial: String, at date: ForgedInstant) -> Self {
        Self(product: product, id: pod + serial, at: date).with {
            $0.pod = pod
            $0.appItemId = "612345678"
            $0.versionExternalIdentifier = "801234567"
        }
    }

    /// The first purchase, at another date.
    func bought(at date: ForgedInstant) -> Self {
        with {
            $0.purchaseDate = date
            $0.originalPurchaseDate = date
        }
    }

    /// The entries of the inner property list in Apple's order, which depends on the keys that are present.
    public var purchaseInfo: [(key: String, value: String)] {
        let values = purchaseInfoValues
        return keyOrder.compactMap { key in values[key].flatMap { $0 }.map { (key, $0) } }
    }

    private var purchaseInfoValues: [String: String?] {
        [
            "original-purchase-date-pst": originalPurchaseDate.losAngelesText,
            "purchase-date-ms": String(purchaseDate.milliseconds),
            "unique-identifier": uniqueIdentifier,
            "original-transaction-id": originalTransactionId,
            "expires-date": expiresDate.map { String($0.milliseconds) },
            "app-item-id": appItemId,
            "transaction-id": transactionId,
            "quantity": quantity,
            "cancellation-date-ms": cancellationDate.map { String($0.milliseconds) },
            "cancellation-reason": cancellationReason,
            "original-purchase-date-ms": String(originalPurchaseDate.milliseconds),
            "web-order-line-item-id": webOrderLineItemId,
            "bvrs": applicationVersion,
            "unique-vendor-identifier": uniqueVendorIdentifier,
            "is-trial-period": isTrialPeriod.map { $0 ? "true" : "false" },
            "is-in-intro-offer-period": isInIntroOfferPeriod.map { $0 ? "true" : "false" },
            "in-app-ownership-type": inAppOwnershipType,
            "expires-date-formatted-pst": expiresDate?.losAngelesText,
            "item-id": itemId,
            "version-external-identifier": versionExternalIdentifier,
            "expires-date-formatted": expiresDate?.gmtText,
            "product-id": productId,
            "cancellation-date": cancellationDate?.gmtText,
            "cancellation-date-pst": cancellationDate?.losAngelesText,
            "purchase-date": purchaseDate.gmtText,
            "original-purchase-date": originalPurchaseDate.gmtText,
            "bid": bundleId,
            "purchase-date-pst": purchaseDate.losAngelesText,
        ]
    }

    private var keyOrder: [String] {
        if expiresDate == nil { return inAppOwnershipType == nil ? Self.plainOrder : Self.ownershipOrder }
        return appItemId == nil ? Self.subscriptionOrder : Self.productionSubscriptionOrder
    }

    private static let plainOrder = [
        "original-purchase-date-pst", "unique-identifier", "original-transaction-id", "bvrs", "app-item-id",
        "transaction-id", "quantity", "cancellation-date-ms", "original-purchase-date-ms", "unique-vendor-identifier",
        "cancellation-reason", "web-order-line-item-id", "product-id", "item-id", "version-external-identifier",
        "is-trial-period", "is-in-intro-offer-period", "bid", "purchase-date-ms", "purchase-date", "purchase-date-pst",
        "cancellation-date", "cancellation-date-pst", "original-purchase-date",
    ]

    /// The order since receipts state the ownership.
    private static let ownershipOrder = [
        "original-purchase-date-pst", "purchase-date-ms", "unique-identifier", "original-transaction-id", "bvrs",
        "app-item-id", "transaction-id", "quantity", "cancellation-date-ms", "in-app-ownership-type",
        "original-purchase-date-ms", "unique-vendor-identifier", "cancellation-reason", "web-order-line-item-id",
        "item-id", "version-external-identifier", "is-in-intro-offer-period", "product-id", "purchase-date",
        "cancellation-date", "cancellation-date-pst", "is-trial-period", "original-purchase-date", "bid",
        "purchase-date-pst",
    ]

    private static let subscriptionOrder = [
        "original-purchase-date-pst", "purchase-date-ms", "unique-identifier", "original-transaction-id",
        "expires-date", "transaction-id", "in-app-ownership-type", "cancellation-date-ms", "original-purchase-date-ms",
        "web-order-line-item-id", "bvrs", "unique-vendor-identifier", "cancellation-reason", "is-trial-period",
        "is-in-intro-offer-period", "expires-date-formatted-pst", "item-id", "expires-date-formatted", "product-id",
        "version-external-identifier", "cancellation-date", "cancellation-date-pst", "purchase-date",
        "original-purchase-date", "bid", "purchase-date-pst", "quantity",
    ]

    private static let productionSubscriptionOrder = [
        "original-purchase-date-pst", "purchase-date-ms", "unique-identifier", "original-transaction-id",
        "expires-date", "app-item-id", "transaction-id", "quantity", "in-app-ownership-type", "cancellation-date-ms",
        "original-purchase-date-ms", "version-external-identifier", "unique-vendor-identifier",
        "cancellation-reason", "web-order-line-item-id", "is-trial-period", "is-in-intro-offer-period", "item-id",
        "expires-date-formatted", "cancellation-date", "cancellation-date-pst", "purchase-date", "product-id",
        "expires-date-formatted-pst", "original-purchase-date", "purchase-date-pst", "bid", "bvrs",
    ]

    /// The expected result of a decoder: the inner keys with `_` for `-`, all values strings (Reference.md V4).
    public var facts: ForgedJSON {
        .object(
            purchaseInfo.map { entry in (String(entry.key.map { $0 == "-" ? "_" : $0 }), .string(entry.value)) })
    }
}
