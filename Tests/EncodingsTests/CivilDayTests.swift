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
}
