/// The Advanced Commerce data of renewal information (App Store Server API, advancedCommerceRenewalInfo).
public struct AdvancedCommerceRenewalInfo: AppStoreModel, JSONModel {
    /// The token to send along with requests that change the subscription.
    public var consistencyToken: String?

    /// The texts of the subscription.
    public var descriptors: AdvancedCommerceDescriptors?

    /// The items that will renew.
    public var items: [AdvancedCommerceRenewalItem]?

    /// The renewal period of the subscription.
    public var period: AdvancedCommercePeriod?

    /// The UUID text that identifies the developer's request.
    public var requestReferenceId: String?

    /// The tax code of the subscription.
    public var taxCode: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("consistencyToken", &consistencyToken)
        try visitor.member("descriptors", &descriptors)
        try visitor.member("items", &items)
        try visitor.member("period", &period)
        try visitor.member("requestReferenceId", &requestReferenceId)
        try visitor.member("taxCode", &taxCode)
    }
}

/// One item that will renew (App Store Server API, advancedCommerceRenewalItem).
public struct AdvancedCommerceRenewalItem: AppStoreModel, JSONModel {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The developer's identifier of the item, in Apple's spelling.
    public var SKU: String?

    /// The description of the item.
    public var description: String?

    /// The name of the item shown to the customer.
    public var displayName: String?

    /// The offer that applies to the item.
    public var offer: AdvancedCommerceOffer?

    /// The price of the item. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64?

    /// A price increase of the item.
    public var priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("SKU", &SKU)
        try visitor.member("description", &description)
        try visitor.member("displayName", &displayName)
        try visitor.member("offer", &offer)
        try visitor.member("price", &price)
        try visitor.member("priceIncreaseInfo", &priceIncreaseInfo)
    }
}

/// A price increase of an Advanced Commerce item (App Store Server API, advancedCommercePriceIncreaseInfo).
public struct AdvancedCommercePriceIncreaseInfo: AppStoreModel, JSONModel {
    /// The other items whose price depends on this one.
    public var dependentSKUs: [String]?

    /// The new price. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64?

    /// Whether the increase is scheduled, pending or accepted.
    public var status: AdvancedCommercePriceIncreaseInfoStatus?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("dependentSKUs", &dependentSKUs)
        try visitor.member("price", &price)
        try visitor.member("status", &status)
    }
}
