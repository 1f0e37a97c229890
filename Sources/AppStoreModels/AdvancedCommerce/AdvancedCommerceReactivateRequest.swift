/// Turns renewal on again, to be signed and passed to StoreKit (Advanced Commerce API,
/// SubscriptionReactivateInAppRequest).
public struct AdvancedCommerceSubscriptionReactivateInAppRequest: AdvancedCommerceInAppRequest, FixedTextValue {
    /// The value of `operation` in the JSON: REACTIVATE_SUBSCRIPTION.
    public static let operation = "REACTIVATE_SUBSCRIPTION"

    private var operation = FixedText<Self>()
    private var version = FixedText<AdvancedCommerceVersion>()

    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// A transaction of the subscription.
    public var transactionId: String

    /// The items to keep; nil for all.
    public var items: [AdvancedCommerceSubscriptionReactivateItem]?

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        requestInfo: AdvancedCommerceRequestInfo, transactionId: String,
        items: [AdvancedCommerceSubscriptionReactivateItem]? = nil, storefront: String? = nil
    ) {
        self.requestInfo = requestInfo
        self.transactionId = transactionId
        self.items = items
        self.storefront = storefront
    }
}

/// An item to keep (Advanced Commerce API, SubscriptionReactivateItem).
public struct AdvancedCommerceSubscriptionReactivateItem: Codable, Hashable, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The developer's identifier of the item, at most 128 characters.
    public var SKU: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(SKU: String) {
        self.SKU = SKU
    }
}
