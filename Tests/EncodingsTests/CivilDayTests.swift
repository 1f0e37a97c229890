import Encodings
import Testing

@Suite("Days of the calendar")
struct CivilDayTests {
    @Test(
        "A day that does not exist is refused",
        arguments: [
            (2023, 2, 29), (1900, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0),
        ] as [(Int64, Int64, Int64)])
    func impossible(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDay(existing: year, month, day)?.daysSince1970 == nil)
    }

    @Test("Days are counted from 1970-01-01, across leap years and eras")
    func counted() {
        #expect(CivilDay(existing: 1970, 1, 1)?.daysSince1970 == 0)
        #expect(CivilDay(existing: 1969, 12, 31)?.daysSince1970 == -1)
        #expect(CivilDay(existing: 2000, 2, 29)?.daysSince1970 == 11_016)
        #expect(CivilDay(existing: 2000, 3, 1)?.daysSince1970 == 11_017)
        for days in stride(from: Int64(-800_000), to: 3_000_000, by: 61) {
            let day = CivilDay(daysSince1970: days)
            #expect(CivilDay(existing: day.year, day.month, day.day)?.daysSince1970 == days)
        }
    }

    @Test("Months are counted from January of the year 0, and each begins with its first day")
    func months() throws {
        let day = try #require(CivilDay(existing: 2024, 12, 31))
        #expect(day.monthsSinceYear0 == 24_299)
        for months in [Int64(-1), 0, 11, 12, 24_299] {
            let first = CivilDay(monthsSinceYear0: months)
            #expect(first.monthsSinceYear0 == months && first.day == 1 && (1...12).contains(first.month))
        }
        #expect(CivilDay(monthsSinceYear0: 24_299).daysSince1970 == day.daysSince1970 - 30)
        #expect(day.adding(months: 2).daysSince1970 == CivilDay(existing: 2025, 2, 28)?.daysSince1970)
    }

    @Test("A date is on the day that contains it, also before 1970")
    func dates() {
        #expect(CivilDay(milliseconds: Int64.millisecondsPerDay - 1).daysSince1970 == 0)
        #expect(CivilDay(milliseconds: Int64.millisecondsPerDay).daysSince1970 == 1)
        #expect(CivilDay(milliseconds: -1).daysSince1970 == -1)
    }
}
