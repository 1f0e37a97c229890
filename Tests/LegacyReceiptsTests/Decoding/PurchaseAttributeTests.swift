import LegacyReceipts
import ReceiptForge
import Testing

/// Table V5.3 of Reference.md, row by row.
@Suite("Purchase attributes (Reference.md V5.3)")
struct PurchaseAttributeTests {
    private static let integerFields: [Field<InAppPurchase, Int64>] = [
        Field(1701) { $0.quantity }, Field(1710) { $0.inAppItemId }, Field(1711) { $0.webOrderLineItemId },
        Field(1720) { $0.cancellationReason },
    ]

    private static let dateFields: [Field<InAppPurchase, Int64>] = [
        Field(1704) { $0.purchaseDate }, Field(1706) { $0.originalPurchaseDate }, Field(1708) { $0.expiresDate },
        Field(1712) { $0.cancellationDate },
    ]

    private static let flagFields: [Field<InAppPurchase, Bool>] = [
        Field(1713) { $0.isTrialPeriod }, Field(1719) { $0.isInIntroOfferPeriod },
    ]

    @Test(
        "Integers: 1701 quantity, 1710 item, 1711 web order line item, 1720 cancellation reason, exact in 64 bits",
        arguments: integerFields,
        [0, 1, 1 << 53, 1 << 53 + 1, Int64.max] as [Int64])
    func integers(field: Field<InAppPurchase, Int64>, number: Int64) throws {
        #expect(try field.read(decodePurchase([])) == nil)
        let purchase = try decodePurchase([integer(field.type, number)])
        #expect(field.read(purchase) == number)
        #expect(purchase.unknownAttributes.isEmpty)
    }

    @Test("1702, 1703, 1705, 1721 are texts, UTF8String and IA5String alike")
    func texts() throws {
        let receipt = try decode(
            leastAttributes + [
                attribute(
                    17,
                    DERWriter.setOf([
                        ia5(1702, "gold"), ia5(1703, "1000000123456789"), text(1705, "9007199254740993"),
                        text(1721, "winter"),
                    ]))
            ])
        let purchase = try #require(receipt.inAppPurchases.first)
        #expect(purchase.productId == "gold")
        #expect(purchase.transactionId == "1000000123456789")
        #expect(purchase.originalTransactionId == "9007199254740993")
        #expect(purchase.promotionalOfferId == "winter")
    }

    @Test("Transaction id 0 and no original id, as from Xcode")
    func xcodeIds() throws {
        let receipt = try decode(leastAttributes + [purchase("p", "0")])
        #expect(receipt.inAppPurchases.first?.transactionId == "0")
        #expect(receipt.inAppPurchases.first?.originalTransactionId == nil)
    }

    @Test(
        "Dates: 1704, 1706, 1708, 1712; an empty one is absent",
        arguments: dateFields)
    func dates(field: Field<InAppPurchase, Int64>) throws {
        #expect(try field.read(decodePurchase([])) == nil)
        for empty in [ia5(field.type, ""), text(field.type, ""), attribute(field.type, [])] {
            let purchase = try decodePurchase([empty])
            #expect(field.read(purchase) == nil)
            #expect(purchase.unknownAttributes.isEmpty)
        }
        #expect(try field.read(decodePurchase([ia5(field.type, "2020-07-22T17:39:08Z")])) == 1_595_439_548_000)
        #expect(try field.read(decodePurchase([text(field.type, "2020-07-22T17:39:08Z")])) == 1_595_439_548_000)
    }

    @Test("1707 is the product type; an unknown number is kept", arguments: [0, 1, 2, 3, 4, 5, 1 << 40] as [Int64])
    func productType(number: Int64) throws {
        #expect(try decodePurchase([integer(1707, number)]).productType?.rawValue == number)
    }

    @Test("1707 in Apple's words")
    func productTypes() {
        #expect(ReceiptProductType.nonConsumable.rawValue == 0)
        #expect(ReceiptProductType.consumable.rawValue == 1)
        #expect(ReceiptProductType.nonRenewingSubscription.rawValue == 2)
        #expect(ReceiptProductType.autoRenewableSubscription.rawValue == 3)
        #expect(ReceiptProductType.freeSubscription.rawValue == 4)
    }

    @Test("1722 is the ownership: 0 purchased, 1 family shared")
    func ownership() throws {
        #expect(try decodePurchase([]).ownershipType == nil)
        #expect(try decodePurchase([integer(1722, 0)]).ownershipType == .purchased)
        #expect(try decodePurchase([integer(1722, 1)]).ownershipType == .familyShared)
        #expect(try decodePurchase([integer(1722, 2)]).ownershipType?.rawValue == 2)
    }

    @Test(
        "1713 and 1719 are flags",
        arguments: flagFields)
    func flags(field: Field<InAppPurchase, Bool>) throws {
        #expect(try field.read(decodePurchase([])) == nil)
        #expect(try field.read(decodePurchase([integer(field.type, 0)])) == false)
        #expect(try field.read(decodePurchase([integer(field.type, 1)])) == true)
        // Neither true nor false: kept, not interpreted.
        let odd = try decodePurchase([integer(field.type, 2)])
        #expect(field.read(odd) == nil)
        #expect(odd.unknownAttributes.map(\.type) == [field.type])
    }

    @Test("1720 is read as INTEGER and as text (11, point 4)")
    func cancellationReason() throws {
        #expect(try decodePurchase([integer(1720, 1)]).cancellationReason == 1)
        #expect(try decodePurchase([text(1720, "1")]).cancellationReason == 1)
        #expect(try decodePurchase([text(1720, "")]).cancellationReason == nil)
        let words = try decodePurchase([text(1720, "customer")])
        #expect(words.cancellationReason == nil)
        #expect(words.unknownAttributes.map(\.type) == [1720])
    }

    @Test("1709 and 1714 to 1718 are kept only when they say something", arguments: [1709] + (1714...1718))
    func emptyStrings(type: Int64) throws {
        #expect(try decodePurchase([text(type, "")]).unknownAttributes.isEmpty)
        let purchase = try decodePurchase([text(type, "x")])
        #expect(purchase.unknownAttributes == [RawAttribute(type: type, version: 1, value: [0x0C, 1, 0x78])])
    }

    @Test("Unknown attributes of a purchase are kept raw, in order")
    func unknownAttributes() throws {
        let purchase = try decodePurchase([
            attribute(1723, version: 3, [1]), attribute(1699, [2]), attribute(1764, [3]), attribute(17, [4]),
            attribute(2, DERWriter.utf8String("not a bundle id here")),
        ])
        #expect(purchase.unknownAttributes.map(\.type) == [1723, 1699, 1764, 17, 2])
        #expect(purchase.unknownAttributes.first?.version == 3)
    }

    @Test("Purchases keep the order of the encoding (3.5)")
    func order() throws {
        let ids = ["30", "4", "100", "2", "50"]
        let receipt = try decode(leastAttributes + ids.map { purchase("p", $0) })
        #expect(receipt.inAppPurchases.map(\.transactionId) == ids)
        // Also when other attributes stand between them.
        let mixed = try decode([purchase("p", "9")] + leastAttributes + [purchase("p", "1"), integer(1, 1)])
        #expect(mixed.inAppPurchases.map(\.transactionId) == ["9", "1"])
    }

    @Test("A purchase twice in the receipt is returned twice")
    func repeatedPurchase() throws {
        let receipt = try decode(leastAttributes + [purchase(), purchase()])
        #expect(receipt.inAppPurchases.count == 2)
        #expect(receipt.unknownAttributes.isEmpty)
    }
}
