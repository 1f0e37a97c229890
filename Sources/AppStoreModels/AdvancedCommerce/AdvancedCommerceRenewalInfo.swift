/// What renewal information says about an Advanced Commerce subscription (App Store Server API,
/// advancedCommerceRenewalInfo).
public struct AdvancedCommerceRenewalInfo: Codable, Hashable, Sendable {
    /// The token to send along with requests that change the subscription.
    public var consistencyToken: String?

    /// The texts of the subscription.
    public var descriptors: AdvancedCommerceDescriptors?

    /// The items that will renew.
    public var items: [AdvancedCommerceRenewalItem]?

    /// The renewal period of the subscription.
    public var period: AdvancedCommercePeriod?

    /// The UUID text by which the developer named the request.
    public var requestReferenceId: String?

    /// The tax code of the subscription.
    public var taxCode: String?

    /// Every field is absent unless given.
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

extension AdvancedCommerceRenewalInfo: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("consistencyToken", consistencyToken)
        writer.member("descriptors", descriptors)
        writer.member("items", items)
        writer.member("period", period)
        writer.member("requestReferenceId", requestReferenceId)
        writer.member("taxCode", taxCode)
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

    /// Every field is absent unless given.
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

extension AdvancedCommerceRenewalItem: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("SKU", SKU)
        writer.member("description", description)
        writer.member("displayName", displayName)
        writer.member("offer", offer)
        writer.member("price", price)
        writer.member("priceIncreaseInfo", priceIncreaseInfo)
        writer.endObject()
    }
}

/// A price increase of an Advanced Commerce item (App Store Server API, advancedCommercePriceIncreaseInfo).
public struct AdvancedCommercePriceIncreaseInfo: Codable, Hashable, Sendable {
    /// The other items whose price depends on this one.
    public var dependentSKUs: [String]?

    /// The new price. In milliunits of the currency: 10.99 is 10990.
    public var price: Int64?

    /// Whether it is planned, waiting or agreed to.
    public var status: AdvancedCommercePriceIncreaseInfoStatus?

    /// Every field is absent unless given.
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

extension AdvancedCommercePriceIncreaseInfo: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("dependentSKUs", dependentSKUs)
        writer.member("price", price)
        writer.member("status", status)
        writer.endObject()
    }
}
