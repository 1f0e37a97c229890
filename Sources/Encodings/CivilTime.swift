/// A day and a time of day in UTC, for text. Uses no locale and no calendar objects.
package struct CivilTime {
    package let day: CivilDay
    private let milliseconds: Int64

    /// - Parameter milliseconds: since 1970-01-01T00:00:00Z.
    package init(milliseconds: Int64) {
        day = CivilDay(milliseconds: milliseconds)
        self.milliseconds = milliseconds.flooredRemainder(.millisecondsPerDay)
    }

    /// `2026-03-01`
    package var date: String { "\(day.year.padded(4))-\(day.month.padded(2))-\(day.day.padded(2))" }

    /// `17:39:08`
    package var time: String {
        let seconds = milliseconds / 1_000
        return "\((seconds / 3_600).padded(2)):\((seconds / 60 % 60).padded(2)):\((seconds % 60).padded(2))"
    }

    /// `131`
    package var fraction: String { (milliseconds % 1_000).padded(3) }
}

extension Int64 {
    /// Decimal digits with leading zeros.
    package func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}
