import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    static let facts: [StoreRule] = [
        StoreRule(opened: "applied facts are found again") { store in
            var legacy = LegacyTransactionFields()
            legacy.isTrialPeriod = false
            legacy.itemId = "123"
            let fact = Samples.fact("100", legacy: legacy) { $0.quantity = 1 }
            let result = try await store.apply([Samples.set(fact)])
            try expect(result.changed, equals: 1)
            let customer = try require(try await store.customer(original: "100"))
            let transaction = try require(customer.transactions.first)
            var expected = fact.payload
            expected.bundleId = "com.example.app"
            expected.environment = .production
            try expect(transaction.payload, equals: expected)
            try expect(transaction.legacy, equals: legacy)
            try expect(transaction.origins, equals: [fact.origin])
            try expect(customer.identities, equals: [Samples.original("100")])
            try expect(customer.scope, equals: Samples.scope)
        },
        StoreRule(opened: "an unknown customer is nil") { store in
            try await expect(store.customer(original: "1") == nil)
            try await store.add(Samples.fact("1"))
            try await expect(store.customer(original: "2") == nil)
            try await expect(store.customer([], in: Samples.scope) == nil)
        },
        StoreRule(opened: "applying the same document again changes nothing") { store in
            let set = Samples.set(
                Samples.fact("1"), renewals: [Samples.renewal("1")], app: Samples.app("1"),
                receipt: Samples.receipt("x"))
            try await expect(store.apply([set]).changed, equals: 4)
            let before = ComparableCustomer(try await store.customer(original: "1"))
            let again = try await store.apply([set, set])
            try expect(again.changed, equals: 0)
            try expect(again.unchanged, equals: 8)
            try expect(ComparableCustomer(try await store.customer(original: "1")), equals: before)
        },
        StoreRule(opened: "a newer fact of the same kind wins, an older one never overwrites") { store in
            func product() async throws -> String? {
                let customer = try await store.customer(original: "1")
                return customer?.transactions.first?.payload.productId
            }
            try await store.add(Samples.fact("1", product: "b", at: 2000))
            try await expect(store.apply([Samples.set(Samples.fact("1", product: "a", at: 1000))]).changed, equals: 0)
            var found = try await product()
            try expect(found, equals: "b")
            try await expect(store.apply([Samples.set(Samples.fact("1", product: "c", at: 3000))]).changed, equals: 1)
            found = try await product()
            try expect(found, equals: "c")
        },
        StoreRule(opened: "facts of different kinds are stored separately") { store in
            try await store.add(Samples.fact("1", source: .recordedReply, at: 9000))
            try await store.add(Samples.fact("1", source: .notificationV2, at: 5000))
            try await store.add(Samples.fact("1", source: .receipt, at: 1000))
            let transaction = try require(try await store.customer(original: "1")?.transactions.first)
            try expect(transaction.origins.map(\.source), equals: [.receipt, .notificationV2, .recordedReply])
            try await expect(store.counts().transactions, equals: 1)
        },
        StoreRule(opened: "transactions are ordered by the numeric value of their ids, greatest first") { store in
            let ids = ["9", "10", "99", "100", "1000000000000000000", "999999999999999999"]
            try await store.add(
                FactSet(scope: Samples.scope, transactions: ids.map { Samples.fact($0, original: "9") }))
            let found = try await store.customer(original: "9")?.transactions.map(\.payload.transactionId)
            try expect(found, equals: ["1000000000000000000", "999999999999999999", "100", "99", "10", "9"])
        },
        StoreRule(opened: "64-bit integers are returned exactly") { store in
            let fact = Samples.fact("1", source: .signedTransaction, at: .max) {
                $0.price = .max
                $0.expiresDate = .min
            }
            try await store.add(Samples.set(fact, receipt: Samples.receipt("r", at: .min)))
            let customer = try require(try await store.customer(original: "1"))
            try expect(customer.transactions.first?.payload.price, equals: .max)
            try expect(customer.transactions.first?.payload.expiresDate, equals: .min)
            try expect(customer.transactions.first?.origins.first?.signedDate, equals: .max)
            try expect(customer.newestAppReceipt?.signedDate, equals: .min)
        },
        StoreRule("applied facts remain after closing and opening") { place in
            let first = try await place.open()
            try await first.add(Samples.fact("1"), receipt: Samples.receipt("x"))
            let before = ComparableCustomer(try await first.customer(original: "1"))
            try await first.close()
            let second = try await place.open()
            try expect(ComparableCustomer(try await second.customer(original: "1")), equals: before)
            try await second.close()
        },
        StoreRule("after close, every call throws closed, and closing again has no effect") { place in
            let store = try await place.open()
            try await store.close()
            try await store.close()
            try await expectError(.closed) { try await store.add(Samples.fact("1")) }
            try await expectError(.closed) { _ = try await store.apply([]) }
            try await expectError(.closed) { _ = try await store.customer(original: "1") }
            try await expectError(.closed) { _ = try await store.hasProcessed(notificationUUID: "x") }
            try await expectError(.closed) { _ = try await store.counts() }
            try await expectError(.closed) { try await store.checkReadiness() }
        },
    ]
}
