import AppStoreModels
import AppStoreServer
import Synchronization
import Testing

@Suite struct RateBudgetTests {
    @Test("Rates are those of Reference.md S2; the sandbox has a tenth")
    func rates() {
        let fifty: Set<APIEndpoint> = [
            .getTransactionHistory, .getTransactionHistoryV1, .getTransactionInfo, .getAppTransactionInfo,
            .getAllSubscriptionStatuses, .sendConsumptionInformation, .sendConsumptionInformationV1,
            .getNotificationHistory, .finishTransaction, .changeAdvancedCommerceSubscriptionMetadata,
            .changeAdvancedCommerceSubscriptionPrice, .migrateAdvancedCommerceSubscription,
        ]
        let twenty: Set<APIEndpoint> = [.extendSubscriptionRenewalDate, .setAppAccountToken]
        let ten: Set<APIEndpoint> = [.getRefundHistory, .getRefundHistoryV1, .lookUpOrderId, .configureDefaultMessage]
        let five: Set<APIEndpoint> = [
            .cancelAdvancedCommerceSubscription, .revokeAdvancedCommerceSubscription,
            .requestAdvancedCommerceTransactionRefund,
        ]
        for endpoint in APIEndpoint.allCases {
            let rate: Double =
                fifty.contains(endpoint)
                ? 50
                : twenty.contains(endpoint)
                    ? 20
                    : ten.contains(endpoint) ? 10 : five.contains(endpoint) ? 5 : 1
            #expect(RateBudgets.apple.requestsPerSecond(for: endpoint, in: .production) == rate, "\(endpoint)")
            #expect(RateBudgets.apple.requestsPerSecond(for: endpoint, in: .sandbox) == rate / 10, "\(endpoint)")
            #expect(RateBudgets.apple.requestsPerSecond(for: endpoint, in: .localTesting) == nil)
            #expect(RateBudgets.unlimited.requestsPerSecond(for: endpoint, in: .production) == nil)
        }
    }

    @Test(
        "In no hour are there more calls than Apple's rate allows for an hour, a burst included",
        arguments: [(Environment.production, 36_000), (.sandbox, 3600)])
    func hour(environment: Environment, allowed: Int) async throws {
        let clock = TestClock()
        let client = try Sample.client(
            ScriptedTransport([.json("{}")]), environment: environment, clock: clock, budgets: .apple)
        var times: [Duration] = []
        while clock.elapsed < .seconds(5000) {
            _ = try await client.getRefundHistory("1")
            times.append(clock.elapsed)
        }
        #expect(times.prefix { $0 == .zero }.count == (environment == .production ? 10 : 1), "The burst.")
        var first = 0
        var most = 0
        for (index, time) in times.enumerated() {
            while times[first] <= time - .seconds(3600) { first += 1 }
            most = max(most, index - first + 1)
        }
        #expect(most <= allowed)
        #expect(most > allowed * 99 / 100, "The budget is used up.")
    }

    @Test("Each endpoint has its own budget, and each environment")
    func independence() async throws {
        let clock = TestClock()
        let client = try Sample.client(
            ScriptedTransport([.json("{}")]), environment: .sandbox, clock: clock, budgets: .apple)
        for _ in 0..<5 { _ = try await client.getTransactionInfo("1") }
        _ = try await client.getRefundHistory("1")
        _ = try await client.lookUpOrderId("1")
        #expect(clock.sleeps.isEmpty)
        _ = try await client.lookUpOrderId("1")
        #expect(clock.sleeps.count == 1)
    }

    @Test("A share of the rate, and rates that the caller sets")
    func shares() {
        let budgets = RateBudgets(share: 0.25, overrides: [.getTransactionInfo: 8, .lookUpOrderId: 0])
        #expect(budgets.requestsPerSecond(for: .getRefundHistory, in: .production) == 2.5)
        #expect(budgets.requestsPerSecond(for: .getTransactionInfo, in: .localTesting) == 2)
        #expect(budgets.requestsPerSecond(for: .lookUpOrderId, in: .production) == nil)
        #expect(RateBudgets(share: 7).requestsPerSecond(for: .getRefundHistory, in: .production) == 10)
    }

    @Test("A call that would wait too long fails at once, says until when, and takes nothing of the budget")
    func longestWait() async throws {
        let clock = TestClock()
        let transport = ScriptedTransport([.json("{}")])
        let client = try Sample.client(
            transport, environment: .sandbox, clock: clock, budgets: RateBudgets(maximumWait: .seconds(5)))
        _ = try await client.requestTestNotification()
        for _ in 0..<3 {
            let error = try #require(try await apiError { try await client.requestTestNotification() })
            #expect(error.reason == .rateBudgetExhausted && error.attempts == 0)
            #expect(10_000...10_100 ~= (error.retryAfter ?? 0) - clock.now)
        }
        #expect(transport.requests.count == 1)
        clock.advance(by: .seconds(6))
        _ = try await client.requestTestNotification()
        #expect(clock.sleeps.count == 1)
    }

    @Test("A call that waits for its turn is not sent where Apple asks for no requests meanwhile")
    func blockedWhileWaiting() async throws {
        let clock = TestClock()
        let later = String(clock.now + 1_800_000)
        let transport = ScriptedTransport([.json("{}"), .json("", status: 429, retryAfter: later), .json("{}")])
        let refused = Mutex<AppStoreServerAPIError?>(nil)
        let client = Mutex<AppStoreServerAPIClient?>(nil)
        var busy = clock.clock
        let sleep = busy.sleep
        let sleeps = Mutex(0)
        busy.sleep = { time in
            let number = sleeps.withLock { sleeps in
                sleeps += 1
                return sleeps
            }
            try await sleep(time)
            guard number == 1, let other = client.withLock({ $0 }) else { return }
            // While the first call waits, another one gets Retry-After of half an hour.
            let error = try await apiError { try await other.requestTestNotification() }
            refused.withLock { $0 = error }
        }
        let made = try AppStoreServerAPIClient(
            key: SigningKey.shared.inAppPurchaseKey, bundleID: "a", environment: .sandbox,
            configuration: APIClientConfiguration(
                baseURL: "https://api.test",
                rateBudgets: RateBudgets(overrides: [.requestTestNotification: 1]), retryPolicy: .never, clock: busy),
            transport: transport)
        client.withLock { $0 = made }
        _ = try await made.requestTestNotification()
        let start = clock.elapsed
        _ = try await made.requestTestNotification()
        #expect(refused.withLock { $0 }?.reason == .rateLimited)
        #expect(clock.elapsed - start >= .seconds(1_790))
        #expect(transport.requests.count == 3)
    }

    @Test("A task cancelled while it waits for its turn gives its turn back")
    func cancellation() async throws {
        let clock = TestClock()
        let sleeps = Mutex(0)
        var interrupted = clock.clock
        let sleep = interrupted.sleep
        interrupted.sleep = { time in
            let number = sleeps.withLock { sleeps in
                sleeps += 1
                return sleeps
            }
            if number == 1 { throw CancellationError() }
            try await sleep(time)
        }
        let client = try AppStoreServerAPIClient(
            key: SigningKey.shared.inAppPurchaseKey, bundleID: "a", environment: .sandbox,
            configuration: APIClientConfiguration(clock: interrupted), transport: ScriptedTransport([.json("{}")]))
        _ = try await client.requestTestNotification()
        await #expect(throws: CancellationError.self) { try await client.requestTestNotification() }
        _ = try await client.requestTestNotification()
        #expect(10.0...10.1 ~= clock.elapsed / .seconds(1))
    }

    /// Rates that a client reported.
    private final class Rates: Sendable {
        private let state = Mutex<[Double]>([])
        var all: [Double] { state.withLock { $0 } }
        func add(_ change: APIRateChange) { state.withLock { $0.append(change.requestsPerSecond) } }
    }

    /// A client whose rate goes down after a 429, and which sends nothing again.
    private static func adaptive(
        _ transport: any APITransport, _ clock: TestClock, _ rates: Rates, _ environment: Environment = .production,
        budgets: RateBudgets = RateBudgets(isAdaptive: true)
    ) throws -> AppStoreServerAPIClient {
        try AppStoreServerAPIClient(
            key: SigningKey.shared.inAppPurchaseKey, bundleID: Sample.bundleID, environment: environment,
            configuration: APIClientConfiguration(
                baseURL: "https://api.test", rateBudgets: budgets, retryPolicy: .never, clock: clock.clock,
                rateObserver: { rates.add($0) }),
            transport: transport)
    }

    private static let refused = APITransportResponse.json("", status: 429)

    @Test("A 429 halves the rate, which rises by a tenth of the limit each minute, up to the limit")
    func adaptiveRate() async throws {
        let (clock, rates) = (TestClock(), Rates())
        let client = try Self.adaptive(ScriptedTransport([Self.refused, .json("{}")]), clock, rates)
        let error = try await apiError { try await client.getRefundHistory("1") }
        #expect(error?.reason == .rateLimited)
        #expect(rates.all == [5])
        var calls: [Int] = []
        for minute in 1...8 {
            var count = 0
            while clock.elapsed < .seconds(60 * minute) {
                _ = try await client.getRefundHistory("1")
                count += 1
            }
            calls.append(count)
        }
        #expect(rates.all == [5, 6, 7, 8, 9, 10])
        for (count, rate) in zip(calls, [5, 6, 7, 8, 9, 10, 10, 10]) {
            #expect((rate * 59...rate * 60 + 12).contains(count), "\(calls)")
        }
        // The other endpoints have their own rates.
        let start = clock.elapsed
        for _ in 0..<50 { _ = try await client.getTransactionInfo("1") }
        #expect(clock.elapsed == start)
    }

    @Test("Each further 429 halves the rate again, to one request per second and not below")
    func leastAdaptiveRate() async throws {
        let (clock, rates) = (TestClock(), Rates())
        let client = try Self.adaptive(ScriptedTransport([Self.refused]), clock, rates)
        for _ in 0..<12 {
            _ = try await apiError { try await client.getTransactionInfo("1") }
            clock.advance(by: .seconds(2))
        }
        #expect(rates.all == [25, 12.5, 6.25, 3.125, 1.5625, 1])
        // A limit below one request per second stays as it is.
        let slow = try Self.adaptive(ScriptedTransport([Self.refused]), clock, rates, .sandbox)
        for _ in 0..<3 {
            _ = try await apiError { try await slow.requestTestNotification() }
            clock.advance(by: .seconds(20))
        }
        #expect(rates.all.count == 6)
    }

    @Test("Calls that are refused together halve the rate once")
    func adaptiveRateOfConcurrentCalls() async throws {
        let (clock, rates) = (TestClock(), Rates())
        let client = Mutex<AppStoreServerAPIClient?>(nil)
        let transport = ScriptedTransport { number, _ in
            // While the first call waits for its answer, another one is sent and refused.
            if number == 1, let other = client.withLock({ $0 }) {
                clock.advance(by: .seconds(1))
                _ = try await apiError { try await other.getTransactionInfo("1") }
                clock.advance(by: .seconds(1))
            }
            return Self.refused
        }
        let made = try Self.adaptive(transport, clock, rates)
        client.withLock { $0 = made }
        _ = try await apiError { try await made.getTransactionInfo("1") }
        #expect(transport.requests.count == 2 && rates.all == [25])
        _ = try await apiError { try await made.getTransactionInfo("1") }
        #expect(rates.all == [25, 12.5])
    }

    @Test("A wait that Apple asks for does not raise the rate, and time without calls raises it by one step")
    func adaptiveRateAfterWait() async throws {
        let (clock, rates) = (TestClock(), Rates())
        let later = String(clock.now + 1_800_000)
        let client = try Self.adaptive(
            ScriptedTransport([.json("", status: 429, retryAfter: later), .json("{}")]), clock, rates)
        _ = try await apiError { try await client.getTransactionInfo("1") }
        _ = try await client.getTransactionInfo("1")
        #expect(clock.elapsed >= .seconds(1_790) && rates.all == [25])
        clock.advance(by: .seconds(3_600))
        for _ in 0..<3 { _ = try await client.getTransactionInfo("1") }
        #expect(rates.all == [25, 30])
    }

    @Test("Without the option, a 429 leaves the rate as it is")
    func fixedRate() async throws {
        let (clock, rates) = (TestClock(), Rates())
        let client = try Self.adaptive(
            ScriptedTransport([Self.refused, .json("{}")]), clock, rates, budgets: .apple)
        _ = try await apiError { try await client.getRefundHistory("1") }
        for _ in 0..<600 { _ = try await client.getRefundHistory("1") }
        #expect(clock.elapsed < .seconds(61) && rates.all.isEmpty)
    }

    @Test("Retries wait for their turn too")
    func retries() async throws {
        let clock = TestClock()
        let client = try Sample.client(
            ScriptedTransport([.refusal(5_000_001)]), environment: .sandbox, clock: clock, budgets: .apple,
            retries: RetryPolicy(maximumAttempts: 3, random: { 1 }))
        _ = try await apiError { try await client.getTestNotificationStatus("1") }
        #expect(clock.elapsed >= .seconds(20))
    }
}
