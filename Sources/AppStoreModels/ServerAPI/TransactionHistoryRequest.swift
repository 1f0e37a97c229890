/// Selects transactions of a history (App Store Server API, Get Transaction History, query parameters).
public struct TransactionHistoryRequest: Codable, Hashable, Sendable {
    /// Only transactions purchased at this time or later. In milliseconds since 1970-01-01 00:00 UTC.
    public var startDate: Int64?

    /// Only transactions purchased before this time; it may lie in the future. In milliseconds since 1970-01-01 00:00
    /// UTC.
    public var endDate: Int64?

    /// Only these products.
    public var productIds: [String]?

    /// Only products of these types.
    public var productTypes: [TransactionHistoryProductType]?

    /// Only products of these subscription groups.
    public var subscriptionGroupIdentifiers: [String]?

    /// Only purchases of the customer, or only those shared by family members.
    public var inAppOwnershipType: InAppOwnershipType?

    /// The order, by the time of the last change; ascending if absent. A stored `revision` gives later changes only
    /// if the order is ascending.
    public var sort: TransactionHistoryOrder?

    /// True for revoked transactions only, false for all others only, absent for both.
    public var revoked: Bool?

    /// True to leave out revoked transactions. Deprecated by Apple in favor of `revoked`.
    public var excludeRevoked: Bool?

    /// Nil values are omitted from the JSON.
    public init(
        startDate: Int64? = nil, endDate: Int64? = nil, productIds: [String]? = nil,
        productTypes: [TransactionHistoryProductType]? = nil, subscriptionGroupIdentifiers: [String]? = nil,
        inAppOwnershipType: InAppOwnershipType? = nil, sort: TransactionHistoryOrder? = nil, revoked: Bool? = nil,
        excludeRevoked: Bool? = nil
    ) {
        self.startDate = startDate
        self.endDate = endDate
        self.productIds = productIds
        self.productTypes = productTypes
        self.subscriptionGroupIdentifiers = subscriptionGroupIdentifiers
        self.inAppOwnershipType = inAppOwnershipType
        self.sort = sort
        self.revoked = revoked
        self.excludeRevoked = excludeRevoked
    }
}

/// A product type in the spelling of the history filter (App Store Server API, productType). Payloads have another
/// spelling, see ``ProductType``.
public struct TransactionHistoryProductType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Auto-renewable subscriptions.
    public static let autoRenewable = Self(rawValue: "AUTO_RENEWABLE")
    /// Non-renewing subscriptions.
    public static let nonRenewable = Self(rawValue: "NON_RENEWABLE")
    /// Consumables.
    public static let consumable = Self(rawValue: "CONSUMABLE")
    /// Non-consumables.
    public static let nonConsumable = Self(rawValue: "NON_CONSUMABLE")

    /// The values this package knows.
    public static let knownValues: [Self] = [.autoRenewable, .nonRenewable, .consumable, .nonConsumable]
}

/// The order of a transaction history (App Store Server API, sort).
public struct TransactionHistoryOrder: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The oldest change comes first.
    public static let ascending = Self(rawValue: "ASCENDING")
    /// The latest change comes first.
    public static let descending = Self(rawValue: "DESCENDING")

    /// The values this package knows.
    public static let knownValues: [Self] = [.ascending, .descending]
}
