/// Consumption data for a refund request (App Store Server API 1.19, ConsumptionRequest). For purchases that are
/// neither family-shared nor Advanced Commerce.
public struct ConsumptionRequest: Codable, Hashable, Sendable {
    /// Whether the customer agreed to send the data. Apple accepts only true.
    public var customerConsented: Bool

    /// Whether the purchase was delivered in working order.
    public var deliveryStatus: DeliveryStatus

    /// Whether the customer could try the content before the purchase.
    public var sampleContentProvided: Bool

    /// The consumed part, in milliunits of a percent: 100000 is 100 %. Nil for auto-renewable subscriptions; 0 unless
    /// delivered.
    public var consumptionPercentage: Int32?

    /// The developer's preference for the refund.
    public var refundPreference: RefundPreference?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        customerConsented: Bool, deliveryStatus: DeliveryStatus, sampleContentProvided: Bool,
        consumptionPercentage: Int32? = nil, refundPreference: RefundPreference? = nil
    ) {
        self.customerConsented = customerConsented
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }
}

/// Whether a purchase was delivered in working order (App Store Server API, deliveryStatus).
public struct DeliveryStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Delivered and working.
    public static let delivered = Self(rawValue: "DELIVERED")
    /// Not delivered: a quality issue.
    public static let undeliveredQualityIssue = Self(rawValue: "UNDELIVERED_QUALITY_ISSUE")
    /// Not delivered: the wrong item.
    public static let undeliveredWrongItem = Self(rawValue: "UNDELIVERED_WRONG_ITEM")
    /// Not delivered: a server outage.
    public static let undeliveredServerOutage = Self(rawValue: "UNDELIVERED_SERVER_OUTAGE")
    /// Not delivered for another reason.
    public static let undeliveredOther = Self(rawValue: "UNDELIVERED_OTHER")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .delivered, .undeliveredQualityIssue, .undeliveredWrongItem, .undeliveredServerOutage,
        .undeliveredOther,
    ]
}

/// The developer's preference for a refund (App Store Server API, refundPreference).
public struct RefundPreference: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Decline the refund.
    public static let decline = Self(rawValue: "DECLINE")
    /// Grant the whole price.
    public static let grantFull = Self(rawValue: "GRANT_FULL")
    /// Grant the part that was not consumed.
    public static let grantProrated = Self(rawValue: "GRANT_PRORATED")

    /// The values this package knows.
    public static let knownValues: [Self] = [.decline, .grantFull, .grantProrated]
}
