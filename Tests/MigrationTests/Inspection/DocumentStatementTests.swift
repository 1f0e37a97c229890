import AppStoreModels
import LegacyReceipts
import Migration
import Purchases
import Testing

@Suite("What one input states about customers")
struct DocumentStatementTests {
    private static func reply(_ ids: Range<Int>, _ perCustomer: Int) -> [UInt8] {
        let rows = ids.map {
            "{\"product_id\":\"p\",\"transaction_id\":\"\($0)\",\"original_transaction_id\":\"\($0 / perCustomer * perCustomer)\"}"
        }
        return Array(
            """
            {"status":0,"environment":"Production",\
            "receipt":{"bundle_id":"com.example.app","in_app":[\(rows.joined(separator: ","))]}}
            """.utf8)
    }

    private static func customers(_ ids: Range<Int>, perCustomer: Int) throws -> [Customer] {
        try DocumentStatements(trust: .apple, signedData: .apple, date: 1_790_000_000_000)
            .customers(in: reply(ids, perCustomer))
    }

    @Test("Purchases with one original transaction id are of one customer")
    func grouped() throws {
        let customers = try Self.customers(2..<8, perCustomer: 2)
        #expect(
            customers.map { $0.transactions.compactMap(\.payload.transactionId).sorted() } == [
                ["2", "3"], ["4", "5"], ["6", "7"],
            ])
    }

    @Test("Tens of thousands of customers are found in linear time", .timeLimit(.minutes(10)))
    func many() throws {
        #expect(try Self.customers(1..<30_001, perCustomer: 1).count == 30_000)
    }
}
