/// US Pacific time since 2007, the year before the App Store opened: UTC−8, and UTC−7 from the second Sunday of March to
/// the first Sunday of November, changing at two o'clock local time (Energy Policy Act of 2005).
enum PacificTime {
    private static let hour: Int64 = 3_600_000

    /// Milliseconds since 1970 as a clock in California counts them.
    static func local(_ milliseconds: Int64) -> Int64 {
        milliseconds + (isDaylightSaving(milliseconds) ? -7 : -8) * hour
    }

    private static func isDaylightSaving(_ milliseconds: Int64) -> Bool {
        // The year is that of standard time; neither change is near its ends.
        let standard = milliseconds - 8 * hour
        let year = CivilDay(daysSince1970: standard.flooredQuotient(.millisecondsPerDay)).year
        let begin = firstSunday(year: year, month: 3) + 7
        let end = firstSunday(year: year, month: 11)
        // Two o'clock is 02:00 of standard time in March, and 01:00 of it in November.
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
}
