/// The texts of an Advanced Commerce subscription (App Store Server API, advancedCommerceDescriptors). Apple sends
/// both; they are optional here so that a payload without one can still be read.
public struct AdvancedCommerceDescriptors: Codable, Hashable, Sendable {
    /// The description of the subscription.
    public var description: String?

    /// The name of the subscription shown to the customer.
    public var displayName: String?

    /// Every field is absent unless given.
    public init(
        description: String? = nil,
        displayName: String? = nil
    ) {
        self.description = description
        self.displayName = displayName
    }
}

extension AdvancedCommerceDescriptors: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("description", description)
        writer.member("displayName", displayName)
        writer.endObject()
    }
}

/// An offer on an Advanced Commerce item (Advanced Commerce API, offer). Apple sends all four; they are optional here
/// so that a payload without one can still be read.
public struct AdvancedCommerceOffer: Codable, Hashable, Sendable {
    /// The length of one period of the offer.
    public var period: AdvancedCommerceOfferPeriod?

    /// How many periods the offer lasts, 1 to 12.
    public var periodCount: Int32?

    /// The price of one period. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64?

    /// What the offer is for.
    public var reason: AdvancedCommerceOfferReason?

    /// Every field is absent unless given.
    public init(
        period: AdvancedCommerceOfferPeriod? = nil,
        periodCount: Int32? = nil,
        price: Int64? = nil,
        reason: AdvancedCommerceOfferReason? = nil
    ) {
        self.period = period
        self.periodCount = periodCount
        self.price = price
        self.reason = reason
    }
}

extension AdvancedCommerceOffer: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("period", period)
        writer.member("periodCount", periodCount)
        writer.member("price", price)
        writer.member("reason", reason)
        writer.endObject()
    }
}
