/// The Advanced Commerce data of renewal information (App Store Server API, advancedCommerceRenewalInfo).
public struct AdvancedCommerceRenewalInfo: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
    public init(
        consistencyToken: String? = nil,
        descriptors: AdvancedCommerceDescriptors? = nil,
        items: [AdvancedCommerceRenewalItem]? = nil,
        period: AdvancedCommercePeriod? = nil,
        requestReferenceId: String? = nil,
        taxCode: String? = nil
    ) {
        self.consistencyToken = consistencyToken
        self.descriptors = descriptors
        self.items = items
        self.period = period
        self.requestReferenceId = requestReferenceId
        self.taxCode = taxCode
    }
}

extension AdvancedCommerceRenewalInfo {
    private enum CodingKeys: String, CodingKey {
        case consistencyToken, descriptors, items, period, requestReferenceId, taxCode
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        consistencyToken = try values.value(.consistencyToken)
        descriptors = try values.value(.descriptors)
        items = try values.value(.items)
        period = try values.value(.period)
        requestReferenceId = try values.value(.requestReferenceId)
        taxCode = try values.value(.taxCode)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(consistencyToken, forKey: .consistencyToken)
        try values.encodeIfPresent(descriptors, forKey: .descriptors)
        try values.encodeIfPresent(items, forKey: .items)
        try values.encodeIfPresent(period, forKey: .period)
        try values.encodeIfPresent(requestReferenceId, forKey: .requestReferenceId)
        try values.encodeIfPresent(taxCode, forKey: .taxCode)
        try unknownMembers.encode(to: encoder)
    }
}

extension AdvancedCommerceRenewalInfo: JSONWritable, PayloadValue {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("consistencyToken", consistencyToken)
        writer.member("descriptors", descriptors)
        writer.member("items", items)
        writer.member("period", period)
        writer.member("requestReferenceId", requestReferenceId)
        writer.member("taxCode", taxCode)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

/// One item that will renew (App Store Server API, advancedCommerceRenewalItem).
public struct AdvancedCommerceRenewalItem: Codable, Hashable, Sendable {
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

    /// A price increase of the item.
    public var priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        SKU: String? = nil,
        description: String? = nil,
        displayName: String? = nil,
        offer: AdvancedCommerceOffer? = nil,
        price: Int64? = nil,
        priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo? = nil
    ) {
        self.SKU = SKU
        self.description = description
        self.displayName = displayName
        self.offer = offer
        self.price = price
        self.priceIncreaseInfo = priceIncreaseInfo
    }
}

extension AdvancedCommerceRenewalItem {
    private enum CodingKeys: String, CodingKey {
        // swift-format-ignore: AlwaysUseLowerCamelCase
        case SKU, description, displayName, offer, price, priceIncreaseInfo
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
        priceIncreaseInfo = try values.value(.priceIncreaseInfo)
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
        try values.encodeIfPresent(priceIncreaseInfo, forKey: .priceIncreaseInfo)
        try unknownMembers.encode(to: encoder)
    }
}

extension AdvancedCommerceRenewalItem: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("SKU", SKU)
        writer.member("description", description)
        writer.member("displayName", displayName)
        writer.member("offer", offer)
        writer.member("price", price)
        writer.member("priceIncreaseInfo", priceIncreaseInfo)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}

/// A price increase of an Advanced Commerce item (App Store Server API, advancedCommercePriceIncreaseInfo).
public struct AdvancedCommercePriceIncreaseInfo: Codable, Hashable, Sendable {
    /// The other items whose price depends on this one.
    public var dependentSKUs: [String]?

    /// The new price. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64?

    /// Whether the increase is scheduled, pending or accepted.
    public var status: AdvancedCommercePriceIncreaseInfoStatus?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        dependentSKUs: [String]? = nil,
        price: Int64? = nil,
        status: AdvancedCommercePriceIncreaseInfoStatus? = nil
    ) {
        self.dependentSKUs = dependentSKUs
        self.price = price
        self.status = status
    }
}

extension AdvancedCommercePriceIncreaseInfo {
    private enum CodingKeys: String, CodingKey {
        case dependentSKUs, price, status
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        dependentSKUs = try values.value(.dependentSKUs)
        price = try values.value(.price)
        status = try values.value(.status)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(dependentSKUs, forKey: .dependentSKUs)
        try values.encodeIfPresent(price, forKey: .price)
        try values.encodeIfPresent(status, forKey: .status)
        try unknownMembers.encode(to: encoder)
    }
}

extension AdvancedCommercePriceIncreaseInfo: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("dependentSKUs", dependentSKUs)
        writer.member("price", price)
        writer.member("status", status)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}
