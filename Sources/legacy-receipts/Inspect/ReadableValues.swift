import AppStoreModels
import LegacyReceipts
import Purchases

/// Times for people.
enum DateText {
    /// ISO 8601 in UTC, with milliseconds only where there are some.
    static func iso(_ milliseconds: Int64) -> String {
        let date = CivilDay(daysSince1970: milliseconds.flooredQuotient(.millisecondsPerDay))
        let rest = milliseconds.flooredRemainder(.millisecondsPerDay)
        let fraction = rest % 1000 == 0 ? "" : "." + padded(rest % 1000, 3)
        let clock = "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2))"
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(clock)\(fraction)Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension RawAttribute {
    var readableValue: String {
        switch content {
        case .integer(let number): String(number)
        case .text(let text): text.isEmpty ? "(empty)" : Printable.text(text)
        case .bytes: value.isEmpty ? "(empty)" : Printable.hex(value)
        }
    }
}
