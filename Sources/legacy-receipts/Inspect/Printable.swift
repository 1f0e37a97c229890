import AppStoreModels
import LegacyReceipts
import ReceiptMigration

/// Text for a terminal.
enum Printable {
    /// Control characters and bidirectional overrides made visible: a receipt must not be able to draw on a terminal.
    static func text(_ text: String) -> String {
        replaceUnprintable(text) { "\\u{\(String($0.value, radix: 16))}" }
    }

    /// JSON text of one line with the same characters as JSON's own escapes. Outside of strings JSON has none of them.
    static func json(_ json: String) -> String {
        replaceUnprintable(json) { scalar in
            scalar.utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    private static func replaceUnprintable(_ text: String, _ escaped: (Unicode.Scalar) -> String) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result.append(contentsOf: escaped(scalar).unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    static func hex(_ octets: some Sequence<UInt8>) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

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
        case .octets: value.isEmpty ? "(empty)" : Printable.hex(value)
        }
    }
}
