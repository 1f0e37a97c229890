import AppStoreModels
import ProductCatalog
import Purchases
import TransactionStore

extension StoreConformance {
    private static let customer = "33333333-2222-3333-4444-555555555555"

    /// A purchase of a term of 30 days. With a token, it is one of the same customer.
    private static func season(
        _ id: String, day: Int64, signed: Int64 = 0, of token: String? = nil, refunded: Bool = false,
        product: String = "season", source: FactSource = .notificationV2
    ) -> FactSet {
        Samples.set(
            Samples.fact(id, product: product, source: source, at: date(signed)) {
                $0.type = .nonRenewingSubscription
                $0.purchaseDate = date(day)
                $0.originalPurchaseDate = $0.purchaseDate
                $0.revocationDate = refunded ? date(signed) : nil
                $0.appAccountToken = token
            })
    }

    private static func catalog(days: Int) throws -> ProductCatalog {
        let source = CatalogSource(file: "catalog.yaml", line: 1, element: "products.season")
        var entry = CatalogEntry(subject: .productId("season"), source: source)
        entry.type = .nonRenewingSubscription
        entry.duration = SubscriptionPeriod(value: days, unit: .day)
        return try ProductCatalog(entries: [entry])
    }

    private static func catalogs(days: Int = 30) throws -> TermCatalogs { TermCatalogs(other: try catalog(days: days)) }

    /// The first look needs an app.
    private static func begin(_ store: any CompleteTransactionStore) async throws {
        try await store.add(Samples.fact("900"))
        try await expect(changes(store, after: 0), equals: "")
    }

    /// The entries about terms after everything that has ended by a day has its entry.
    private static func changes(
        _ store: any CompleteTransactionStore, after day: Int64, days: Int = 30, _ sets: FactSet...
    ) async throws -> String {
        for set in sets { try await store.add(set) }
        _ = try await store.recordAllEndings(by: date(day), catalogs: try catalogs(days: days))
        return LedgerAudit.changes(try await LedgerAudit.check(store).filter { $0.transactionId != "900" })
    }

    /// A rule about terms that end after the first look.
    private static func afterFirstLook(
        _ name: String, _ body: @escaping @Sendable (any CompleteTransactionStore) async throws -> Void
    ) -> StoreRule {
        StoreRule(opened: name) { store in
            try await begin(store)
            try await body(store)
        }
    }

    /// Removes a purchase as a merge does with a store in which only this one was erased.
    private static func removeAsMerged(_ original: String, from store: any CompleteTransactionStore) async throws {
        let hashes = LeftHash.hashes(
            of: [Samples.original(original)], in: Samples.scope, secret: LeftHash.makeSecret())
        _ = try await store.apply(MigrationStep(leftHashes: hashes))
    }

    static let termEndings: [StoreRule] = [
        afterFirstLook("a term that ends has one entry, at its end and not before, and none without a catalog") {
            store in
            try await expect(changes(store, after: 30, season("1", day: 1)), equals: "1 started - active")
            try await expect(store.recordAllEndings(by: date(31)), equals: RecordedEndings())
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 31), equals: ended)
            try await expect(changes(store, after: 400), equals: ended)
            try await store.add(season("1", day: 1, signed: 32))
            let again = try await store.recordTermEnds(by: date(401), limit: 10, catalogs: catalogs())
            try expect(again, equals: RecordedEndings())
            let byTime = try await store.changes(after: 0, limit: 10).compactMap(\.byTime)
            try expect(byTime, equals: [true])
        },
        afterFirstLook("each of two terms that follow each other has its own end") { store in
            let started = "1 started - active, 2 started - active"
            try await expect(
                changes(
                    store, after: 30, season("1", day: 1, of: customer), season("2", day: 5, of: customer)),
                equals: started)
            let first = started + ", 1 expired active expired"
            try await expect(changes(store, after: 60), equals: first)
            try await expect(changes(store, after: 61), equals: first + ", 2 expired active expired")
        },
        afterFirstLook("a term that a document moves after its end is active again, and the new end has its entry") {
            store in
            let ended = "2 started - active, 2 expired active expired"
            try await expect(changes(store, after: 40, season("2", day: 10, of: customer)), equals: ended)
            let moved =
                ended + ", 1 started - active, 2 termMoved expired expired, 1 expired active expired, "
                + "2 billingRecovered expired active"
            try await expect(changes(store, after: 45, season("1", day: 1, of: customer)), equals: moved)
            try await expect(changes(store, after: 60), equals: moved)
            try await expect(changes(store, after: 61), equals: moved + ", 2 expired active expired")
            try await expect(changes(store, after: 90), equals: moved + ", 2 expired active expired")
        },
        afterFirstLook("a term that a document moves to an earlier end ends there") { store in
            let entries = "1 started - active, 2 started - active"
            try await expect(
                changes(store, after: 6, season("1", day: 1, of: customer), season("2", day: 5, of: customer)),
                equals: entries)
            let refund = season("1", day: 1, signed: 7, of: customer, refunded: true)
            let moved = entries + ", 1 refunded active refunded, 2 termMoved active active"
            try await expect(changes(store, after: 34, refund), equals: moved)
            try await expect(changes(store, after: 35), equals: moved + ", 2 expired active expired")
        },
        afterFirstLook("a merge of two customers moves ended terms, and they end again") { store in
            let ended = "1 started - active, 2 started - active, 1 expired active expired, 2 expired active expired"
            try await expect(changes(store, after: 31, season("1", day: 1), season("2", day: 1)), equals: ended)
            let joined = Samples.set(identities: [Samples.original("1"), Samples.original("2")])
            let moved = ended + ", 2 termMoved expired expired, 2 billingRecovered expired active"
            try await expect(changes(store, after: 60, joined), equals: moved)
            try await expect(changes(store, after: 61), equals: moved + ", 2 expired active expired")
        },
        afterFirstLook("refunded, unsigned and other purchases have no end by time, and reinstated ones have") {
            store in
            let entries = "1 started - active, 2 refunded - refunded, 4 started - active, 1 refunded active refunded"
            try await expect(
                changes(
                    store, after: 400, season("1", day: 1), season("2", day: 2, refunded: true),
                    season("3", day: 3, source: .recordedReply), season("4", day: 4, product: "unknown"),
                    season("1", day: 1, signed: 9, refunded: true)),
                equals: entries)
            let reinstated = entries + ", 1 reinstated refunded active, 1 expired active expired"
            try await expect(changes(store, after: 401, season("1", day: 1, signed: 10)), equals: reinstated)
            try await expect(changes(store, after: 500), equals: reinstated)
        },
        afterFirstLook("a restored purchase ends with the purchase that it restores, and not after a refund") { store in
            func restored(_ id: String, of original: String) -> FactSet {
                Samples.set(
                    Samples.fact(id, original: original, product: "season", source: .notificationV2) {
                        $0.type = .nonRenewingSubscription
                        $0.purchaseDate = date(20)
                        $0.originalPurchaseDate = date(1)
                    })
            }
            let refund = season("3", day: 1, signed: 9, refunded: true)
            _ = try await changes(
                store, after: 21, season("1", day: 1), restored("2", of: "1"), season("3", day: 1),
                restored("4", of: "3"), refund)
            _ = try await changes(store, after: 31)
            try await expect(
                store.text,
                equals: "900 purchased, 1 purchased, 2 purchased, 3 purchased, 4 purchased, 3 revoked, 4 revoked, "
                    + "1 endedByTime, 2 endedByTime")
        },
        StoreRule(
            opened:
                "a term that ended before the first look with a catalog adds no entry, at any arrival of its document"
        ) {
            store in
            _ = try await store.apply([Samples.set(Samples.fact("900")), season("1", day: 1)])
            _ = try await store.recordAllEndings(by: date(2))
            try await expect(changes(store, after: 40), equals: "1 started - active")
            let started = "1 started - active, 2 started - active, 3 started - active"
            try await expect(changes(store, after: 49, season("2", day: 5), season("3", day: 20)), equals: started)
            try await expect(changes(store, after: 50), equals: started + ", 3 expired active expired")
        },
        afterFirstLook("a term ends earlier after a merge has removed the purchase before it") { store in
            let first = season("1", day: 1, of: customer)
            _ = try await changes(store, after: 3, first, season("2", day: 2, of: customer))
            try await removeAsMerged("1", from: store)
            try await expect(changes(store, after: 31), equals: "2 started - active")
            try await expect(changes(store, after: 32), equals: "2 started - active, 2 expired active expired")
        },
        afterFirstLook("a term ends after a merge has removed one of the two original ids of its transaction") {
            store in
            func seven(_ original: String) -> FactSet {
                Samples.set(
                    Samples.fact("7", original: original, product: "season", source: .notificationV2, at: date(2)) {
                        $0.type = .nonRenewingSubscription
                        $0.purchaseDate = date(1)
                        $0.originalPurchaseDate = $0.purchaseDate
                    })
            }
            for original in ["1", "2"] { _ = try await changes(store, after: 3, seven(original)) }
            try await removeAsMerged("1", from: store)
            try await expect(changes(store, after: 31), equals: "7 started - active, 7 expired active expired")
        },
        afterFirstLook("a look of a slower clock does not take the end of a term back") { store in
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 31, season("1", day: 1, of: customer)), equals: ended)
            // Has the first one looked at again.
            let later = ended + ", 2 started - active, 1 termMoved expired expired"
            let earlier = season("2", day: 0, of: customer, product: "unknown")
            try await expect(changes(store, after: 30, earlier), equals: later)
        },
        afterFirstLook("a term that documents state under the original ids of two customers ends once") { store in
            for original in ["1", "2"] {
                try await store.add(
                    Samples.fact("7", original: original, product: "season", source: .notificationV2, at: date(0)) {
                        $0.type = .nonRenewingSubscription
                        $0.purchaseDate = date(1)
                        $0.originalPurchaseDate = date(1)
                    })
            }
            _ = try await changes(store, after: 31)
            try await expect(store.text, equals: "900 purchased, 7 purchased, 7 endedByTime")
        },
        afterFirstLook("programs that know no length of a term leave its end to one that does") { store in
            let other = StoreScope(environment: .sandbox, bundleId: "other")
            _ = try await store.apply([season("1", day: 1), moved(season("2", day: 1), to: other)])
            let ofOther = TermCatalogs(byBundleId: ["other": try catalog(days: 30)])
            try await expect(
                store.recordTermEnds(by: date(0), limit: 10, catalogs: ofOther).purchases, equals: 1)
            let ended = try await store.recordTermEnds(by: date(40), limit: 10, catalogs: ofOther)
            try expect([ended.purchases, ended.entries], equals: [1, 1])
            // Its catalog does not have the product.
            let empty = TermCatalogs(other: ProductCatalog())
            let unknown = try await store.recordTermEnds(by: date(40), limit: 10, catalogs: empty)
            try expect([unknown.purchases, unknown.entries], equals: [1, 0])
            let entries = "1 started - active, 2 started - active, 2 expired active expired, 1 expired active expired"
            try await expect(changes(store, after: 41), equals: entries)
        },
        afterFirstLook("a catalog with another length changes no end that has an entry, and moves later ones") {
            store in
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 31, season("1", day: 1)), equals: ended)
            let longer = ended + ", 2 started - active"
            try await expect(changes(store, after: 40, days: 60, season("2", day: 20)), equals: longer)
            for day in Int64(41)...50 {
                try await expect(changes(store, after: day, days: day % 2 == 0 ? 30 : 60), equals: longer)
            }
            // Was to end on day 80.
            try await expect(changes(store, after: 80, days: 90), equals: longer)
            try await expect(changes(store, after: 109, days: 90), equals: longer)
            try await expect(changes(store, after: 110, days: 90), equals: longer + ", 2 expired active expired")
        },
        afterFirstLook("one call looks at no more terms than asked for, and at none twice") { store in
            // Those of one customer, of which each begins when the one before it ends, and those of others.
            for id in Int64(1)...4 { try await store.add(season("\(id)", day: 1, of: customer)) }
            for id in Int64(5)...7 { try await store.add(season("\(id)", day: 1)) }
            for (day, counts) in [(1, [3, 3, 1, 0]), (31, [3, 1, 0, 0]), (121, [3, 0, 0, 0])] {
                var found: [Int] = []
                for _ in 0..<4 {
                    found.append(
                        try await store.recordTermEnds(by: date(Int64(day)), limit: 3, catalogs: catalogs()).purchases)
                }
                try expect(found, equals: counts, "day \(day)")
            }
            try await expect(store.changes(after: 0, limit: 100).count { $0.event == .endedByTime }, equals: 7)
        },
        afterFirstLook("a document has only those terms of a customer looked at that it can have moved") { store in
            for id in Int64(1)...3 { try await store.add(season("\(id)", day: id, of: customer)) }
            try await expect(store.recordTermEnds(by: date(4), limit: 10, catalogs: catalogs()).purchases, equals: 3)
            try await store.add(season("4", day: 5, of: customer))
            try await expect(store.recordTermEnds(by: date(5), limit: 10, catalogs: catalogs()).purchases, equals: 1)
            try await store.add(season("3", day: 3, signed: 6, of: customer, refunded: true))
            try await expect(store.recordTermEnds(by: date(6), limit: 10, catalogs: catalogs()).purchases, equals: 1)
            try await store.add(season("5", day: 0, of: customer))
            try await expect(store.recordTermEnds(by: date(7), limit: 10, catalogs: catalogs()).purchases, equals: 4)
        },
        StoreRule("several programs that look at terms at once, beside writers, add each entry once") { place in
            try await lookAtOnce(place, catalogs: catalogs()) { season($0, day: 1) }
        },
        afterFirstLook("the end of a term does not come again after the removal of its entry") { store in
            _ = try await changes(store, after: 31, season("1", day: 1, of: customer))
            let request = Samples.consumptionRequest("c", of: "1", at: 40 * Samples.day) {
                $0.type = .nonRenewingSubscription
                $0.productId = "season"
                $0.purchaseDate = date(1)
                $0.originalPurchaseDate = date(1)
                $0.appAccountToken = customer
            }
            try await store.add(request)
            let removed = try await store.removeEntries(before: .max, evenUnread: true).position
            // Has the first one looked at again.
            try await store.add(season("2", day: 0, of: customer, product: "unknown"))
            let looked = try await store.recordTermEnds(by: date(60), limit: 10, catalogs: catalogs())
            try expect([looked.purchases, looked.entries], equals: [2, 0])
            try await expect(store.changes(after: removed, limit: 10).map(\.transactionId), equals: ["2", "1"])
        },
        afterFirstLook("the term of an erased purchase does not end, and that of one that is learned again does") {
            store in
            _ = try await changes(store, after: 2, season("1", day: 1))
            _ = try await store.erase(
                [Samples.original("1")], in: Samples.scope, quarantined: [], leavingHashes: false)
            let looked = try await store.recordTermEnds(by: date(31), limit: 10, catalogs: catalogs())
            try expect(looked, equals: RecordedEndings())
            try await expect(
                changes(store, after: 31, season("1", day: 1)), equals: "1 started - active, 1 expired active expired")
        },
    ]
}
