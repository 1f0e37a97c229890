/// The texts of an Advanced Commerce subscription (App Store Server API, advancedCommerceDescriptors). Apple sends
/// both. They are optional here, so a payload without one can still be read.
public struct AdvancedCommerceDescriptors: AppStoreModel, JSONModel {
    /// The description of the subscription.
    public var description: String?

    /// The name of the subscription shown to the customer.
    public var displayName: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("description", &description)
        try visitor.member("displayName", &displayName)
    }
}

/// An offer on an Advanced Commerce item (Advanced Commerce API, offer). Apple sends all four. They are optional
/// here, so a payload without one can still be read.
public struct AdvancedCommerceOffer: AppStoreModel, JSONModel {
    /// The length of one period of the offer.
    public var period: AdvancedCommerceOfferPeriod?

    /// The number of periods of the offer, 1 to 12.
    public var periodCount: Int32?

    /// The price of one period. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64?

    /// The purpose of the offer.
    public var reason: AdvancedCommerceOfferReason?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("period", &period)
        try visitor.member("periodCount", &periodCount)
        try visitor.member("price", &price)
        try visitor.member("reason", &reason)
    }
}
