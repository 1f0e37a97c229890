/// An item to add (Advanced Commerce API, SubscriptionModifyAddItem).
public struct AdvancedCommerceSubscriptionModifyAddItem: Codable, Hashable, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The developer's identifier of the item, at most 128 characters.
    public var SKU: String

    /// The description of the item, at most 45 characters.
    public var description: String

    /// The name of the item shown to the customer, at most 30 characters.
    public var displayName: String

    /// The price of the item. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64

    /// The offer that applies to the item.
    public var offer: AdvancedCommerceOffer?

    /// The price for the rest of the current period. In milliunits of the currency: 10.99 is 10990.
    public var proratedPrice: Int64?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        SKU: String, description: String, displayName: String, price: Int64, offer: AdvancedCommerceOffer? = nil,
        proratedPrice: Int64? = nil
    ) {
        self.SKU = SKU
        self.description = description
        self.displayName = displayName
        self.price = price
        self.offer = offer
        self.proratedPrice = proratedPrice
    }
}

/// An item to change (Advanced Commerce API, SubscriptionModifyChangeItem).
public struct AdvancedCommerceSubscriptionModifyChangeItem: Codable, Hashable, Sendable {
    /// The current identifier of the item.
    public var currentSKU: String

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The identifier of the item from then on, at most 128 characters.
    public var SKU: String

    /// The description of the item, at most 45 characters.
    public var description: String

    /// The name of the item shown to the customer, at most 30 characters.
    public var displayName: String

    /// When the change takes effect.
    public var effective: AdvancedCommerceEffective

    /// The price of the item. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64

    /// The reason for the change.
    public var reason: AdvancedCommerceReason

    /// The offer that applies to the item.
    public var offer: AdvancedCommerceOffer?

    /// The price for the rest of the current period. In milliunits of the currency: 10.99 is 10990.
    public var proratedPrice: Int64?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        currentSKU: String, SKU: String, description: String, displayName: String, effective: AdvancedCommerceEffective,
        price: Int64, reason: AdvancedCommerceReason, offer: AdvancedCommerceOffer? = nil, proratedPrice: Int64? = nil
    ) {
        self.currentSKU = currentSKU
        self.SKU = SKU
        self.description = description
        self.displayName = displayName
        self.effective = effective
        self.price = price
        self.reason = reason
        self.offer = offer
        self.proratedPrice = proratedPrice
    }
}

/// An item to remove (Advanced Commerce API, SubscriptionModifyRemoveItem).
public struct AdvancedCommerceSubscriptionModifyRemoveItem: Codable, Hashable, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The developer's identifier of the item, at most 128 characters.
    public var SKU: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(SKU: String) {
        self.SKU = SKU
    }
}

/// A change of the renewal period (Advanced Commerce API, SubscriptionModifyPeriodChange).
public struct AdvancedCommerceSubscriptionModifyPeriodChange: Codable, Hashable, Sendable {
    /// When the change takes effect.
    public var effective: AdvancedCommerceEffective

    /// The new period.
    public var period: AdvancedCommercePeriod

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(effective: AdvancedCommerceEffective, period: AdvancedCommercePeriod) {
        self.effective = effective
        self.period = period
    }
}

/// New texts of a subscription (Advanced Commerce API, SubscriptionModifyDescriptors).
public struct AdvancedCommerceSubscriptionModifyDescriptors: Codable, Hashable, Sendable {
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
