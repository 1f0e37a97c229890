import AppStoreModels
import LegacyReceipts
import Purchases

/// Times for people.
enum DateText {
    /// ISO 8601 in UTC, with milliseconds only where there are some.
    static func iso(_ milliseconds: Int64) -> String {
        let civil = CivilTime(milliseconds: milliseconds)
        let fraction = milliseconds % 1_000 == 0 ? "" : "." + civil.fraction
        return "\(civil.date)T\(civil.time)\(fraction)Z"
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
