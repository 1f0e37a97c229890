/// Time in California, where the App Store counts its days and months.
package enum PacificTime {
    private static let hour: Int64 = 3_600_000

    /// Milliseconds since 1970, as shown by a clock in California.
    package static func local(_ milliseconds: Int64) -> Int64 {
        milliseconds + secondsEastOfGreenwich(at: milliseconds.flooredQuotient(1_000)) * 1_000
    }

    /// The instant at which a clock in California shows `local`. If there are two, the earlier one; if the clock skips
    /// `local`, the instant in standard time.
    package static func instant(local: Int64) -> Int64 {
        let summer = local + 7 * hour
        return self.local(summer) == local ? summer : local + 8 * hour
    }

    /// The years 1970 to 9999, within which the functions below are exact.
    package static let range: Range<Int64> = 0..<253_402_300_800_000

    /// The date `months` calendar months later, as the App Store counts periods. It has the same day of the month and
    /// time of day in California, or the last day of a shorter month. Both dates are in milliseconds since 1970.
    /// - Parameters:
    ///   - months: 0 to 12,000.
    ///   - milliseconds: within ``range``.
    package static func adding(months: Int64, to milliseconds: Int64) -> Int64 {
        let local = local(milliseconds)
        let day = CivilDay(milliseconds: local).adding(months: months)
        return instant(local: day.daysSince1970 * .millisecondsPerDay + local.flooredRemainder(.millisecondsPerDay))
    }

    /// The number of whole calendar months between two dates within ``range``, counted with ``adding(months:to:)``; 0
    /// if the second date is not later. A difference of one second is ignored, because Apple truncates some dates to
    /// seconds.
    package static func wholeMonths(from start: Int64, to end: Int64) -> Int64 {
        guard end > start else { return 0 }
        let first = CivilDay(milliseconds: local(start))
        let last = CivilDay(milliseconds: local(end + 1_000))
        let months = last.monthsSinceYear0 - first.monthsSinceYear0
        return months > 0 && adding(months: months, to: start) > end + 1_000 ? months - 1 : months
    }
}
