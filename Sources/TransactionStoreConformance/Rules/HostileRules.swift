import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private static let strings = [
        "'; DROP TABLE transactions; --", "\"", "\\", "a\u{0}b", "a\u{0}c", "\u{0}", "%s$1?1:x", "\u{1F600}\u{202E}",
        "\n\r\t", "é", "e\u{301}", " 1", "1 ", "-1", "1e3", "NULL", "{\"a\":1}",
    ]

    static let hostile: [StoreRule] = [
        StoreRule(opened: "ids of any ASCII characters stay distinct and are returned unchanged") { store in
            let ids = strings.filter { CustomerIdentity.isMeaningful(id: $0) }
            try expect(ids.count, equals: 10)
            for id in ids { try await store.add(Samples.fact(id, product: id)) }
            for id in ids {
                let customer = try require(try await store.customer(original: id), "\(id.debugDescription)")
                let payload = try require(customer.transactions.first?.payload)
                try expect(customer.transactions.count, equals: 1)
                try expect(Array((payload.transactionId ?? "").utf8), equals: Array(id.utf8))
                try expect(Array((payload.productId ?? "").utf8), equals: Array(id.utf8))
            }
            try await expect(store.counts().customers, equals: Int64(ids.count))
            for id in strings where !ids.contains(id) { try await store.add(Samples.fact(id)) }
            try await expect(store.counts().customers, equals: Int64(ids.count))
        },
        StoreRule(opened: "scopes and notification ids of any bytes except NUL stay distinct") { store in
            // A document never gives a scope with a NUL (FactSet.init), and PostgreSQL's text type cannot store one.
            let strings = strings.filter { !$0.utf8.contains(0) && $0 != "e\u{301}" }
            for text in strings {
                let scope = StoreScope(environment: Environment(rawValue: text), bundleId: text)
                let notification = Samples.notification(text, text, text, at: 1)
                try await store.add(Samples.fact("1"), scope: scope, notification: notification)
                try await expect(store.customer(original: "1", in: scope)?.transactions.count, equals: 1)
                try await expect(store.hasProcessed(notificationUUID: text))
            }
            try await expect(store.counts().customers, equals: Int64(strings.count))
        },
        StoreRule(opened: "ids that are too long are not stored; long texts are") { store in
            let long = String(repeating: "1", count: CustomerIdentity.maximumLength)
            let longer = long + "1"
            let text = String(repeating: "x\u{0}é", count: 100_000)
            try await store.add(
                Samples.fact(long, product: text), Samples.fact(longer), Samples.fact("5", original: longer),
                identities: [Samples.original(longer)])
            let customer = try require(try await store.customer(original: long))
            try expect(customer.transactions.count, equals: 2)
            try expect(customer.transactions.contains { $0.payload.productId == text })
            try expect(customer.identities, equals: [Samples.original(long), Samples.original("5")].sorted())
            try await expect(store.customer(original: longer) == nil)
        },
        StoreRule(opened: "a document with 33,000 purchases under as many ids is stored and found") { store in
            // More than SQLite has variables (32,766); with two values each, more than PostgreSQL has parameters (65,535).
            let facts = (1...33_000).map { Samples.fact("\($0)", product: "p") }
            // Every fifth id is already known, as a separate customer.
            let known = facts.enumerated().filter { $0.offset % 5 == 0 }.map { Samples.set($0.element) }
            _ = try await store.apply(known)
            try await expect(store.counts().customers, equals: 6_600)
            let result = try await store.apply([FactSet(scope: Samples.scope, transactions: facts)])
            try expect(result.changed, equals: 26_400)
            try expect(result.unchanged, equals: 6_600)
            let customer = try require(try await store.customer(original: "777"))
            try expect(customer.transactions.count, equals: 33_000)
            try expect(customer.transactions.first?.payload.transactionId, equals: "33000")
            try await expect(store.counts().customers, equals: 1)
        },
        StoreRule(opened: "a customer can grow to thousands of ids, one at a time") { store in
            // Each document joins a new customer with one id to the large one. The large customer must not move.
            let first = Samples.original("1")
            for start in stride(from: 2, to: 4_000, by: 500) {
                let ids = (start..<start + 500).map { "\($0)" }
                _ = try await store.apply(ids.map { Samples.set(Samples.fact($0)) })
                _ = try await store.apply(ids.map { Samples.set(Samples.fact($0), identities: [first]) })
            }
            try await expect(store.counts().customers, equals: 1)
            try await expect(store.customer(original: "3999")?.identities.count, equals: 4_001)
        },
        StoreRule(opened: "a receipt of 3 MiB is returned unchanged") { store in
            let bytes = Samples.bytes(3 << 20, repeating: (0..<256).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let receipt = KnownReceipt(form: .app, bytes: bytes, signedDate: 1)
            try await store.add(Samples.fact("1"), receipt: receipt)
            try await expect(store.customer(original: "1")?.newestAppReceipt, equals: receipt)
        },
    ]
}
