internal import AppStoreModels
internal import Encodings

/// A point in time in milliseconds, with the calendar arithmetic and the date formats of receipts.
///
/// It uses no time zone files and no locale, so forged receipts are the same on every machine.
public struct ForgedInstant: Hashable, Sendable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let milliseconds: Int64

    /// An instant in milliseconds since 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// A date and time in UTC. Fields outside their usual range carry over: month 13 is January of the next year.
    public init(
        _ year: Int64, _ month: Int64, _ day: Int64, _ hour: Int64 = 0, _ minute: Int64 = 0, _ second: Int64 = 0,
        milliseconds: Int64 = 0
    ) {
        let days = CivilDay(year: year, month: 1, day: 1).adding(months: month - 1).daysSince1970 + day - 1
        self.milliseconds = ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000 + milliseconds
    }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// The instant some time later, or earlier for negative numbers. A day has 24 hours.
    public func adding(days: Int64 = 0, hours: Int64 = 0, minutes: Int64 = 0, seconds: Int64 = 0) -> Self {
        Self(milliseconds: milliseconds + (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000)
    }

    /// The same day and time some months later, or the last day of a month that is too short.
    public func adding(months: Int64) -> Self {
        let day = milliseconds.flooredQuotient(.millisecondsPerDay)
        return adding(days: CivilDay(daysSince1970: day).adding(months: months).daysSince1970 - day)
    }

    // MARK: Text

    /// `2020-07-22T17:39:08Z`, the form in app receipts, without milliseconds.
    public var receiptText: String { text(separator: "T", suffix: "Z") }

    /// `2020-07-22T17:39:08.131Z`, the form in some Mac receipts.
    public var receiptTextWithMilliseconds: String {
        text(separator: "T", suffix: ".\(CivilTime(milliseconds: milliseconds).fraction)Z")
    }

    /// `2020-07-22T18:39:08+0100`, the form in Xcode's receipts.
    public func receiptText(offsetMinutes: Int64) -> String {
        let minutes = abs(offsetMinutes)
        return adding(minutes: offsetMinutes).text(
            separator: "T",
            suffix: (offsetMinutes < 0 ? "-" : "+") + (minutes / 60).padded(2) + (minutes % 60).padded(2))
    }

    /// `2020-07-22 17:39:08 Etc/GMT`, the form in transaction receipts and verifyReceipt replies.
    public var gmtText: String { text(separator: " ", suffix: " Etc/GMT") }

    /// `2020-07-22 10:39:08 America/Los_Angeles`, the `_pst` form of verifyReceipt.
    public var losAngelesText: String {
        Self(milliseconds: PacificTime.local(milliseconds)).text(separator: " ", suffix: " America/Los_Angeles")
    }

    /// `200722173908Z`, or `20500722173908Z` from 2050 on.
    var certificateText: String {
        let digits = text(separator: "", suffix: "Z").filter { $0 != "-" && $0 != ":" }
        return ("1950"..<"2050").contains(digits.prefix(4)) ? String(digits.dropFirst(2)) : digits
    }

    private func text(separator: String, suffix: String) -> String {
        let civil = CivilTime(milliseconds: milliseconds)
        return "\(civil.date)\(separator)\(civil.time)\(suffix)"
    }
}
