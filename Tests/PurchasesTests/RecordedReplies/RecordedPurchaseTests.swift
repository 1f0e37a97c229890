import AppStoreModels
import Purchases
import Testing

/// A record counts as migrated as a whole, so every purchase in it must come out or be an error.
@Suite struct RecordedPurchaseTests {
    typealias Support = RecordedSupport

    private func ids(_ json: String) throws -> [String?] {
        try Support.map(json).transactions.map(\.payload.transactionId)
    }

    @Test(arguments: ["\"bundle_id\":\"b\"", "\"receipt_type\":\"Production\"", "\"in_app\":[]"])
    func aPurchaseInAReceiptObjectThatLooksLikeAnAppIsKept(member: String) throws {
        let mapped = try Support.map("{\"status\":0,\"receipt\":\(Support.row("1", member))}")
        #expect(mapped.transactions.map(\.payload.transactionId) == ["1"])
        #expect(mapped.transactions.first?.provenance[.transactionId].text == "recorded reply receipt.transaction_id")
    }

    @Test func aPurchaseBesideOthersInAReceiptObjectIsKept() throws {
        let inside = "\"bundle_id\":\"b\",\"in_app\":[\(Support.row("2")),\(Support.row("1"))]"
        let mapped = try Support.map("{\"status\":0,\"receipt\":\(Support.row("1", inside))}")
        #expect(mapped.transactions.map(\.payload.transactionId) == ["1", "2"])
        #expect(mapped.transactions.map(\.payload.bundleId) == ["b", "b"])
    }

    /// `original_purchase_date` of an object that is a purchase is that of the purchase, not of the app.
    @Test func aPurchaseDoesNotDateTheApp() throws {
        func app(_ members: String) throws -> MappedAppTransaction? {
            let more = "\"original_purchase_date_ms\":\"5\",\(members)"
            return try Support.map("{\"status\":0,\"receipt\":\(Support.row("1", more))}").appTransaction
        }
        #expect(try app("\"bundle_id\":\"b\"") == nil)
        let transaction = try app("\"receipt_type\":\"Production\",\"bundle_id\":\"b\"")
        #expect(transaction?.payload.bundleId == "b" && transaction?.payload.receiptType == .production)
        #expect(transaction != nil && transaction?.payload.originalPurchaseDate == nil)
    }

    @Test(arguments: ["", Support.row("2"), "\(Support.row("2")),\(Support.row("3"))"])
    func aRowWithAListInsideIsKept(list: String) throws {
        let count = list.isEmpty ? 1 : list.contains("},{") ? 3 : 2
        let row = Support.row("1", "\"in_app\":[\(list)]")
        let expected: [String?] = Array(["1", "2", "3"].prefix(count))
        for json in [
            row, "[\(row)]", "{\"latest_receipt_info\":[\(row)]}", "{\"latest_receipt_info\":\(row)}",
            "{\"latest_expired_receipt_info\":\(row)}", "{\"unified_receipt\":{\"latest_receipt_info\":[\(row)]}}",
        ] { #expect(try ids(json) == expected, "\(json)") }
        let nested = try Support.map(row).transactions
        let key = nested.dropFirst().first?.provenance[.transactionId].text
        #expect(key == (count > 1 ? "recorded reply in_app.transaction_id" : nil))
    }

    @Test func anObjectThatIsHalfAPurchaseIsAnErrorAndNoApp() {
        let noId = Support.error("{\"receipt\":{\"bundle_id\":\"b\",\"in_app\":[],\"product_id\":\"p\"}}")
        #expect(noId?.code == .missingIdentifier && noId?.keyPath == "receipt.transaction_id")
        let noProduct = Support.error("{\"latest_receipt_info\":[{\"in_app\":[],\"transaction_id\":\"1\"}]}")
        #expect(noProduct?.code == .missingIdentifier && noProduct?.keyPath == "latest_receipt_info[0].product_id")
    }

    // MARK: Identity

    @Test(arguments: ["7", "0", "000000000000000"])
    func differentProductsAreDifferentPurchases(id: String) throws {
        let rows = "[\(Support.row(id, product: "a")),\(Support.row(id, product: "b"))]"
        for json in [
            rows, "{\"latest_receipt_info\":\(rows)}", "{\"receipt\":{\"bundle_id\":\"b\",\"in_app\":\(rows)}}",
        ] {
            let mapped = try Support.map(json)
            #expect(mapped.transactions.map(\.payload.productId) == ["a", "b"], "\(json)")
            #expect(!mapped.transactions.contains { $0.notes.contains(.mergedRows) })
        }
    }

    @Test(arguments: ["0", "000000000000000", nil])
    func withoutATransactionIdTheDatesDistinguishPurchases(id: String?) throws {
        func row(_ date: Int) -> String { Support.row(id, original: "0", "\"purchase_date_ms\":\"\(date)\"") }
        let mapped = try Support.map(
            "{\"receipt\":{\"bundle_id\":\"b\",\"in_app\":[\(row(5)),\(row(6))]},\"latest_receipt_info\":[\(row(6))]}")
        #expect(mapped.transactions.map(\.payload.purchaseDate) == [5, 6])
        #expect(mapped.transactions.map { $0.notes.contains(.mergedRows) } == [false, true])
    }

    @Test func theIdZeroHidesNoSandboxId() throws {
        let row = Support.row("0", original: "1000000059630000")
        let mapped = try Support.map("{\"environment\":\"Production\",\"latest_receipt_info\":[\(row)]}")
        #expect(mapped.transactions.map(\.payload.environment) == [.sandbox])
    }
}
