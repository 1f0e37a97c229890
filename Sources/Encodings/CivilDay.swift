/// A day of the proleptic Gregorian calendar in UTC.
///
/// Uses exact integer arithmetic, because calendar objects are too slow for terms of millions of purchases. Years are
/// counted from March 1, so the leap day is the last day of the counted year.
package struct CivilDay {
    package var year: Int64
    /// 1...12
    package var month: Int64
    /// 1...31
    package var day: Int64

    @inlinable
    static var daysInEra: Int64 { 146_097 }
    /// Days from March 1 of year 0 to January 1, 1970.
    @inlinable
    static var epochShift: Int64 { 719_468 }

    @inlinable
    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Nil if there is no such day.
    @inlinable
    package init?(existing year: Int64, _ month: Int64, _ day: Int64) {
        self.init(year: year, month: month, day: day)
        guard (1...12).contains(month), (1...daysInMonth).contains(day) else { return nil }
    }

    /// A day in the form 2026-03-01; nil for other text, and for days that do not exist.
    package init?(iso8601 text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2] else { return nil }
        let numbers = parts.compactMap { part -> Int64? in
            guard part.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
            return part.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        guard numbers.count == 3 else { return nil }
        self.init(existing: numbers[0], numbers[1], numbers[2])
    }

    package init(daysSince1970 days: Int64) {
        let shifted = days + Self.epochShift
        let era = shifted.flooredQuotient(Self.daysInEra)
        let dayOfEra = shifted - era * Self.daysInEra
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The day of a date, in milliseconds since 1970-01-01T00:00:00Z.
    package init(milliseconds: Int64) {
        self.init(daysSince1970: milliseconds.flooredQuotient(.millisecondsPerDay))
    }

    /// The first day of a month.
    package init(monthsSinceYear0 months: Int64) {
        self.init(year: months.flooredQuotient(12), month: months.flooredRemainder(12) + 1, day: 1)
    }

    /// The number of the month, from January of the year 0 on.
    package var monthsSinceYear0: Int64 { year * 12 + month - 1 }

    @inlinable
    package var daysSince1970: Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear.flooredQuotient(400)
        let yearOfEra = marchYear - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysInEra + dayOfEra - Self.epochShift
    }

    @inlinable
    package var daysInMonth: Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The same day `months` later, or the last day of that month if it has no such day.
    package func adding(months: Int64) -> CivilDay {
        var result = CivilDay(monthsSinceYear0: monthsSinceYear0 + months)
        result.day = min(day, result.daysInMonth)
        return result
    }
}

extension Int64 {
    package static let millisecondsPerDay: Int64 = 86_400_000

    /// Division that rounds toward negative infinity. The divisor is a positive constant in every call.
    @inlinable
    package func flooredQuotient(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The remainder of ``flooredQuotient(_:)``: 0 ..< divisor.
    @inlinable
    package func flooredRemainder(_ divisor: Int64) -> Int64 {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
