/// The zone America/Los_Angeles including its history, because the `_pst` form of dates in a verifyReceipt reply needs the real
/// rules (Reference.md V3.4). The rules come from the IANA time zone database.
extension PacificTime {
    /// The offset of US Pacific time. The current rules (Energy Policy Act of 2005) are computed, so no time zone table
    /// is needed.
    package static func secondsEastOfGreenwich(at seconds: Int64) -> Int64 {
        // Most dates fall under the current rules.
        guard seconds < Self.firstRuledYear else { return currentRules(seconds) }
        // Local mean time until noon of 1883-11-18.
        guard seconds >= -2_717_640_000 else { return -28_378 }
        return standard + (isDaylightSaving(seconds) ? 3_600 : 0)
    }

    private static let standard: Int64 = -8 * 3_600
    /// 2007-01-01T08:00:00Z.
    private static let firstRuledYear: Int64 = 1_167_638_400

    /// Daylight saving time from the second Sunday of March to the first Sunday of November, since 2007.
    private static func currentRules(_ seconds: Int64) -> Int64 {
        let day = CivilDay(daysSince1970: (seconds &+ standard).flooredQuotient(86_400))
        let isDaylightSaving =
            switch day.month {
            case 3: seconds >= at(2, on: sunday(onOrAfter: 8, month: 3, day.year))
            case 4...10: true
            case 11: seconds < at(1, on: sunday(onOrAfter: 1, month: 11, day.year))
            default: false
            }
        return standard + (isDaylightSaving ? 3_600 : 0)
    }

    /// The instant at which a clock on standard time shows this hour and minute.
    private static func at(_ hour: Int64, minute: Int64 = 0, on day: Int64) -> Int64 {
        day &* 86_400 &+ hour &* 3_600 &+ minute &* 60 &- standard
    }

    private static func isDaylightSaving(_ seconds: Int64) -> Bool {
        let year = CivilDay(daysSince1970: (seconds &+ standard).flooredQuotient(86_400)).year
        return period(of: year)?.contains(seconds) ?? false
    }

    /// The daylight saving time of a year before 2007; nil if it had none. It ends at two o'clock daylight time, which
    /// is one o'clock standard time, unless noted.
    private static func period(of year: Int64) -> Range<Int64>? {
        switch year {
        case 1918, 1919:
            return at(2, on: lastSunday(3, year))..<at(1, on: lastSunday(10, year))
        case 1942:
            // War Time began on February 9, 1942 and lasted until 1945.
            return at(2, on: CivilDay(year: 1942, month: 2, day: 9).daysSince1970)..<Int64.max
        case 1943, 1944:
            return Int64.min..<Int64.max
        case 1945:
            return Int64.min..<at(1, on: CivilDay(year: 1945, month: 9, day: 30).daysSince1970)
        case 1948:
            // Because of a power shortage, daylight saving time lasted until New Year's Day.
            return at(2, minute: 1, on: CivilDay(year: 1948, month: 3, day: 14).daysSince1970)..<Int64.max
        case 1949:
            return Int64.min..<at(1, on: CivilDay(year: 1949, month: 1, day: 1).daysSince1970)
        case 1950...1961:
            return at(1, on: lastSunday(4, year))..<at(1, on: lastSunday(9, year))
        case 1962...1966:
            return at(1, on: lastSunday(4, year))..<at(1, on: lastSunday(10, year))
        case 1967...2006:
            return at(2, on: spring(year))..<at(1, on: lastSunday(10, year))
        default:
            return nil
        }
    }

    /// The day on which clocks went forward under the Uniform Time Act, and in the energy crisis of 1974 and 1975.
    private static func spring(_ year: Int64) -> Int64 {
        switch year {
        case 1974: CivilDay(year: 1974, month: 1, day: 6).daysSince1970
        case 1975: CivilDay(year: 1975, month: 2, day: 23).daysSince1970
        case ...1986: lastSunday(4, year)
        default: sunday(onOrAfter: 1, month: 4, year)
        }
    }

    /// The last Sunday of a month.
    private static func lastSunday(_ month: Int64, _ year: Int64) -> Int64 {
        sunday(onOrAfter: month == 3 || month == 10 ? 25 : 24, month: month, year)
    }

    /// The first Sunday that is not before a day of the month; in days since 1970-01-01.
    private static func sunday(onOrAfter day: Int64, month: Int64, _ year: Int64) -> Int64 {
        let start = CivilDay(year: year, month: month, day: day).daysSince1970
        // 1970-01-04, day 3, was a Sunday.
        return start + (3 - start).flooredRemainder(7)
    }
}
