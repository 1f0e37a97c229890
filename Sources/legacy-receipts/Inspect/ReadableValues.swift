import AppStoreModels
import Encodings
import LegacyReceipts

/// Times for people.
enum DateText {
    /// ISO 8601 in UTC, with milliseconds only where there are some.
    static func iso(_ milliseconds: Int64) -> String {
        let civil = CivilTime(milliseconds: milliseconds)
        let fraction = milliseconds % 1_000 == 0 ? "" : "." + civil.fraction
        return "\(civil.date)T\(civil.time)\(fraction)Z"
    }

    /// A number of Apple's JSON, if its name says that it is a date. Apple's dates are numbers of milliseconds (Reference.md
    /// S5), and no other number has such a name.
    static func iso(_ number: Int64, of name: String) -> String? {
        name.hasSuffix("Date") && PacificTime.range.contains(number) ? iso(number) : nil
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
