/// The shortened periods of Apple's sandbox.
public enum SandboxTime {
    /// One row of the table: a real period and the time between its renewals in the classic sandbox.
    public struct Rate: Hashable, Sendable {
        /// The real period, as the product is sold in production.
        public let period: SubscriptionPeriod
        /// Milliseconds.
        public let renewalLength: Int64
    }

    /// As documented for the classic sandbox (Reference.md P4): 3 days last 2 minutes, a week 3 minutes, a month
    /// 5 minutes, 2 months 10, 3 months 15, 6 months 30 minutes, a year 1 hour.
    public static let classicRates: [Rate] = [
        rate(3, .day, minutes: 2), rate(1, .week, minutes: 3), rate(1, .month, minutes: 5),
        rate(2, .month, minutes: 10), rate(3, .month, minutes: 15), rate(6, .month, minutes: 30),
        rate(1, .year, minutes: 60),
    ]

    /// The number of renewals after which the classic sandbox turns auto-renewal off.
    public static let classicMaximumRenewals = 6

    private static func rate(_ value: Int, _ unit: SubscriptionPeriod.Unit, minutes: Int64) -> Rate {
        Rate(period: SubscriptionPeriod(constant: value, unit), renewalLength: minutes * 60_000)
    }

    /// The time between renewals of `period` in the classic sandbox, in milliseconds; nil for a period that is not in
    /// the table. `P7D` counts as a week and `P12M` as a year.
    public static func renewalLength(of period: SubscriptionPeriod) -> Int64? {
        classicRates.first { $0.period.isSameLength(as: period) }?.renewalLength
    }
}
