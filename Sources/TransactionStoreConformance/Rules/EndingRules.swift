import AppStoreModels
import Foundation
import Purchases
import TransactionStore

extension StoreConformance {
    /// An answer or a notification about the first period.
    private static func document(
        signed day: Int64, to end: Int64? = nil, by notification: (type: String, subtype: String?)? = nil,
        _ configure: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }
    ) -> FactSet {
        let source = notification == nil ? FactSource.appStoreServerAPI : .notificationV2
        return Samples.set(
            period("1", to: end, signed: day, source: source),
            renewals: [Samples.renewal("1", source: source, at: date(day), configure)],
            notification: notification.map {
                ProcessedNotification(
                    notificationUUID: "\($0.type) \(day)", notificationType: $0.type, subtype: $0.subtype,
                    signedDate: date(day), body: Array("{}".utf8))
            })
    }

    /// The entries after everything that has ended by a day has its entry.
    private static func changes(
        _ store: any CompleteTransactionStore, after day: Int64, _ sets: FactSet...
    ) async throws -> String {
        for set in sets { try await store.add(set) }
        _ = try await store.recordAllEndings(by: date(day))
        return LedgerAudit.changes(try await LedgerAudit.check(store))
    }

    /// A rule about what ends after the first look, on day 0.
    private static func afterFirstLook(
        _ name: String, _ body: @escaping @Sendable (any CompleteTransactionStore) async throws -> Void
    ) -> StoreRule {
        StoreRule(opened: name) { store in
            try await expect(changes(store, after: 0), equals: "")
            try await body(store)
        }
    }

    /// An answer about the second period of a subscription.
    private static func next(
        from start: Int64, to end: Int64? = nil, signed day: Int64, product: String = "monthly"
    ) -> FactSet {
        Samples.set(
            period("2", product: product, from: start, to: end, signed: day, source: .appStoreServerAPI),
            renewals: [Samples.renewal("1", product: product, source: .appStoreServerAPI, at: date(day))])
    }

    /// The last states of each transaction, over all orders of the documents. A program looks on day 100, after each document or
    /// once after all of them.
    /// - Parameter name: of the apps, one for each order.
    private static func lastStates(
        _ store: any CompleteTransactionStore, inEveryOrderOf documents: [FactSet], apps name: String
    ) async throws -> [String: Set<LedgerEntry.State>] {
        for (number, order) in permutations(documents).enumerated() {
            for looks in [false, true] {
                let scope = StoreScope(environment: .sandbox, bundleId: "\(name) \(number) \(looks)")
                for set in order {
                    try await store.add(moved(set, to: scope))
                    if looks { _ = try await store.recordAllEndings(by: date(100)) }
                }
            }
        }
        _ = try await store.recordAllEndings(by: date(100))
        let entries = try await LedgerAudit.check(store).filter { $0.scope.bundleId.hasPrefix("\(name) ") }
        var states: [String: Set<LedgerEntry.State>] = [:]
        for own in Dictionary(grouping: entries, by: LedgerAudit.Key.init).values {
            guard let last = own.last, let state = last.stateAfter else { continue }
            states[last.transactionId, default: []].insert(state)
        }
        return states
    }

    /// Three programs look at once, beside writers of 60 purchases that end before day 31. Each end has one entry.
    static func lookAtOnce(
        _ place: StorePlace, catalogs: TermCatalogs = TermCatalogs(),
        _ purchase: @escaping @Sendable (_ id: String) -> FactSet
    ) async throws {
        let stores = [try await place.open(), try await place.open(), try await place.open()]
        try await stores[0].add(Samples.fact("900"))
        _ = try await stores[0].recordAllEndings(by: date(0), catalogs: catalogs)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<6 {
                let store = stores[number % 3]
                group.addTask {
                    for id in stride(from: number, to: 60, by: 6) { try await store.add(purchase("\(id + 1)")) }
                }
                group.addTask {
                    for _ in 0..<10 {
                        _ = try await store.recordEndings(by: date(31), limit: 7)
                        _ = try await store.recordTermEnds(by: date(31), limit: 7, catalogs: catalogs)
                    }
                }
            }
            try await group.waitForAll()
        }
        for store in stores { _ = try await store.recordAllEndings(by: date(31), catalogs: catalogs) }
        let entries = try await LedgerAudit.check(stores[0])
        try expect(entries.count { $0.event == .endedByTime }, equals: 60)
        try expect(entries.count, equals: 121)
        for store in stores { try await store.close() }
    }

    static let endings: [StoreRule] = [
        afterFirstLook("a period that ends without a document has one entry, at its end and not before") { store in
            try await expect(changes(store, after: 29, Samples.set(period("1"))), equals: "1 started - active")
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 30), equals: ended)
            try await expect(changes(store, after: 400), equals: ended)
            try await expect(changes(store, after: 400, Samples.set(period("1", signed: 31))), equals: ended)
            try await expect(store.recordEndings(by: date(400), limit: 10).purchases, equals: 0)
        },
        afterFirstLook("the notification about an expiry adds one entry, before the end by time or after it") { store in
            try await expect(changes(store, after: 1, document(signed: 1)), equals: "1 started - active")
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 31), equals: ended)
            let expired = document(signed: 30, by: ("EXPIRED", "BILLING_RETRY"), lapsed)
            try await expect(changes(store, after: 32, expired), equals: ended)
            try await expect(changes(store, after: 32, document(signed: 32, lapsed)), equals: ended)
        },
        afterFirstLook("an expiry that a notification stated has no entry by time") { store in
            let expired = document(signed: 30, by: ("EXPIRED", "VOLUNTARY")) { $0.expirationIntent = .cancelled }
            try await expect(changes(store, after: 1, document(signed: 1)), equals: "1 started - active")
            try await expect(
                changes(store, after: 40, expired), equals: "1 started - active, 1 expired active expired")
        },
        afterFirstLook("a grace period, and then the time of billing retry, end by time") { store in
            let entered = "1 started - active, 1 gracePeriodEntered active inGracePeriod"
            try await expect(changes(store, after: 35, document(signed: 30, inGrace)), equals: entered)
            let over = entered + ", 1 gracePeriodExpired inGracePeriod inBillingRetry"
            try await expect(changes(store, after: 36), equals: over)
            let notified = document(signed: 36, by: ("GRACE_PERIOD_EXPIRED", nil), inGrace)
            try await expect(changes(store, after: 89, notified), equals: over)
            try await expect(changes(store, after: 90), equals: over + ", 1 expired inBillingRetry expired")
            try await expect(
                changes(store, after: 95, document(signed: 90, by: ("EXPIRED", "BILLING_RETRY"), lapsed)),
                equals: over + ", 1 expired inBillingRetry expired")
        },
        afterFirstLook("a failed renewal that was known before the end of the period has its entry at the end") {
            store in
            try await expect(changes(store, after: 29, document(signed: 29, unpaid)), equals: "1 started - active")
            try await expect(
                changes(store, after: 30), equals: "1 started - active, 1 billingFailed active inBillingRetry")
        },
        afterFirstLook("a renewed period does not end by time, and the new one does") { store in
            let renewed = Samples.set(period("1"), period("2", from: 30))
            let entries = "1 started - active, 2 renewed - active"
            try await expect(changes(store, after: 59, renewed), equals: entries)
            try await expect(changes(store, after: 60), equals: entries + ", 2 expired active expired")
        },
        afterFirstLook("a period that another one is known to follow does not end, also if a look is behind") { store in
            let again = Samples.set(period("1"), period("2", from: 32, signed: 32))
            let entries = "1 started - active, 2 renewed - active"
            try await expect(changes(store, after: 31, again), equals: entries)
            try await expect(changes(store, after: 62), equals: entries + ", 2 expired active expired")
        },
        afterFirstLook("a document about a running subscription makes no look due, even with old periods") { store in
            let entries = "1 started - active, 2 renewed - active"
            try await expect(
                changes(store, after: 31, Samples.set(period("1"), period("2", from: 30))), equals: entries)
            try await store.add(period("1", signed: 32), period("2", from: 30, signed: 32))
            try await expect(store.recordEndings(by: date(33), limit: 10).purchases, equals: 0)
            try await expect(changes(store, after: 60), equals: entries + ", 2 expired active expired")
        },
        afterFirstLook("a subscription with old periods ends by time too") { store in
            let receipt = Samples.set(period("1", from: -400), period("2", from: 0))
            let entries = "1 started - active, 2 renewed - active"
            try await expect(changes(store, after: 29, receipt), equals: entries)
            try await expect(changes(store, after: 30), equals: entries + ", 2 expired active expired")
        },
        afterFirstLook("a renewal that is learned after the end by time has its entry, and so has its end") { store in
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 31, Samples.set(period("1"))), equals: ended)
            let late = Samples.set(period("2", from: 30, signed: 32))
            try await expect(changes(store, after: 59, late), equals: ended + ", 2 renewed - active")
            try await expect(
                changes(store, after: 60), equals: ended + ", 2 renewed - active, 2 expired active expired")
        },
        afterFirstLook("an end by time is corrected when a document moves the end, and the new end has its entry") {
            store in
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 31, document(signed: 1)), equals: ended)
            let recovered = ended + ", 1 billingRecovered expired active"
            try await expect(changes(store, after: 32, document(signed: 32, to: 45)), equals: recovered)
            try await expect(changes(store, after: 44), equals: recovered)
            try await expect(changes(store, after: 45), equals: recovered + ", 1 expired active expired")
            try await expect(changes(store, after: 90), equals: recovered + ", 1 expired active expired")
        },
        afterFirstLook("a grace period that is learned after the end by time has its entry, and so has its end") {
            store in
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 31, document(signed: 1)), equals: ended)
            let late = document(signed: 30, by: ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), inGrace)
            let corrected = ended + ", 1 gracePeriodEntered expired inGracePeriod"
            try await expect(changes(store, after: 32, late), equals: corrected)
            try await expect(
                changes(store, after: 37), equals: corrected + ", 1 gracePeriodExpired inGracePeriod inBillingRetry")
        },
        afterFirstLook("a document from before the end, and a look of a slower clock, do not take an end back") {
            store in
            let ended = "1 started - active, 1 expired active expired"
            try await expect(changes(store, after: 30, document(signed: 1)), equals: ended)
            try await store.add(document(signed: 29))
            // It may also wait a day longer for documents.
            _ = try await store.recordAllEndings(by: date(29) - 60_000)
            try await expect(changes(store, after: 31), equals: ended)
        },
        afterFirstLook("a period under two original ids ends once") { store in
            _ = try await changes(store, after: 30, Samples.set(period("7", of: "1"), period("7", of: "2")))
            try await expect(store.text, equals: "7 purchased, 7 endedByTime")
        },
        StoreRule(opened: "a purchase that ended before the first look adds no entry, whenever its document arrives") {
            store in
            try await expect(changes(store, after: 40, Samples.set(period("1"))), equals: "1 started - active")
            let history = Samples.set(
                period("2", of: "2", from: 5), period("3", of: "3", from: -900), period("4", of: "4", from: 20))
            let started = "1 started - active, 2 started - active, 3 started - active, 4 started - active"
            try await expect(changes(store, after: 49, history), equals: started)
            try await expect(changes(store, after: 60), equals: started + ", 4 expired active expired")
        },
        StoreRule(opened: "purchases of before the first look end by time afterwards") { store in
            let now = Int64(Foundation.Date().timeIntervalSince1970 * 1_000)
            func subscription(_ id: String, until day: Int64) -> TransactionFact {
                Samples.fact(id, at: now) {
                    $0.type = .autoRenewableSubscription
                    $0.purchaseDate = now - 30 * Samples.day
                    $0.expiresDate = now + day * Samples.day
                }
            }
            try await store.add(subscription("1", until: -1), subscription("2", until: 1))
            try await expect(store.recordAllEndings(by: now).entries, equals: 0)
            try await expect(store.recordAllEndings(by: now + 2 * Samples.day).entries, equals: 1)
            try await expect(store.text, equals: "1 purchased, 2 purchased, 2 endedByTime")
        },
        // See "Earlier periods" in Documentation/Ledger.md.
        afterFirstLook("the state of the last period depends on no order; a period before it stays active or expired") {
            store in
            let boughtAgain = [document(signed: 1), document(signed: 31, lapsed), next(from: 40, signed: 40)]
            let renewed = [document(signed: 1), next(from: 30, signed: 31)]
            for (documents, name) in [(boughtAgain, "again"), (renewed, "renewed")] {
                let states = try await lastStates(store, inEveryOrderOf: documents, apps: name)
                try expect(states["2"] ?? [], equals: [.expired], name)
                try expect(states["1"] ?? [], equals: [.active, .expired], name)
            }
        },
        afterFirstLook("an upgraded period stays upgraded in every order, also if it ended by time first") { store in
            let upgrade = next(from: 10, to: 375, signed: 10, product: "yearly")
            let states = try await lastStates(store, inEveryOrderOf: [document(signed: 1), upgrade], apps: "upgraded")
            try expect(states["1"] ?? [], equals: [.upgraded])
            try expect(states["2"] ?? [], equals: [.active])
        },
        afterFirstLook("refunded, upgraded and unsigned purchases do not end by time") { store in
            try await expect(
                changes(
                    store, after: 90,
                    Samples.set(period("1", source: .appStoreServerAPI) { $0.revocationDate = date(20) }),
                    Samples.set(period("2", of: "2", source: .appStoreServerAPI) { $0.isUpgraded = true }),
                    Samples.set(period("3", of: "3", source: .recordedReply))),
                equals: "1 refunded - refunded, 2 upgraded - upgraded")
        },
        StoreRule(opened: "one call looks at no more purchases than asked for, and at none twice") { store in
            _ = try await store.recordEndings(by: date(0), limit: 1)
            // All end at the same time.
            for id in 1...7 { try await store.add(period("\(id)", of: "\(id)")) }
            var found: [Int] = []
            for _ in 0..<4 { found.append(try await store.recordEndings(by: date(30), limit: 3).purchases) }
            try expect(found, equals: [3, 3, 1, 0])
            try await expect(store.changes(after: 0, limit: 100).count { $0.event == .endedByTime }, equals: 7)
        },
        StoreRule("several programs that look at once, beside writers, add each entry once") { place in
            try await lookAtOnce(place) { Samples.set(period($0, of: $0)) }
        },
        afterFirstLook("an end by time does not come again after the removal of its entry") { store in
            _ = try await changes(store, after: 31, document(signed: 1))
            let last = try await store.changes(after: 0, limit: 10).last?.position ?? 0
            try await store.add(
                notified("c", "CONSUMPTION_REQUEST", nil, "1", at: 40 * Samples.day) {
                    $0.expiresDate = date(30)
                    $0.type = .autoRenewableSubscription
                })
            let removed = try await store.removeEntries(before: .max, evenUnread: true).position
            try expect(removed > last)
            try await store.add(document(signed: 41, lapsed))
            _ = try await store.recordAllEndings(by: date(90))
            try await expect(store.changes(after: removed, limit: 10).count, equals: 0)
        },
        afterFirstLook("an erased purchase does not end, and one that is learned again does") { store in
            try await store.add(period("1"))
            _ = try await store.erase(
                [Samples.original("1")], in: Samples.scope, quarantined: [], leavingHashes: false)
            try await expect(store.recordEndings(by: date(31), limit: 10).purchases, equals: 0)
            try await expect(
                changes(store, after: 31, Samples.set(period("1"))),
                equals: "1 started - active, 1 expired active expired")
        },
    ]
}
