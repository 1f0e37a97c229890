internal import AppStoreModels

/// Finds values with the same meaning in different forms.
enum ValueForms {
    /// The rule by which two different values have the same meaning; nil if they do not.
    static func sameMeaning(_ apples: JSONValue, _ ours: JSONValue, key: String) -> ComparisonRule? {
        switch (apples, ours) {
        case (.integer(let one), .integer(let other)):
            isMillisecondKey(key) && sameSecond(one, other) ? .milliseconds : rounded(one, other)
        case (.string(let one), .string(let other)):
            strings(one, other, key)
        case (.string, .integer), (.integer, .string), (.number, .string), (.string, .number), (.number, .integer),
            (.integer, .number):
            digits(apples) == digits(ours) && digits(ours) != nil ? .numberOrString : nil
        case (.bool(let bool), .string(let string)), (.string(let string), .bool(let bool)):
            names(of: bool).contains(string) ? .booleanOrString : nil
        case (.bool(let bool), .integer(let integer)), (.integer(let integer), .bool(let bool)):
            integer == (bool ? 1 : 0) ? .booleanOrString : nil
        default: nil
        }
    }

    private static func strings(_ one: String, _ other: String, _ key: String) -> ComparisonRule? {
        if isMillisecondKey(key), let one = Int64(one), let other = Int64(other), sameSecond(one, other) {
            return .milliseconds
        }
        if key == "app_account_token", one.lowercased() == other.lowercased() { return .letterCase }
        if let one = GMTText(one), let other = GMTText(other), one == other { return .dateText }
        guard let one = Int64(one), let other = Int64(other) else { return nil }
        return rounded(one, other)
    }

    /// Members with milliseconds: `X_ms`, and `expires_date` of iOS 6 replies.
    private static func isMillisecondKey(_ key: String) -> Bool { key.hasSuffix("_ms") || key == "expires_date" }

    /// Whether the dates differ only by a fraction: one has whole seconds, as in receipts, or a truncated or rounded
    /// fraction.
    private static func sameSecond(_ one: Int64, _ other: Int64) -> Bool {
        guard one % 1000 == 0 || other % 1000 == 0 else { return false }
        let (difference, overflow) = one.subtractingReportingOverflow(other)
        return !overflow && difference.magnitude < 1000
    }

    /// Whether the values are equal as JavaScript numbers: a recorder that uses them loses the last digits of Apple's
    /// value.
    private static func rounded(_ apples: Int64, _ ours: Int64) -> ComparisonRule? {
        let limit: UInt64 = 1 << 53
        guard apples != ours, apples.magnitude > limit, ours.magnitude > limit, Double(apples) == Double(ours)
        else { return nil }
        return .roundedNumber
    }

    private static func digits(_ value: JSONValue) -> String? {
        switch value {
        case .integer(let integer): String(integer)
        case .string(let text): Int64(text).map { String($0) }
        case .number(let text): text.hasSuffix(".0") ? String(text.dropLast(2)) : nil
        default: nil
        }
    }

    private static func names(of bool: Bool) -> [String] { bool ? ["true", "1"] : ["false", "0"] }
}

/// A moment in GMT as text, to the second.
struct GMTText: Equatable {
    /// Year, month, day, hour, minute, second: 14 in all.
    private let digits: [UInt8]

    /// `2020-07-22 17:39:08 Etc/GMT` and the other ways to write it (RFC 3339).
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        guard rest.count <= 40 else { return nil }
        var digits: [UInt8] = []
        for separator in ["-", "-", " T", ":", ":", ""] {
            let number = rest.prefix(while: \.isDigit)
            guard number.count == (digits.isEmpty ? 4 : 2) else { return nil }
            digits += number
            rest = rest.dropFirst(number.count)
            guard !separator.isEmpty else { break }
            guard let next = rest.first, separator.utf8.contains(next) else { return nil }
            rest = rest.dropFirst()
        }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst().drop(while: \.isDigit)
        }
        let zones = [" Etc/GMT", "Z", "+00:00", " GMT", " UTC", " +0000"]
        guard zones.contains(String(decoding: rest, as: UTF8.self)) else { return nil }
        self.digits = digits
    }
}
