import AppStoreModels
import Purchases
import Synchronization
import TransactionStore

extension StoreConformance {
    static let ledgerConsumers: [StoreRule] = [
        StoreRule("a consumer's acknowledged position is stored under its name") { place in
            let store = try await place.open()
            _ = try await store.apply((1...5).map { Samples.set(Samples.fact("\($0)")) })
            let entries = try await store.changes(after: 0, limit: 3)
            try expect(LedgerAudit.text(entries), equals: "1 purchased, 2 purchased, 3 purchased")
            let position = try require(entries.last?.position)
            try await expect(store.acknowledgedPosition(of: "shop"), equals: 0)
            try await store.acknowledge(position, by: "shop")
            try await store.close()
            let again = try await place.open()
            try await expect(again.acknowledgedPosition(of: "shop"), equals: position)
            try await expect(again.acknowledgedPosition(of: "Shop"), equals: 0)
            let rest = try await again.changes(after: position, limit: 10)
            try expect(LedgerAudit.text(rest), equals: "4 purchased, 5 purchased")
            try await again.close()
        },
        StoreRule(opened: "an acknowledged position never decreases and never exceeds the last entry") { store in
            try await expectError(.invalidArgument) { try await store.acknowledge(1, by: "shop") }
            _ = try await store.apply((1...3).map { Samples.set(Samples.fact("\($0)")) })
            let positions = try await store.changes(after: 0, limit: 10).map(\.position)
            try await store.acknowledge(positions[2], by: "shop")
            try await store.acknowledge(positions[0], by: "shop")
            try await store.acknowledge(0, by: "shop")
            try await expect(store.acknowledgedPosition(of: "shop"), equals: positions[2])
            try await expectError(.invalidArgument) { try await store.acknowledge(positions[2] + 1, by: "shop") }
            try await expectError(.invalidArgument) { try await store.acknowledge(-1, by: "shop") }
            try await expect(store.changes(after: .max, limit: 10).isEmpty)
            try await expect(store.changes(after: .min, limit: 0).count, equals: 1)
        },
        StoreRule(opened: "an invalid consumer name is rejected") { store in
            for name in ["", "a\u{0}b", "é", "line\nbreak", String(repeating: "x", count: 257)] {
                try await expectError(.invalidArgument) { try await store.acknowledge(0, by: name) }
                try await expectError(.invalidArgument) { _ = try await store.acknowledgedPosition(of: name) }
            }
            let long = String(repeating: "'", count: 256)
            try await store.acknowledge(0, by: long)
            try await expect(store.acknowledgedPosition(of: long), equals: 0)
        },
        StoreRule("a reader that follows several writers misses nothing and sees nothing twice") { place in
            let writers = [try await place.open(), try await place.open()]
            let reader = try await place.open()
            let isDone = Flag()
            let seen = try await withThrowingTaskGroup(of: [LedgerEntry].self) { group in
                group.addTask {
                    var seen: [LedgerEntry] = []
                    while true {
                        // Reads the flag before the page, so the last entries are read too.
                        let isLast = isDone.isSet
                        let page = try await reader.changes(after: seen.last?.position ?? 0, limit: 50)
                        seen += page
                        if isLast, page.isEmpty { return seen }
                    }
                }
                try await concurrently(0..<12) { number in
                    for step in 1...25 {
                        let id = "\(number * 100 + step)"
                        let revoked = Samples.fact(id, source: .notificationV2) { $0.revocationDate = 1 }
                        try await writers[number % 2].add(Samples.fact(id))
                        try await writers[number % 2].add(revoked)
                    }
                }
                isDone.set()
                return try await group.next() ?? []
            }
            try expect(seen.count, equals: 12 * 25 * 2)
            let all = try await LedgerAudit.check(reader)
            try expect(seen.map(\.position), equals: all.map(\.position))
            for store in writers + [reader] { try await store.close() }
        },
        StoreRule(openedTwice: "concurrent writers of one transaction record one purchase and one refund") { stores in
            try await concurrently(0..<24) { number in
                let isRefund = number % 3 == 0
                let source: FactSource = isRefund ? .notificationV2 : .receipt
                let fact = Samples.fact("1", source: source, at: Int64(isRefund ? 100 + number : number)) {
                    $0.revocationDate = isRefund ? 1 : nil
                }
                try await stores[number % 2].add(fact)
            }
            let entries = try await LedgerAudit.check(stores[0])
            try expect(entries.last?.event, equals: .revoked)
            try expect(entries.count { $0.event == .revoked }, equals: 1)
        },
        StoreRule("after close, the ledger and the directory throw closed") { place in
            let store = try await place.open()
            try await store.close()
            try await expectError(.closed) { _ = try await store.changes(after: 0, limit: 1) }
            try await expectError(.closed) { try await store.acknowledge(0, by: "x") }
            try await expectError(.closed) { _ = try await store.acknowledgedPosition(of: "x") }
            try await expectError(.closed) { _ = try await store.customers(in: Samples.scope, after: nil, limit: 1) }
        },
    ]
}

private final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }
}
