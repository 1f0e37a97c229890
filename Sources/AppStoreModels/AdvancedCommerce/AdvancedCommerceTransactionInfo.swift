/// The Advanced Commerce data of a transaction (App Store Server API, advancedCommerceTransactionInfo).
public struct AdvancedCommerceTransactionInfo: AppStoreModel, JSONModel {
    /// The texts of the subscription.
    public var descriptors: AdvancedCommerceDescriptors?

    /// The estimated tax. In milliunits of the currency: 10.99 is 10990.
    public var estimatedTax: Int64?

    /// The items bought.
    public var items: [AdvancedCommerceTransactionItem]?

    /// The renewal period of the subscription.
    public var period: AdvancedCommercePeriod?

    /// The UUID text that identifies the developer's request.
    public var requestReferenceId: String?

    /// The tax code of the purchase.
    public var taxCode: String?

    /// The price without tax. In milliunits of the currency: 10.99 is 10990.
    public var taxExclusivePrice: Int64?

    /// The tax rate, a decimal number as text.
    public var taxRate: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("descriptors", &descriptors)
        try visitor.member("estimatedTax", &estimatedTax)
        try visitor.member("items", &items)
        try visitor.member("period", &period)
        try visitor.member("requestReferenceId", &requestReferenceId)
        try visitor.member("taxCode", &taxCode)
        try visitor.member("taxExclusivePrice", &taxExclusivePrice)
        try visitor.member("taxRate", &taxRate)
    }
}

/// One item of an Advanced Commerce transaction (App Store Server API, advancedCommerceTransactionItem).
public struct AdvancedCommerceTransactionItem: AppStoreModel, JSONModel {
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

    /// The refunds of the item.
    public var refunds: [AdvancedCommerceRefund]?

    /// When the item was refunded or revoked. In milliseconds since 1970-01-01 00:00 UTC.
    public var revocationDate: Int64?

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
        try visitor.member("refunds", &refunds)
        try visitor.date("revocationDate", &revocationDate)
    }
}

/// One refund of an Advanced Commerce item (App Store Server API, advancedCommerceRefund).
public struct AdvancedCommerceRefund: AppStoreModel, JSONModel {
    /// The amount refunded. In milliunits of the currency: 10.99 is 10990.
    public var refundAmount: Int64?

    /// The date of the refund. In milliseconds since 1970-01-01 00:00 UTC.
    public var refundDate: Int64?

    /// The reason for the refund.
    public var refundReason: AdvancedCommerceRefundReason?

    /// The kind of refund: full, prorated or a custom amount.
    public var refundType: AdvancedCommerceRefundType?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("refundAmount", &refundAmount)
        try visitor.date("refundDate", &refundDate)
        try visitor.member("refundReason", &refundReason)
        try visitor.member("refundType", &refundType)
    }
}
