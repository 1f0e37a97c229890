import AppStoreModels
import Encodings

/// A date of a recorded document (Reference.md V3.4).
package struct RecordedDate: Equatable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package let milliseconds: Int64
    /// Whether the local time occurs twice, when summer time ends; the earlier of the two is used.
    let isAmbiguous: Bool

    /// 0001-01-01 to 9999-12-31; later arithmetic relies on it.
    static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Numbers that are seconds since 1970 or 2001 of a date from 2008 to 2100, where Apple's are milliseconds. As
    /// milliseconds, they would be dates of January and February 1970.
    package static let seconds: Range<Int64> = 230_000_000..<4_102_444_800

    /// Reads Apple's `2020-07-22 17:39:08 Etc/GMT` and `2020-07-22 10:39:08 America/Los_Angeles`, and the time stamps of
    /// databases: `2020-07-22T17:39:08.123Z`, `2020-07-22 17:39:08+00`. Any white space separates the parts, because stored
    /// copies are often reformatted.
    /// - Parameters:
    ///   - text: the day, the time and the time zone.
    ///   - assumesUTC: whether a text without a time zone is UTC. Otherwise it is not a date, because it can be wrong by hours.
    package static func text(_ text: String, assumesUTC: Bool = false) -> RecordedDate? {
        guard let (local, zone) = clock(text) else { return nil }
        let date: RecordedDate?
        switch zone {
        case "Etc/GMT", "GMT", "UTC", "Etc/UTC", "Z": date = RecordedDate(milliseconds: local, isAmbiguous: false)
        case "America/Los_Angeles": date = losAngeles(local)
        case "": date = assumesUTC ? RecordedDate(milliseconds: local, isAmbiguous: false) : nil
        default: date = offset(zone).map { RecordedDate(milliseconds: local - $0, isAmbiguous: false) }
        }
        return date.flatMap { range.contains($0.milliseconds) ? $0 : nil }
    }

    /// Whether only the time zone of a date is missing.
    static func lacksTimeZone(_ text: String) -> Bool { clock(text)?.zone.isEmpty == true }

    /// The local time as if it were UTC, in milliseconds, and the time zone after it, which can be empty.
    private static func clock(_ text: String) -> (milliseconds: Int64, zone: Substring)? {
        guard text.utf8.count <= 96 else { return nil }
        let date = text.drop { $0.isWhitespace }
        let rest = date.dropFirst(10)
        guard let first = rest.first, first == "T" || first.isWhitespace else { return nil }
        let time = rest.dropFirst().drop { $0.isWhitespace }
        guard let day = numbers(date.prefix(10), "-", [4, 2, 2]), let hour = numbers(time.prefix(8), ":", [2, 2, 2]),
            let seconds = utc(day, hour)
        else { return nil }
        let fraction = fraction(time.dropFirst(8))
        let zone = (fraction?.rest ?? time.dropFirst(8)).split { $0.isWhitespace }
        guard zone.count <= 1 else { return nil }
        return (seconds + (fraction?.milliseconds ?? 0), zone.first ?? "")
    }

    /// A decimal point and the digits after it, of which the first three count. Nil for any other beginning.
    package static func fraction(_ text: Substring) -> (milliseconds: Int64, rest: Substring)? {
        guard text.first == "." else { return nil }
        let digits = text.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, let milliseconds = Int64("\(digits)00".prefix(3)) else { return nil }
        return (milliseconds, text[digits.endIndex...])
    }

    /// The milliseconds by which `+02:00`, `-0700` or `+00` is ahead of UTC. No time zone differs from UTC by more than 14 hours.
    private static func offset(_ zone: Substring) -> Int64? {
        guard let sign = zone.first, sign == "+" || sign == "-" else { return nil }
        let hours = zone.dropFirst().prefix(2)
        let rest = zone.dropFirst(3)
        let minutes: Substring = rest.isEmpty ? "00" : rest.first == ":" ? rest.dropFirst() : rest
        guard let parts = numbers("\(hours):\(minutes)"[...], ":", [2, 2]), parts[1] < 60 else { return nil }
        let total = parts[0] * 60 + parts[1]
        guard total <= 14 * 60 else { return nil }
        return (sign == "-" ? -total : total) * 60_000
    }

    private static func numbers(_ text: Substring, _ separator: Character, _ lengths: [Int]) -> [Int64]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == lengths else { return nil }
        var result: [Int64] = []
        for part in parts {
            guard part.isDecimal, let number = Int64(part) else { return nil }
            result.append(number)
        }
        return result
    }

    private static func utc(_ day: [Int64], _ time: [Int64]) -> Int64? {
        guard day[0] >= 1, let date = CivilDay(existing: day[0], day[1], day[2]),
            time[0] < 24, time[1] < 60, time[2] <= 60
        else { return nil }
        return date.daysSince1970 * .millisecondsPerDay + (time[0] * 3600 + time[1] * 60 + time[2]) * 1000
    }

    /// The civil time of Los Angeles; nil for the hour that does not exist when summer time begins.
    private static func losAngeles(_ local: Int64) -> RecordedDate? {
        let instant = PacificTime.instant(local: local)
        guard PacificTime.local(instant) == local else { return nil }
        return RecordedDate(
            milliseconds: instant, isAmbiguous: PacificTime.local(instant + 3_600_000) == local)
    }
}
