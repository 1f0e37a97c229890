import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private typealias Samples = StoreSamples

    private static func firsts(_ store: any CompleteTransactionStore, pageSize: Int) async throws -> [String] {
        var found: [String] = []
        try await store.forEachCustomer(in: Samples.scope, pageSize: pageSize) {
            found.append($0.identities.first?.value ?? "")
        }
        return found
    }

    static let directory: [StoreRule] = [
        StoreRule(opened: "every customer is listed once, ordered by smallest identity, for any page size") { store in
            let token = "0b1f3d5e-0000-4000-8000-00000000000a"
            let ids = ["30", "4", "100", "20", "1"]
            _ = try await store.apply(ids.map { Samples.set(Samples.fact($0), receipt: Samples.receipt($0)) })
            _ = try await store.apply([
                Samples.set(Samples.fact("9", source: .signedTransaction) { $0.appAccountToken = token }),
                Samples.set(receipt: Samples.receipt("nobody")),
                Samples.set(Samples.fact("2"), scope: StoreScope(environment: .sandbox, bundleId: "com.example.app")),
            ])
            let digest = Samples.receipt("nobody").digest
            // Ordered by bytes, as the engines compare: 100 comes before 20.
            for size in [1, 2, 3, 1000] {
                try await expect(firsts(store, pageSize: size), equals: ["1", "100", "20", "30", "4", "9", digest])
            }
            let whole = try await store.customers(in: Samples.scope, after: Samples.original("30"), limit: 1)
            try expect(
                ComparableCustomer(whole.first), equals: ComparableCustomer(try await store.customer(original: "4")))
        },
        StoreRule(opened: "merged customers are listed once") { store in
            _ = try await store.apply((1...9).map { Samples.set(Samples.fact("\($0)")) })
            _ = try await store.apply([
                Samples.set(Samples.fact("8"), Samples.fact("3")), Samples.set(Samples.fact("8"), Samples.fact("5")),
            ])
            try await expect(firsts(store, pageSize: 2), equals: ["1", "2", "3", "4", "6", "7", "9"])
        },
        StoreRule(opened: "a customer with thousands of identities is listed once, like the others") { store in
            let many = (1...3_000).map { Samples.fact("\(50_000 - $0)") }
            _ = try await store.apply([
                FactSet(scope: Samples.scope, transactions: many), Samples.set(Samples.fact("48000x")),
                Samples.set(Samples.fact("1")),
            ])
            try await expect(firsts(store, pageSize: 10), equals: ["1", "47000", "48000x"])
        },
        StoreRule(opened: "a page ends early if customers have many transactions") { store in
            let sets = (1...3).map { number in
                let facts = (1...15_000).map { Samples.fact("\(number)\($0 + 10_000)", original: "\(number)") }
                return FactSet(scope: Samples.scope, transactions: facts)
            }
            _ = try await store.apply(sets)
            try await expect(store.customers(in: Samples.scope, after: nil, limit: 100).count, equals: 2)
            try await expect(firsts(store, pageSize: 100), equals: ["1", "2", "3"])
        },
        StoreRule(opened: "the scopes of all customers come once, by the bytes of environment and bundle id") { store in
            func scope(_ environment: Environment, _ bundleId: String) -> StoreScope {
                StoreScope(environment: environment, bundleId: bundleId)
            }
            try await expect(store.scopes().isEmpty)
            let scopes = [
                scope(.production, "com.example.Zebra"), scope(.production, "com.example.app"),
                scope(.production, "com.example.\u{E4}pp"), scope(.sandbox, "com.example.app"),
            ]
            for (id, scope) in zip(["4", "2", "3", "1", "5"], scopes.reversed() + scopes.prefix(1)) {
                _ = try await store.apply([Samples.set(Samples.fact(id), scope: scope)])
            }
            try await expect(store.scopes(), equals: scopes)
        },
        StoreRule(opened: "a scope without purchases has no customers") { store in
            try await expect(store.customers(in: Samples.scope, after: nil, limit: 10).isEmpty)
            _ = try await store.apply([Samples.set(notification: Samples.notification("test"))])
            try await expect(store.customers(in: Samples.scope, after: nil, limit: 0).isEmpty)
        },
    ]
}
