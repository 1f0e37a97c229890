/// Civil time in the zone America/Los_Angeles, including its history, because the `_pst` form of dates needs the real
/// rules (Reference.md V3.4). The rules are those of the IANA time zone database.
package enum LosAngelesTime {
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
        let year = CivilDate(secondsSince1970: seconds &+ standard).year
        let begin = at(2, on: CivilDate.sunday(onOrAfter: 8, month: 3, year: year))
        let end = at(1, on: CivilDate.sunday(onOrAfter: 1, month: 11, year: year))
        return standard + (begin <= seconds && seconds < end ? 3_600 : 0)
    }

    /// The instant at which a clock on standard time shows this hour and minute.
    private static func at(_ hour: Int64, minute: Int64 = 0, on day: Int64) -> Int64 {
        day &* 86_400 &+ hour &* 3_600 &+ minute &* 60 &- standard
    }

    private static func isDaylightSaving(_ seconds: Int64) -> Bool {
        let year = CivilDate(secondsSince1970: seconds &+ standard).year
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
            return at(2, on: CivilDate.days(1942, 2, 9))..<Int64.max
        case 1943, 1944:
            return Int64.min..<Int64.max
        case 1945:
            return Int64.min..<at(1, on: CivilDate.days(1945, 9, 30))
        case 1948:
            // Because of a power shortage it lasted until the end of the year: clocks went back on New Year's Day.
            return at(2, minute: 1, on: CivilDate.days(1948, 3, 14))..<Int64.max
        case 1949:
            return Int64.min..<at(1, on: CivilDate.days(1949, 1, 1))
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
        case 1974: CivilDate.days(1974, 1, 6)
        case 1975: CivilDate.days(1975, 2, 23)
        case ...1986: lastSunday(4, year)
        default: CivilDate.sunday(onOrAfter: 1, month: 4, year: year)
        }
    }

    /// The last Sunday of a month.
    private static func lastSunday(_ month: Int64, _ year: Int64) -> Int64 {
        CivilDate.sunday(onOrAfter: month == 3 || month == 10 ? 25 : 24, month: month, year: year)
    }
}

/// A day of the proleptic Gregorian calendar. Days count from 1970-01-01, which was a Thursday.
package struct CivilDate {
    let year: Int64
    let month: Int64
    let day: Int64

    /// The day that contains this second. Defined for every number.
    init(secondsSince1970 seconds: Int64) {
        self.init(days: Self.floored(seconds, 86_400).quotient)
    }

    init(days: Int64) {
        // Years start in March, so that the leap day is the last day of its year. An era is 400 years.
        let shifted = days &+ 719_468
        let (era, dayOfEra) = Self.floored(shifted, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Days since 1970-01-01.
    package static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = floored(shifted, 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The first Sunday on or after a day of the month, in days since 1970-01-01.
    static func sunday(onOrAfter day: Int64, month: Int64, year: Int64) -> Int64 {
        let start = days(year, month, day)
        // Day 3, 1970-01-04, was a Sunday.
        let weekday = floored(start - 3, 7).remainder
        return weekday == 0 ? start : start + 7 - weekday
    }

    /// Division that rounds toward negative infinity, also for dates before 1970.
    static func floored(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
