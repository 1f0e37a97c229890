import AppStoreModels
import Encodings

/// A date of a recorded document, read from text (Reference.md V3.4).
package struct RecordedDate: Equatable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    let milliseconds: Int64
    /// Whether the local time occurs twice, when summer time ends; the earlier of the two is used.
    let isAmbiguous: Bool

    /// 0001-01-01 to 9999-12-31; later arithmetic relies on it.
    static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// Numbers that are seconds since 1970 or 2001 of a date from 2008 to 2100, where Apple's are milliseconds. As
    /// milliseconds, they would be dates of January and February 1970.
    package static let seconds: Range<Int64> = 230_000_000..<4_102_444_800

    /// Reads `2020-07-22 17:39:08 Etc/GMT` and `2020-07-22 10:39:08 America/Los_Angeles`. Any white space separates the
    /// parts, because stored copies are often reformatted.
    static func text(_ text: String) -> RecordedDate? {
        guard text.utf8.count <= 96 else { return nil }
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard parts.count == 3, let day = numbers(parts[0], "-", [4, 2, 2]),
            let time = numbers(parts[1], ":", [2, 2, 2]),
            let milliseconds = utc(day, time)
        else { return nil }
        switch parts[2] {
        case "Etc/GMT", "GMT", "UTC": return RecordedDate(milliseconds: milliseconds, isAmbiguous: false)
        case "America/Los_Angeles": return losAngeles(milliseconds)
        default: return nil
        }
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
