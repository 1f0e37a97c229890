import Foundation
import ReceiptForge
import Testing

@Suite("DER, BER and dates")
struct EncodingTests {
    @Test("integers are written in their shortest form (X.690, 8.3)")
    func integers() {
        #expect(DERWriter.integer(0) == [2, 1, 0])
        #expect(DERWriter.integer(127) == [2, 1, 0x7F])
        #expect(DERWriter.integer(128) == [2, 2, 0, 0x80])
        #expect(DERWriter.integer(-128) == [2, 1, 0x80])
        #expect(DERWriter.integer(-129) == [2, 2, 0xFF, 0x7F])
        #expect(DERWriter.integer(.max) == [2, 8, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(DERWriter.unsignedInteger([0, 0, 0x80]) == [2, 2, 0, 0x80])
        #expect(DERWriter.unsignedInteger([0]) == [2, 1, 0])
    }

    @Test("lengths take one byte up to 127 and as few as they can beyond (X.690, 8.1.3)")
    func lengths() {
        func head(_ count: Int) -> [UInt8] {
            Array(DERWriter.octetString([UInt8](repeating: 1, count: count)).dropLast(count))
        }
        #expect(head(127) == [4, 0x7F])
        #expect(head(128) == [4, 0x81, 0x80])
        #expect(head(255) == [4, 0x81, 0xFF])
        #expect(head(256) == [4, 0x82, 1, 0])
        #expect(head(65_536) == [4, 0x83, 1, 0, 0])
    }

    @Test("object identifiers fold their first two numbers and split the rest by seven bits (X.690, 8.19)")
    func objectIdentifiers() {
        #expect(
            DERWriter.objectIdentifier(.receiptSigningMarker)
                == [6, 10, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x0B, 0x01])
        #expect(DERWriter.objectIdentifier(.sha256) == [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1])
    }

    @Test("a set is sorted by its elements' encodings (X.690, 11.6)")
    func sets() {
        #expect(DERWriter.setOf([[2, 2, 1, 1], [2, 1, 9], [2, 1, 3]]) == [0x31, 10, 2, 1, 3, 2, 1, 9, 2, 2, 1, 1])
    }

    @Test("segments are cut to their length and closed by an end-of-contents marker (X.690, 8.7)")
    func segments() {
        #expect(
            BERWriter.segmentedOctetString([1, 2, 3], segmentLength: 2) == [0x24, 0x80, 4, 2, 1, 2, 4, 1, 3, 0, 0])
        #expect(
            BERWriter.segmentedOctetString([1, 2, 3], segmentLength: 2, definite: true) == [
                0x24, 7, 4, 2, 1, 2, 4, 1, 3,
            ])
        #expect(
            BERWriter.segmentedOctetString([1, 2], segmentLength: 1, nested: true)
                == [0x24, 0x80, 0x24, 0x80, 4, 1, 1, 4, 1, 2, 0, 0, 0, 0])
    }

    @Test("civil dates agree with Foundation's calendar")
    func calendar() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for step in 0..<4_000 {
            let seconds = Double(step) * 1_234_567.0 - 1_000_000_000
            let instant = ForgedInstant(milliseconds: Int64(seconds) * 1_000)
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: seconds))
            let text = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0,
                parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
            #expect(instant.receiptText == text)
        }
        #expect(ForgedInstant(2013, 8, 1, 7).milliseconds == 1_375_340_400_000)
        #expect(ForgedInstant(4001, 1, 1).receiptText == "4001-01-01T00:00:00Z")
    }

    @Test("a month later is the same day, or the last of a shorter month")
    func months() {
        #expect(ForgedInstant(2024, 1, 31, 5).adding(months: 1) == ForgedInstant(2024, 2, 29, 5))
        #expect(ForgedInstant(2023, 12, 31).adding(months: 2) == ForgedInstant(2024, 2, 29))
        #expect(ForgedInstant(2024, 3, 31).adding(months: -1) == ForgedInstant(2024, 2, 29))
        #expect(ForgedInstant(2024, 1, 15).adding(months: -13) == ForgedInstant(2022, 12, 15))
    }

    @Test("Los Angeles keeps summer time between its Sundays in March and November")
    func losAngeles() {
        func text(_ instant: ForgedInstant) -> String { String(instant.losAngelesText.prefix(19)) }
        #expect(text(ForgedInstant(milliseconds: 1_448_296_347_138)) == "2015-11-23 08:32:27")
        #expect(text(ForgedInstant(2015, 3, 8, 9, 59, 59)) == "2015-03-08 01:59:59")
        #expect(text(ForgedInstant(2015, 3, 8, 10)) == "2015-03-08 03:00:00")
        #expect(text(ForgedInstant(2016, 11, 6, 8, 59, 59)) == "2016-11-06 01:59:59")
        #expect(text(ForgedInstant(2016, 11, 6, 9)) == "2016-11-06 01:00:00")
        #expect(text(ForgedInstant(2012, 9, 21, 1, 31, 38)) == "2012-09-20 18:31:38")
        #expect(text(ForgedInstant(2012, 1, 1, 3)) == "2011-12-31 19:00:00")
    }

    @Test("dates are written in the format of each kind of receipt, and contain the written time")
    func dateTexts() {
        let instant = ForgedInstant(2020, 10, 8, 11, 17, 49, milliseconds: 131)
        #expect(ForgedDate.seconds(instant).text == "2020-10-08T11:17:49Z")
        #expect(ForgedDate.seconds(instant).milliseconds == instant.milliseconds - 131)
        #expect(ForgedDate.milliseconds(instant).text == "2020-10-08T11:17:49.131Z")
        #expect(ForgedDate.milliseconds(instant).milliseconds == instant.milliseconds)
        #expect(ForgedDate.offset(instant, minutes: 60).text == "2020-10-08T12:17:49+0100")
        #expect(ForgedDate.offset(instant, minutes: -330).text == "2020-10-08T05:47:49-0530")
        #expect(ForgedDate.offset(instant, minutes: -330).milliseconds == instant.milliseconds - 131)
        #expect(ForgedDate.empty.text.isEmpty && ForgedDate.empty.milliseconds == nil)
        #expect(instant.gmtText == "2020-10-08 11:17:49 Etc/GMT")
    }
}
