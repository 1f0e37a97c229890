/// How much of a purchase was consumed (App Store Server API, Send Consumption Information V1, consumptionStatus).
public struct ConsumptionStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not declared.
    public static let undeclared = Self(rawValue: 0)
    /// Nothing.
    public static let notConsumed = Self(rawValue: 1)
    /// A part.
    public static let partiallyConsumed = Self(rawValue: 2)
    /// Everything.
    public static let fullyConsumed = Self(rawValue: 3)

    /// The values this package knows.
    public static let knownValues: [Self] = [.undeclared, .notConsumed, .partiallyConsumed, .fullyConsumed]
}

/// Where a purchase was consumed (App Store Server API, Send Consumption Information V1, platform).
public struct Platform: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not declared.
    public static let undeclared = Self(rawValue: 0)
    /// On an Apple platform.
    public static let apple = Self(rawValue: 1)
    /// On another platform.
    public static let nonApple = Self(rawValue: 2)

    /// The values this package knows.
    public static let knownValues: [Self] = [.undeclared, .apple, .nonApple]
}

/// Whether a purchase was delivered in working order (App Store Server API, Send Consumption Information V1,
/// deliveryStatus).
public struct DeliveryStatusV1: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Delivered and working.
    public static let delivered = Self(rawValue: 0)
    /// Not delivered: a quality issue.
    public static let qualityIssue = Self(rawValue: 1)
    /// Not delivered: the wrong item.
    public static let wrongItem = Self(rawValue: 2)
    /// Not delivered: a server outage.
    public static let serverOutage = Self(rawValue: 3)
    /// Not delivered: the in-game currency changed.
    public static let inGameCurrencyChange = Self(rawValue: 4)
    /// Not delivered for another reason.
    public static let other = Self(rawValue: 5)

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .delivered, .qualityIssue, .wrongItem, .serverOutage, .inGameCurrencyChange, .other,
    ]
}

/// The state of the customer's account (App Store Server API, Send Consumption Information V1, userStatus).
public struct UserStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not declared.
    public static let undeclared = Self(rawValue: 0)
    /// Active.
    public static let active = Self(rawValue: 1)
    /// Suspended.
    public static let suspended = Self(rawValue: 2)
    /// Terminated.
    public static let terminated = Self(rawValue: 3)
    /// With limited access.
    public static let limitedAccess = Self(rawValue: 4)

    /// The values this package knows.
    public static let knownValues: [Self] = [.undeclared, .active, .suspended, .terminated, .limitedAccess]
}

/// The developer's preference for a refund (App Store Server API, Send Consumption Information V1, refundPreference).
public struct RefundPreferenceV1: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not declared.
    public static let undeclared = Self(rawValue: 0)
    /// Grant the refund.
    public static let preferGrant = Self(rawValue: 1)
    /// Decline the refund.
    public static let preferDecline = Self(rawValue: 2)
    /// No preference.
    public static let noPreference = Self(rawValue: 3)

    /// The values this package knows.
    public static let knownValues: [Self] = [.undeclared, .preferGrant, .preferDecline, .noPreference]
}
