extension ForgedInstant {
    /// `2020-07-22T17:39:08Z`, as app receipts have it; milliseconds are dropped.
    public var receiptText: String { text(separator: "T", suffix: "Z") }

    /// `2020-07-22T17:39:08.131Z`, as some Mac receipts have it.
    public var receiptTextWithMilliseconds: String {
        text(separator: "T", suffix: "." + civil(offsetSeconds: 0).millisecond.padded(3) + "Z")
    }

    /// `2020-07-22T18:39:08+0100`, as Xcode's receipts have it.
    public func receiptText(offsetMinutes: Int64) -> String {
        let minutes = abs(offsetMinutes)
        let sign = offsetMinutes < 0 ? "-" : "+"
        return text(
            offsetSeconds: offsetMinutes * 60, separator: "T",
            suffix: sign + (minutes / 60).padded(2) + (minutes % 60).padded(2))
    }

    /// `2020-07-22 17:39:08 Etc/GMT`, as transaction receipts and verifyReceipt replies have it.
    public var gmtText: String { text(separator: " ", suffix: " Etc/GMT") }

    /// `2020-07-22 10:39:08 America/Los_Angeles`, the `_pst` form of verifyReceipt.
    public var losAngelesText: String {
        text(offsetSeconds: losAngelesOffset, separator: " ", suffix: " America/Los_Angeles")
    }

    /// `200722173908Z`, or `20500722173908Z` from 2050 on.
    var certificateText: String {
        let now = civil(offsetSeconds: 0)
        let year = now.year >= 2050 || now.year < 1950 ? now.year.padded(4) : (now.year % 100).padded(2)
        return year + [now.month, now.day, now.hour, now.minute, now.second].map { $0.padded(2) }.joined() + "Z"
    }

    private func text(offsetSeconds: Int64 = 0, separator: String, suffix: String) -> String {
        let now = civil(offsetSeconds: offsetSeconds)
        let date = [now.year.padded(4), now.month.padded(2), now.day.padded(2)].joined(separator: "-")
        let time = [now.hour, now.minute, now.second].map { $0.padded(2) }.joined(separator: ":")
        return date + separator + time + suffix
    }
}
