import AppStoreModels
import AppStoreServer
import AppStoreSync
import Synchronization
import TestSupport
import Testing

/// What keeps requests from waiting for an App Store that does not answer, and what does not.
@Suite struct RefresherOutageTests {
    private static let other = "com.example.other"

    /// Sends what is for one host elsewhere.
    private struct TwoHosts: APITransport {
        let first: AccountsAPI
        let second: AccountsAPI

        func send(_ request: APITransportRequest) async throws -> APITransportResponse {
            try await (request.url.hasPrefix("https://second.") ? second : first).send(request)
        }
    }

    private static func setting(
        trustsAuthority: Bool = true, clock: @escaping @Sendable () -> Int64 = { AppStoreRefresherTests.now }
    ) throws -> RefresherSetting {
        try RefresherSetting(
            try AccountsAPI(signed: AppStoreRefresherTests.now), trustsAuthority: trustsAuthority, clock: clock)
    }

    /// Queries customers that were not queried before.
    private static func ask(_ setting: RefresherSetting, times: Int, bundleID: String = AccountsAPI.bundleID) async {
        for number in 0..<times {
            _ = try? await setting.refresh(["88000000000\(number)"], bundleID: bundleID)
        }
    }

    @Test(
        "After several failures no request is sent: server errors, and an app or a key that is not accepted",
        arguments: [(500, 5_000_000 as Int?), (401, nil), (403, nil), (404, 4_040_003)])
    func outage(status: Int, code: Int?) async throws {
        let api = try AccountsAPI(signed: AppStoreRefresherTests.now)
        let setting = try RefresherSetting(api, clock: { AppStoreRefresherTests.now })
        api.mode.withLock { $0 = .refuses(status: status, code: code) }
        await Self.ask(setting, times: CircuitBreaker.failureLimit)
        #expect(setting.outcomes == Array(repeating: .failed, count: CircuitBreaker.failureLimit))
        let asked = api.requests.withLock { $0.count }
        await Self.ask(setting, times: 1)
        #expect(setting.outcomes.last == .notQueried && api.requests.withLock { $0.count } == asked)
    }

    @Test("After several late answers no request is sent, and no call is left over")
    func tooSlow() async throws {
        let api = try AccountsAPI(signed: AppStoreRefresherTests.now)
        let setting = try RefresherSetting(
            api, timeout: .milliseconds(20), clock: { AppStoreRefresherTests.now })
        api.mode.withLock { $0 = .hangs }
        // A call that a busy machine begins too late is abandoned and says nothing of the App Store.
        var number = 0
        try await eventually("so many answers came too late") {
            number += 1
            let before = setting.outcomes.count
            _ = try? await setting.refresh(["8800000000\(number)"])
            // The request may give up a moment before the call does, which then notes its failure.
            let end = ContinuousClock.now + .seconds(2)
            while setting.outcomes.count == before, .now < end { try await Task.sleep(for: .milliseconds(5)) }
            return setting.outcomes.count { $0 == .failed } == CircuitBreaker.failureLimit
        }
        let asked = api.requests.withLock { $0.count }
        await Self.ask(setting, times: 1)
        #expect(setting.outcomes.allSatisfy { [.failed, .abandoned, .notQueried].contains($0) })
        #expect(setting.outcomes.last == .notQueried && api.requests.withLock { $0.count } == asked)
        #expect(api.hanging.withLock { $0 } == 0)
    }

    @Test("A request that leaves at once says nothing about the App Store, and its call ends with it")
    func leftEarly() async throws {
        let api = try AccountsAPI(signed: AppStoreRefresherTests.now)
        // After half of the timeout the App Store would count as too slow.
        let setting = try RefresherSetting(api, timeout: .seconds(600), clock: { AppStoreRefresherTests.now })
        api.mode.withLock { $0 = .hangs }
        for number in 0...CircuitBreaker.failureLimit {
            let request = Task { try await setting.ask(["88000000000\(number)"]) }
            try await eventually("a call hangs") { api.hanging.withLock { $0 } == 1 }
            request.cancel()
            await #expect(throws: (any Error).self) { try await request.value }
            try await eventually("the outcome is known") { setting.outcomes.count == number + 1 }
            #expect(api.hanging.withLock { $0 } == 0)
        }
        #expect(Set(setting.outcomes) == [.abandoned])
        api.mode.withLock { $0 = .answers }
        #expect(try await setting.refresh() == [AccountsAPI.ada: AppStoreRefresherTests.now])
    }

    @Test("Invalid data of one customer does not block queries about others")
    func damagedData() async throws {
        let setting = try Self.setting(trustsAuthority: false)
        for _ in 0...CircuitBreaker.failureLimit {
            await #expect(throws: SignedDataError.self) { try await setting.refresh() }
        }
        setting.api.mode.withLock { $0 = .refuses(status: 400, code: 4_000_000) }
        await Self.ask(setting, times: CircuitBreaker.failureLimit)
        setting.api.mode.withLock { $0 = .refuses(status: 200, code: nil) }
        await Self.ask(setting, times: CircuitBreaker.failureLimit)
        #expect(Set(setting.outcomes) == [.failed])
    }

    @Test("An app whose key is not accepted takes no other app with it")
    func apps() async throws {
        let now = AppStoreRefresherTests.now
        let hosts = TwoHosts(first: try AccountsAPI(signed: now), second: try AccountsAPI(signed: now, accounts: []))
        let setting = try RefresherSetting(
            hosts.first, transport: hosts,
            credentials: [
                try RefresherSetting.credentials(url: "https://first.example.com"),
                try RefresherSetting.credentials(Self.other, url: "https://second.example.com"),
            ], clock: { now })
        hosts.first.mode.withLock { $0 = .refuses(status: 401, code: nil) }
        await Self.ask(setting, times: CircuitBreaker.failureLimit + 1)
        #expect(setting.outcomes.last == .notQueried)
        await Self.ask(setting, times: 1, bundleID: Self.other)
        #expect(setting.outcomes.last == .nothingKnown)
    }

    @Test("While the App Store accepts no requests, no caller waits for a turn")
    func longHold() async throws {
        let ahead = Mutex<Int64>(0)
        let clock: @Sendable () -> Int64 = { ServerClock.system.now() + ahead.withLock { $0 } }
        let setting = try Self.setting(clock: clock)
        setting.api.mode.withLock { $0 = .refuses(status: 429, code: 4_290_000, retryAfter: "2400") }
        func ask() async -> (any Error)? {
            do {
                _ = try await setting.refresh(notBefore: clock())
                return nil
            } catch { return error }
        }
        #expect((await ask() as? AppStoreServerAPIError)?.reason == .rateLimited)
        // Longer than after an outage, which may be over sooner than the server says.
        ahead.withLock { $0 = CircuitBreaker.longestPause + 60_000 }
        #expect(await ask() != nil)
        #expect(setting.outcomes == [.failed, .notQueried])
        // The client's rate budget uses a monotonic clock, and is correct.
        ahead.withLock { $0 = 2_500_000 }
        #expect((await ask() as? AppStoreServerAPIError)?.reason == .rateBudgetExhausted)
        #expect(setting.outcomes == [.failed, .notQueried, .failed])
        #expect(setting.api.requests.withLock { $0.count } == 1)
    }
}
