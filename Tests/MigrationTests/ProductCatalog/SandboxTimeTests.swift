import Foundation
import ProductCatalog
import Testing

@Suite struct SandboxTimeTests {
    private func ms(_ text: String) throws -> Int64 {
        Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970) * 1_000
    }

    private func infer(_ start: String, _ end: String, sandbox: Bool = false) throws -> SandboxTime.Inference? {
        SandboxTime.inferPeriod(
            purchaseDate: try ms(start), expiresDate: try ms(end), environmentIsSandbox: sandbox)
    }

    @Test(arguments: [
        ("P3D", 2), ("P1W", 3), ("P7D", 3), ("P1M", 5), ("P2M", 10), ("P3M", 15), ("P6M", 30), ("P1Y", 60),
        ("P12M", 60),
    ])
    func theTableOfTheClassicSandbox(_ period: String, _ minutes: Int64) throws {
        let period = try #require(SubscriptionPeriod(iso8601: period))
        #expect(SandboxTime.renewalLength(of: period) == minutes * 60_000)
        for jitter: Int64 in [-4, 0, 1_000, -1_000] {
            let told = SandboxTime.inferPeriod(
                purchaseDate: 1_600_000_000_000, expiresDate: 1_600_000_000_000 + minutes * 60_000 + jitter,
                environmentIsSandbox: true)
            #expect(told?.period.isSameLength(as: period) == true)
            #expect(told?.rule == .sandboxTime)
        }
    }

    @Test func aPeriodThatIsNotInTheTableHasNoSandboxLength() throws {
        #expect(SandboxTime.renewalLength(of: try #require(SubscriptionPeriod(iso8601: "P4M"))) == nil)
    }

    @Test func sandboxTimeIsForTheSandboxOnly() throws {
        #expect(try infer("2020-01-01T00:00:00Z", "2020-01-01T00:05:00Z", sandbox: true)?.period.iso8601 == "P1M")
        #expect(try infer("2020-01-01T00:00:00Z", "2020-01-01T00:05:00Z") == nil)
        #expect(try infer("2020-01-01T00:00:00Z", "2020-01-01T00:05:02Z", sandbox: true) == nil)
    }

    @Test(arguments: [
        ("2020-02-06T09:29:18Z", "2020-03-06T09:29:18Z", "P1M", SandboxTime.Rule.calendar),
        ("2020-02-18T00:31:00Z", "2021-02-18T00:31:00Z", "P1Y", .calendar),
        ("2020-06-01T00:00:00Z", "2020-06-04T00:00:00Z", "P3D", .calendar),
        ("2020-06-01T00:00:00Z", "2020-06-15T00:00:00Z", "P2W", .calendar),
        // Daylight saving time begins on 8 March 2020 and ends on 1 November 2020.
        ("2020-03-06T09:29:18Z", "2020-04-06T08:29:18Z", "P1M", .calendarPacific),
        ("2020-10-22T11:49:40Z", "2020-11-22T12:49:40Z", "P1M", .calendarPacific),
        ("2020-03-05T12:00:00Z", "2020-03-12T11:00:00Z", "P1W", .calendarPacific),
        // 31 January in UTC is still 30 January in California.
        ("2021-01-31T05:00:00Z", "2021-03-01T05:00:00Z", "P1M", .calendarPacific),
        // Bought on the 31st, renewed on the 28th, and on the 31st again (daylight saving time began between).
        ("2021-02-28T20:00:00Z", "2021-03-31T19:00:00Z", "P1M", .monthEnd),
        ("2021-04-30T19:00:00Z", "2021-07-31T19:00:00Z", "P3M", .monthEnd),
    ])
    func realTimeFollowsTheCalendar(
        _ start: String, _ end: String, _ period: String, _ rule: SandboxTime.Rule
    ) throws {
        let told = try infer(start, end)
        #expect(told?.period.iso8601 == period)
        #expect(told?.rule == rule)
    }

    @Test(arguments: [
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"), ("2020-01-02T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("2020-06-01T00:00:00Z", "2020-07-01T01:00:00Z"), ("2020-06-01T00:00:00Z", "2020-06-30T00:00:00Z"),
        ("2020-06-01T00:00:00Z", "2022-06-01T00:00:00Z"), ("2020-03-15T12:00:00Z", "2020-04-15T11:00:00Z"),
    ])
    func nothingIsGuessedFromALengthOfItsOwn(_ start: String, _ end: String) throws {
        #expect(try infer(start, end) == nil)
        #expect(try infer(start, end, sandbox: true) == nil)
    }

    @Test func realTimeCanHappenInTheSandboxToo() throws {
        #expect(try infer("2020-06-01T00:00:00Z", "2020-07-01T00:00:00Z", sandbox: true)?.rule == .calendar)
    }

    @Test func pacificTimeAgreesWithTheTimeZoneDatabase() throws {
        let zone = try #require(TimeZone(identifier: "America/Los_Angeles"))
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        for _ in 0..<2_000 {
            let seconds = Int64.random(in: 1_199_145_600...2_145_916_800)
            let start = Date(timeIntervalSince1970: TimeInterval(seconds))
            let end = try #require(calendar.date(byAdding: .month, value: 1, to: start))
            let endSeconds = Int64(end.timeIntervalSince1970)
            // A local time that a change skips or repeats has no one answer.
            let hour = calendar.component(.hour, from: start)
            if hour >= 1, hour <= 3 { continue }
            let told = SandboxTime.inferPeriod(
                purchaseDate: seconds * 1_000, expiresDate: endSeconds * 1_000, environmentIsSandbox: false)
            #expect(told?.period.iso8601 == "P1M", "\(start)")
        }
    }

    @Test(arguments: [Int64.min, -1, 0, 1, Int64.max - 1, Int64.max])
    func nothingTrapsOnAnyDate(_ date: Int64) {
        for other in [Int64.min, -1, 0, 1, 86_400_000, Int64.max] {
            for sandbox in [true, false] {
                _ = SandboxTime.inferPeriod(purchaseDate: date, expiresDate: other, environmentIsSandbox: sandbox)
            }
        }
        #expect(
            SandboxTime.inferPeriod(purchaseDate: .min, expiresDate: .max, environmentIsSandbox: true) == nil)
    }
}
