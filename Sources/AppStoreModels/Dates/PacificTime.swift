/// US Pacific time since 2007, the year before the App Store opened. It is UTC−8, and UTC−7 from the second Sunday of
/// March to the first Sunday of November. The change is at two o'clock local time (Energy Policy Act of 2005).
package enum PacificTime {
    private static let hour: Int64 = 3_600_000

    /// Milliseconds since 1970, as shown by a clock in California.
    package static func local(_ milliseconds: Int64) -> Int64 {
        milliseconds + (isDaylightSaving(milliseconds) ? -7 : -8) * hour
    }

    private static func isDaylightSaving(_ milliseconds: Int64) -> Bool {
        // The year in standard time. Neither change is near the start or end of a year.
        let standard = milliseconds - 8 * hour
        let year = CivilDay(daysSince1970: standard.flooredQuotient(.millisecondsPerDay)).year
        let begin = firstSunday(year: year, month: 3) + 7
        let end = firstSunday(year: year, month: 11)
        // Two o'clock is 02:00 standard time in March, and 01:00 standard time in November.
        let beginsAt = begin * .millisecondsPerDay + 2 * hour
        let endsAt = end * .millisecondsPerDay + hour
        return (beginsAt..<endsAt).contains(standard)
    }

    /// Days since 1970 of the month's first Sunday.
    private static func firstSunday(year: Int64, month: Int64) -> Int64 {
        let first = CivilDay(year: year, month: month, day: 1).daysSince1970
        // 1970-01-01 was a Thursday: day 3 was the first Sunday.
        let weekday = (first - 3).flooredRemainder(7)
        return weekday == 0 ? first : first + 7 - weekday
    }

    /// The instant at which a clock in California shows `local`. If there are two, the earlier one; if the clock skips
    /// `local`, the instant in standard time.
    package static func instant(local: Int64) -> Int64 {
        let summer = local + 7 * hour
        return self.local(summer) == local ? summer : local + 8 * hour
    }

    /// The years 1970 to 9999, within which the functions below are exact.
    package static let range: Range<Int64> = 0..<253_402_300_800_000

    /// The date `months` calendar months later, as the App Store counts periods: the same day of the month and time of
    /// day in California, or the last day of a month that is too short. Both dates are in milliseconds since 1970.
    /// - Parameters:
    ///   - months: 0 to 12,000.
    ///   - milliseconds: within ``range``.
    package static func adding(months: Int64, to milliseconds: Int64) -> Int64 {
        let local = local(milliseconds)
        let day = CivilDay(daysSince1970: local.flooredQuotient(.millisecondsPerDay)).adding(months: months)
        return instant(local: day.daysSince1970 * .millisecondsPerDay + local.flooredRemainder(.millisecondsPerDay))
    }

    /// The number of whole calendar months between two dates within ``range``, counted with ``adding(months:to:)``; 0
    /// if the second date is not later. A difference of one second is ignored, because Apple truncates some dates to
    /// seconds.
    package static func wholeMonths(from start: Int64, to end: Int64) -> Int64 {
        guard end > start else { return 0 }
        let first = CivilDay(daysSince1970: local(start).flooredQuotient(.millisecondsPerDay))
        let last = CivilDay(daysSince1970: local(end + 1_000).flooredQuotient(.millisecondsPerDay))
        let months = (last.year - first.year) * 12 + last.month - first.month
        return months > 0 && adding(months: months, to: start) > end + 1_000 ? months - 1 : months
    }
}
