import AppStoreModels
import Purchases
import TransactionStore

extension StoreConformance {
    private static let minute: Int64 = 60_000

    static let leases: [StoreRule] = [
        StoreRule(openedTwice: "a consumer has one holder at a time, who can renew the lease and end it") { stores in
            let (first, second) = (stores[0], stores[1])
            let taken = try await first.lease("shop", to: "a", for: minute)
            try expect(taken, equals: ConsumerLease(isGranted: true, holder: "a", remainingMilliseconds: minute))
            let refused = try await second.lease("shop", to: "b", for: minute)
            try expect(refused.isGranted, equals: false)
            try expect(refused.holder, equals: "a")
            try expect((minute / 2...minute).contains(refused.remainingMilliseconds), "\(refused)")
            let renewed = try await first.lease("shop", to: "a", for: 2 * minute)
            try expect(renewed, equals: ConsumerLease(isGranted: true, holder: "a", remainingMilliseconds: 2 * minute))
            // Only the holder can end it.
            try await second.endLease(of: "shop", by: "b")
            try await expect(second.lease("shop", to: "b", for: minute).holder, equals: "a")
            try await first.endLease(of: "shop", by: "a")
            try await expect(second.lease("shop", to: "b", for: minute).isGranted)
            try await expect(first.lease("shop", to: "a", for: minute).holder, equals: "b")
        },
        StoreRule("a lease expires by itself, even while the store is closed") { place in
            let first = try await place.open()
            try await expect(first.lease("shop", to: "a", for: 300).isGranted)
            try await first.close()
            let second = try await place.open()
            var waited = 0
            while try await !second.lease("shop", to: "b", for: minute).isGranted {
                try expect(waited < 40, "the lease does not expire")
                try await Task.sleep(for: .milliseconds(100))
                waited += 1
            }
            try await expect(second.lease("shop", to: "a", for: minute).isGranted, equals: false)
            try await second.close()
        },
        StoreRule(openedTwice: "of concurrent callers, one gets the lease") { stores in
            for round in 0..<5 {
                let leases = try await concurrently(0..<12) { number in
                    try await stores[number % 2].lease("\(round)", to: "h\(number)", for: minute)
                }
                let granted = leases.filter(\.isGranted).map(\.holder)
                try expect(granted.count, equals: 1)
                try await expect(stores[0].lease("\(round)", to: "late", for: minute).holder, equals: granted[0])
            }
        },
        StoreRule(opened: "a lease changes no position, and consumers have separate leases") { store in
            _ = try await store.apply((1...3).map { Samples.set(Samples.fact("\($0)")) })
            let positions = try await store.changes(after: 0, limit: 10).map(\.position)
            try await store.acknowledge(positions[1], by: "shop")
            for consumer in ["shop", "Shop", "mail"] {
                try await expect(store.lease(consumer, to: "of \(consumer)", for: minute).isGranted)
            }
            try await expect(store.acknowledgedPosition(of: "shop"), equals: positions[1])
            try await expect(store.acknowledgedPosition(of: "mail"), equals: 0)
            // A person can acknowledge for a process that has the lease.
            try await store.acknowledge(positions[2], by: "mail")
            try await expect(store.acknowledgedPosition(of: "mail"), equals: positions[2])
            try await expect(store.lease("mail", to: "other", for: minute).holder, equals: "of mail")
            try await store.endLease(of: "mail", by: "of mail")
            try await store.endLease(of: "unknown", by: "of mail")
            try await expect(store.acknowledgedPosition(of: "mail"), equals: positions[2])
        },
        StoreRule("invalid names and durations of leases are rejected, and a closed store says so") { place in
            let store = try await place.open()
            for name in ["", "a\u{0}b", "é", String(repeating: "x", count: 257)] {
                try await expectError(.invalidArgument) { _ = try await store.lease(name, to: "a", for: 1) }
                try await expectError(.invalidArgument) { _ = try await store.lease("shop", to: name, for: 1) }
                try await expectError(.invalidArgument) { try await store.endLease(of: name, by: "a") }
                try await expectError(.invalidArgument) { try await store.endLease(of: "shop", by: name) }
            }
            for time in [.min, -1, 0, LedgerLimits.maximumLeaseMilliseconds + 1, .max] {
                try await expectError(.invalidArgument) { _ = try await store.lease("shop", to: "a", for: time) }
            }
            try await store.close()
            try await expectError(.closed) { _ = try await store.lease("shop", to: "a", for: 1) }
            try await expectError(.closed) { try await store.endLease(of: "shop", by: "a") }
        },
    ]
}
