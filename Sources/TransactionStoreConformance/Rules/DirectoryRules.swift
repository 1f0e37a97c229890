import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private static func firsts(_ store: any CompleteTransactionStore, pageSize: Int) async throws -> [String] {
        var found: [String] = []
        try await store.forEachCustomer(in: Samples.scope, pageSize: pageSize) {
            found.append($0.identities.first?.value ?? "")
        }
        return found
    }

    private static func identities(
        _ store: any CompleteTransactionStore, _ reference: CustomerReference, limit: Int = 100
    ) async throws -> [String] {
        try await store.identities(of: reference, limit: limit).map {
            let app = $0.scope == Samples.scope ? "" : "\($0.scope.environment.rawValue) \($0.scope.bundleId) "
            return app + "\($0.identity.kind.name) \($0.identity.value)"
        }
    }

    static let directory: [StoreRule] = [
        StoreRule(opened: "a transaction id and a web order line item id find the purchases that have them") {
            store in
            _ = try await store.apply([
                Samples.set(
                    Samples.fact("11", original: "10") { $0.webOrderLineItemId = "501" },
                    Samples.fact("12", original: "10") { $0.webOrderLineItemId = "502" }),
                // The newer fact of another kind has no id: the older one still has.
                Samples.set(Samples.fact("12", original: "10", source: .signedTransaction, at: Samples.june + 1)),
                // A family member has another transaction of the same period.
                Samples.set(
                    Samples.fact("21", original: "20", source: .notificationV2) {
                        $0.webOrderLineItemId = "502"
                        $0.productId = "\"webOrderLineItemId\":\"501\""
                    }),
                Samples.set(
                    Samples.fact("11", original: "9", source: .recordedReply) { $0.webOrderLineItemId = "50" },
                    scope: Samples.sandbox),
                Samples.set(Samples.fact("30")),
            ])
            try await expect(
                identities(store, .transactionId("11")),
                equals: ["originalTransactionId 10", "Sandbox com.example.app originalTransactionId 9"])
            try await expect(identities(store, .transactionId("12")), equals: ["originalTransactionId 10"])
            try await expect(identities(store, .transactionId("30")), equals: ["originalTransactionId 30"])
            try await expect(identities(store, .transactionId("10")).isEmpty)
            try await expect(identities(store, .webOrderLineItemId("501")), equals: ["originalTransactionId 10"])
            let shared = ["originalTransactionId 10", "originalTransactionId 20"]
            try await expect(identities(store, .webOrderLineItemId("502")), equals: shared)
            try await expect(identities(store, .webOrderLineItemId("502"), limit: 1), equals: [shared[0]])
            try await expect(identities(store, .webOrderLineItemId("502"), limit: 0), equals: [shared[0]])
            try await expect(
                identities(store, .webOrderLineItemId("50")),
                equals: ["Sandbox com.example.app originalTransactionId 9"])
            for id in ["", "5", "0", "11\u{0}", "501\"", "%", "\u{E9}"] {
                try await expect(identities(store, .webOrderLineItemId(id)).isEmpty)
                try await expect(identities(store, .transactionId(id)).isEmpty)
            }
        },
        StoreRule(opened: "a reference is found after a newer document changed the row, and after customers merged") {
            store in
            _ = try await store.apply([
                Samples.set(Samples.fact("1") { $0.webOrderLineItemId = "7" }), Samples.set(Samples.fact("2")),
            ])
            let newer = Samples.fact("1", at: Samples.june + 1) { $0.webOrderLineItemId = "8" }
            try await store.add(newer, Samples.fact("2"))
            try await expect(identities(store, .webOrderLineItemId("7")).isEmpty)
            try await expect(identities(store, .webOrderLineItemId("8")), equals: ["originalTransactionId 1"])
            try await expect(identities(store, .transactionId("2")), equals: ["originalTransactionId 2"])
        },
        StoreRule(opened: "a user id finds its purchases, byte by byte and at any length") {
            store in
            let long = String(repeating: "u", count: 20_000)
            let token = CustomerIdentity(.appAccountToken, "9f1e3c54-0d2f-4a5b-8c6d-7e8f90a1b2c3")
            func claim(
                _ id: String, _ identity: CustomerIdentity, _ scope: StoreScope, carried: String = ""
            ) -> UserClaim {
                UserClaim(scope: scope, identity: identity, userId: id, carried: carried)
            }
            _ = try await store.apply(
                MigrationStep(users: [
                    claim("u1", Samples.original("2"), Samples.scope), claim("u1", token, Samples.scope),
                    claim("u1", Samples.original("1"), Samples.scope, carried: "{\"a\":1}"),
                    claim("u1", Samples.original("1"), Samples.scope),
                    claim("u1", Samples.original("1"), Samples.sandbox),
                    claim("U1", Samples.original("3"), Samples.scope),
                    claim("u1\u{0}", Samples.original("4"), Samples.scope),
                    claim("e\u{301}", Samples.original("5"), Samples.scope),
                    claim(long, Samples.original("6"), Samples.scope), claim("", Samples.original("7"), Samples.scope),
                ]))
            let expected = [
                "originalTransactionId 1", "originalTransactionId 2", "appAccountToken \(token.value)",
                "Sandbox com.example.app originalTransactionId 1",
            ]
            try await expect(identities(store, .userId("u1")), equals: expected)
            try await expect(identities(store, .userId("u1"), limit: 2), equals: Array(expected.prefix(2)))
            for (id, original) in [("U1", "3"), ("u1\u{0}", "4"), ("e\u{301}", "5"), (long, "6"), ("", "7")] {
                try await expect(identities(store, .userId(id)), equals: ["originalTransactionId \(original)"])
            }
            for id in ["u", "u12", "\u{E9}", long + "u"] { try await expect(identities(store, .userId(id)).isEmpty) }
        },
        StoreRule(opened: "every customer is listed once, ordered by smallest identity, for any page size") { store in
            let token = "0b1f3d5e-0000-4000-8000-00000000000a"
            let ids = ["30", "4", "100", "20", "1"]
            _ = try await store.apply(ids.map { Samples.set(Samples.fact($0), receipt: Samples.receipt($0)) })
            _ = try await store.apply([
                Samples.set(Samples.fact("9", source: .signedTransaction) { $0.appAccountToken = token }),
                Samples.set(receipt: Samples.receipt("nobody")),
                Samples.set(Samples.fact("2"), scope: Samples.sandbox),
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
            // One transaction less than a page has at most, so that the second customer fills the page exactly.
            let many = (1...19_999).map { Samples.fact("1\($0 + 10_000)", original: "1") }
            _ = try await store.apply([
                FactSet(scope: Samples.scope, transactions: many), Samples.set(Samples.fact("2")),
                Samples.set(Samples.fact("3")),
            ])
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
                try await store.add(Samples.fact(id), scope: scope)
            }
            try await expect(store.scopes(), equals: scopes)
        },
        StoreRule(opened: "a scope without purchases has no customers") { store in
            try await expect(store.customers(in: Samples.scope, after: nil, limit: 10).isEmpty)
            try await store.add(notification: Samples.notification("test"))
            try await expect(store.customers(in: Samples.scope, after: nil, limit: 0).isEmpty)
        },
    ]
}
