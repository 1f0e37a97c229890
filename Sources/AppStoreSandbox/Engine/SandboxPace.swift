internal import AppStoreModels
internal import AppStoreServer
internal import Encodings
internal import ProductCatalog
internal import Purchases

/// How fast time passes for subscriptions.
public enum SandboxPace: Hashable, Sendable {
    /// As in Apple's classic sandbox (Reference.md P4): a week lasts 3 minutes, a month 5, a year an hour.
    case sandbox
    /// A multiple of real time; 1 is real time.
    case accelerated(by: Int64)

    /// The end of `times` periods that begin at `start`; both in milliseconds since 1970.
    ///
    /// Apple's table lists no periods of several weeks or years, and only some numbers of months. Other periods last a
    /// multiple of Apple's one week, month or year. A day lasts a third of Apple's three days.
    func end(of period: SubscriptionPeriod, times: Int = 1, from start: Int64) -> Int64 {
        switch self {
        case .sandbox:
            let length = SandboxTime.renewalLength(of: period) ?? Int64(period.value) * Self.unit(period.unit)
            return start.addingSaturated(length.multipliedSaturating(by: Int64(times)))
        case .accelerated(let factor):
            let end = period.adding(to: start, times: times) ?? .max
            return start.addingSaturated((end - start) / max(1, factor))
        }
    }

    /// The length of a span of real time at this pace, in milliseconds. In the sandbox, a month of 30 days lasts five minutes.
    func scaled(_ milliseconds: Int64) -> Int64 {
        switch self {
        case .sandbox: milliseconds / 8_640
        case .accelerated(let factor): milliseconds / max(1, factor)
        }
    }

    /// The length of real days at this pace, in milliseconds.
    func days(_ days: Int64) -> Int64 { scaled(days.multipliedSaturating(by: .millisecondsPerDay)) }

    /// The length of a month in the rules of an offer. A pace of 1 has calendar months.
    func monthLength(at date: Int64) -> PurchaseHistory.MonthLength {
        if self == .accelerated(by: 1) { return .calendar }
        guard let month = SubscriptionPeriod(value: 1, unit: .month) else { return .calendar }
        return .fixed(milliseconds: max(1, end(of: month, from: date) - date))
    }

    private static func unit(_ unit: SubscriptionPeriod.Unit) -> Int64 {
        switch unit {
        case .day: 40_000
        case .week: 180_000
        case .month: 300_000
        case .year: 3_600_000
        }
    }
}

extension Int64 {
    /// The product, or the nearest bound.
    func multipliedSaturating(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
