import LegacyReceipts
import ReceiptForge
import Testing

/// What happens to attributes that are missing, twice there, or of another form than documented.
@Suite("Missing, repeated and malformed attributes")
struct MalformedAttributeTests {
    static let notText = DERWriter.integer(5)
    static let trailing = DERWriter.utf8String("x") + [0]
    static let notUTF8 = DERWriter.value(ASN1Tag.utf8String, [0x61, 0xFF])
    static let cutOff: [UInt8] = [0x0C, 0x05, 0x61]

    @Test(
        "Essential attributes of a purchase: another form is an error that names attribute and purchase",
        arguments: [1702, 1703, 1704, 1705, 1707, 1708, 1712] as [Int64],
        [notText, trailing, notUTF8, cutOff, [0x30, 0]])
    func essentialOfPurchase(type: Int64, value: [UInt8]) {
        guard !(type == 1707 && value == Self.notText) else { return }
        let attributes = [text(1702, "p"), text(1703, "1")].enumerated()
            .filter { 1702 + Int64($0.offset) != type }.map(\.element)
        let bad = attribute(17, DERWriter.set(inOrderGiven: attributes + [attribute(type, value)]))
        let error = expectRefusal(.malformedAttribute) { try decode(leastAttributes + [purchase(), bad]) }
        #expect(error?.location == .attribute(type, purchase: 1))
        #expect(error?.verdict == .notAReceipt)
    }

    @Test(
        "Essential attributes of a receipt: another form is an error that names the attribute",
        arguments: [0, 2, 12] as [Int64], [notText, trailing, notUTF8, cutOff])
    func essentialOfReceipt(type: Int64, value: [UInt8]) {
        let others = [0: leastAttributes[0], 2: leastAttributes[1], 12: leastAttributes[2]].filter { $0.key != type }
        let error = expectRefusal(.malformedAttribute) { try decode(others.values + [attribute(type, value)]) }
        #expect(error?.location == .attribute(type, purchase: nil))
    }

    @Test(
        "Peripheral attributes: another form is kept raw, and the receipt is read",
        arguments: [1, 3, 8, 9, 10, 11, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 25, 32] as [Int64],
        [trailing, notUTF8, cutOff, [0x30, 0], [0x05, 0]])
    func peripheralOfReceipt(type: Int64, value: [UInt8]) throws {
        let receipt = try decode(leastAttributes + [attribute(type, value)])
        #expect(receipt.unknownAttributes == [RawAttribute(type: type, version: 1, value: value[...])])
        var copy = try decode(leastAttributes)
        #expect(receipt != copy)
        copy = try decode(leastAttributes + [attribute(type, value)])
        #expect(receipt == copy)
    }

    @Test(
        "Peripheral attributes of a purchase: another form is kept raw",
        arguments: [1701, 1706, 1710, 1711, 1713, 1719, 1720, 1721, 1722] as [Int64], [trailing, notUTF8, cutOff])
    func peripheralOfPurchase(type: Int64, value: [UInt8]) throws {
        let purchase = try decodePurchase([attribute(type, value)])
        #expect(purchase.unknownAttributes == [RawAttribute(type: type, version: 1, value: value[...])])
    }

    @Test("A receipt without bundle id or creation date is none")
    func missingOfReceipt() {
        let noBundle = expectRefusal(.missingAttribute) { try decode([leastAttributes[0], leastAttributes[2]]) }
        #expect(noBundle?.location == .attribute(2, purchase: nil))
        let noDate = expectRefusal(.missingAttribute) { try decode([leastAttributes[0], leastAttributes[1]]) }
        #expect(noDate?.location == .attribute(12, purchase: nil))
        let emptyDate = expectRefusal(.missingAttribute) { try decode(Array(leastAttributes[..<2]) + [ia5(12, "")]) }
        #expect(emptyDate?.location == .attribute(12, purchase: nil))
    }

    @Test("An empty bundle id, product id or transaction id is an error")
    func emptyIds() {
        expectRefusal(.malformedAttribute) { try decode([leastAttributes[0], text(2, ""), leastAttributes[2]]) }
        expectRefusal(.malformedAttribute) { try decode(leastAttributes + [purchase("", "1")]) }
        expectRefusal(.malformedAttribute) { try decode(leastAttributes + [purchase("p", "")]) }
    }

    @Test("A purchase without product or transaction id is an error that names the purchase")
    func missingOfPurchase() {
        let noId = attribute(17, DERWriter.setOf([text(1702, "p")]))
        let first = expectRefusal(.missingAttribute) { try decode(leastAttributes + [purchase(), noId]) }
        #expect(first?.location == .attribute(1703, purchase: 1))
        let noProduct = attribute(17, DERWriter.setOf([text(1703, "1")]))
        let second = expectRefusal(.missingAttribute) { try decode(leastAttributes + [noProduct]) }
        #expect(second?.location == .attribute(1702, purchase: 0))
        expectRefusal(.missingAttribute) { try decode(leastAttributes + [attribute(17, DERWriter.setOf([]))]) }
    }

    @Test("A purchase that is not a set of attributes is an error, never skipped")
    func malformedPurchase() {
        for value in [
            [], [0x0C, 1, 0x61], [0x31, 5, 0], DERWriter.setOf([]) + [0], [0x31, 0x80], [0x31, 2, 0x30, 0x80],
        ] {
            #expect(throws: ReceiptError.self) { try decode(leastAttributes + [attribute(17, value)]) }
        }
    }

    @Test("Of a repeated attribute the first counts and the others are kept raw")
    func repeated() throws {
        let receipt = try decode(
            leastAttributes + [
                text(2, "com.example.second"), ia5(12, "2030-01-01T00:00:00Z"), integer(1, 5), integer(1, 6),
            ])
        #expect(receipt.bundleId == "com.example.orchard")
        #expect(receipt.receiptCreationDate == 1_595_439_548_000)
        #expect(receipt.appItemId == 5)
        #expect(receipt.unknownAttributes.map(\.type) == [2, 12, 1])

        let purchase = try decodePurchase([text(1703, "second"), integer(1707, 3), integer(1707, 1)])
        #expect(purchase.transactionId == "1")
        #expect(purchase.productType == .autoRenewableSubscription)
        #expect(purchase.unknownAttributes.map(\.type) == [1703, 1707])
    }

    @Test("A repeated attribute does not replace an empty first one")
    func repeatedAfterEmpty() throws {
        let purchase = try decodePurchase([ia5(1712, ""), ia5(1712, "2020-07-22T17:39:08Z")])
        #expect(purchase.cancellationDate == nil)
        #expect(purchase.unknownAttributes.map(\.type) == [1712])
    }

    @Test("Something else that was signed is no receipt")
    func otherContent() {
        for content in [Array("From: me\r\n\r\nhello".utf8), DERWriter.integer(1), DERWriter.sequence(), [0x31, 0x05]] {
            let error = expectRefusal(.contentNotReceipt) { try decode(message(content)) }
            #expect(error?.verdict == .notAReceipt)
        }
    }
}
