/// The renewal period of an Advanced Commerce subscription, an ISO 8601 duration (advancedCommercePeriod).
public struct AdvancedCommercePeriod: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// One week.
    public static let oneWeek = Self(rawValue: "P1W")
    /// One month.
    public static let oneMonth = Self(rawValue: "P1M")
    /// Two months.
    public static let twoMonths = Self(rawValue: "P2M")
    /// Three months.
    public static let threeMonths = Self(rawValue: "P3M")
    /// Six months.
    public static let sixMonths = Self(rawValue: "P6M")
    /// One year.
    public static let oneYear = Self(rawValue: "P1Y")

    /// The values this package knows.
    public static let knownValues: [Self] = [.oneWeek, .oneMonth, .twoMonths, .threeMonths, .sixMonths, .oneYear]
}

/// One period of an Advanced Commerce offer, an ISO 8601 duration (advancedCommerceOfferPeriod).
public struct AdvancedCommerceOfferPeriod: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Three days.
    public static let threeDays = Self(rawValue: "P3D")
    /// One week.
    public static let oneWeek = Self(rawValue: "P1W")
    /// Two weeks.
    public static let twoWeeks = Self(rawValue: "P2W")
    /// One month.
    public static let oneMonth = Self(rawValue: "P1M")
    /// Two months.
    public static let twoMonths = Self(rawValue: "P2M")
    /// Three months.
    public static let threeMonths = Self(rawValue: "P3M")
    /// Six months.
    public static let sixMonths = Self(rawValue: "P6M")
    /// Nine months.
    public static let nineMonths = Self(rawValue: "P9M")
    /// One year.
    public static let oneYear = Self(rawValue: "P1Y")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .threeDays, .oneWeek, .twoWeeks, .oneMonth, .twoMonths, .threeMonths, .sixMonths, .nineMonths,
        .oneYear,
    ]
}

/// The purpose of an Advanced Commerce offer (advancedCommerceOfferReason).
public struct AdvancedCommerceOfferReason: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// To win a new customer.
    public static let acquisition = Self(rawValue: "ACQUISITION")
    /// To win a former customer back.
    public static let winBack = Self(rawValue: "WIN_BACK")
    /// To keep a customer.
    public static let retention = Self(rawValue: "RETENTION")

    /// The values this package knows.
    public static let knownValues: [Self] = [.acquisition, .winBack, .retention]
}

/// Why an Advanced Commerce item was refunded (advancedCommerceRefundReason).
public struct AdvancedCommerceRefundReason: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The purchase was not intended.
    public static let unintendedPurchase = Self(rawValue: "UNINTENDED_PURCHASE")
    /// The content was not delivered.
    public static let fulfillmentIssue = Self(rawValue: "FULFILLMENT_ISSUE")
    /// The customer was not satisfied with the purchase.
    public static let unsatisfiedWithPurchase = Self(rawValue: "UNSATISFIED_WITH_PURCHASE")
    /// A legal reason.
    public static let legal = Self(rawValue: "LEGAL")
    /// Another reason.
    public static let other = Self(rawValue: "OTHER")
    /// The items of the subscription were changed.
    public static let modifyItemsRefund = Self(rawValue: "MODIFY_ITEMS_REFUND")
    /// Sandbox only: simulates a declined refund.
    public static let simulateRefundDecline = Self(rawValue: "SIMULATE_REFUND_DECLINE")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other,
        .modifyItemsRefund, .simulateRefundDecline,
    ]
}

/// The kind of refund of an Advanced Commerce item (advancedCommerceRefundType).
public struct AdvancedCommerceRefundType: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The whole price.
    public static let full = Self(rawValue: "FULL")
    /// The part for the unused time.
    public static let prorated = Self(rawValue: "PRORATED")
    /// An amount that the developer chose.
    public static let custom = Self(rawValue: "CUSTOM")

    /// The values this package knows.
    public static let knownValues: [Self] = [.full, .prorated, .custom]
}

/// The state of an Advanced Commerce price increase (advancedCommercePriceIncreaseInfoStatus).
public struct AdvancedCommercePriceIncreaseInfoStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Planned.
    public static let scheduled = Self(rawValue: "SCHEDULED")
    /// No answer from the customer yet.
    public static let pending = Self(rawValue: "PENDING")
    /// The customer agreed.
    public static let accepted = Self(rawValue: "ACCEPTED")

    /// The values this package knows.
    public static let knownValues: [Self] = [.scheduled, .pending, .accepted]
}
