import AppStoreModels
import Encodings
import Foundation
import TestSupport
import Testing
import VerifyReceipt

@Suite struct DateTests {
    /// Every change of clocks in Los Angeles until 2009, in seconds since 1970, from the IANA time zone database as Python's
    /// zoneinfo reads it: to standard time in 1883, and from there to and fro.
    private static let changes: [Int64] = [
        -2_717_640_000, -1_633_269_600, -1_615_129_200, -1_601_820_000, -1_583_679_600, -880_207_200, -765_385_200,
        -687_967_140, -662_655_600, -620_838_000, -608_137_200, -589_388_400, -576_082_800, -557_938_800, -544_633_200,
        -526_489_200, -513_183_600, -495_039_600, -481_734_000, -463_590_000, -450_284_400, -431_535_600, -418_230_000,
        -400_086_000, -386_780_400, -368_636_400, -355_330_800, -337_186_800, -323_881_200, -305_737_200, -292_431_600,
        -273_682_800, -260_982_000, -242_233_200, -226_508_400, -210_783_600, -195_058_800, -179_334_000, -163_609_200,
        -147_884_400, -131_554_800, -116_434_800, -100_105_200, -84_376_800, -68_655_600, -52_927_200, -37_206_000,
        -21_477_600, -5_756_400, 9_972_000, 25_693_200, 41_421_600, 57_747_600, 73_476_000, 89_197_200, 104_925_600,
        120_646_800, 126_698_400, 152_096_400, 162_381_600, 183_546_000, 199_274_400, 215_600_400, 230_724_000,
        247_050_000, 262_778_400, 278_499_600, 294_228_000, 309_949_200, 325_677_600, 341_398_800, 357_127_200,
        372_848_400, 388_576_800, 404_902_800, 420_026_400, 436_352_400, 452_080_800, 467_802_000, 483_530_400,
        499_251_600, 514_980_000, 530_701_200, 544_615_200, 562_150_800, 576_064_800, 594_205_200, 607_514_400,
        625_654_800, 638_964_000, 657_104_400, 671_018_400, 688_554_000, 702_468_000, 720_003_600, 733_917_600,
        752_058_000, 765_367_200, 783_507_600, 796_816_800, 814_957_200, 828_871_200, 846_406_800, 860_320_800,
        877_856_400, 891_770_400, 909_306_000, 923_220_000, 941_360_400, 954_669_600, 972_810_000, 986_119_200,
        1_004_259_600, 1_018_173_600, 1_035_709_200, 1_049_623_200, 1_067_158_800, 1_081_072_800, 1_099_213_200,
        1_112_522_400, 1_130_662_800, 1_143_972_000, 1_162_112_400, 1_173_607_200, 1_194_166_800, 1_205_056_800,
        1_225_616_400, 1_236_506_400, 1_257_066_000,
    ]

    /// What was in force from each change on.
    private static func offset(after index: Int) -> Int64 {
        index < 0 ? -28_378 : index % 2 == 0 ? -8 * 3_600 : -7 * 3_600
    }

    @Test func everyChangeOfClocksSince1883IsThatOfTheTimeZoneDatabase() {
        for (index, change) in Self.changes.enumerated() {
            for distance in [-86_400, -3_601, -3_600, -1, 0, 1, 3_599, 3_600, 86_400] as [Int64] {
                let expected = Self.offset(after: distance < 0 ? index - 1 : index)
                #expect(
                    PacificTime.secondsEastOfGreenwich(at: change + distance) == expected, "\(change + distance)")
            }
        }
    }

    /// An independent check: Foundation's time zone, around every change and at every hour of some years.
    @Test func everyHourAroundEveryChangeFrom1970To2100IsThatOfFoundation() throws {
        let zone = try unwrap(TimeZone(identifier: "America/Los_Angeles"))
        func agree(_ seconds: Int64) -> Bool {
            PacificTime.secondsEastOfGreenwich(at: seconds)
                == Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
        }
        var checked = 0
        var date = Date(timeIntervalSince1970: 0)
        let end = Date(timeIntervalSince1970: 4_102_444_800)
        while let change = zone.nextDaylightSavingTimeTransition(after: date), change < end {
            let seconds = Int64(change.timeIntervalSince1970)
            for hour in -49...49 as ClosedRange<Int64> {
                for second in [-1, 0, 1] as [Int64] {
                    #expect(agree(seconds + hour * 3_600 + second), "\(seconds + hour * 3_600 + second)")
                    checked += 1
                }
            }
            date = change
        }
        #expect(checked > 250 * 99 * 3)
        for day in stride(from: 0, to: 4_102_444_800, by: 86_400) as StrideTo<Int64> {
            #expect(agree(day + 12 * 3_600), "\(day)")
        }
    }

    private func forms(_ milliseconds: Int64) throws -> JSONObject {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member(DateKeys.purchase, milliseconds)
        writer.endObject()
        return try unwrap(try JSONValue.parse(writer.bytes).object)
    }

    @Test func aDateHasThreeForms() throws {
        let date = try forms(1_595_439_548_000)
        #expect(date.keys == ["purchase_date", "purchase_date_ms", "purchase_date_pst"])
        #expect(date.text("purchase_date") == "2020-07-22 17:39:08 Etc/GMT")
        #expect(date.text("purchase_date_ms") == "1595439548000")
        #expect(date.text("purchase_date_pst") == "2020-07-22 10:39:08 America/Los_Angeles")
    }

    @Test func millisecondsAreKeptInOneFormAndCutInTheOthers() throws {
        let date = try forms(1_646_945_826_986)
        #expect(date.text("purchase_date_ms") == "1646945826986")
        #expect(date.text("purchase_date") == "2022-03-10 20:57:06 Etc/GMT")
        #expect(date.text("purchase_date_pst") == "2022-03-10 12:57:06 America/Los_Angeles")
        #expect(try forms(-1).text("purchase_date") == "1969-12-31 23:59:59 Etc/GMT")
        #expect(try forms(-1).text("purchase_date_pst") == "1969-12-31 15:59:59 America/Los_Angeles")
    }

    @Test func textsAreThoseOfFoundation() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        var seconds: Int64 = 0
        while seconds < 4_102_444_800 {
            let date = try forms(seconds * 1_000)
            for (key, zone) in [("purchase_date", "Etc/GMT"), ("purchase_date_pst", "America/Los_Angeles")] {
                formatter.timeZone = TimeZone(identifier: zone)
                let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
                #expect(date.text(key) == "\(text) \(zone)")
            }
            // A prime number of seconds, to come by at every hour of the day and every day of the year.
            seconds += 1_299_709
        }
    }

    @Test(arguments: [Int64.min, Int64.min + 1, -62_167_219_200_001, 253_402_300_800_000, Int64.max - 1, Int64.max])
    func everyNumberIsADate(_ milliseconds: Int64) throws {
        let date = try forms(milliseconds)
        #expect(date.text("purchase_date_ms") == String(milliseconds))
        #expect(date.text("purchase_date")?.hasSuffix(" Etc/GMT") == true)
        #expect(date.text("purchase_date_pst")?.hasSuffix(" America/Los_Angeles") == true)
    }

    @Test func datesOfXcodeFitIntoTheForm() throws {
        #expect(try forms(64_092_211_200_000).text("purchase_date") == "4001-01-01 00:00:00 Etc/GMT")
    }
}
