import Encodings
import Foundation
import TestSupport
import Testing

@Suite("Calendar months in US Pacific time")
struct PacificTimeTests {
    private func date(_ text: String) throws -> Int64 {
        Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970 * 1000)
    }

    @Test(
        "A month later is the same time of day in California, or the last day of a shorter month",
        arguments: [
            ("2024-01-15T18:00:00Z", 2, "2024-03-15T17:00:00Z"), ("2024-10-15T17:00:00Z", 1, "2024-11-15T18:00:00Z"),
            ("2024-01-31T20:00:00Z", 1, "2024-02-29T20:00:00Z"), ("2023-01-31T20:00:00Z", 1, "2023-02-28T20:00:00Z"),
            ("2024-01-31T20:00:00Z", 2, "2024-03-31T19:00:00Z"),
            // In California it is still the day before.
            ("2024-02-01T05:00:00Z", 1, "2024-03-01T05:00:00Z"), ("2024-03-01T05:00:00Z", 1, "2024-03-30T04:00:00Z"),
            // Half past two did not exist on that day; half past one came twice.
            ("2024-02-10T10:30:00Z", 1, "2024-03-10T10:30:00Z"), ("2024-10-03T08:30:00Z", 1, "2024-11-03T08:30:00Z"),
            ("2024-02-29T20:00:00Z", 12, "2025-02-28T20:00:00Z"), ("2024-05-05T00:00:00Z", 0, "2024-05-05T00:00:00Z"),
        ] as [(String, Int64, String)])
    func addition(start: String, months: Int64, end: String) throws {
        #expect(PacificTime.adding(months: months, to: try date(start)) == (try date(end)))
    }

    @Test("Foundation's calendar of Los Angeles adds the same months")
    func foundationAgrees() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "America/Los_Angeles"))
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<3_000 {
            // 2008 to 2037, at whole minutes.
            let start = 1_199_145_600_000 + Int64.random(in: 0..<15_778_800, using: &generator) * 60_000
            let months = Int64.random(in: 0..<40, using: &generator)
            let end = try #require(
                calendar.date(
                    byAdding: .month, value: Int(months), to: Date(timeIntervalSince1970: Double(start) / 1000)))
            let ours = PacificTime.adding(months: months, to: start)
            // The hours that are missing or come twice are ours to settle, see above.
            let hour = calendar.component(.hour, from: Date(timeIntervalSince1970: Double(start) / 1000))
            if (1...2).contains(hour) { continue }
            #expect(ours == Int64(end.timeIntervalSince1970 * 1000), "\(start) + \(months)")
        }
    }

    @Test("Whole months between two dates are as many as can be added")
    func wholeMonths() throws {
        let start = try date("2024-01-31T20:00:00Z")
        #expect(PacificTime.wholeMonths(from: start, to: try date("2024-02-29T20:00:00Z")) == 1)
        #expect(PacificTime.wholeMonths(from: start, to: try date("2024-02-29T19:59:59Z")) == 1)
        #expect(PacificTime.wholeMonths(from: start, to: try date("2024-02-29T19:59:58Z")) == 0)
        #expect(PacificTime.wholeMonths(from: start, to: try date("2024-03-30T20:00:00Z")) == 1)
        #expect(PacificTime.wholeMonths(from: start, to: try date("2024-03-31T19:00:00Z")) == 2)
        #expect(PacificTime.wholeMonths(from: start, to: start) == 0)
        #expect(PacificTime.wholeMonths(from: start, to: start - 1) == 0)
        for months in Int64(0)...120 {
            let end = PacificTime.adding(months: months, to: start)
            #expect(PacificTime.wholeMonths(from: start, to: end) == months)
            #expect(PacificTime.wholeMonths(from: start, to: end - 2_000) == max(0, months - 1))
        }
    }
}
