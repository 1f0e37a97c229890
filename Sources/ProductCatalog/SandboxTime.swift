import AppStoreModels

/// The shortened periods of Apple's sandbox, and the inference of a period from its two dates.
public enum SandboxTime {
    /// One row of the table: a real period and the time between its renewals in the classic sandbox.
    public struct Rate: Hashable, Sendable {
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

    /// The rule that determined the period.
    public enum Rule: String, Sendable, CaseIterable {
        /// The length matches a period of the classic sandbox.
        case sandboxTime
        /// The end matches calendar arithmetic in UTC.
        case calendar
        /// The end matches calendar arithmetic in US Pacific time, which the App Store uses. Across a change of
        /// daylight saving time, the end in UTC moves by one hour. Every month-long period of the examined real
        /// replies matches this rule.
        case calendarPacific
        /// The period begins on the last day of a month and ends on a later day of the month. This happens to renewals
        /// of a subscription bought on the 29th, 30th or 31st after a short month.
        case monthEnd
    }

    /// A period inferred from two dates, with the rule that matched.
    public struct Inference: Hashable, Sendable {
        public let period: SubscriptionPeriod
        public let rule: Rule
    }

    /// The tolerance for dates, in milliseconds. Seconds may be truncated, and periods in sandbox replies were up to
    /// 4 ms short.
    public static let tolerance: Int64 = 1_000

    /// The periods that the App Store sells, including trials of three days and two weeks.
    private static let candidates: [SubscriptionPeriod] = [
        SubscriptionPeriod(constant: 3, .day), SubscriptionPeriod(constant: 1, .week),
        SubscriptionPeriod(constant: 2, .week), SubscriptionPeriod(constant: 1, .month),
        SubscriptionPeriod(constant: 2, .month), SubscriptionPeriod(constant: 3, .month),
        SubscriptionPeriod(constant: 6, .month), SubscriptionPeriod(constant: 1, .year),
    ]

    /// The period that runs from `purchaseDate` to `expiresDate`, both in milliseconds since 1970.
    ///
    /// In the sandbox its shortened periods are tried first, then the calendar; in production only the calendar.
    /// Returns nil if no rule matches, because a period shortened by an upgrade or extended by a grace period has an
    /// arbitrary length. The result is the length of *this* period; for an offer it is the offer's.
    public static func inferPeriod(
        purchaseDate: Int64, expiresDate: Int64, environmentIsSandbox: Bool
    ) -> Inference? {
        let (length, overflow) = expiresDate.subtractingReportingOverflow(purchaseDate)
        // No candidate is longer than a year and two days. The check also keeps the arithmetic within 64 bits.
        guard !overflow, length > 0, length <= 368 * .millisecondsPerDay, isPlausible(purchaseDate) else { return nil }
        if environmentIsSandbox,
            let rate = classicRates.first(where: { abs($0.renewalLength - length) <= tolerance })
        {
            return Inference(period: rate.period, rule: .sandboxTime)
        }
        if let period = calendarPeriod(purchaseDate, expiresDate) { return Inference(period: period, rule: .calendar) }
        let start = PacificTime.local(purchaseDate)
        let end = PacificTime.local(expiresDate)
        if let period = calendarPeriod(start, end) { return Inference(period: period, rule: .calendarPacific) }
        return monthEndPeriod(start, end).map { Inference(period: $0, rule: .monthEnd) }
    }

    /// Years 1970 to 9999, the range of dates in a receipt.
    private static func isPlausible(_ date: Int64) -> Bool {
        (0..<253_402_300_800_000).contains(date)
    }

    private static func calendarPeriod(_ start: Int64, _ end: Int64) -> SubscriptionPeriod? {
        candidates.first { candidate in
            candidate.adding(to: start).map { abs($0 - end) <= tolerance } ?? false
        }
    }

    private static func monthEndPeriod(_ start: Int64, _ end: Int64) -> SubscriptionPeriod? {
        let first = CivilDay(daysSince1970: start.flooredQuotient(.millisecondsPerDay))
        let last = CivilDay(daysSince1970: end.flooredQuotient(.millisecondsPerDay))
        let startTime = start.flooredRemainder(.millisecondsPerDay)
        let endTime = end.flooredRemainder(.millisecondsPerDay)
        guard first.day == first.daysInMonth, last.day > first.day, abs(startTime - endTime) <= tolerance else {
            return nil
        }
        let months = (last.year - first.year) * 12 + last.month - first.month
        return candidates.first { candidate in
            switch candidate.unit {
            case .month: Int64(candidate.value) == months
            case .year: Int64(candidate.value) * 12 == months
            case .day, .week: false
            }
        }
    }
}
