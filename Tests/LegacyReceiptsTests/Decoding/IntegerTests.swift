import LegacyReceipts
import ReceiptForge
import Testing

/// INTEGER contents (X.690, 8.3), read in 64 bits.
@Suite("Integers")
struct IntegerTests {
    @Test(
        "Any legal number of bytes up to 64 bits, also with leading zeros",
        arguments: [
            ([0x00], 0), ([0x7F], 127), ([0x00, 0x80], 128), ([0x00, 0x00, 0x80], 128), ([0xFF], -1), ([0x80], -128),
            ([0x20, 0, 0, 0, 0, 0, 1], 1 << 53 + 1),
            ([0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Int64.max),
            ([0x80, 0, 0, 0, 0, 0, 0, 0], Int64.min),
            ([0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Int64.max),
            ([UInt8](repeating: 0, count: 30) + [5], 5),
        ] as [([UInt8], Int64)])
    func fits(bytes: [UInt8], number: Int64) throws {
        let value = DERWriter.value(ASN1Tag.integer, bytes)
        #expect(try decode(leastAttributes + [attribute(15, value)]).downloadId == number)
        #expect(try decodePurchase([attribute(1711, value)]).webOrderLineItemId == number)
    }

    @Test(
        "A number beyond 64 bits is kept raw, never cut",
        arguments: [
            [0x00, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x00, 0x00, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x01, 0, 0, 0, 0, 0, 0, 0, 0],
            [0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [],
        ] as [[UInt8]])
    func doesNotFit(bytes: [UInt8]) throws {
        let value = DERWriter.value(ASN1Tag.integer, bytes)
        let receipt = try decode(leastAttributes + [attribute(15, value)])
        #expect(receipt.downloadId == nil)
        #expect(receipt.unknownAttributes == [RawAttribute(type: 15, version: 1, value: value[...])])
    }

    @Test("A product type beyond 64 bits is an error")
    func essentialDoesNotFit() {
        let value = DERWriter.value(ASN1Tag.integer, [1, 0, 0, 0, 0, 0, 0, 0, 0])
        expectRefusal(.malformedAttribute) { try decodePurchase([attribute(1707, value)]) }
    }

    @Test("An attribute type that does not fit into 64 bits is an error, not another type")
    func attributeType() {
        let wide = DERWriter.sequence(
            DERWriter.value(ASN1Tag.integer, [1, 0, 0, 0, 0, 0, 0, 0, 2]), DERWriter.integer(1),
            DERWriter.octetString(DERWriter.utf8String("com.example.forged")))
        expectRefusal(.malformedEncoding) { try decode(leastAttributes + [wide]) }
    }
}
