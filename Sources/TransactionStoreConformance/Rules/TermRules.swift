import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    /// A signed purchase of a non-renewing subscription.
    private static func purchase(
        _ id: String, day: Int64, at date: Int64 = Samples.june, refunded: Bool = false, original: String? = nil,
        token: String? = nil, type: ProductType? = .nonRenewingSubscription
    ) -> TransactionFact {
        Samples.fact(id, original: original, product: "season", source: .notificationV2, at: date) {
            $0.type = type
            $0.purchaseDate = Samples.june + day * Samples.day
            $0.originalPurchaseDate = $0.purchaseDate
            $0.revocationDate = refunded ? Samples.june + 90 * Samples.day : nil
            $0.appAccountToken = token
        }
    }

    private static let token = "11111111-2222-3333-4444-555555555555"

    /// One customer in two documents.
    private static func joining(_ ids: String...) -> FactSet {
        Samples.set(identities: ids.map { Samples.original($0) })
    }

    /// The entries of moved terms, each with the purchases before it, for example `3: 1 2`.
    private static func earlier(_ store: any CompleteTransactionStore) async throws -> [String] {
        try await store.changes(after: 0, limit: 10_000).filter { $0.event == .termMoved }.map {
            "\($0.transactionId): \($0.earlierPurchasesBefore?.joined(separator: " ") ?? "-")"
        }
    }

    /// Expects these entries in the ledger after documents of two original transaction ids, whichever of the two is smaller.
    private static func expectEntries(
        _ store: any CompleteTransactionStore, _ text: String, after documents: (String, String) -> [FactSet]
    ) async throws {
        let originals = [("1", "2"), ("2", "1")]
        func scope(_ number: Int) -> StoreScope { StoreScope(environment: .sandbox, bundleId: "app \(number)") }
        for (number, (first, second)) in originals.enumerated() {
            for set in documents(first, second) { try await store.add(moved(set, to: scope(number))) }
        }
        let entries = try await LedgerAudit.check(store)
        for number in originals.indices {
            try expect(
                LedgerAudit.text(entries.filter { $0.scope == scope(number) }), equals: text, "\(number)")
        }
    }

    static let terms: [StoreRule] = [
        StoreRule(opened: "an earlier non-renewing purchase found late moves the terms after it, and no others") {
            store in
            try await store.add(purchase("10", day: 10), purchase("30", day: 30), identities: [Samples.original("20")])
            try await expect(store.text, equals: "10 purchased, 30 purchased")
            for _ in 1...2 {
                try await store.add(purchase("20", day: 20))
                try await expect(store.text, equals: "10 purchased, 30 purchased, 20 purchased, 30 termMoved")
            }
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "a purchase after the others moves none of their terms") { store in
            for day in Int64(1)...4 {
                try await store.add(purchase("\(day)", day: day, token: token))
            }
            try await expect(store.text, equals: "1 purchased, 2 purchased, 3 purchased, 4 purchased")
        },
        StoreRule(opened: "a refund moves the terms after it, and undoing the refund moves them again") { store in
            let all = (Int64(1)...3).map { purchase("\($0)", day: $0, token: token) }
            try await store.add(Samples.set(all))
            for date in Int64(1)...2 {
                let refund = purchase("2", day: 2, at: Samples.june + date, refunded: true, token: token)
                try await store.add(Samples.set(refund))
            }
            var text = "1 purchased, 2 purchased, 3 purchased, 2 revoked, 3 termMoved"
            try await expect(sorted(store.text), equals: sorted(text))
            try await store.add(purchase("2", day: 2, at: Samples.june + 3, token: token))
            text += ", 2 reinstated, 3 termMoved"
            try await expect(sorted(store.text), equals: sorted(text))
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "a refund under another original id of a purchase moves the terms after it") { store in
            try await expectEntries(
                store, "7 purchased, 8 purchased, 7 revoked, 8 termMoved",
                after: { first, second in
                    [
                        Samples.set(purchase("7", day: 1, original: first, token: token)),
                        Samples.set(purchase("8", day: 2, token: token)),
                        Samples.set(purchase("7", day: 1, at: Samples.june + 1, refunded: true, original: second)),
                    ]
                })
        },
        StoreRule(opened: "an older document under another original id than the refund moves no term") { store in
            func seven(_ original: String, _ delay: Int64, refunded: Bool = false) -> FactSet {
                let date = Samples.june + delay
                return Samples.set(
                    purchase("7", day: 1, at: date, refunded: refunded, original: original, token: token))
            }
            try await expectEntries(
                store, "8 purchased, 7 revoked, 9 purchased, 7 purchased, 8 termMoved, 9 termMoved",
                after: { first, second in
                    [
                        Samples.set(purchase("8", day: 2, token: token)), seven(second, 1, refunded: true),
                        seven(first, 0), Samples.set(purchase("9", day: 3, token: token)), seven(first, 2),
                    ]
                })
        },
        StoreRule(opened: "a refund from a notification of version 1 moves the terms after it") { store in
            let all = (Int64(1)...3).map { purchase("\($0)", day: $0, token: token) }
            try await store.add(Samples.set(all))
            // It states no type of the product.
            let refund = Samples.fact(
                "2", product: "season", source: .notificationV1, at: Samples.june + 1, legacy: cancelled)
            for _ in 1...2 { try await store.add(Samples.set(refund)) }
            try await expect(
                sorted(store.text), equals: sorted("1 purchased, 2 purchased, 3 purchased, 2 revoked, 3 termMoved"))
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "a refund from a receipt that states no type moves the terms after it") { store in
            let all = (Int64(1)...3).map { purchase("\($0)", day: $0, token: token) }
            try await store.add(Samples.set(all))
            let refund = Samples.fact("2", product: "season", at: Samples.june + 1, legacy: cancelled)
            for _ in 1...2 { try await store.add(Samples.set(refund)) }
            try await expect(
                sorted(store.text), equals: sorted("1 purchased, 2 purchased, 3 purchased, 2 revoked, 3 termMoved"))
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "a newer receipt without a type and without the refund moves the terms back") { store in
            let all = (Int64(1)...3).map { purchase("\($0)", day: $0, token: token) }
            try await store.add(Samples.set(all))
            func untyped(at delay: Int64, _ legacy: LegacyTransactionFields?) -> FactSet {
                Samples.set(
                    Samples.fact("2", product: "season", at: Samples.june + delay, legacy: legacy) {
                        $0.purchaseDate = Samples.june + 2 * Samples.day
                        $0.originalPurchaseDate = $0.purchaseDate
                    })
            }
            try await store.add(untyped(at: 1, cancelled))
            for _ in 1...2 { try await store.add(untyped(at: 2, nil)) }
            try await expect(
                sorted(store.text),
                equals: sorted(
                    "1 purchased, 2 purchased, 3 purchased, 2 revoked, 3 termMoved, 2 reinstated, 3 termMoved"))
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "merging two customers moves their terms") { store in
            _ = try await store.apply([
                Samples.set(purchase("1", day: 1)), Samples.set(purchase("2", day: 2)), Samples.set(Samples.fact("7")),
                Samples.set(Samples.fact("8")),
            ])
            for _ in 1...2 {
                _ = try await store.apply([joining("1", "2"), joining("7", "8")])
                try await expect(
                    store.text, equals: "1 purchased, 2 purchased, 7 purchased, 8 purchased, 2 termMoved")
            }
        },
        StoreRule(opened: "refunded, unsigned and unrelated purchases move no term") { store in
            try await store.add(purchase("9", day: 9, token: token))
            try await store.add(purchase("1", day: 1, refunded: true, token: token))
            try await store.add(purchase("2", day: 2))
            try await store.add(purchase("3", day: 3, token: token, type: .consumable))
            try await store.add(purchase("4", day: 4, token: token, type: nil))
            let unsigned = Samples.fact("5", product: "season", source: .recordedReply) {
                $0.type = .nonRenewingSubscription
            }
            try await store.add(Samples.set(unsigned, identities: [Samples.original("9")]))
            try await expect(
                store.text, equals: "9 purchased, 1 revoked, 2 purchased, 3 purchased, 4 purchased")
        },
        StoreRule(opened: "a restored purchase is the purchase that it restores, and moves no term") { store in
            try await store.add(purchase("1", day: 1, token: token), purchase("2", day: 2, token: token))
            let restored = Samples.fact("3", original: "1", product: "season", source: .notificationV2) {
                $0.type = .nonRenewingSubscription
                $0.purchaseDate = Samples.june + 50 * Samples.day
                $0.originalPurchaseDate = Samples.june + Samples.day
            }
            try await store.add(Samples.set(restored))
            try await expect(store.text, equals: "1 purchased, 2 purchased, 3 purchased")
        },
        StoreRule(opened: "an entry of a moved term names the purchases before the former term") { store in
            let all = (Int64(1)...4).map { purchase("\($0)", day: $0, token: token) }
            try await store.add(Samples.set(all))
            for (date, isRefunded) in [(Int64(1), true), (2, false)] {
                let refund = purchase("2", day: 2, at: Samples.june + date, refunded: isRefunded, token: token)
                try await store.add(Samples.set(refund))
            }
            try await expect(earlier(store), equals: ["3: 1 2", "4: 1 2 3", "3: 1", "4: 1 3"])
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "after a merge, an entry of a moved term names the purchases of its former customer") {
            store in
            _ = try await store.apply([
                Samples.set(purchase("1", day: 1), purchase("3", day: 3), identities: [Samples.original("9")]),
                Samples.set(purchase("2", day: 2), purchase("4", day: 4), identities: [Samples.original("8")]),
            ])
            try await store.add(joining("8", "9"))
            try await expect(earlier(store), equals: ["2: ", "3: 1", "4: 2"])
        },
        StoreRule(opened: "an entry of a moved term names up to 100 purchases; if there are more, it names none") {
            store in
            let all = (Int64(101)...202).map { purchase("\($0)", day: $0, token: token) }
            try await store.add(Samples.set(all))
            try await store.add(purchase("7", day: 100, token: token))
            let found = try await earlier(store)
            try expect(found.count, equals: 102)
            let ids = (101...200).map(String.init).joined(separator: " ")
            try expect(Array(found.suffix(2)), equals: ["201: \(ids)", "202: -"])
        },
        StoreRule(opened: "the ledger entries that remain of a customer name no erased purchase") { store in
            let all = (Int64(1)...4).map { purchase("\($0)", day: $0, token: token) }
            try await store.add(Samples.set(all))
            let refund = purchase("2", day: 2, at: Samples.june + 1, refunded: true, token: token)
            try await store.add(Samples.set(refund))
            try await expect(earlier(store), equals: ["3: 1 2", "4: 1 2 3"])
            let hashes = LeftHash.hashes(
                of: [Samples.original("1")], in: Samples.scope, secret: LeftHash.makeSecret())
            _ = try await store.apply(MigrationStep(leftHashes: hashes))
            try await expect(earlier(store), equals: ["3: -", "4: -"])
        },
        StoreRule(opened: "a term that moves after its purchased entry gets a termMoved entry, in any order") {
            store in
            let documents = [
                Samples.set(purchase("1", day: 1, token: token)), Samples.set(purchase("2", day: 2, token: token)),
                Samples.set(purchase("3", day: 3, token: token)),
                Samples.set(purchase("1", day: 1, at: Samples.june + 1, refunded: true, token: token)),
            ]
            var last: Int64 = 0
            for (number, order) in permutations(documents).enumerated() {
                let scope = StoreScope(environment: .sandbox, bundleId: "app\(number)")
                // The consumer's state: for each purchase, the earlier grants at its last entry.
                var consumed: [String: [String]] = [:]
                for set in order {
                    try await store.add(moved(set, to: scope))
                    let entries = try await store.changes(after: last, limit: 100)
                    last = entries.last?.position ?? last
                    for entry in entries where entry.event == .termMoved {
                        let before = consumed[entry.transactionId]
                        try expect(entry.earlierPurchasesBefore, equals: before, "\(number): \(entry.transactionId)")
                    }
                    let customer = try require(
                        try await store.customer([CustomerIdentity(.appAccountToken, token)], in: scope))
                    let granted = customer.transactions.filter { $0.payload.revocationDate == nil }
                        .compactMap(\.payload.transactionId).sorted()
                    for id in granted {
                        let before = granted.filter { $0 < id }
                        let hasEntry = entries.contains { $0.transactionId == id }
                        try expect(hasEntry, equals: consumed[id] != before, "\(number): \(id)")
                        consumed[id] = before
                    }
                }
            }
            _ = try await LedgerAudit.check(store)
        },
    ]

    private static func sorted(_ text: String) -> [String] { text.split(separator: ", ").map(String.init).sorted() }

    // MARK: Seats

    private static func unclaimed(_ uuid: String, _ claims: String...) -> FactSet {
        Samples.set(
            Samples.fact("1", product: "team", source: .notificationV2) { $0.quantity = 5 },
            notification: Samples.notification(uuid), unclaimedSeatIds: claims)
    }

    static let seats: [StoreRule] = [
        StoreRule("seats that the App Store unclaimed are in the ledger, each once") { place in
            let store = try await place.open()
            try await store.add(unclaimed("n1", "B", "a", "b"))
            _ = try await store.apply([unclaimed("n1", "a", "b"), unclaimed("n2", "b", "c")])
            _ = try await store.apply([unclaimed("n3", "d"), unclaimed("n4", "d")])
            let entries = try await LedgerAudit.check(store)
            try expect(
                LedgerAudit.text(entries),
                equals: "1 purchased, 1 seatUnclaimed, 1 seatUnclaimed, 1 seatUnclaimed, 1 seatUnclaimed")
            try expect(entries.compactMap(\.seatClaimId), equals: ["a", "b", "c", "d"])
            try expect(entries.allSatisfy { $0.transaction.payload.quantity == 5 })
            try await store.close()
            let again = try await place.open()
            try await again.add(unclaimed("n5", "a", "e"))
            let rest = try await again.changes(after: entries.last?.position ?? 0, limit: 10)
            try expect(rest.map(\.seatClaimId), equals: ["e"])
            try await again.close()
        },
        StoreRule(opened: "an unclaimed seat takes nothing from the subscription, and hides no later refund") { store in
            try await store.add(unclaimed("n1", "a"))
            let refund = Samples.fact("1", product: "team", source: .notificationV2, at: Samples.june + 1) {
                $0.revocationDate = Samples.june
            }
            for _ in 1...2 { try await store.add(Samples.set(refund)) }
            try await expect(store.text, equals: "1 purchased, 1 seatUnclaimed, 1 revoked")
            try await store.add(unclaimed("n2", "b"))
            try await expect(store.text, equals: "1 purchased, 1 seatUnclaimed, 1 revoked, 1 seatUnclaimed")
            _ = try await LedgerAudit.check(store)
        },
        StoreRule(opened: "the same seat in another app is another seat, and a set without a transaction has none") {
            store in
            let other = StoreScope(environment: .sandbox, bundleId: "other")
            _ = try await store.apply([unclaimed("n1", "a"), moved(unclaimed("n2", "a"), to: other)])
            try await store.add(identities: [Samples.original("1")], unclaimedSeatIds: ["z"])
            let entries = try await LedgerAudit.check(store)
            try expect(entries.filter { $0.event == .seatUnclaimed }.map(\.scope), equals: [Samples.scope, other])
        },
    ]
}
