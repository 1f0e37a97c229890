import AppStoreModels
import Encodings

/// The length of a subscription, an offer or a term: a whole number of days, weeks, months or years.
///
/// Written as an ISO 8601 duration with one component (`P7D`, `P1W`, `P1M`, `P1Y`), the form of Xcode's StoreKit
/// configuration files and of StoreKit 2.
public struct SubscriptionPeriod: Hashable, Sendable, CustomStringConvertible {
    /// StoreKit's units (`Product.SubscriptionPeriod.Unit`).
    public enum Unit: String, Sendable, CaseIterable {
        /// 24 hours; `D` in an ISO 8601 duration.
        case day
        /// Seven days; `W` in an ISO 8601 duration.
        case week
        /// A calendar month; `M` in an ISO 8601 duration.
        case month
        /// Twelve calendar months; `Y` in an ISO 8601 duration.
        case year

        /// The designator in an ISO 8601 duration.
        fileprivate var designator: Character {
            switch self {
            case .day: "D"
            case .week: "W"
            case .month: "M"
            case .year: "Y"
            }
        }
    }

    /// The largest number of units, far beyond every term that is sold.
    public static let maximumValue = 9_999

    /// The number of units, 1 to ``maximumValue``.
    public let value: Int
    /// The unit as written: `P7D` keeps days, and `P1W` weeks.
    public let unit: Unit

    /// `nil` unless `value` is 1 to ``maximumValue``.
    public init?(value: Int, unit: Unit) {
        guard (1...Self.maximumValue).contains(value) else { return nil }
        self.value = value
        self.unit = unit
    }

    /// For constants of this module with values in range.
    init(constant value: Int, _ unit: Unit) {
        self.value = value
        self.unit = unit
    }

    /// Reads `P7D`, `P1W`, `P6M`, `P1Y`. Returns nil for several components, time components, zero, leading zeros and
    /// lowercase letters. The App Store sells no period of these forms.
    public init?(iso8601 text: String) {
        let bytes = Array(text.utf8.prefix(7))
        guard bytes.count == text.utf8.count, bytes.first == UInt8(ascii: "P"),
            let unit = Unit.allCases.first(where: { $0.designator.asciiValue == bytes.last }),
            let value = Self.count(bytes.dropFirst().dropLast())
        else { return nil }
        self.init(value: value, unit: unit)
    }

    /// Reads the words of App Store Connect's feed: `7 Days`, `1 Month`, `2 Months`, `1 Year`, in any letter case.
    public init?(words text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let value = Self.count(ArraySlice(words[0].utf8)) else { return nil }
        let name = words[1].lowercased()
        let unit = Unit.allCases.first { name == $0.rawValue || name == $0.rawValue + "s" }
        guard let unit else { return nil }
        self.init(value: value, unit: unit)
    }

    private static func count(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.count <= 4, digits.first != UInt8(ascii: "0"), digits.allSatisfy(\.isDigit) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// The ISO 8601 duration, as ``init(iso8601:)`` reads it.
    public var iso8601: String { "P\(value)\(unit.designator)" }

    public var description: String { iso8601 }

    /// Whether both periods have the same length from every start date, such as `P7D` and `P1W`, or `P12M` and `P1Y`.
    public func isSameLength(as other: SubscriptionPeriod) -> Bool {
        canonical == other.canonical
    }

    private var canonical: SubscriptionPeriod {
        switch unit {
        case .week: SubscriptionPeriod(constant: value * 7, .day)
        case .year: SubscriptionPeriod(constant: value * 12, .month)
        case .day, .month: self
        }
    }

    /// The end of `times` consecutive periods that begin at `milliseconds` (since 1970, UTC), in milliseconds since
    /// 1970.
    ///
    /// Exact UTC calendar arithmetic. Days have 24 hours. Months and years keep the day of the month and the time of
    /// day, or end on the last day of a month that is too short: January 31 + `P1M` is February 28 or 29. Several
    /// periods are counted from the start at once, so a short month does not shift later ones.
    ///
    /// - Returns: nil if the end does not fit in 64-bit milliseconds, or if `times` is not 0 to 1,000,000.
    public func adding(to milliseconds: Int64, times: Int = 1) -> Int64? {
        guard (0...1_000_000).contains(times) else { return nil }
        let length = canonical
        let units = Int64(length.value) * Int64(times)
        let day = milliseconds.flooredQuotient(.millisecondsPerDay)
        let timeOfDay = milliseconds.flooredRemainder(.millisecondsPerDay)
        let endDay =
            length.unit == .day ? day + units : CivilDay(daysSince1970: day).adding(months: units).daysSince1970
        let (start, overflow) = endDay.multipliedReportingOverflow(by: .millisecondsPerDay)
        guard !overflow else { return nil }
        let (end, carry) = start.addingReportingOverflow(timeOfDay)
        return carry ? nil : end
    }
}
