import Foundation
import ProductCatalog
import Testing

@Suite struct SubscriptionPeriodTests {
    private static let utc: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        return calendar
    }()

    private func ms(_ text: String) throws -> Int64 {
        Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970) * 1_000
    }

    @Test(arguments: ["P7D", "P3D", "P1W", "P1M", "P2M", "P3M", "P6M", "P1Y", "P9999D"])
    func readsAndWritesISO8601(_ text: String) {
        #expect(SubscriptionPeriod(iso8601: text)?.iso8601 == text)
        #expect(SubscriptionPeriod(iso8601: text)?.description == text)
    }

    @Test(arguments: [
        "", "P", "P1", "1M", "PM", "P0M", "P01M", "p1m", "P1m", "P1Y6M", "PT1H", "P1.5M", "P-1M", "P+1M", "P10000D",
        "P1M ", " P1M", "P99999999999999999999M", "P１M", "P1H",
    ])
    func refusesInvalidPeriods(_ text: String) {
        #expect(SubscriptionPeriod(iso8601: text) == nil)
    }

    @Test(arguments: [
        ("7 Days", "P7D"), ("1 Month", "P1M"), ("2 Months", "P2M"), ("6 months", "P6M"), ("1 Year", "P1Y"),
        (" 1\n Week ", "P1W"), ("3 Days", "P3D"),
    ])
    func readsTheFeedsWords(_ words: String, _ iso: String) {
        #expect(SubscriptionPeriod(words: words)?.iso8601 == iso)
    }

    @Test(arguments: [
        "", "1", "Month", "1 Fortnight", "One Month", "0 Days", "-1 Days", "1 Month 2", "1Month", "1.5 Years",
    ])
    func refusesUnknownWords(_ words: String) {
        #expect(SubscriptionPeriod(words: words) == nil)
    }

    @Test func theValueIsBounded() {
        #expect(SubscriptionPeriod(value: 0, unit: .day) == nil)
        #expect(SubscriptionPeriod(value: 1, unit: .day) != nil)
        #expect(SubscriptionPeriod(value: SubscriptionPeriod.maximumValue, unit: .year) != nil)
        #expect(SubscriptionPeriod(value: SubscriptionPeriod.maximumValue + 1, unit: .year) == nil)
    }

    @Test func aWeekIsSevenDaysAndAYearTwelveMonths() throws {
        let week = try #require(SubscriptionPeriod(iso8601: "P1W"))
        let year = try #require(SubscriptionPeriod(iso8601: "P1Y"))
        #expect(week.isSameLength(as: try #require(SubscriptionPeriod(iso8601: "P7D"))))
        #expect(!week.isSameLength(as: try #require(SubscriptionPeriod(iso8601: "P7M"))))
        #expect(year.isSameLength(as: try #require(SubscriptionPeriod(iso8601: "P12M"))))
        #expect(!year.isSameLength(as: try #require(SubscriptionPeriod(iso8601: "P365D"))))
    }

    @Test(arguments: [
        ("2023-01-31T10:20:30Z", "P1M", 1, "2023-02-28T10:20:30Z"),
        ("2024-01-31T10:20:30Z", "P1M", 1, "2024-02-29T10:20:30Z"),
        ("2024-01-31T10:20:30Z", "P1M", 2, "2024-03-31T10:20:30Z"),
        ("2024-02-29T00:00:00Z", "P1Y", 1, "2025-02-28T00:00:00Z"),
        ("2024-02-29T00:00:00Z", "P1Y", 4, "2028-02-29T00:00:00Z"),
        ("2023-12-31T23:59:59Z", "P2M", 1, "2024-02-29T23:59:59Z"),
        ("1999-12-31T23:59:59Z", "P1W", 1, "2000-01-07T23:59:59Z"),
        ("1969-12-31T23:59:59Z", "P1M", 1, "1970-01-31T23:59:59Z"),
        ("1900-01-31T00:00:00Z", "P1M", 1, "1900-02-28T00:00:00Z"),
        ("2020-05-05T05:05:05Z", "P3M", 0, "2020-05-05T05:05:05Z"),
    ])
    func addsByTheUTCCalendarAndEndsOnTheLastDayOfAShortMonth(
        _ start: String, _ period: String, _ times: Int, _ end: String
    ) throws {
        let period = try #require(SubscriptionPeriod(iso8601: period))
        #expect(period.adding(to: try ms(start), times: times) == (try ms(end)))
    }

    @Test func keepsMilliseconds() throws {
        let month = try #require(SubscriptionPeriod(iso8601: "P1M"))
        let afterFirst: Int64? = 31 * 86_400_000 + 1
        let beforeFirst: Int64? = 30 * 86_400_000 + 86_399_999
        #expect(month.adding(to: 1) == afterFirst)
        #expect(month.adding(to: -1) == beforeFirst)
    }

    @Test func agreesWithFoundationsCalendar() throws {
        var generator = SystemRandomNumberGenerator()
        let parts: [SubscriptionPeriod.Unit: Calendar.Component] = [.day: .day, .month: .month, .year: .year]
        for _ in 0..<3_000 {
            // 1900 to 2100.
            let seconds = Int64.random(in: -2_208_988_800...4_102_444_800, using: &generator)
            let (unit, component) = try #require(parts.randomElement(using: &generator))
            let value = Int.random(in: 1...40, using: &generator)
            let start = Date(timeIntervalSince1970: TimeInterval(seconds))
            let expected = try #require(Self.utc.date(byAdding: component, value: value, to: start))
            let end = try #require(SubscriptionPeriod(value: value, unit: unit)).adding(to: seconds * 1_000)
            #expect(end == Int64(expected.timeIntervalSince1970) * 1_000, "\(seconds) + \(value) \(unit)")
        }
    }

    @Test(arguments: [Int64.min, Int64.min + 1, Int64.max, Int64.max - 86_400_000, 0, -1])
    func nothingTrapsAtTheEndsOfTime(_ start: Int64) {
        for unit in SubscriptionPeriod.Unit.allCases {
            for times in [Int.min, -1, 0, 1, 1_000_000, 1_000_001, Int.max] {
                let period = SubscriptionPeriod(value: SubscriptionPeriod.maximumValue, unit: unit)
                let end = period?.adding(to: start, times: times)
                if times < 0 || times > 1_000_000 { #expect(end == nil) }
                if let end { #expect(end >= start) }
            }
        }
        #expect(SubscriptionPeriod(value: 1, unit: .year)?.adding(to: .max) == nil)
    }
}
