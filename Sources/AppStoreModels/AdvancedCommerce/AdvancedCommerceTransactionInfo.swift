/// The Advanced Commerce data of a transaction (App Store Server API, advancedCommerceTransactionInfo).
public struct AdvancedCommerceTransactionInfo: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
    public init(
        descriptors: AdvancedCommerceDescriptors? = nil,
        estimatedTax: Int64? = nil,
        items: [AdvancedCommerceTransactionItem]? = nil,
        period: AdvancedCommercePeriod? = nil,
        requestReferenceId: String? = nil,
        taxCode: String? = nil,
        taxExclusivePrice: Int64? = nil,
        taxRate: String? = nil
    ) {
        self.descriptors = descriptors
        self.estimatedTax = estimatedTax
        self.items = items
        self.period = period
        self.requestReferenceId = requestReferenceId
        self.taxCode = taxCode
        self.taxExclusivePrice = taxExclusivePrice
        self.taxRate = taxRate
    }
}

extension AdvancedCommerceTransactionInfo {
    private enum CodingKeys: String, CodingKey {
        case descriptors, estimatedTax, items, period, requestReferenceId, taxCode, taxExclusivePrice, taxRate
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        descriptors = try values.value(.descriptors)
        estimatedTax = try values.value(.estimatedTax)
        items = try values.value(.items)
        period = try values.value(.period)
        requestReferenceId = try values.value(.requestReferenceId)
        taxCode = try values.value(.taxCode)
        taxExclusivePrice = try values.value(.taxExclusivePrice)
        taxRate = try values.value(.taxRate)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(descriptors, forKey: .descriptors)
        try values.encodeIfPresent(estimatedTax, forKey: .estimatedTax)
        try values.encodeIfPresent(items, forKey: .items)
        try values.encodeIfPresent(period, forKey: .period)
        try values.encodeIfPresent(requestReferenceId, forKey: .requestReferenceId)
        try values.encodeIfPresent(taxCode, forKey: .taxCode)
        try values.encodeIfPresent(taxExclusivePrice, forKey: .taxExclusivePrice)
        try values.encodeIfPresent(taxRate, forKey: .taxRate)
        try unknownMembers.encode(to: encoder)
    }
}

extension AdvancedCommerceTransactionInfo: JSONWritable, PayloadValue {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("descriptors", descriptors)
        writer.member("estimatedTax", estimatedTax)
        writer.member("items", items)
        writer.member("period", period)
        writer.member("requestReferenceId", requestReferenceId)
        writer.member("taxCode", taxCode)
        writer.member("taxExclusivePrice", taxExclusivePrice)
        writer.member("taxRate", taxRate)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

/// One item of an Advanced Commerce transaction (App Store Server API, advancedCommerceTransactionItem).
public struct AdvancedCommerceTransactionItem: Codable, Hashable, Sendable {
    /// The developer's identifier of the item, in Apple's spelling.
    // swift-format-ignore: AlwaysUseLowerCamelCase
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

    /// A value with these fields. Each field is nil by default.
    public init(
        SKU: String? = nil,
        description: String? = nil,
        displayName: String? = nil,
        offer: AdvancedCommerceOffer? = nil,
        price: Int64? = nil,
        refunds: [AdvancedCommerceRefund]? = nil,
        revocationDate: Int64? = nil
    ) {
        self.SKU = SKU
        self.description = description
        self.displayName = displayName
        self.offer = offer
        self.price = price
        self.refunds = refunds
        self.revocationDate = revocationDate
    }
}

extension AdvancedCommerceTransactionItem {
    private enum CodingKeys: String, CodingKey {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        case SKU, description, displayName, offer, price, refunds, revocationDate
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        SKU = try values.value(.SKU)
        description = try values.value(.description)
        displayName = try values.value(.displayName)
        offer = try values.value(.offer)
        price = try values.value(.price)
        refunds = try values.value(.refunds)
        revocationDate = try values.milliseconds(.revocationDate)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(SKU, forKey: .SKU)
        try values.encodeIfPresent(description, forKey: .description)
        try values.encodeIfPresent(displayName, forKey: .displayName)
        try values.encodeIfPresent(offer, forKey: .offer)
        try values.encodeIfPresent(price, forKey: .price)
        try values.encodeIfPresent(refunds, forKey: .refunds)
        try values.encodeIfPresent(revocationDate, forKey: .revocationDate)
        try unknownMembers.encode(to: encoder)
    }
}

extension AdvancedCommerceTransactionItem: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("SKU", SKU)
        writer.member("description", description)
        writer.member("displayName", displayName)
        writer.member("offer", offer)
        writer.member("price", price)
        writer.member("refunds", refunds)
        writer.member("revocationDate", revocationDate)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

/// One refund of an Advanced Commerce item (App Store Server API, advancedCommerceRefund).
public struct AdvancedCommerceRefund: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
    public init(
        refundAmount: Int64? = nil,
        refundDate: Int64? = nil,
        refundReason: AdvancedCommerceRefundReason? = nil,
        refundType: AdvancedCommerceRefundType? = nil
    ) {
        self.refundAmount = refundAmount
        self.refundDate = refundDate
        self.refundReason = refundReason
        self.refundType = refundType
    }
}

extension AdvancedCommerceRefund {
    private enum CodingKeys: String, CodingKey {
        case refundAmount, refundDate, refundReason, refundType
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        refundAmount = try values.value(.refundAmount)
        refundDate = try values.milliseconds(.refundDate)
        refundReason = try values.value(.refundReason)
        refundType = try values.value(.refundType)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(refundAmount, forKey: .refundAmount)
        try values.encodeIfPresent(refundDate, forKey: .refundDate)
        try values.encodeIfPresent(refundReason, forKey: .refundReason)
        try values.encodeIfPresent(refundType, forKey: .refundType)
        try unknownMembers.encode(to: encoder)
    }
}

extension AdvancedCommerceRefund: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("refundAmount", refundAmount)
        writer.member("refundDate", refundDate)
        writer.member("refundReason", refundReason)
        writer.member("refundType", refundType)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}
