/// A moment on the UTC time line in milliseconds, with the calendar arithmetic that receipts need.
///
/// Everything is computed here, from the Gregorian rules and from the United States' rules for summer time, so that
/// forged receipts do not depend on the time zone files or the locale of the machine.
public struct ForgedInstant: Hashable, Sendable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// A civil time in UTC. Fields outside of their usual range carry over: month 13 is January of the next year.
    public init(
        _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64 = 0, _ minute: Int64 = 0, _ second: Int64 = 0,
        milliseconds: Int64 = 0
    ) {
        let seconds = Self.days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
        self.milliseconds = seconds * 1_000 + milliseconds
    }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    public func adding(days: Int64 = 0, hours: Int64 = 0, minutes: Int64 = 0, seconds: Int64 = 0) -> Self {
        Self(milliseconds: milliseconds + (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000)
    }

    /// The same day and time so many months later; a day that the month does not have becomes its last.
    public func adding(months: Int64) -> Self {
        let now = civil(offsetSeconds: 0)
        let index = now.year * 12 + now.month - 1 + months
        let year = index.floorDivided(by: 12)
        let month = index - year * 12 + 1
        let length = Self.days(year, month + 1, 1) - Self.days(year, month, 1)
        return Self(
            year, month, min(now.day, length), now.hour, now.minute, now.second, milliseconds: now.millisecond)
    }

    // MARK: Civil time

    struct Civil {
        var year, month, day, hour, minute, second, millisecond: Int64
    }

    func civil(offsetSeconds: Int64) -> Civil {
        let local = milliseconds + offsetSeconds * 1_000
        let day = local.floorDivided(by: 86_400_000)
        let rest = local - day * 86_400_000
        let date = Self.date(day)
        return Civil(
            year: date.year, month: date.month, day: date.day, hour: rest / 3_600_000, minute: rest / 60_000 % 60,
            second: rest / 1_000 % 60, millisecond: rest % 1_000)
    }

    /// Seconds that Los Angeles is ahead of UTC (a negative number): summer time from the second Sunday of March to the
    /// first Sunday of November, at two o'clock local time (Energy Policy Act of 2005, in force since 2007).
    var losAngelesOffset: Int64 {
        let year = civil(offsetSeconds: 0).year
        let begins = Self(year, 3, Self.sunday(2, ofMonth: 3, year), 10)
        let ends = Self(year, 11, Self.sunday(1, ofMonth: 11, year), 9)
        return self >= begins && self < ends ? -7 * 3_600 : -8 * 3_600
    }

    private static func sunday(_ number: Int64, ofMonth month: Int64, _ year: Int64) -> Int64 {
        // 1970-01-01 was a Thursday.
        let weekday = (days(year, month, 1) + 4) % 7
        return (7 - weekday) % 7 + 1 + (number - 1) * 7
    }

    /// Days from 1970-01-01, counting years from March so that the leap day comes last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let months = year * 12 + month - 3
        let marchYear = months.floorDivided(by: 12)
        let marchMonth = months - marchYear * 12
        let leapDays = marchYear.floorDivided(by: 4) - marchYear.floorDivided(by: 100) + marchYear.floorDivided(by: 400)
        return marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - 719_468
    }

    private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    func floorDivided(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }

    /// Decimal digits, filled up with zeros on the left.
    func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}
