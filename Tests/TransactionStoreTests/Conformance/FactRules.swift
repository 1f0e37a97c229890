import AppStoreModels
import Purchases
import Testing
import TransactionStore

extension StoreConformance {
    private typealias Samples = StoreSamples

    static let facts: [StoreRule] = [
        StoreRule(opened: "what is applied is found again") { store in
            var legacy = LegacyTransactionFields()
            legacy.isTrialPeriod = false
            legacy.itemId = "123"
            let fact = Samples.fact("100", legacy: legacy) { $0.quantity = 1 }
            let result = try await store.apply([Samples.set(fact)])
            #expect(result.changed == 1)
            let customer = try #require(try await store.customer(original: "100"))
            let transaction = try #require(customer.transactions.first)
            var expected = fact.payload
            expected.bundleId = "com.example.app"
            expected.environment = .production
            #expect(transaction.payload == expected)
            #expect(transaction.legacy == legacy)
            #expect(transaction.origins == [fact.origin])
            #expect(customer.identities == [Samples.original("100")])
            #expect(customer.scope == Samples.scope)
        },
        StoreRule(opened: "who is not known is nil") { store in
            #expect(try await store.customer(original: "1") == nil)
            _ = try await store.apply([Samples.set(Samples.fact("1"))])
            #expect(try await store.customer(original: "2") == nil)
            #expect(try await store.customer([], in: Samples.scope) == nil)
        },
        StoreRule(opened: "the same document again changes nothing") { store in
            let set = Samples.set(
                Samples.fact("1"), renewals: [Samples.renewal("1")], app: Samples.app("1"),
                receipt: Samples.receipt("x"))
            #expect(try await store.apply([set]).changed == 4)
            let before = ComparableCustomer(try await store.customer(original: "1"))
            let again = try await store.apply([set, set])
            #expect(again.changed == 0)
            #expect(again.unchanged == 8)
            #expect(ComparableCustomer(try await store.customer(original: "1")) == before)
        },
        StoreRule(opened: "a newer fact of the same kind wins, an older one never overwrites") { store in
            func product() async throws -> String? {
                let customer = try await store.customer(original: "1")
                return customer?.transactions.first?.payload.productId
            }
            _ = try await store.apply([Samples.set(Samples.fact("1", product: "b", at: 2000))])
            #expect(try await store.apply([Samples.set(Samples.fact("1", product: "a", at: 1000))]).changed == 0)
            var found = try await product()
            #expect(found == "b")
            #expect(try await store.apply([Samples.set(Samples.fact("1", product: "c", at: 3000))]).changed == 1)
            found = try await product()
            #expect(found == "c")
        },
        StoreRule(opened: "facts of different kinds stand side by side") { store in
            _ = try await store.apply([Samples.set(Samples.fact("1", source: .recordedReply, at: 9000))])
            _ = try await store.apply([Samples.set(Samples.fact("1", source: .notificationV2, at: 5000))])
            _ = try await store.apply([Samples.set(Samples.fact("1", source: .receipt, at: 1000))])
            let transaction = try #require(try await store.customer(original: "1")?.transactions.first)
            #expect(transaction.origins.map(\.source) == [.receipt, .notificationV2, .recordedReply])
            #expect(try await store.counts().transactions == 1)
        },
        StoreRule(opened: "transactions come newest first by the value of their ids") { store in
            let ids = ["9", "10", "99", "100", "1000000000000000000", "999999999999999999"]
            _ = try await store.apply([
                FactSet(scope: Samples.scope, transactions: ids.map { Samples.fact($0, original: "9") })
            ])
            let found = try await store.customer(original: "9")?.transactions.map(\.payload.transactionId)
            #expect(found == ["1000000000000000000", "999999999999999999", "100", "99", "10", "9"])
        },
        StoreRule(opened: "whole numbers of 64 bits come back exactly") { store in
            let fact = Samples.fact("1", source: .signedTransaction, at: .max) {
                $0.price = .max
                $0.expiresDate = .min
            }
            _ = try await store.apply([Samples.set(fact, receipt: Samples.receipt("r", at: .min))])
            let customer = try #require(try await store.customer(original: "1"))
            #expect(customer.transactions.first?.payload.price == .max)
            #expect(customer.transactions.first?.payload.expiresDate == .min)
            #expect(customer.transactions.first?.origins.first?.signedDate == .max)
            #expect(customer.newestAppReceipt?.signedDate == .min)
        },
        StoreRule("what was applied is there after closing and opening") { place in
            let first = try await place.open()
            _ = try await first.apply([Samples.set(Samples.fact("1"), receipt: Samples.receipt("x"))])
            let before = ComparableCustomer(try await first.customer(original: "1"))
            try await first.close()
            let second = try await place.open()
            #expect(ComparableCustomer(try await second.customer(original: "1")) == before)
            try await second.close()
        },
        StoreRule("after closing, every call says closed, and closing again is harmless") { place in
            let store = try await place.open()
            try await store.close()
            try await store.close()
            func code(_ body: () async throws -> Void) async -> TransactionStoreError.Code? {
                do {
                    try await body()
                    return nil
                } catch {
                    return (error as? TransactionStoreError)?.code
                }
            }
            #expect(await code { _ = try await store.apply([Samples.set(Samples.fact("1"))]) } == .closed)
            #expect(await code { _ = try await store.apply([]) } == .closed)
            #expect(await code { _ = try await store.customer(original: "1") } == .closed)
            #expect(await code { _ = try await store.hasProcessed(notificationUUID: "x") } == .closed)
            #expect(await code { _ = try await store.counts() } == .closed)
            #expect(await code { try await store.checkReadiness() } == .closed)
        },
    ]
}
