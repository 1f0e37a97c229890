/// Moves a subscription to the Advanced Commerce API (SubscriptionMigrateRequest).
public struct AdvancedCommerceSubscriptionMigrateRequest: Codable, Hashable, Sendable {
    /// The texts of the subscription; Apple requires both.
    public var descriptors: AdvancedCommerceDescriptors

    /// The items, at least one.
    public var items: [AdvancedCommerceSubscriptionMigrateItem]

    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// The generic product of the developer for subscriptions.
    public var targetProductId: String

    /// The tax code of the product.
    public var taxCode: String

    /// The items from the next renewal on, if they differ.
    public var renewalItems: [AdvancedCommerceSubscriptionMigrateItem]?

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        descriptors: AdvancedCommerceDescriptors, items: [AdvancedCommerceSubscriptionMigrateItem],
        requestInfo: AdvancedCommerceRequestInfo, targetProductId: String, taxCode: String,
        renewalItems: [AdvancedCommerceSubscriptionMigrateItem]? = nil, storefront: String? = nil
    ) {
        self.descriptors = descriptors
        self.items = items
        self.requestInfo = requestInfo
        self.targetProductId = targetProductId
        self.taxCode = taxCode
        self.renewalItems = renewalItems
        self.storefront = storefront
    }
}

/// An item of a migrated subscription (Advanced Commerce API, SubscriptionMigrateItem and
/// SubscriptionMigrateRenewalItem).
public struct AdvancedCommerceSubscriptionMigrateItem: Codable, Hashable, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The developer's identifier of the item, at most 128 characters.
    public var SKU: String

    /// The description of the item, at most 45 characters.
    public var description: String

    /// The name of the item shown to the customer, at most 30 characters.
    public var displayName: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(SKU: String, description: String, displayName: String) {
        self.SKU = SKU
        self.description = description
        self.displayName = displayName
    }
}
