import AppStoreModels
import Purchases
import Synchronization
import TransactionStore

extension StoreConformance {
    private static let hour: Int64 = 3_600_000_000

    private static func budget(
        _ endpoint: String = "history", in scope: StoreScope = Samples.scope, interval: Int64 = hour, burst: Int = 10,
        reserve: Int = 0
    ) -> RequestBudget {
        RequestBudget(scope: scope, endpoint: endpoint, interval: interval, burst: burst, reserve: reserve)
    }

    /// Permits that were granted in a call from `begin` to `end`.
    private struct Grant {
        let begin: ContinuousClock.Instant
        let end: ContinuousClock.Instant
        let count: Int
    }

    private final class Total: Sendable {
        private let count = Mutex(0)

        var permits: Int { count.withLock { $0 } }
        func add(_ permits: Int) { count.withLock { $0 += permits } }
    }

    /// No window has more permits than a burst and what becomes available in it.
    private static func checkWindows(_ grants: [Grant], _ budget: RequestBudget) throws {
        let byEnd = grants.sorted { $0.end < $1.end }
        for first in grants {
            // Every window that begins here, from the shortest to the longest.
            var granted = 0
            for last in byEnd where last.begin >= first.begin {
                granted += last.count
                let time = Double((last.end - first.begin) / .microseconds(1))
                // One more, because clocks count in milliseconds.
                let allowed = Double(budget.burst) + time / Double(budget.interval) + 1
                try expect(Double(granted) <= allowed, "\(granted) permits in \(time) µs, allowed are \(allowed)")
            }
        }
    }

    static let requestBudgets: [StoreRule] = [
        StoreRule(opened: "a budget grants its burst at once, and then says how long to wait") { store in
            try await expect(store.takePermits(7, of: budget()), equals: RequestPermits(count: 7, wait: 0))
            try await expect(store.takePermits(7, of: budget()).count, equals: 3)
            let none = try await store.takePermits(1, of: budget())
            try expect(none.count, equals: 0)
            try expect((hour / 2...hour).contains(none.wait), "\(none)")
            for count in [0, -1, .min] {
                try await expect(store.takePermits(count, of: budget("other")).count, equals: 0)
            }
            try await expect(store.takePermits(.max, of: budget("other")).count, equals: 10)
        },
        StoreRule(openedTwice: "a caller with a reserve leaves it for others, and gets nothing of it") { stores in
            let (background, urgent) = (stores[0], stores[1])
            let leaving = budget(reserve: 4)
            try await expect(background.takePermits(100, of: leaving).count, equals: 6)
            let refused = try await background.takePermits(1, of: leaving)
            try expect(refused.count, equals: 0)
            try expect((hour / 2...hour).contains(refused.wait), "\(refused)")
            try await expect(urgent.takePermits(3, of: budget()).count, equals: 3)
            try await expect(background.takePermits(1, of: leaving).wait > 3 * hour)
            try await expect(urgent.takePermits(3, of: budget()).count, equals: 1)
        },
        StoreRule(opened: "each app, environment and endpoint has its own budget, and none is a document") {
            store in
            let scopes = [
                Samples.scope, Samples.sandbox, StoreScope(environment: .production, bundleId: "com.example.other"),
            ]
            for scope in scopes {
                for endpoint in ["history", "History", "statuses"] {
                    try await expect(store.takePermits(20, of: budget(endpoint, in: scope)).count, equals: 10)
                    try await expect(store.takePermits(20, of: budget(endpoint, in: scope)).count, equals: 0)
                }
            }
            try await expect(store.scopes(), equals: [])
        },
        StoreRule("the permits of a program that is gone come back, and no more than a burst") { place in
            let gone = try await place.open()
            let quick = budget(interval: 50_000, burst: 4)
            try await expect(gone.takePermits(10, of: quick).count, equals: 4)
            try await gone.close()
            let store = try await place.open()
            let start = ContinuousClock.now
            var taken = 0
            while taken < 4 {
                let permits = try await store.takePermits(4 - taken, of: quick)
                taken += permits.count
                try expect(permits.count > 0 || permits.wait > 0)
                try expect(ContinuousClock.now - start < .seconds(60), "the permits do not come back")
                if permits.count == 0 { try await Task.sleep(for: .microseconds(permits.wait)) }
            }
            try await store.close()
        },
        StoreRule(
            openedTwice:
                "of many callers at once, no window has more permits than the limit, and urgent ones get theirs"
        ) {
            stores in
            // 500 permits per second; the urgent callers want fewer.
            let urgent = budget(interval: 2_000, burst: 40)
            let leaving = budget(interval: 2_000, burst: 40, reserve: 20)
            let total = Total()
            let start = ContinuousClock.now
            let grants = try await concurrently(0..<6) { number in
                let isUrgent = number < 2
                var own: [Grant] = []
                // Urgent callers end when each has 30 batches, and then the others.
                while isUrgent ? own.count < 30 : total.permits < 600 {
                    try expect(ContinuousClock.now - start < .seconds(300), "the callers get no permits")
                    let begin = ContinuousClock.now
                    let permits = try await stores[number % 2].takePermits(
                        isUrgent ? 2 : 32, of: isUrgent ? urgent : leaving)
                    if permits.count > 0 {
                        own.append(Grant(begin: begin, end: .now, count: permits.count))
                        total.add(permits.count)
                    }
                    let wait = permits.count > 0 ? 10_000 : max(1_000, permits.wait)
                    try await Task.sleep(for: .microseconds(wait))
                }
                return own
            }
            try checkWindows(grants.flatMap(\.self), urgent)
            try expect(grants.joined().reduce(0) { $0 + $1.count } >= 600)
        },
        StoreRule("an endpoint without a valid name is rejected, and a closed store says so") { place in
            let store = try await place.open()
            for name in ["", "é", "a\u{0}b", String(repeating: "x", count: 257)] {
                try await expectError(.invalidArgument, "the name is accepted") {
                    _ = try await store.takePermits(1, of: budget(name))
                }
            }
            try await store.close()
            try await expectError(.closed, "the call is answered") { _ = try await store.takePermits(1, of: budget()) }
        },
    ]
}
