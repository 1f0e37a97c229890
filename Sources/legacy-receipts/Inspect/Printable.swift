import LegacyReceipts

/// Text for a terminal.
enum Printable {
    /// Control characters and bidirectional overrides made visible: a receipt must not be able to draw on a terminal.
    static func text(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    static func hex(_ octets: some Sequence<UInt8>) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// Times for people.
enum DateText {
    /// ISO 8601 in UTC, with milliseconds only where there are some.
    static func iso(_ milliseconds: Int64) -> String {
        let days = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds + 1) / 86_400_000 - 1
        let rest = milliseconds - days * 86_400_000
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)
        let fraction = rest % 1000 == 0 ? "" : "." + padded(rest % 1000, 3)
        let clock = "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2))"
        return "\(padded(year, 4))-\(padded(civilMonth, 2))-\(padded(day, 2))T\(clock)\(fraction)Z"
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
