import AppStoreModels
import AppStoreServer
import AppStoreSync
import Purchases
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore

@Suite("Rate limits that programs share through a store")
struct StoreRateBudgetTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.app")
    private static let limit = SharedRateLimit(.getTransactionHistory, requestsPerSecond: 50)

    /// Returns configured answers, and records the requests.
    private final class Store: RequestBudgets {
        enum Mode { case answers, fails, hangs }

        private let mode = Mutex(Mode.answers)
        let asked = Mutex<[RequestBudget]>([])
        private let gate = Gate()

        func set(_ new: Mode) async {
            mode.withLock { $0 = new }
            if new != .hangs { await gate.open() }
        }

        func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits {
            asked.withLock { $0.append(budget) }
            switch mode.withLock({ $0 }) {
            case .answers: break
            case .fails: throw TransactionStoreError(.unavailable, "away")
            case .hangs: await gate.wait()
            }
            return RequestPermits(count: count, wait: 0)
        }
    }

    private actor Gate {
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func wait() async { await withCheckedContinuation { waiting.append($0) } }
        func open() {
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    private static func isAnswered(_ budget: StoreRateBudget) async -> Bool {
        (try? await budget.take(1, of: limit)) != nil
    }

    @Test(
        "Background work leaves half of a burst, which lasts half a second; requests with a waiting caller leave nothing"
    )
    func priorities() async throws {
        let store = Store()
        for priority in [StoreRateBudget.Priority.interactive, .background] {
            let budget = StoreRateBudget(store, scope: Self.scope, priority: priority, timeout: .seconds(60))
            #expect(try await budget.take(3, of: Self.limit).count == 3)
        }
        let asked = store.asked.withLock { $0 }
        #expect(asked.map(\.reserve) == [0, 12] && asked.map(\.burst) == [25, 25])
        #expect(asked.map(\.endpoint) == ["getTransactionHistory", "getTransactionHistory"])
        // An hour of refill and a burst are within the hourly limit.
        #expect(asked.allSatisfy { $0.scope == Self.scope && (20_000...20_020).contains($0.interval) })
    }

    @Test("A store that fails is not asked for a while, and delays no request")
    func failing() async throws {
        // A round in which the machine was busy for longer than the second of the pause says nothing.
        try await eventually("the budget is used again within the pause") {
            let store = Store()
            let budget = StoreRateBudget(store, scope: Self.scope, priority: .interactive, timeout: .seconds(60))
            await store.set(.fails)
            let end = ContinuousClock.now + .seconds(1)
            #expect(await !Self.isAnswered(budget))
            await store.set(.answers)
            let isAnswered = await Self.isAnswered(budget)
            guard .now < end else { return false }
            #expect(!isAnswered)
            #expect(store.asked.withLock { $0.count } == 1)
            try await eventually("the store is called again") { await Self.isAnswered(budget) }
            return true
        }
    }

    @Test("A store that hangs is not asked again before it answers")
    func hanging() async throws {
        let store = Store()
        let budget = StoreRateBudget(store, scope: Self.scope, priority: .interactive, timeout: .milliseconds(20))
        await store.set(.hangs)
        for _ in 0..<5 { #expect(await !Self.isAnswered(budget)) }
        #expect(store.asked.withLock { $0.count } == 1)
        await store.set(.answers)
        try await eventually("the store is called again") { await Self.isAnswered(budget) }
    }

    @Test("Permits that one program takes from a store are not available to another")
    func shared() async throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in try SQLiteTransactionStore.open(path: folder.file("store.sqlite")) }
        // A request in eleven days: nothing comes back during the test.
        let slow = SharedRateLimit(.getTransactionHistory, requestsPerSecond: 0.000_001)
        let first = StoreRateBudget(stores[0], scope: Self.scope, priority: .background, timeout: .seconds(60))
        let second = StoreRateBudget(stores[1], scope: Self.scope, priority: .interactive, timeout: .seconds(60))
        #expect(try await first.take(5, of: slow).count == 1)
        let none = try await second.take(5, of: slow)
        #expect(none.count == 0 && none.wait > .seconds(86_400))
        for store in stores { try await store.close() }
    }
}
