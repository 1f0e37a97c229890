import AppStoreModels
import LegacyReceipts
import ProductCatalog
import Purchases
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Terms of non-renewing subscriptions in a store")
struct StoredTermTests {
    private let june = StoreSamples.june
    private let day = StoreSamples.day

    private func catalog() throws -> ProductCatalog {
        let source = CatalogSource(file: "catalog.yaml", line: 3, element: "products.week")
        var entry = CatalogEntry(subject: .productId("week"), source: source)
        entry.type = .nonRenewingSubscription
        entry.duration = SubscriptionPeriod(value: 7, unit: .day)
        return try ProductCatalog(entries: [entry])
    }

    private func week(
        _ id: String, day number: Int64, type: ReceiptProductType? = .nonRenewingSubscription, cancelled: Int64? = nil
    ) -> InAppPurchase {
        InAppPurchase(
            quantity: 1, productId: "week", transactionId: id, purchaseDate: june + number * day,
            originalTransactionId: id, originalPurchaseDate: june + number * day, productType: type,
            cancellationDate: cancelled)
    }

    /// What a receipt states. All receipts have the subscription 200 in common, which makes them one customer's.
    private func receipt(_ purchases: InAppPurchase..., day number: Int64) throws -> FactSet {
        let receipt = FactSupport.receipt(
            [FactSupport.purchase()] + purchases, createdAt: june + number * day)
        return try #require(FactSet(receipt, bytes: [UInt8(truncatingIfNeeded: number)]))
    }

    /// The days on which terms begin and end, by transaction id; the same in every order of the documents.
    private func terms(_ sets: FactSet...) throws -> [String: [Int64?]] {
        var results: Set<[String: [Int64?]]> = []
        for order in StoreConformance.permutations(sets) {
            var model = ModelStore()
            for set in order { model.apply(set) }
            let customer = try #require(try model.customer([StoreSamples.original("100")], in: StoreSamples.scope))
            results.insert(
                customer.nonRenewingTerms(try catalog()).mapValues { term in
                    [(term.start - june) / day, term.end.map { ($0 - june) / day }]
                })
        }
        #expect(results.count == 1)
        return try #require(results.first)
    }

    @Test("Purchases in different receipts of a customer extend each other")
    func acrossReceipts() throws {
        let found = try terms(receipt(week("1", day: 0), day: 1), receipt(week("2", day: 5), day: 6))
        #expect(found == ["1": [0, 7], "2": [7, 14]])
    }

    @Test("A refund that a later document states, and an earlier purchase found late, move the terms after them")
    func laterDocuments() throws {
        let (first, second) = (try receipt(week("1", day: 0), day: 1), try receipt(week("2", day: 5), day: 6))
        let refund = try receipt(week("1", day: 0, cancelled: june + 2 * day), day: 9)
        #expect(try terms(first, second, refund) == ["1": [0, 7], "2": [5, 12]])
        let earlier = try receipt(week("9", day: -3), day: -2)
        #expect(try terms(first, second, earlier) == ["9": [-3, 4], "1": [4, 11], "2": [11, 18]])
    }

    @Test("An old receipt does not state the type; the catalog does")
    func typeFromCatalog() throws {
        #expect(try terms(receipt(week("1", day: 0, type: nil), day: 1)) == ["1": [0, 7]])
    }

    @Test("An unsigned purchase gets a term and moves none of a signed purchase")
    func unsigned() throws {
        let reply = """
            {"status":0,"environment":"Production","receipt":{"bundle_id":"com.example.app","in_app":[
            {"product_id":"week","transaction_id":"3","original_transaction_id":"100","quantity":"1",
            "purchase_date_ms":"\(june + 4 * day)","original_purchase_date_ms":"\(june + 4 * day)"}]}}
            """
        let recorded = try #require([FactSet](recorded: try FactSupport.recorded(reply)).first)
        let found = try terms(receipt(week("1", day: 0), day: 1), receipt(week("2", day: 5), day: 6), recorded)
        #expect(found == ["1": [0, 7], "2": [7, 14], "3": [7, 14]])
    }
}
