import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private static func signed(
        _ id: String, _ revision: Int64, _ configure: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
    ) -> TransactionFact {
        Samples.fact(id, source: .notificationV2, at: Samples.june + revision, configure)
    }

    static let ledgerRemoval: [StoreRule] = [
        StoreRule("entries are removed only when every consumer has acknowledged them") { place in
            let store = try await place.open()
            _ = try await store.apply((1...5).map { Samples.set(Samples.fact("\($0)")) })
            let positions = try await store.changes(after: 0, limit: 10).map(\.position)
            try await store.acknowledge(positions[2], by: "shop")
            try await store.acknowledge(positions[4], by: "mail")
            let shop = LedgerConsumer(name: "shop", position: positions[2], holder: nil)
            let first = try await store.removeEntries(before: .max, evenUnread: false)
            try expect(first, equals: LedgerRemoval(position: positions[2], behind: [shop]))
            let rest = try await store.changes(after: positions[2], limit: 10)
            try expect(LedgerAudit.text(rest), equals: "4 purchased, 5 purchased")
            for position in [.min, 0, positions[1]] {
                try await expectError(.entriesRemoved) { _ = try await store.changes(after: position, limit: 1) }
            }
            // A process that has only taken the name has read nothing.
            _ = try await store.lease("new", to: "a", for: 60_000)
            let new = LedgerConsumer(name: "new", position: 0, holder: "a")
            try await store.acknowledge(positions[4], by: "shop")
            try await expect(
                store.removeEntries(before: .max, evenUnread: false),
                equals: LedgerRemoval(position: positions[2], behind: [new]))
            try await expect(store.removeConsumer("new"))
            try await expect(
                store.removeEntries(before: .max, evenUnread: false),
                equals: LedgerRemoval(position: positions[4], behind: []))
            try await store.close()
            let again = try await place.open()
            try await expectError(.entriesRemoved) { _ = try await again.changes(after: 0, limit: 1) }
            try await expect(again.changes(after: positions[4], limit: 1).isEmpty)
            try await again.close()
        },
        StoreRule(opened: "a consumer whose entries were removed unread gets an error, until it continues after them") {
            store in
            _ = try await store.apply((1...3).map { Samples.set(Samples.fact("\($0)")) })
            let positions = try await store.changes(after: 0, limit: 10).map(\.position)
            try await store.acknowledge(positions[0], by: "shop")
            let removal = try await store.removeEntries(before: .max, evenUnread: true)
            try expect(
                removal,
                equals: LedgerRemoval(
                    position: positions[2],
                    behind: [LedgerConsumer(name: "shop", position: positions[0], holder: nil)]))
            let position = try await store.acknowledgedPosition(of: "shop")
            try await expectError(.entriesRemoved) { _ = try await store.changes(after: position, limit: 1) }
            try await store.acknowledge(positions[2], by: "shop")
            try await store.add(Samples.fact("4"))
            let next = try await store.changes(after: store.acknowledgedPosition(of: "shop"), limit: 10)
            try expect(LedgerAudit.text(next), equals: "4 purchased")
            try expect(next[0].position > positions[2])
        },
        StoreRule(opened: "the entries of purchases are those of their transactions, in order, until they are removed")
        {
            store in
            _ = try await store.apply([
                Samples.set(Samples.fact("1")), Samples.set(Samples.fact("2", original: "1")),
                Samples.set(Samples.fact("3")), Samples.set(Samples.fact("1"), scope: Samples.sandbox),
            ])
            let all = try await store.changes(after: 0, limit: 10)
            let own = all.filter { $0.scope == Samples.scope }
            let found = try await store.entries(ofPurchases: ["1", "1", "none"], in: Samples.scope)
            try expect(Set(found.map(\.transactionId)), equals: ["1", "2"])
            try expect(found.map(\.position), equals: own.filter { $0.transactionId != "3" }.map(\.position))
            try expect(found.map(\.event), equals: [.purchased, .purchased])
            let both = try await store.entries(ofPurchases: ["3", "1"], in: Samples.scope)
            try expect(both.map(\.position), equals: own.map(\.position))
            let elsewhere = StoreScope(environment: .production, bundleId: "none")
            try await expect(store.entries(ofPurchases: ["1"], in: elsewhere).isEmpty)
            try await expect(store.entries(ofPurchases: [], in: Samples.scope).isEmpty)
            try await store.acknowledge(all.map(\.position).max() ?? 0, by: "shop")
            _ = try await store.removeEntries(before: .max, evenUnread: false)
            try await expect(store.entries(ofPurchases: ["1"], in: Samples.scope).isEmpty)
        },
        StoreRule(opened: "entries that were recorded at or after the date stay") { store in
            try await store.add(Samples.fact("1"))
            try await Task.sleep(for: .milliseconds(20))
            try await store.add(Samples.fact("2"))
            let entries = try await store.changes(after: 0, limit: 10)
            try expect(entries[0].recordedDate < entries[1].recordedDate)
            for date in [.min, 0, entries[0].recordedDate] {
                try await expect(store.removeEntries(before: date, evenUnread: true).position, equals: 0)
            }
            try await expect(
                store.removeEntries(before: entries[1].recordedDate, evenUnread: true).position,
                equals: entries[1].position - 1)
            let rest = try await store.changes(after: entries[0].position, limit: 10)
            try expect(rest.map(\.recordedDate), equals: [entries[1].recordedDate])
            // Removed entries stay removed.
            try await expect(store.removeEntries(before: 0, evenUnread: true).position, equals: entries[1].position - 1)
        },
        StoreRule(opened: "after a removal the ledger goes on as if nothing had been removed") { store in
            func revoked(_ id: String, _ revision: Int64) -> TransactionFact {
                signed(id, revision) { $0.revocationDate = Samples.june }
            }
            let seat = FactSet(
                scope: Samples.scope, transactions: [signed("1", 0)], unclaimedSeatIds: ["seat"])
            try await store.add(
                seat, Samples.set(signed("2", 0)), Samples.set(revoked("2", 1)), Samples.set(signed("2", 2)),
                Samples.set(signed("3", 0)), Samples.set(revoked("3", 1)), Samples.set(revoked("4", 0)),
                Samples.set(signed("5", 0) { $0.isUpgraded = true }))
            var last = try await store.changes(after: 0, limit: 100).last?.position ?? 0
            func next() async throws -> String {
                let entries = try await store.changes(after: last, limit: 100)
                last = entries.last?.position ?? last
                _ = try await store.removeEntries(before: .max, evenUnread: true)
                return LedgerAudit.text(entries)
            }
            try await expect(next(), equals: "")
            try await store.add(
                seat, Samples.set(signed("2", 3)), Samples.set(revoked("3", 2)), Samples.set(revoked("4", 1)),
                Samples.set(signed("5", 1) { $0.isUpgraded = true }), Samples.set(signed("1", 1)))
            try await expect(next(), equals: "")
            try await store.add(Samples.set(revoked("2", 4)), Samples.set(signed("3", 3)), Samples.set(signed("4", 2)))
            try await expect(next(), equals: "2 revoked, 3 reinstated, 4 purchased")
            try await store.add(Samples.set(signed("2", 5)), Samples.set(revoked("3", 4)), Samples.set(signed("4", 3)))
            try await expect(next(), equals: "2 reinstated, 3 revoked")
            try await store.add(Samples.fact("6"))
            try await expect(next(), equals: "6 purchased")
        },
        StoreRule(opened: "an entry has the state before it, also if that entry was removed") { store in
            func revoked(_ revision: Int64) -> FactSet {
                Samples.set(signed("1", revision) { $0.revocationDate = Samples.june })
            }
            try await store.add(Samples.set(signed("1", 0)), revoked(1))
            _ = try await store.removeEntries(before: .max, evenUnread: true)
            let position = try await store.removeEntries(before: 0, evenUnread: true).position
            try await store.add(Samples.set(signed("1", 2)), revoked(3))
            let entries = try await store.changes(after: position, limit: 10)
            try expect(entries.map(\.eventBefore), equals: [.revoked, .reinstated])
            try expect(entries.map(\.stateBefore), equals: [.refunded, .active])
            try expect(entries.map(\.stateAfter), equals: [.active, .refunded])
            // Between the two.
            _ = try await store.acknowledge(entries[0].position, by: "shop")
            _ = try await store.removeEntries(before: .max, evenUnread: false)
            let rest = try await store.changes(after: entries[0].position, limit: 10)
            try expect(rest.map(\.eventBefore), equals: [.reinstated])
        },
        StoreRule(opened: "consumers are listed by name, with their holders, until they are removed") { store in
            try await expect(store.consumers().isEmpty)
            try await store.add(Samples.fact("1"))
            let position = try require(try await store.changes(after: 0, limit: 1).first?.position)
            try await store.acknowledge(position, by: "b")
            _ = try await store.lease("a", to: "process", for: 60_000)
            try await store.acknowledge(0, by: "C")
            try await expect(
                store.consumers(),
                equals: [
                    LedgerConsumer(name: "C", position: 0, holder: nil),
                    LedgerConsumer(name: "a", position: 0, holder: "process"),
                    LedgerConsumer(name: "b", position: position, holder: nil),
                ])
            try await expect(store.removeConsumer("b"))
            try await expect(store.removeConsumer("b"), equals: false)
            try await expect(store.acknowledgedPosition(of: "b"), equals: 0)
            try await expect(store.removeConsumer("a"))
            try await expect(store.lease("a", to: "another", for: 60_000).isGranted)
            try await expectError(.invalidArgument) { _ = try await store.removeConsumer("é") }
        },
        StoreRule(openedTwice: "a reader that reads while entries are removed misses none without an error") { stores in
            let count = 400
            let seen = try await withThrowingTaskGroup(of: [LedgerEntry].self) { group in
                group.addTask {
                    for number in 1...count { try await stores[0].add(Samples.fact("\(number)")) }
                    return []
                }
                group.addTask {
                    var seen: [LedgerEntry] = []
                    while seen.count < count {
                        let last = seen.last?.position ?? 0
                        seen += try await stores[1].changes(after: last, limit: 10)
                        try await stores[1].acknowledge(seen.last?.position ?? 0, by: "shop")
                        // Only the acknowledged entries are removed.
                        _ = try await stores[1].removeEntries(before: .max, evenUnread: false)
                    }
                    return seen
                }
                return try await group.reduce(into: [LedgerEntry]()) { $0 += $1 }
            }
            try expect(seen.map(\.transactionId), equals: (1...count).map(String.init))
        },
    ]
}
