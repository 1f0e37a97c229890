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

    @Test("A share of the rate, and rates that the caller knows better")
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
            // While the first call waits, another one is told to come back in half an hour.
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
