/// The identifiers of an Advanced Commerce request (AdvancedCommerceRequestInfo).
public struct AdvancedCommerceRequestInfo: Codable, Hashable, Sendable {
    /// A UUID text, new for each request. Reuse it only to retry.
    public var requestReferenceId: String

    /// The UUID text that links the purchase to an account of the developer.
    public var appAccountToken: String?

    /// The consistency token of the subscription's latest renewal information, unchanged.
    public var consistencyToken: String?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(requestReferenceId: String, appAccountToken: String? = nil, consistencyToken: String? = nil) {
        self.requestReferenceId = requestReferenceId
        self.appAccountToken = appAccountToken
        self.consistencyToken = consistencyToken
    }
}

/// When an Advanced Commerce change takes effect (advancedCommerceEffective).
public struct AdvancedCommerceEffective: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// At once.
    public static let immediately = Self(rawValue: "IMMEDIATELY")
    /// At the next renewal.
    public static let nextBillCycle = Self(rawValue: "NEXT_BILL_CYCLE")

    /// The values this package knows.
    public static let knownValues: [Self] = [.immediately, .nextBillCycle]
}

/// Why an Advanced Commerce item is changed (advancedCommerceReason).
public struct AdvancedCommerceReason: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A better item.
    public static let upgrade = Self(rawValue: "UPGRADE")
    /// A lesser item.
    public static let downgrade = Self(rawValue: "DOWNGRADE")
    /// To apply an offer.
    public static let applyOffer = Self(rawValue: "APPLY_OFFER")

    /// The values this package knows.
    public static let knownValues: [Self] = [.upgrade, .downgrade, .applyOffer]
}
