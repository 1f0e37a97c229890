/// New prices of a subscription (Advanced Commerce API, SubscriptionPriceChangeRequest).
public struct AdvancedCommerceSubscriptionPriceChangeRequest: Codable, Hashable, Sendable {
    /// The items, at least one.
    public var items: [AdvancedCommerceSubscriptionPriceChangeItem]

    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// The ISO 4217 code of the currency.
    public var currency: String?

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        items: [AdvancedCommerceSubscriptionPriceChangeItem], requestInfo: AdvancedCommerceRequestInfo,
        currency: String? = nil, storefront: String? = nil
    ) {
        self.items = items
        self.requestInfo = requestInfo
        self.currency = currency
        self.storefront = storefront
    }
}

/// A new price (Advanced Commerce API, SubscriptionPriceChangeItem).
public struct AdvancedCommerceSubscriptionPriceChangeItem: Codable, Hashable, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The developer's identifier of the item, at most 128 characters.
    public var SKU: String

    /// The price of the item. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64

    /// Items whose price depends on this one.
    public var dependentSKUs: [String]?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(SKU: String, price: Int64, dependentSKUs: [String]? = nil) {
        self.SKU = SKU
        self.price = price
        self.dependentSKUs = dependentSKUs
    }
}

/// New texts or identifiers (Advanced Commerce API, SubscriptionChangeMetadataRequest).
public struct AdvancedCommerceSubscriptionChangeMetadataRequest: Codable, Hashable, Sendable {
    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// New texts of the subscription.
    public var descriptors: AdvancedCommerceSubscriptionChangeMetadataDescriptors?

    /// Items to change.
    public var items: [AdvancedCommerceSubscriptionChangeMetadataItem]?

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// The tax code of the product.
    public var taxCode: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        requestInfo: AdvancedCommerceRequestInfo,
        descriptors: AdvancedCommerceSubscriptionChangeMetadataDescriptors? = nil,
        items: [AdvancedCommerceSubscriptionChangeMetadataItem]? = nil, storefront: String? = nil,
        taxCode: String? = nil
    ) {
        self.requestInfo = requestInfo
        self.descriptors = descriptors
        self.items = items
        self.storefront = storefront
        self.taxCode = taxCode
    }
}

/// New texts of a subscription (Advanced Commerce API, SubscriptionChangeMetadataDescriptors).
public struct AdvancedCommerceSubscriptionChangeMetadataDescriptors: Codable, Hashable, Sendable {
    /// When the change takes effect.
    public var effective: AdvancedCommerceEffective

    /// The new description.
    public var description: String?

    /// The new name shown to the customer.
    public var displayName: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(effective: AdvancedCommerceEffective, description: String? = nil, displayName: String? = nil) {
        self.effective = effective
        self.description = description
        self.displayName = displayName
    }
}

/// New texts or a new identifier of an item (Advanced Commerce API, SubscriptionChangeMetadataItem).
public struct AdvancedCommerceSubscriptionChangeMetadataItem: Codable, Hashable, Sendable {
    /// The current identifier of the item.
    public var currentSKU: String

    /// When the change takes effect.
    public var effective: AdvancedCommerceEffective

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The identifier of the item from then on, at most 128 characters.
    public var SKU: String?

    /// The new description.
    public var description: String?

    /// The new name shown to the customer.
    public var displayName: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        currentSKU: String, effective: AdvancedCommerceEffective, SKU: String? = nil, description: String? = nil,
        displayName: String? = nil
    ) {
        self.currentSKU = currentSKU
        self.effective = effective
        self.SKU = SKU
        self.description = description
        self.displayName = displayName
    }
}
