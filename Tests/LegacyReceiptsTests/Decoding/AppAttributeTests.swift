import LegacyReceipts
import ReceiptForge
import Testing

/// Table V5.2 of Reference.md, row by row.
@Suite("App attributes (Reference.md V5.2)")
struct AppAttributeTests {
    private static let integerFields: [Field<AppReceipt, Int64>] = [
        Field(1) { $0.appItemId }, Field(9) { $0.serviceTag }, Field(11) { $0.developerId },
        Field(13) { $0.operatingSystemVersion }, Field(14) { $0.deviceModelCode }, Field(15) { $0.downloadId },
        Field(16) { $0.versionExternalIdentifier }, Field(25) { $0.platform },
    ]

    private static let textFields: [Field<AppReceipt, String>] = [
        Field(3) { $0.applicationVersion }, Field(10) { $0.ageRating }, Field(19) { $0.originalApplicationVersion },
        Field(20) { $0.attribute20 }, Field(23) { $0.volumePurchaseOrganization },
    ]

    private static let dateFields: [Field<AppReceipt, Int64>] = [
        Field(8) { $0.carriedCreationDate }, Field(18) { $0.originalPurchaseDate }, Field(21) { $0.expirationDate },
        Field(22) { $0.volumePurchaseDate }, Field(32) { $0.preorderDate },
    ]

    @Test("0 is the receipt type", arguments: ["Production", "ProductionSandbox", "ProductionVPP", "Xcode", "Newer"])
    func receiptType(name: String) throws {
        let receipt = try decode([text(0, name), text(2, "b"), ia5(12, "2020-07-22T17:39:08Z")])
        #expect(receipt.receiptType?.rawValue == name)
    }

    @Test(
        "The receipt type decides the environment (1.5)",
        arguments: [
            ("Production", ReceiptEnvironment.production), ("ProductionVPP", .production),
            ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox), ("Xcode", .xcode),
            ("production", nil), ("Other", nil),
        ])
    func environment(name: String, expected: ReceiptEnvironment?) throws {
        let receipt = try decode([text(0, name), text(2, "b"), ia5(12, "2020-07-22T17:39:08Z")])
        #expect(receipt.environment == expected)
    }

    @Test("A receipt without attribute 0 has no environment")
    func noReceiptType() throws {
        let receipt = try decode([text(2, "b"), ia5(12, "2020-07-22T17:39:08Z")])
        #expect(receipt.receiptType == nil)
        #expect(receipt.environment == nil)
    }

    @Test(
        "Integers: 1 app item, 9 service tag, 11 developer, 13 OS, 14 device, 15 download, 16 version, 25 platform",
        arguments: integerFields,
        [0, 1, 127, 128, 1 << 32, 1 << 53, 1 << 53 + 1, Int64.max] as [Int64])
    func integers(field: Field<AppReceipt, Int64>, number: Int64) throws {
        #expect(try field.read(decode(leastAttributes)) == nil)
        let receipt = try decode(leastAttributes + [integer(field.type, number)])
        #expect(field.read(receipt) == number)
        #expect(receipt.unknownAttributes.isEmpty)
    }

    @Test(
        "Texts: 3 version, 10 age rating, 19 original version, 20, 23 organization; UTF8String and IA5String alike",
        arguments: textFields)
    func texts(field: Field<AppReceipt, String>) throws {
        #expect(try field.read(decode(leastAttributes)) == nil)
        #expect(try field.read(decode(leastAttributes + [text(field.type, "1.0 ü")])) == "1.0 ü")
        #expect(try field.read(decode(leastAttributes + [ia5(field.type, "12+")])) == "12+")
        #expect(try field.read(decode(leastAttributes + [text(field.type, "")])) == nil)
        #expect(try decode(leastAttributes + [ia5(field.type, "")]).unknownAttributes.isEmpty)
    }

    @Test(
        "Dates: 8, 12, 18, 21, 22, 32, in milliseconds; an empty one is absent",
        arguments: dateFields)
    func dates(field: Field<AppReceipt, Int64>) throws {
        #expect(try field.read(decode(leastAttributes)) == nil)
        for empty in [ia5(field.type, ""), text(field.type, ""), attribute(field.type, [])] {
            let receipt = try decode(leastAttributes + [empty])
            #expect(field.read(receipt) == nil)
            #expect(receipt.unknownAttributes.isEmpty)
        }
        #expect(
            try field.read(decode(leastAttributes + [ia5(field.type, "2013-08-01T07:00:00Z")])) == 1_375_340_400_000)
        #expect(
            try field.read(decode(leastAttributes + [text(field.type, "2013-08-01T07:00:00Z")])) == 1_375_340_400_000)
    }

    @Test("Attributes 8 and 12 are both kept, equal or not (3.3)")
    func bothCreationDates() throws {
        let receipt = try decode(leastAttributes + [ia5(8, "2020-07-22T17:39:07Z")])
        #expect(receipt.carriedCreationDate == 1_595_439_547_000)
        #expect(receipt.receiptCreationDate == 1_595_439_548_000)
    }

    @Test("Attribute 2 is kept with its tag and length, for the device hash")
    func bundleIdEncoded() throws {
        let utf8 = try decode(leastAttributes)
        #expect(utf8.bundleId == "com.example.orchard")
        #expect(Array(utf8.bundleIdEncoded) == DERWriter.utf8String("com.example.orchard"))
        let other = try decode([text(0, "Production"), ia5(2, "a.b"), ia5(12, "2020-07-22T17:39:08Z")])
        #expect(other.bundleId == "a.b")
        #expect(Array(other.bundleIdEncoded) == DERWriter.ia5String("a.b"))
    }

    @Test("4 to 7 are raw bytes, also when they look like an element")
    func rawAttributes() throws {
        let looksLikeText = DERWriter.utf8String("0123456789abcd")
        let receipt = try decode(
            leastAttributes + [
                attribute(4, version: 2, looksLikeText), attribute(5, Array(0..<20)), attribute(6, looksLikeText),
                attribute(7, [0x0C, 0x00]),
            ])
        #expect(receipt.opaqueValue.map(Array.init) == looksLikeText)
        #expect(receipt.sha1Hash.map(Array.init) == Array(0..<20))
        #expect(receipt.opaqueAttribute6.map(Array.init) == looksLikeText)
        #expect(receipt.opaqueAttribute7.map(Array.init) == [0x0C, 0x00])
        #expect(receipt.unknownAttributes.isEmpty)
    }

    @Test("Unknown attributes are kept raw, in order, with type and version")
    func unknownAttributes() throws {
        let receipt = try decode(
            leastAttributes + [
                attribute(33, version: 7, [1, 2, 3]), attribute(24, []), attribute(1_000_000, DERWriter.integer(5)),
                attribute(-1, [9]), attribute(63, [8]), attribute(64, [7]), attribute(1701, DERWriter.integer(1)),
            ])
        #expect(receipt.unknownAttributes.map(\.type) == [33, 24, 1_000_000, -1, 63, 64, 1701])
        #expect(receipt.unknownAttributes.map(\.version) == [7, 1, 1, 1, 1, 1, 1])
        #expect(
            receipt.unknownAttributes.map { Array($0.value) } == [
                [1, 2, 3], [], [2, 1, 5], [9], [8], [7], [2, 1, 1],
            ])
    }

    @Test("Attributes may come in any order (Xcode does not sort)")
    func anyOrder() throws {
        let attributes = leastAttributes + [integer(1, 5), text(19, "1.0"), purchase(), integer(25, 3)]
        let expected = try decode(attributes)
        #expect(try decode(attributes.reversed()) == expected)
    }
}
