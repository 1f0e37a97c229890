/// A change of a subscription, to be signed and passed to StoreKit (Advanced Commerce API,
/// SubscriptionModifyInAppRequest).
public struct AdvancedCommerceSubscriptionModifyInAppRequest: Codable, Hashable, Sendable {
    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// Whether the billing cycle stays the same.
    public var retainBillingCycle: Bool

    /// A transaction of the subscription.
    public var transactionId: String

    /// Items to add.
    public var addItems: [AdvancedCommerceSubscriptionModifyAddItem]?

    /// Items to change.
    public var changeItems: [AdvancedCommerceSubscriptionModifyChangeItem]?

    /// Items to remove.
    public var removeItems: [AdvancedCommerceSubscriptionModifyRemoveItem]?

    /// A change of the renewal period.
    public var periodChange: AdvancedCommerceSubscriptionModifyPeriodChange?

    /// New texts.
    public var descriptors: AdvancedCommerceSubscriptionModifyDescriptors?

    /// The ISO 4217 code of the currency.
    public var currency: String?

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// The tax code of the product.
    public var taxCode: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        requestInfo: AdvancedCommerceRequestInfo,
        retainBillingCycle: Bool,
        transactionId: String,
        addItems: [AdvancedCommerceSubscriptionModifyAddItem]? = nil,
        changeItems: [AdvancedCommerceSubscriptionModifyChangeItem]? = nil,
        removeItems: [AdvancedCommerceSubscriptionModifyRemoveItem]? = nil,
        periodChange: AdvancedCommerceSubscriptionModifyPeriodChange? = nil,
        descriptors: AdvancedCommerceSubscriptionModifyDescriptors? = nil,
        currency: String? = nil,
        storefront: String? = nil,
        taxCode: String? = nil
    ) {
        self.requestInfo = requestInfo
        self.retainBillingCycle = retainBillingCycle
        self.transactionId = transactionId
        self.addItems = addItems
        self.changeItems = changeItems
        self.removeItems = removeItems
        self.periodChange = periodChange
        self.descriptors = descriptors
        self.currency = currency
        self.storefront = storefront
        self.taxCode = taxCode
    }
}

extension AdvancedCommerceSubscriptionModifyInAppRequest {
    private enum CodingKeys: String, CodingKey {
        case operation, version, requestInfo, retainBillingCycle, transactionId, addItems, changeItems, removeItems,
            periodChange, descriptors, currency, storefront, taxCode
    }

    /// Reads the JSON that `encode(to:)` writes; `operation` and `version` must be those of this request.
    /// - Throws: `DecodingError` if a member is missing or has a wrong type or value.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try values.require(Self.operation, forKey: .operation)
        try values.require(Self.version, forKey: .version)
        requestInfo = try values.decode(AdvancedCommerceRequestInfo.self, forKey: .requestInfo)
        retainBillingCycle = try values.decode(Bool.self, forKey: .retainBillingCycle)
        transactionId = try values.decode(String.self, forKey: .transactionId)
        addItems = try values.decodeIfPresent([AdvancedCommerceSubscriptionModifyAddItem].self, forKey: .addItems)
        changeItems = try values.decodeIfPresent(
            [AdvancedCommerceSubscriptionModifyChangeItem].self, forKey: .changeItems)
        removeItems = try values.decodeIfPresent(
            [AdvancedCommerceSubscriptionModifyRemoveItem].self, forKey: .removeItems)
        periodChange = try values.decodeIfPresent(
            AdvancedCommerceSubscriptionModifyPeriodChange.self, forKey: .periodChange)
        descriptors = try values.decodeIfPresent(
            AdvancedCommerceSubscriptionModifyDescriptors.self, forKey: .descriptors)
        currency = try values.decodeIfPresent(String.self, forKey: .currency)
        storefront = try values.decodeIfPresent(String.self, forKey: .storefront)
        taxCode = try values.decodeIfPresent(String.self, forKey: .taxCode)
    }

    /// Writes the members that are set, with `operation` and `version`, which Apple requires.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.operation, forKey: .operation)
        try values.encode(Self.version, forKey: .version)
        try values.encode(requestInfo, forKey: .requestInfo)
        try values.encode(retainBillingCycle, forKey: .retainBillingCycle)
        try values.encode(transactionId, forKey: .transactionId)
        try values.encodeIfPresent(addItems, forKey: .addItems)
        try values.encodeIfPresent(changeItems, forKey: .changeItems)
        try values.encodeIfPresent(removeItems, forKey: .removeItems)
        try values.encodeIfPresent(periodChange, forKey: .periodChange)
        try values.encodeIfPresent(descriptors, forKey: .descriptors)
        try values.encodeIfPresent(currency, forKey: .currency)
        try values.encodeIfPresent(storefront, forKey: .storefront)
        try values.encodeIfPresent(taxCode, forKey: .taxCode)
    }
}

extension AdvancedCommerceSubscriptionModifyInAppRequest: AdvancedCommerceInAppRequest {
    /// The value of `operation` in the JSON: MODIFY_SUBSCRIPTION.
    public static let operation = "MODIFY_SUBSCRIPTION"
}
