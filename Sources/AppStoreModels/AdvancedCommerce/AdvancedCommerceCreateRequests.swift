/// The purchase of a product that does not renew, to be signed and passed to StoreKit (Advanced Commerce API,
/// OneTimeChargeCreateRequest).
public struct AdvancedCommerceOneTimeChargeCreateRequest: AdvancedCommerceInAppRequest, FixedTextValue {
    /// The value of `operation` in the JSON: CREATE_ONE_TIME_CHARGE.
    public static let operation = "CREATE_ONE_TIME_CHARGE"

    private var operation = FixedText<Self>()
    private var version = FixedText<AdvancedCommerceVersion>()

    /// The ISO 4217 code of the currency.
    public var currency: String

    /// The product.
    public var item: AdvancedCommerceOneTimeChargeItem

    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// The tax code of the product.
    public var taxCode: String

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        currency: String, item: AdvancedCommerceOneTimeChargeItem, requestInfo: AdvancedCommerceRequestInfo,
        taxCode: String, storefront: String? = nil
    ) {
        self.currency = currency
        self.item = item
        self.requestInfo = requestInfo
        self.taxCode = taxCode
        self.storefront = storefront
    }
}

/// A product that does not renew (Advanced Commerce API, OneTimeChargeItem).
public struct AdvancedCommerceOneTimeChargeItem: Codable, Hashable, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The developer's identifier of the item, at most 128 characters.
    public var SKU: String

    /// The description of the item, at most 45 characters.
    public var description: String

    /// The name of the item shown to the customer, at most 30 characters.
    public var displayName: String

    /// The price of the item. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(SKU: String, description: String, displayName: String, price: Int64) {
        self.SKU = SKU
        self.description = description
        self.displayName = displayName
        self.price = price
    }
}

/// The purchase of a subscription, to be signed and passed to StoreKit (Advanced Commerce API,
/// SubscriptionCreateRequest).
public struct AdvancedCommerceSubscriptionCreateRequest: AdvancedCommerceInAppRequest, FixedTextValue {
    /// The value of `operation` in the JSON: CREATE_SUBSCRIPTION.
    public static let operation = "CREATE_SUBSCRIPTION"

    private var operation = FixedText<Self>()
    private var version = FixedText<AdvancedCommerceVersion>()

    /// The ISO 4217 code of the currency.
    public var currency: String

    /// The texts of the subscription; Apple requires both.
    public var descriptors: AdvancedCommerceDescriptors

    /// The items, at least one.
    public var items: [AdvancedCommerceSubscriptionCreateItem]

    /// The renewal period.
    public var period: AdvancedCommercePeriod

    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// The tax code of the product.
    public var taxCode: String

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// A transaction of a former subscription of the customer.
    public var previousTransactionId: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        currency: String, descriptors: AdvancedCommerceDescriptors, items: [AdvancedCommerceSubscriptionCreateItem],
        period: AdvancedCommercePeriod, requestInfo: AdvancedCommerceRequestInfo, taxCode: String,
        storefront: String? = nil, previousTransactionId: String? = nil
    ) {
        self.currency = currency
        self.descriptors = descriptors
        self.items = items
        self.period = period
        self.requestInfo = requestInfo
        self.taxCode = taxCode
        self.storefront = storefront
        self.previousTransactionId = previousTransactionId
    }
}

/// An item of a new subscription (Advanced Commerce API, SubscriptionCreateItem).
public struct AdvancedCommerceSubscriptionCreateItem: Codable, Hashable, Sendable {
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

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        SKU: String, description: String, displayName: String, price: Int64, offer: AdvancedCommerceOffer? = nil
    ) {
        self.SKU = SKU
        self.description = description
        self.displayName = displayName
        self.price = price
        self.offer = offer
    }
}
