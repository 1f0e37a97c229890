/// Turns renewal on again, to be signed and passed to StoreKit (Advanced Commerce API,
/// SubscriptionReactivateInAppRequest).
public struct AdvancedCommerceSubscriptionReactivateInAppRequest: Codable, Hashable, Sendable {
    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// A transaction of the subscription.
    public var transactionId: String

    /// The items to keep; nil for all.
    public var items: [AdvancedCommerceSubscriptionReactivateItem]?

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        requestInfo: AdvancedCommerceRequestInfo,
        transactionId: String,
        items: [AdvancedCommerceSubscriptionReactivateItem]? = nil,
        storefront: String? = nil
    ) {
        self.requestInfo = requestInfo
        self.transactionId = transactionId
        self.items = items
        self.storefront = storefront
    }
}

extension AdvancedCommerceSubscriptionReactivateInAppRequest {
    private enum CodingKeys: String, CodingKey {
        case operation, version, requestInfo, transactionId, items, storefront
    }

    /// Reads the JSON that `encode(to:)` writes; `operation` and `version` must be those of this request.
    /// - Throws: `DecodingError` if a member is missing or has a wrong type or value.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try values.require(Self.operation, forKey: .operation)
        try values.require(Self.version, forKey: .version)
        requestInfo = try values.decode(AdvancedCommerceRequestInfo.self, forKey: .requestInfo)
        transactionId = try values.decode(String.self, forKey: .transactionId)
        items = try values.decodeIfPresent([AdvancedCommerceSubscriptionReactivateItem].self, forKey: .items)
        storefront = try values.decodeIfPresent(String.self, forKey: .storefront)
    }

    /// Writes the members that are set, with `operation` and `version`, which Apple requires.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.operation, forKey: .operation)
        try values.encode(Self.version, forKey: .version)
        try values.encode(requestInfo, forKey: .requestInfo)
        try values.encode(transactionId, forKey: .transactionId)
        try values.encodeIfPresent(items, forKey: .items)
        try values.encodeIfPresent(storefront, forKey: .storefront)
    }
}

extension AdvancedCommerceSubscriptionReactivateInAppRequest: AdvancedCommerceInAppRequest {
    /// The value of `operation` in the JSON: REACTIVATE_SUBSCRIPTION.
    public static let operation = "REACTIVATE_SUBSCRIPTION"
}

/// An item to keep (Advanced Commerce API, SubscriptionReactivateItem).
public struct AdvancedCommerceSubscriptionReactivateItem: Codable, Hashable, Sendable {
    /// The developer's identifier of the item, at most 128 characters.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public var SKU: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        SKU: String
    ) {
        self.SKU = SKU
    }
}
