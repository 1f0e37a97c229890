/// Turns renewal off (Advanced Commerce API, SubscriptionCancelRequest).
public struct AdvancedCommerceSubscriptionCancelRequest: Codable, Hashable, Sendable {
    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(requestInfo: AdvancedCommerceRequestInfo, storefront: String? = nil) {
        self.requestInfo = requestInfo
        self.storefront = storefront
    }
}

/// Ends a subscription at once (Advanced Commerce API, SubscriptionRevokeRequest).
public struct AdvancedCommerceSubscriptionRevokeRequest: Codable, Hashable, Sendable {
    /// The reason for the refund.
    public var refundReason: AdvancedCommerceRefundReason

    /// The kind of refund: full, prorated or a custom amount.
    public var refundType: AdvancedCommerceRefundType

    /// The developer's answer to Apple's question whether to assess the risk of the refund.
    public var refundRiskingPreference: Bool

    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        refundReason: AdvancedCommerceRefundReason, refundType: AdvancedCommerceRefundType,
        refundRiskingPreference: Bool, requestInfo: AdvancedCommerceRequestInfo, storefront: String? = nil
    ) {
        self.refundReason = refundReason
        self.refundType = refundType
        self.refundRiskingPreference = refundRiskingPreference
        self.requestInfo = requestInfo
        self.storefront = storefront
    }
}

/// Requests a refund (Advanced Commerce API, RequestRefundRequest).
public struct AdvancedCommerceRequestRefundRequest: Codable, Hashable, Sendable {
    /// The items to refund, at least one.
    public var items: [AdvancedCommerceRequestRefundItem]

    /// The developer's answer to Apple's question whether to assess the risk of the refund.
    public var refundRiskingPreference: Bool

    /// The identifiers of the request.
    public var requestInfo: AdvancedCommerceRequestInfo

    /// The ISO 4217 code of the currency.
    public var currency: String?

    /// The ISO 3166-1 alpha-3 code of the storefront.
    public var storefront: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        items: [AdvancedCommerceRequestRefundItem], refundRiskingPreference: Bool,
        requestInfo: AdvancedCommerceRequestInfo, currency: String? = nil, storefront: String? = nil
    ) {
        self.items = items
        self.refundRiskingPreference = refundRiskingPreference
        self.requestInfo = requestInfo
        self.currency = currency
        self.storefront = storefront
    }
}

/// An item to refund (Advanced Commerce API, RequestRefundItem).
public struct AdvancedCommerceRequestRefundItem: Codable, Hashable, Sendable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The developer's identifier of the item, at most 128 characters.
    public var SKU: String

    /// The reason for the refund.
    public var refundReason: AdvancedCommerceRefundReason

    /// The kind of refund: full, prorated or a custom amount.
    public var refundType: AdvancedCommerceRefundType

    /// Whether the customer loses the item.
    public var revoke: Bool

    /// The amount, for a refund of a custom amount. In milliunits of the currency: 10.99 is 10990.
    public var refundAmount: Int32?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        SKU: String, refundReason: AdvancedCommerceRefundReason, refundType: AdvancedCommerceRefundType, revoke: Bool,
        refundAmount: Int32? = nil
    ) {
        self.SKU = SKU
        self.refundReason = refundReason
        self.refundType = refundType
        self.revoke = revoke
        self.refundAmount = refundAmount
    }
}
