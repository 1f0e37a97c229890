import AppStoreModels
import Purchases
import Testing

@Suite struct RecordedDateTests {
    private func purchaseDate(_ members: String) throws -> MappedTransaction {
        try RecordedSupport.map("[\(RecordedSupport.row("1", members))]").transactions[0]
    }

    @Test(
        arguments: [
            ("2020-07-22 17:39:08 Etc/GMT", 1_595_439_548_000),
            ("2020-07-22\\n        17:39:08 Etc/GMT", 1_595_439_548_000),
            ("2020-02-29 23:59:59 Etc/GMT", 1_583_020_799_000), ("1970-01-01 00:00:00 Etc/GMT", 0),
            ("2020-07-22 10:39:08 America/Los_Angeles", 1_595_439_548_000),
            ("2020-01-22 09:39:08 America/Los_Angeles", 1_579_714_748_000),
            // The last second before and the first after the clocks went forward in 2020.
            ("2020-03-08 01:59:59 America/Los_Angeles", 1_583_661_599_000),
            ("2020-03-08 03:00:00 America/Los_Angeles", 1_583_661_600_000),
            // Summer time began in April before 2007.
            ("2006-03-20 00:00:00 America/Los_Angeles", 1_142_841_600_000),
        ] as [(String, Int64)])
    func textDatesAreExact(text: String, expected: Int64) throws {
        let mapped = try purchaseDate("\"purchase_date\":\"\(text)\"")
        #expect(mapped.payload.purchaseDate == expected && mapped.notes.isEmpty)
    }

    @Test(arguments: [
        "2019-02-29 00:00:00 Etc/GMT", "2020-13-01 00:00:00 Etc/GMT", "2020-01-01 24:00:00 Etc/GMT",
        "2020-1-1 00:00:00 Etc/GMT", "2020-01-01 00:00:00", "2020-01-01 00:00:00 Europe/Paris",
        "0000-01-01 00:00:00 Etc/GMT", "+202-01-01 00:00:00 Etc/GMT", "99999999999999999", "today",
        // This hour was skipped.
        "2020-03-08 02:30:00 America/Los_Angeles",
        "2020-01-01T00:00:00", "2020-01-01T00:00:00+2", "2020-01-01T00:00:00+00:60", "2020-01-01T00:00:00+14:01",
        "2020-01-01T00:00:00.Z", "2020-01-01T00:00:00Z Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
    ])
    func otherTextInADateIsAnError(text: String) {
        let error = RecordedSupport.error("[\(RecordedSupport.row("1", "\"purchase_date\":\"\(text)\""))]")
        #expect(error?.code == .badDate && error?.keyPath == "[0].purchase_date")
    }

    @Test(
        arguments: [
            ("2020-07-22T17:39:08Z", 1_595_439_548_000), ("2020-07-22 17:39:08+00", 1_595_439_548_000),
            ("2020-07-22 19:39:08.123+02:00", 1_595_439_548_123), ("2020-07-22 17:39:08.5 UTC", 1_595_439_548_500),
            ("2020-07-22T17:39:08.123456789Z", 1_595_439_548_123), ("2020-07-22 10:39:08 -0700", 1_595_439_548_000),
            ("2020-07-22T23:24:08+0545", 1_595_439_548_000), ("2020-07-22T17:39:08 Etc/UTC", 1_595_439_548_000),
            ("0001-01-01T00:00:00-01:00", -62_135_593_200_000),
        ] as [(String, Int64)])
    func aTimeStampOfADatabaseIsReadInItsTimeZone(text: String, expected: Int64) throws {
        let mapped = try purchaseDate("\"purchase_date\":\"\(text)\"")
        #expect(mapped.payload.purchaseDate == expected && mapped.notes.isEmpty)
    }

    @Test(arguments: ["2020-07-22 17:39:08", "2020-07-22T17:39:08.123"])
    func aTimeStampWithoutATimeZoneIsNoDateAndTheMessageSaysWhatIsMissing(text: String) {
        let error = RecordedSupport.error("[\(RecordedSupport.row("1", "\"purchase_date\":\"\(text)\""))]")
        #expect(error?.code == .badDate && error?.message.contains("no time zone") == true)
        #expect(error?.message.contains("[0].purchase_date") == true)
        let word = RecordedSupport.error("[\(RecordedSupport.row("1", "\"purchase_date\":\"today\""))]")
        #expect(word?.message.contains("no time zone") == false)
    }

    @Test func millisecondsComeFirstThenTextThenLosAngeles() throws {
        let all = """
            "purchase_date":"2020-07-22 17:39:08 Etc/GMT","purchase_date_ms":"1595439548123",
            "purchase_date_pst":"2020-07-22 10:39:08 America/Los_Angeles"
            """
        let exact = try purchaseDate(all)
        #expect(exact.payload.purchaseDate == 1_595_439_548_123)
        #expect(exact.provenance[.purchaseDate].text == "recorded reply purchase_date_ms")
        let local = try purchaseDate("\"purchase_date_pst\":\"2020-07-22 10:39:08 America/Los_Angeles\"")
        #expect(local.payload.purchaseDate == 1_595_439_548_000)
        #expect(local.provenance[.purchaseDate].text == "recorded reply purchase_date_pst")
    }

    @Test func anotherFormIsNotLookedAtWhereTheBetterOneIsThere() throws {
        let placeholder = "\"purchase_date\":\"$PurchaseDate Etc/GMT\",\"purchase_date_ms\":\"5\""
        #expect(try purchaseDate(placeholder).payload.purchaseDate == 5)
    }

    @Test(arguments: [
        "\"purchase_date_ms\":\"1595439548\"", "\"purchase_date\":1595439548", "\"purchase_date\":\"1595439548\"",
    ])
    func secondsAreNoDate(member: String) {
        let error = RecordedSupport.error("[\(RecordedSupport.row("1", member))]")
        #expect(error?.code == .badDate && error?.message.contains("milliseconds") == true)
    }

    @Test(arguments: ["0", "\"0\""])
    func zeroIsNoDate(zero: String) throws {
        let payload = try purchaseDate(
            "\"purchase_date_ms\":\"5\",\"cancellation_date_ms\":\(zero),\"expires_date_ms\":\(zero)"
        ).payload
        #expect(payload.purchaseDate == 5 && payload.revocationDate == nil && payload.expiresDate == nil)
    }

    @Test func theFormattedFormServesWhereMillisecondsAreMissing() throws {
        let mapped = try purchaseDate("\"expires_date_formatted\":\"2020-07-22 17:39:08 Etc/GMT\"")
        #expect(mapped.payload.expiresDate == 1_595_439_548_000)
        #expect(mapped.provenance[.expiresDate].text == "recorded reply expires_date_formatted")
    }

    @Test func theHourThatOccursTwiceIsTakenEarlyAndNoted() throws {
        let mapped = try purchaseDate("\"purchase_date_pst\":\"2020-11-01 01:30:00 America/Los_Angeles\"")
        #expect(mapped.payload.purchaseDate == 1_604_219_400_000)
        #expect(mapped.notes == [.ambiguousLocalTime])
    }
}
