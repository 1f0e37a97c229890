internal import Encodings

/// Reads dates in receipts and certificates directly from bytes as milliseconds since 1970-01-01T00:00:00Z, without a
/// formatter or calendar object.
enum ReceiptDate {
    /// Reads an attribute date (RFC 3339, 5.6, and the variants in Reference.md V5.4): `2020-07-22T17:39:08Z`,
    /// fractional seconds, offsets as `+01:00` or `+0100`. Nil for other input.
    static func attribute(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int64? {
        guard range.count >= 20,
            let year = digits(bytes, range.lowerBound, 4), bytes[range.lowerBound + 4] == UInt8(ascii: "-"),
            let month = digits(bytes, range.lowerBound + 5, 2), bytes[range.lowerBound + 7] == UInt8(ascii: "-"),
            let day = digits(bytes, range.lowerBound + 8, 2),
            isTimeSeparator(bytes[range.lowerBound + 10]),
            let seconds = clock(bytes, range.lowerBound + 11),
            let days = days(year, month, day)
        else { return nil }
        var offset = range.lowerBound + 19
        var milliseconds: Int64 = 0
        if bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            var scale: Int64 = 100
            let first = offset
            while offset < range.upperBound, let digit = digit(bytes[offset]) {
                milliseconds += Int64(digit) * scale
                scale /= 10
                offset += 1
            }
            guard offset > first else { return nil }
        }
        guard let zone = zone(bytes, offset..<range.upperBound) else { return nil }
        return (days * 86_400 + seconds - zone) * 1000 + milliseconds
    }

    /// Reads the text form of a transaction receipt: `2012-09-21 01:31:38 Etc/GMT`. Nil for other input.
    static func propertyListText(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        let suffix = " Etc/GMT"
        guard bytes.count == 19 + suffix.utf8.count, text.hasSuffix(suffix) else { return nil }
        let timestamp = bytes[..<19] + [UInt8(ascii: "Z")]
        return attribute(timestamp.span, 0..<20)
    }

    /// Reads the contents of UTCTime `YYMMDDHHMMSSZ` or GeneralizedTime `YYYYMMDDHHMMSSZ` as certificates have them
    /// (RFC 5280, 4.1.2.5). Nil for other input.
    static func certificate(_ bytes: Span<UInt8>, _ range: Range<Int>, generalized: Bool) -> Int64? {
        let yearDigits = generalized ? 4 : 2
        let start = range.lowerBound
        guard range.count == yearDigits + 11, bytes[range.upperBound - 1] == UInt8(ascii: "Z"),
            var year = digits(bytes, start, yearDigits),
            let month = digits(bytes, start + yearDigits, 2), let day = digits(bytes, start + yearDigits + 2, 2),
            let hour = digits(bytes, start + yearDigits + 4, 2), hour < 24,
            let minute = digits(bytes, start + yearDigits + 6, 2), minute < 60,
            let second = digits(bytes, start + yearDigits + 8, 2), second < 60
        else { return nil }
        // RFC 5280, 4.1.2.5.1: two-digit years from 50 on belong to the last century.
        if !generalized { year += year >= 50 ? 1900 : 2000 }
        guard let days = days(year, month, day) else { return nil }
        return (days * 86_400 + Int64(hour * 3600 + minute * 60 + second)) * 1000
    }

    @inline(__always)
    private static func isTimeSeparator(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "T") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "t")
    }

    /// `HH:MM:SS` in seconds.
    @inline(__always)
    private static func clock(_ bytes: Span<UInt8>, _ start: Int) -> Int64? {
        guard let hour = digits(bytes, start, 2), hour < 24, bytes[start + 2] == UInt8(ascii: ":"),
            let minute = digits(bytes, start + 3, 2), minute < 60, bytes[start + 5] == UInt8(ascii: ":"),
            // RFC 3339, 5.7 allows a leap second.
            let second = digits(bytes, start + 6, 2), second <= 60
        else { return nil }
        return Int64(hour * 3600 + minute * 60 + second)
    }

    /// `Z`, `+HH:MM` or `+HHMM` in seconds east of Greenwich.
    @inline(__always)
    private static func zone(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int64? {
        guard let sign = range.isEmpty ? nil : bytes[range.lowerBound] else { return nil }
        if sign == UInt8(ascii: "Z") || sign == UInt8(ascii: "z") { return range.count == 1 ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        let hasColon = range.count == 6
        guard range.count == 5 || (hasColon && bytes[range.lowerBound + 3] == UInt8(ascii: ":")),
            let hours = digits(bytes, range.lowerBound + 1, 2), hours < 24,
            let minutes = digits(bytes, range.lowerBound + (hasColon ? 4 : 3), 2), minutes < 60
        else { return nil }
        let seconds = Int64(hours * 3600 + minutes * 60)
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }

    @inline(__always)
    private static func digit(_ byte: UInt8) -> Int? {
        byte >= 0x30 && byte <= 0x39 ? Int(byte - 0x30) : nil
    }

    @inline(__always)
    private static func digits(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> Int? {
        var value = 0
        for index in start..<start + count {
            guard let digit = digit(bytes[index]) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Days since 1970-01-01; nil if there is no such day.
    @inline(__always)
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int64? {
        CivilDay(existing: Int64(year), Int64(month), Int64(day))?.daysSince1970
    }
}
