/// The texts of an Advanced Commerce subscription (App Store Server API, advancedCommerceDescriptors). Apple sends
/// both. They are optional here, so a payload without one can still be read.
public struct AdvancedCommerceDescriptors: Codable, Hashable, Sendable {
    /// The description of the subscription.
    public var description: String?

    /// The name of the subscription shown to the customer.
    public var displayName: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        description: String? = nil,
        displayName: String? = nil
    ) {
        self.description = description
        self.displayName = displayName
    }
}

extension AdvancedCommerceDescriptors {
    private enum CodingKeys: String, CodingKey {
        case description, displayName
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        description = try values.value(.description)
        displayName = try values.value(.displayName)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(description, forKey: .description)
        try values.encodeIfPresent(displayName, forKey: .displayName)
        try unknownMembers.encode(to: encoder)
    }
}

extension AdvancedCommerceDescriptors: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("description", description)
        writer.member("displayName", displayName)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

/// An offer on an Advanced Commerce item (Advanced Commerce API, offer). Apple sends all four. They are optional
/// here, so a payload without one can still be read.
public struct AdvancedCommerceOffer: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
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

extension AdvancedCommerceOffer {
    private enum CodingKeys: String, CodingKey {
        case period, periodCount, price, reason
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        period = try values.value(.period)
        periodCount = try values.value(.periodCount)
        price = try values.value(.price)
        reason = try values.value(.reason)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(period, forKey: .period)
        try values.encodeIfPresent(periodCount, forKey: .periodCount)
        try values.encodeIfPresent(price, forKey: .price)
        try values.encodeIfPresent(reason, forKey: .reason)
        try unknownMembers.encode(to: encoder)
    }
}

extension AdvancedCommerceOffer: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("period", period)
        writer.member("periodCount", periodCount)
        writer.member("price", price)
        writer.member("reason", reason)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}
