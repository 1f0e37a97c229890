import LegacyReceipts
import ReceiptForge
import Testing

/// Dates of app receipts (Reference.md V5.4), checked against figures that `date -u -d` gives.
@Suite("Dates")
struct DateTests {
    @Test(
        "Forms that are read, to the millisecond",
        arguments: [
            ("2020-07-22T17:39:08Z", 1_595_439_548_000),
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1000),
            ("2013-08-01T07:00:00Z", 1_375_340_400_000),
            ("2000-02-29T12:00:00Z", 951_825_600_000),
            ("2016-02-29T23:59:59Z", 1_456_790_399_000),
            ("4001-01-01T00:00:00Z", 64_092_211_200_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000),
            ("1900-03-01T00:00:00Z", -2_203_891_200_000),
            ("2020-10-08T11:17:49.131Z", 1_602_155_869_131),
            ("2020-10-08T11:17:49.1Z", 1_602_155_869_100),
            ("2020-10-08T11:17:49.13Z", 1_602_155_869_130),
            ("2020-10-08T11:17:49.131999Z", 1_602_155_869_131),
            ("1969-12-31T23:59:59.250Z", -750),
            ("2020-07-22T18:33:15+0100", 1_595_439_195_000),
            ("2020-07-22T18:33:15+01:00", 1_595_439_195_000),
            ("2020-07-22T10:33:15-0700", 1_595_439_195_000),
            ("2020-07-22T23:03:15.5+0530", 1_595_439_195_500),
            ("2020-07-22T23:03:15.5+05:30", 1_595_439_195_500),
            ("2020-01-01T00:30:00+0100", 1_577_835_000_000),
            ("2020-07-22T17:33:15-00:00", 1_595_439_195_000),
        ])
    func forms(text: String, milliseconds: Int64) throws {
        #expect(try decodePurchase([ia5(1704, text)]).purchaseDate == milliseconds)
        #expect(try decode(leastAttributes + [ia5(18, text)]).originalPurchaseDate == milliseconds)
    }

    @Test(
        "An invalid date is an error where it decides access",
        arguments: [
            "2020-07-22", "2020-07-22T17:39:08", "2020-07-22T17:39Z", "20200722T173908Z", "2020-13-01T00:00:00Z",
            "2020-00-10T00:00:00Z", "2020-02-30T00:00:00Z", "2019-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
            "2020-07-00T00:00:00Z", "2020-07-32T00:00:00Z", "2020-06-31T00:00:00Z", "2020-07-22T24:00:00Z",
            "2020-07-22T17:60:08Z", "2020-07-22T17:39:61Z", "2020-07-22T17:39:08.Z", "2020-07-22T17:39:08ZZ",
            "2020-07-22T17:39:08+1", "2020-07-22T17:39:08+010", "2020-07-22T17:39:08+01:0",
            "2020-07-22T17:39:08+01-00", "2020-07-22T17:39:08+2400", "2020-07-22T17:39:08+0160",
            "2020-07-22T17:39:08 Etc/GMT", " 2020-07-22T17:39:08Z", "2020-07-22T17:39:08Z ", "+020-07-22T17:39:08Z",
            "2020-07-22T17:39:-8Z", "2020/07/22T17:39:08Z", "never", "1595439548000", "٢٠٢٠-07-22T17:39:08Z",
        ])
    func notDates(text: String) {
        for type in [1704, 1708, 1712] as [Int64] {
            let error = expectRefusal(.malformedAttribute) { try decodePurchase([ia5(type, text)]) }
            #expect(error?.location == .attribute(type, purchase: 0))
        }
        let error = expectRefusal(.malformedAttribute) { try decode(Array(leastAttributes[..<2]) + [ia5(12, text)]) }
        #expect(error?.location == .attribute(12, purchase: nil))
    }

    @Test("Every day from 1999 to 2033 is one day after the day before")
    func everyDay() throws {
        let first = ForgedInstant(1999, 1, 1)
        for day in stride(from: Int64(0), to: 12_800, by: 1) {
            let instant = first.adding(days: day)
            let receipt = try decode(Array(leastAttributes[..<2]) + [ia5(12, instant.receiptText)])
            guard receipt.receiptCreationDate == 915_148_800_000 + day * 86_400_000 else {
                Issue.record("\(instant.receiptText) was read as \(receipt.receiptCreationDate ?? -1)")
                return
            }
        }
    }
}
