import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private static let sandbox = Samples.sandbox

    private static func unknown(
        _ id: String, at date: Int64, in scope: StoreScope = Samples.scope
    ) -> UnknownTransaction {
        UnknownTransaction(scope: scope, transactionId: id, answeredDate: date)
    }

    private static func dates(
        _ ids: [String], in scope: StoreScope = Samples.scope, _ store: any CompleteTransactionStore
    ) async throws -> [String: Int64] {
        let found = try await store.unknownTransactions(ids, in: scope)
        try expect(found.allSatisfy { $0.scope == scope })
        try expect(Set(found.map(\.transactionId)).count, equals: found.count)
        return Dictionary(found.map { ($0.transactionId, $0.answeredDate) }) { first, _ in first }
    }

    static let unknownTransactions: [StoreRule] = [
        StoreRule("an answer that a transaction is unknown is kept with its date, also after the store was closed") {
            place in
            var store = try await place.open()
            try await expect(store.unknownTransactionCount(), equals: 0)
            try await expect(dates(["1"], store), equals: [:])
            try await store.remember([unknown("1", at: 5), unknown("2", at: 6), unknown("1", at: 7, in: sandbox)])
            try await store.close()
            store = try await place.open()
            try await expect(dates(["2", "1", "1", "3"], store), equals: ["1": 5, "2": 6])
            try await expect(dates(["1", "2"], in: sandbox, store), equals: ["1": 7])
            let other = StoreScope(environment: .production, bundleId: "com.example.never")
            try await expect(dates(["1", "2"], in: other, store), equals: [:])
            try await expect(dates([], store), equals: [:])
            try await expect(store.unknownTransactionCount(), equals: 3)
            try await store.close()
        },
        StoreRule(opened: "of several answers about one transaction the newest date is kept, in any order") { store in
            try await store.remember([unknown("1", at: 5), unknown("1", at: 9), unknown("1", at: 7)])
            try await expect(dates(["1"], store), equals: ["1": 9])
            try await store.remember([unknown("1", at: 8)])
            try await expect(dates(["1"], store), equals: ["1": 9])
            try await store.remember([unknown("1", at: .max), unknown("2", at: .min)])
            try await expect(dates(["1", "2"], store), equals: ["1": .max, "2": .min])
            try await expect(store.unknownTransactionCount(), equals: 2)
        },
        StoreRule(opened: "a forgotten answer is gone, and others stay") { store in
            try await store.remember([unknown("1", at: 1), unknown("2", at: 2), unknown("1", at: 3, in: sandbox)])
            try await store.forgetUnknownTransactions(["1", "1", "3"], in: Samples.scope)
            try await store.forgetUnknownTransactions([], in: Samples.scope)
            let other = StoreScope(environment: .production, bundleId: "com.example.never")
            try await store.forgetUnknownTransactions(["2"], in: other)
            try await expect(dates(["1", "2"], store), equals: ["2": 2])
            try await expect(dates(["1"], in: sandbox, store), equals: ["1": 3])
        },
        StoreRule(opened: "answers about ids that identify no transaction are not kept") { store in
            let ids = ["", "0", "000", "é", "a\u{0}b", String(repeating: "1", count: 1_000)]
            try await store.remember(ids.map { unknown($0, at: 1) } + [unknown("7", at: 1)])
            try await expect(dates(ids + ["7"], store), equals: ["7": 1])
            try await store.forgetUnknownTransactions(ids, in: Samples.scope)
            try await expect(store.unknownTransactionCount(), equals: 1)
        },
        StoreRule(openedTwice: "many answers of several writers at once are all kept") { stores in
            let all = (1...5_000).map { unknown("\($0)", at: Int64($0), in: $0 % 2 == 0 ? Samples.scope : sandbox) }
            try await concurrently(0..<6) { number in
                // Each answer is written three times, in different orders.
                let own = all.filter { Int($0.answeredDate) % 2 == number % 2 }
                try await stores[number % 2].remember(number < 3 ? own : own.reversed())
            }
            try await expect(stores[0].unknownTransactionCount(), equals: 5_000)
            let ids = all.map(\.transactionId)
            try await expect(dates(ids, stores[1]).count, equals: 2_500)
            try await expect(dates(ids, in: sandbox, stores[1])["4999"], equals: 4_999)
        },
        StoreRule(opened: "an unknown transaction is no customer, and no statement or ledger entry") { store in
            try await store.add(Samples.fact("1"))
            let before = try await store.counts()
            try await store.remember([unknown("1", at: .max), unknown("2", at: 1)])
            try await store.remember([unknown("1", at: 1, in: sandbox)])
            try await expect(store.counts(), equals: before)
            try await expect(store.scopes(), equals: [Samples.scope])
            try await expect(store.customer(original: "2") == nil)
            try await expect(store.customer(original: "1")?.transactions.count, equals: 1)
            try await expect(LedgerAudit.check(store).count, equals: 1)
        },
        StoreRule(opened: "answers about unknown ids of an erased customer are erased") { store in
            _ = try await store.apply([
                Samples.set(Samples.fact("1"), Samples.fact("2", original: "1")), Samples.set(Samples.fact("3")),
            ])
            try await store.remember(
                ["1", "2", "3", "4", "5"].map { unknown($0, at: 1) } + [unknown("1", at: 1, in: sandbox)])
            let erased = try await store.erase(
                [Samples.original("1"), Samples.original("4")], in: Samples.scope, quarantined: [])
            try expect(erased.unknownTransactions, equals: 3)
            try await expect(dates(["1", "2", "3", "4", "5"], store), equals: ["3": 1, "5": 1])
            try await expect(dates(["1"], in: sandbox, store), equals: ["1": 1])
            // The store has no documents of this app and environment.
            try await expect(
                store.erase([Samples.original("1")], in: sandbox, quarantined: []).unknownTransactions, equals: 1)
            try await expect(dates(["1"], in: sandbox, store), equals: [:])
        },
        StoreRule("a closed store says so about unknown transactions") { place in
            let store = try await place.open()
            try await store.close()
            for call: @Sendable () async throws -> Void in [
                { try await store.remember([unknown("1", at: 1)]) },
                { _ = try await store.unknownTransactions(["1"], in: Samples.scope) },
                { try await store.forgetUnknownTransactions(["1"], in: Samples.scope) },
                { _ = try await store.unknownTransactionCount() },
            ] {
                try await expectError(.closed, "the call is answered") { try await call() }
            }
        },
    ]
}
