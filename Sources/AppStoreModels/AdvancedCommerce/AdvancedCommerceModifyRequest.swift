/// A change of a subscription, to be signed and passed to StoreKit (Advanced Commerce API,
/// SubscriptionModifyInAppRequest).
public struct AdvancedCommerceSubscriptionModifyInAppRequest: AdvancedCommerceInAppRequest, FixedTextValue {
    /// The value of `operation` in the JSON: MODIFY_SUBSCRIPTION.
    public static let operation = "MODIFY_SUBSCRIPTION"

    private var operation = FixedText<Self>()
    private var version = FixedText<AdvancedCommerceVersion>()

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
        requestInfo: AdvancedCommerceRequestInfo, retainBillingCycle: Bool, transactionId: String,
        addItems: [AdvancedCommerceSubscriptionModifyAddItem]? = nil,
        changeItems: [AdvancedCommerceSubscriptionModifyChangeItem]? = nil,
        removeItems: [AdvancedCommerceSubscriptionModifyRemoveItem]? = nil,
        periodChange: AdvancedCommerceSubscriptionModifyPeriodChange? = nil,
        descriptors: AdvancedCommerceSubscriptionModifyDescriptors? = nil, currency: String? = nil,
        storefront: String? = nil, taxCode: String? = nil
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
