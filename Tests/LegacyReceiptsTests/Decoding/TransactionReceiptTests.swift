import Foundation
import LegacyReceipts
import ReceiptForge
import Testing

/// The keys of transaction receipts (Reference.md V4 and V6).
@Suite("Transaction receipts")
struct TransactionReceiptTests {
    private func decode(_ more: [(String, String)]) throws -> TransactionReceipt {
        let keys = Set(more.map(\.0))
        return try decodeTransaction(transactionText(inner: innerEntries.filter { !keys.contains($0.0) } + more))
    }

    @Test("Every inner key of section 4 has its property")
    func everyKey() throws {
        let receipt = try decode([
            ("bid", "com.example.orchard"), ("bvrs", "2.1"), ("product-id", "gold"), ("quantity", "3"),
            ("transaction-id", "30000181531396"), ("original-transaction-id", "9007199254740993"), ("item-id", "1"),
            ("app-item-id", "2"), ("version-external-identifier", "3"), ("unique-identifier", "abc"),
            ("unique-vendor-identifier", "7E57A11C-0000-4000-8000-00000000F06E"),
            ("purchase-date", "2015-10-23 09:47:56 Etc/GMT"), ("purchase-date-ms", "1445593676041"),
            ("original-purchase-date", "2015-10-23 09:47:57 Etc/GMT"), ("original-purchase-date-ms", "1445593677855"),
            ("expires-date", "1453546076041"), ("expires-date-formatted", "2016-01-23 10:47:56 Etc/GMT"),
            ("web-order-line-item-id", "30000012345678"), ("is-trial-period", "true"),
            ("is-in-intro-offer-period", "false"), ("cancellation-date-ms", "1445593678000"),
            ("cancellation-date", "2015-10-23 09:47:58 Etc/GMT"), ("cancellation-reason", "1"),
            ("in-app-ownership-type", "FAMILY_SHARED"), ("subscription-group-identifier", "20500001"),
        ])
        #expect(receipt.inAppOwnershipType == "FAMILY_SHARED")
        #expect(receipt.subscriptionGroupIdentifier == "20500001")
        #expect(receipt.bundleId == "com.example.orchard")
        #expect(receipt.applicationVersion == "2.1")
        #expect(receipt.productId == "gold")
        #expect(receipt.quantity == 3)
        #expect(receipt.transactionId == "30000181531396")
        #expect(receipt.originalTransactionId == "9007199254740993")
        #expect(receipt.itemId == "1")
        #expect(receipt.appItemId == "2")
        #expect(receipt.versionExternalIdentifier == "3")
        #expect(receipt.uniqueIdentifier == "abc")
        #expect(receipt.uniqueVendorIdentifier == "7E57A11C-0000-4000-8000-00000000F06E")
        #expect(receipt.purchaseDate == 1_445_593_676_041)
        #expect(receipt.originalPurchaseDate == 1_445_593_677_855)
        #expect(receipt.expiresDate == 1_453_546_076_041)
        #expect(receipt.webOrderLineItemId == "30000012345678")
        #expect(receipt.isTrialPeriod == true)
        #expect(receipt.isInIntroOfferPeriod == false)
        #expect(receipt.cancellationDate == 1_445_593_678_000)
        #expect(receipt.cancellationReason == 1)
        #expect(receipt.purchaseInfo.count == 25)
    }

    @Test("Without the milliseconds, the text of a date is read")
    func textDates() throws {
        let receipt = try decodeTransaction(
            transactionText(inner: [
                ("product-id", "p"), ("transaction-id", "1"), ("purchase-date", "2012-09-21 01:31:38 Etc/GMT"),
                ("original-purchase-date", "2012-02-29 00:00:00 Etc/GMT"),
                ("expires-date-formatted", "2012-10-21 01:31:38 Etc/GMT"),
                ("cancellation-date", "2012-09-22 00:00:00 Etc/GMT"),
            ]))
        #expect(receipt.purchaseDate == 1_348_191_098_000)
        #expect(receipt.originalPurchaseDate == 1_330_473_600_000)
        #expect(receipt.expiresDate == 1_350_783_098_000)
        #expect(receipt.cancellationDate == 1_348_272_000_000)
    }

    @Test("Keys that are missing or empty are absent")
    func absent() throws {
        for receipt in [try decode([]), try decode([("expires-date", ""), ("quantity", ""), ("bid", "")])] {
            #expect(receipt.expiresDate == nil)
            #expect(receipt.quantity == nil)
            #expect(receipt.bundleId == nil)
            #expect(receipt.isTrialPeriod == nil)
            #expect(receipt.cancellationDate == nil)
            #expect(receipt.signature == nil)
        }
    }

    @Test("Unknown keys are kept, in order, and can be read")
    func unknownKeys() throws {
        let receipt = try decode([("in-app-ownership-type", "PURCHASED"), ("zzz", "1")])
        #expect(receipt.purchaseInfo.suffix(2).map(\.key) == ["in-app-ownership-type", "zzz"])
        #expect(receipt.purchaseInfoValue(forKey: "in-app-ownership-type") == "PURCHASED")
        #expect(receipt.purchaseInfoValue(forKey: "absent") == nil)
    }

    @Test(
        "A key of the wrong form is an error that names it",
        arguments: [
            ("quantity", "one"), ("quantity", "9223372036854775808"), ("quantity", "1.0"),
            ("purchase-date-ms", "today"),
            ("purchase-date-ms", "99999999999999999999"), ("purchase-date-ms", "2012-09-21"), ("expires-date", "soon"),
            ("expires-date", "1e3"), ("cancellation-date-ms", "x"), ("is-trial-period", "maybe"),
            ("is-trial-period", "2"),
            ("cancellation-reason", "because"), ("original-purchase-date-ms", "0x10"),
        ])
    func malformed(key: String, value: String) {
        let error = expectRefusal(.malformedKey) { try decode([(key, value)]) }
        #expect(error?.location == .key(key))
    }

    @Test("Without product, transaction id or purchase date it is no receipt", arguments: innerEntries.map(\.0))
    func missing(key: String) {
        let error = expectRefusal(.missingKey) {
            try decodeTransaction(transactionText(inner: innerEntries.filter { $0.0 != key }))
        }
        #expect(error?.location == .key(key))
        expectRefusal(.missingKey) {
            try decodeTransaction(transactionText(inner: innerEntries.map { $0.0 == key ? (key, "") : $0 }))
        }
    }

    @Test("Without purchase-info it is no receipt; one that is not base64 is an error")
    func purchaseInfo() {
        let missing = expectRefusal(.missingKey) { try decodeTransaction("{\"signature\" = \"Ag==\";}") }
        #expect(missing?.location == .key("purchase-info"))
        let malformed = expectRefusal(.malformedKey) { try decodeTransaction("{\"purchase-info\" = \"***\";}") }
        #expect(malformed?.location == .key("purchase-info"))
    }

    @Test(
        "Signature blob v2: 128 bytes; v3 and v4: 256 bytes; then length and leaf", arguments: [2, 3, 4] as [UInt8])
    func blob(version: UInt8) throws {
        let count = version == 2 ? 128 : 256
        let signature = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let certificate = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 3) }
        let blob = [version] + signature + [0, 0, 1, 44] + certificate
        let receipt = try decodeTransaction(transactionText(signature: blob))
        #expect(receipt.signature?.version == version)
        #expect(receipt.signature.map { Array($0.signature) } == signature)
        #expect(receipt.signature.map { Array($0.certificate) } == certificate)
    }

    @Test("A blob of another form can be looked at, and is refused as malformed when verified")
    func malformedBlobs() throws {
        let good = [2] + [UInt8](repeating: 7, count: 128) + [0, 0, 0, 3, 1, 2, 3]
        let long = [UInt8](repeating: 7, count: 256) + [0, 0, 0, 3, 1, 2, 3]
        let blobs: [[UInt8]] = [
            [], [1] + good.dropFirst(), [1] + long, [5] + long, [4] + good.dropFirst(), [3] + good.dropFirst(),
            Array(good.dropLast()),
            good + [0],
            Array(good[..<129]), Array(good[..<132]), Array(good[..<129]) + [0xFF, 0xFF, 0xFF, 0xFF, 1],
        ]
        for blob in blobs {
            let text = transactionText(signature: blob)
            #expect(try decodeTransaction(text).signature == nil)
            let error = expectRefusal(.malformedSignature) { try ReceiptVerifier().verify(stored: Array(text.utf8)) }
            #expect(error?.location == .key("signature"))
        }
        let absent = transactionText(innerText: innerText(innerEntries))
        expectRefusal(.missingKey) { try ReceiptVerifier().verify(stored: Array(absent.utf8)) }
    }
}
