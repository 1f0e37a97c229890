/// The age of the customer's account (App Store Server API, Send Consumption Information V1, accountTenure).
public struct AccountTenure: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not declared.
    public static let undeclared = Self(rawValue: 0)
    /// Up to 3 days.
    public static let upTo3Days = Self(rawValue: 1)
    /// Up to 10 days.
    public static let upTo10Days = Self(rawValue: 2)
    /// Up to 30 days.
    public static let upTo30Days = Self(rawValue: 3)
    /// Up to 90 days.
    public static let upTo90Days = Self(rawValue: 4)
    /// Up to 180 days.
    public static let upTo180Days = Self(rawValue: 5)
    /// Up to 365 days.
    public static let upTo365Days = Self(rawValue: 6)
    /// More than 365 days.
    public static let over365Days = Self(rawValue: 7)

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .undeclared, .upTo3Days, .upTo10Days, .upTo30Days, .upTo90Days, .upTo180Days, .upTo365Days,
        .over365Days,
    ]
}

/// The time that the customer used the app (App Store Server API, Send Consumption Information V1, playTime).
public struct PlayTime: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not declared.
    public static let undeclared = Self(rawValue: 0)
    /// Up to 5 minutes.
    public static let upTo5Minutes = Self(rawValue: 1)
    /// Up to 60 minutes.
    public static let upTo60Minutes = Self(rawValue: 2)
    /// Up to 6 hours.
    public static let upTo6Hours = Self(rawValue: 3)
    /// Up to 24 hours.
    public static let upTo24Hours = Self(rawValue: 4)
    /// Up to 4 days.
    public static let upTo4Days = Self(rawValue: 5)
    /// Up to 16 days.
    public static let upTo16Days = Self(rawValue: 6)
    /// More than 16 days.
    public static let over16Days = Self(rawValue: 7)

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .undeclared, .upTo5Minutes, .upTo60Minutes, .upTo6Hours, .upTo24Hours, .upTo4Days, .upTo16Days,
        .over16Days,
    ]
}

/// The amount that the customer spent over the life of the account, in US dollars (App Store Server API, Send
/// Consumption Information V1, lifetimeDollarsPurchased).
public struct LifetimeDollarsPurchased: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not declared.
    public static let undeclared = Self(rawValue: 0)
    /// Nothing.
    public static let zero = Self(rawValue: 1)
    /// 0.01 to 49.99.
    public static let upTo49Dollars99 = Self(rawValue: 2)
    /// 50 to 99.99.
    public static let upTo99Dollars99 = Self(rawValue: 3)
    /// 100 to 499.99.
    public static let upTo499Dollars99 = Self(rawValue: 4)
    /// 500 to 999.99.
    public static let upTo999Dollars99 = Self(rawValue: 5)
    /// 1000 to 1999.99.
    public static let upTo1999Dollars99 = Self(rawValue: 6)
    /// 2000 or more.
    public static let from2000 = Self(rawValue: 7)

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .undeclared, .zero, .upTo49Dollars99, .upTo99Dollars99, .upTo499Dollars99, .upTo999Dollars99,
        .upTo1999Dollars99, .from2000,
    ]
}

/// The amount that was refunded to the customer over the life of the account, in US dollars (App Store Server API,
/// Send Consumption Information V1, lifetimeDollarsRefunded).
public struct LifetimeDollarsRefunded: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Not declared.
    public static let undeclared = Self(rawValue: 0)
    /// Nothing.
    public static let zero = Self(rawValue: 1)
    /// 0.01 to 49.99.
    public static let upTo49Dollars99 = Self(rawValue: 2)
    /// 50 to 99.99.
    public static let upTo99Dollars99 = Self(rawValue: 3)
    /// 100 to 499.99.
    public static let upTo499Dollars99 = Self(rawValue: 4)
    /// 500 to 999.99.
    public static let upTo999Dollars99 = Self(rawValue: 5)
    /// 1000 to 1999.99.
    public static let upTo1999Dollars99 = Self(rawValue: 6)
    /// 2000 or more.
    public static let from2000 = Self(rawValue: 7)

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .undeclared, .zero, .upTo49Dollars99, .upTo99Dollars99, .upTo499Dollars99, .upTo999Dollars99,
        .upTo1999Dollars99, .from2000,
    ]
}
