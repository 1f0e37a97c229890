import AppStoreModels
import AppStoreServer
import Synchronization
import Testing

/// Clients that share a budget, as programs share one through a database.
@Suite struct SharedBudgetTests {
    /// A token bucket in memory, by the clock of the test.
    private final class Budget: SharedRateBudget {
        private struct State {
            var (level, time) = (Double.infinity, Duration.zero)
            var takes: [Int] = []
            var bursts: Set<Int> = []
            var isAway = false
            /// How long an answer takes.
            var delay = Duration.zero
        }

        private let clock: TestClock
        private let state = Mutex(State())
        var takes: [Int] { state.withLock { $0.takes } }
        /// The bursts of the limits that clients stated.
        var bursts: Set<Int> { state.withLock { $0.bursts } }

        init(_ clock: TestClock) { self.clock = clock }

        func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }
        func setDelay(_ delay: Duration) { state.withLock { $0.delay = delay } }

        func take(_ count: Int, of limit: SharedRateLimit) async throws -> SharedRatePermits {
            struct Away: Error {}
            let now = clock.elapsed
            defer { clock.advance(by: state.withLock { $0.delay }) }
            return try state.withLock { state in
                guard !state.isAway else { throw Away() }
                state.level = min(Double(limit.burst), state.level + (now - state.time) / limit.interval)
                state.time = now
                let granted = max(0, min(count, Int(state.level + 1e-9)))
                state.level -= Double(granted)
                state.takes.append(granted)
                state.bursts.insert(limit.burst)
                return SharedRatePermits(
                    count: granted, wait: granted > 0 ? .zero : limit.interval * (1 - state.level))
            }
        }
    }

    private static func client(
        _ transport: any APITransport, _ budget: any SharedRateBudget, _ clock: TestClock,
        _ environment: Environment = .production, budgets: RateBudgets = .apple
    ) throws -> AppStoreServerAPIClient {
        try AppStoreServerAPIClient(
            key: SigningKey.shared.inAppPurchaseKey, bundleID: Sample.bundleID, environment: environment,
            configuration: APIClientConfiguration(
                baseURL: "https://api.test", rateBudgets: budgets, sharedBudget: budget, retryPolicy: .never,
                clock: clock.clock),
            transport: transport)
    }

    /// The largest number of calls in an hour.
    private static func mostInAnHour(_ times: [Duration]) -> Int {
        var (first, most) = (0, 0)
        for (index, time) in times.enumerated() {
            while times[first] <= time - .seconds(3_600) { first += 1 }
            most = max(most, index - first + 1)
        }
        return most
    }

    @Test("Clients that share a budget together send no more in an hour than Apple allows one of them")
    func hour() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        let transport = ScriptedTransport([.json("{}")])
        let clients = try (0..<3).map { _ in try Self.client(transport, budget, clock) }
        var times: [Duration] = []
        while clock.elapsed < .seconds(5_000) {
            for client in clients {
                _ = try await client.getRefundHistory("1")
                times.append(clock.elapsed)
            }
        }
        let most = Self.mostInAnHour(times)
        #expect(most <= 36_000 && most > 25_000, "\(most)")
    }

    @Test("A client takes its permits in batches, not one for each call")
    func batches() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        let client = try Self.client(ScriptedTransport([.json("{}")]), budget, clock)
        for _ in 0..<200 {
            _ = try await client.getTransactionInfo("1")
            clock.advance(by: .milliseconds(20))
        }
        #expect(budget.takes.reduce(0, +) >= 200 && budget.takes.count < 50, "\(budget.takes)")
        // A client that calls rarely takes no more than it uses.
        clock.advance(by: .seconds(10))
        let before = budget.takes.count
        for _ in 0..<5 {
            _ = try await client.getTransactionInfo("1")
            clock.advance(by: .seconds(10))
        }
        #expect(budget.takes.dropFirst(before).allSatisfy { $0 == 1 } && budget.takes.count == before + 5)
    }

    @Test("A permit that was not used in its time is lost")
    func expired() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        let client = try Self.client(ScriptedTransport([.json("{}")]), budget, clock)
        // The second batch has two permits, and one is used.
        for _ in 0..<2 { _ = try await client.getTransactionInfo("1") }
        #expect(budget.takes == [1, 2])
        clock.advance(by: SharedRateLimit.lifetime)
        _ = try await client.getTransactionInfo("1")
        #expect(budget.takes.count == 3)
        // The fourth batch has two permits again, and the second one is used just in time.
        _ = try await client.getTransactionInfo("1")
        clock.advance(by: SharedRateLimit.lifetime - .milliseconds(1))
        _ = try await client.getTransactionInfo("1")
        #expect(budget.takes == [1, 2, 1, 2])
    }

    @Test("While the shared budget cannot be reached, a client keeps to half of the limit, and then shares again")
    func away() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        budget.setAway(true)
        let client = try Self.client(ScriptedTransport([.json("{}")]), budget, clock)
        var times: [Duration] = []
        while clock.elapsed < .seconds(4_000) {
            _ = try await client.getRefundHistory("1")
            times.append(clock.elapsed)
        }
        let most = Self.mostInAnHour(times)
        #expect(most <= 18_000 && most > 17_000, "\(most)")
        budget.setAway(false)
        _ = try await client.getRefundHistory("1")
        #expect(budget.takes.count == 1)
    }

    @Test(
        "Permits that arrive after their time are not requested again and again: the client continues with half of the limit"
    )
    func late() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        budget.setDelay(SharedRateLimit.lifetime)
        let client = try Self.client(ScriptedTransport([.json("{}")]), budget, clock)
        _ = try await client.getTransactionInfo("1")
        #expect(budget.takes == [1])
    }

    @Test("A call that would wait too long for the shared budget fails, says until when, and is not sent")
    func longestWait() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        let transport = ScriptedTransport([.json("{}")])
        let first = try Self.client(transport, budget, clock, .sandbox)
        let second = try Self.client(
            transport, budget, clock, .sandbox, budgets: RateBudgets(maximumWait: .seconds(5)))
        _ = try await first.requestTestNotification()
        for _ in 0..<3 {
            let error = try #require(try await apiError { try await second.requestTestNotification() })
            #expect(error.reason == .rateBudgetExhausted && error.attempts == 0)
            #expect(9_000...11_000 ~= (error.retryAfter ?? 0) - clock.now)
        }
        #expect(transport.requests.count == 1)
        clock.advance(by: .seconds(6))
        _ = try await second.requestTestNotification()
        #expect(transport.requests.count == 2)
    }

    @Test("Each client keeps to its share too, and no permits are taken without a limit")
    func share() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        let client = try Self.client(
            ScriptedTransport([.json("{}")]), budget, clock, budgets: RateBudgets(share: 0.25))
        for _ in 0..<300 { _ = try await client.getRefundHistory("1") }
        #expect(clock.elapsed >= .seconds(119))
        // The limit is the whole one.
        #expect(budget.bursts == [5])
        let unlimited = try Self.client(ScriptedTransport([.json("{}")]), budget, clock, budgets: .unlimited)
        let count = budget.takes.count
        for _ in 0..<10 { _ = try await unlimited.getRefundHistory("1") }
        #expect(budget.takes.count == count)
    }

    @Test("After a 429 a client takes fewer permits of the shared budget, whose limit stays the same")
    func adaptiveRate() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        let transport = ScriptedTransport([.json("", status: 429), .json("{}")])
        let client = try Self.client(transport, budget, clock, budgets: RateBudgets(isAdaptive: true))
        _ = try await apiError { try await client.getRefundHistory("1") }
        var count = 0
        while clock.elapsed < .seconds(60) {
            _ = try await client.getRefundHistory("1")
            count += 1
        }
        #expect((250...312).contains(count), "\(count)")
        #expect(budget.bursts == [5])
        while clock.elapsed < .seconds(420) { _ = try await client.getRefundHistory("1") }
        // The rate is that of the shared budget again.
        let last = clock.elapsed
        for _ in 0..<300 { _ = try await client.getRefundHistory("1") }
        #expect(clock.elapsed - last < .seconds(45))
    }

    @Test("Calls that wait at the same time share a batch, and a canceled one does not stop the others")
    func together() async throws {
        let clock = TestClock()
        let budget = Budget(clock)
        let transport = ScriptedTransport([.json("{}")])
        let client = try Self.client(transport, budget, clock)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let call = Task { _ = try await client.getTransactionInfo("1") }
                    if number % 4 == 0 { call.cancel() }
                    do { try await call.value } catch is CancellationError { #expect(number % 4 == 0) }
                }
            }
            try await group.waitForAll()
        }
        #expect((30...40).contains(transport.requests.count))
        #expect(budget.takes.count < 40)
    }
}
