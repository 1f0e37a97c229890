import AppStoreModels
import AppStoreServer
import AppStoreSync
import Crypto
import Testing

@Suite("After a reload of the configuration")
struct ReloadedRefresherTests {
    private let pem = P256.Signing.PrivateKey().pemRepresentation
    private static let now = AppStoreRefresherTests.now

    /// The same credentials, read from their file once more.
    private var credentials: AppStoreCredentials {
        get throws { try RefresherSetting.credentials(pem: pem) }
    }

    private func setting() throws -> RefresherSetting {
        try RefresherSetting(
            try AccountsAPI(signed: Self.now, accounts: [[AccountsAPI.ada]]), credentials: [credentials],
            clock: { Self.now })
    }

    private func failing() async throws -> RefresherSetting {
        let setting = try setting()
        setting.api.mode.withLock { $0 = .refuses(status: 500, code: 5_000_000) }
        for _ in 0..<CircuitBreaker.failureLimit { _ = try? await setting.refresh() }
        #expect(setting.outcomes == Array(repeating: .failed, count: CircuitBreaker.failureLimit))
        setting.api.mode.withLock { $0 = .answers }
        return setting
    }

    @Test func aReloadKeepsTheAnswersOfTheAppStore() async throws {
        let setting = try setting()
        _ = try await setting.refresh()
        #expect(try await setting.reloaded(credentials).refresh() == [AccountsAPI.ada: Self.now])
        #expect(setting.api.histories == [AccountsAPI.ada])
    }

    @Test func anUnreachableAppStoreIsNotQueriedAgain() async throws {
        let setting = try await failing()
        await #expect(throws: (any Error).self) { try await setting.reloaded(credentials).refresh() }
        #expect(setting.outcomes.last == .notQueried)
    }

    @Test func withAnotherKeyTheAppStoreIsQueriedAtOnce() async throws {
        let setting = try await failing()
        #expect(try await setting.reloaded(RefresherSetting.credentials()).refresh() == [AccountsAPI.ada: Self.now])
        #expect(setting.outcomes.last == .refreshed)
    }

    @Test(arguments: [false, true]) func atAnotherURLTheAppStoreIsQueriedAtOnce(answeredBefore: Bool) async throws {
        let setting = answeredBefore ? try setting() : try await failing()
        if answeredBefore { _ = try await setting.refresh() }
        let elsewhere = try RefresherSetting.credentials(url: "https://elsewhere.example.com", pem: pem)
        #expect(try await setting.reloaded(elsewhere).refresh() == [AccountsAPI.ada: Self.now])
        #expect(setting.outcomes.last == .refreshed)
        #expect(setting.api.histories.count == (answeredBefore ? 2 : 1 + CircuitBreaker.failureLimit))
    }

    @Test func anAppStoreThatWantsFewerRequestsIsLeftAloneWithAnotherKeyToo() async throws {
        let setting = try setting()
        setting.api.mode.withLock { $0 = .refuses(status: 429, code: 4_290_000, retryAfter: "2400") }
        _ = try? await setting.refresh()
        #expect(setting.outcomes == [.failed])
        setting.api.mode.withLock { $0 = .answers }
        await #expect(throws: (any Error).self) { try await setting.reloaded(RefresherSetting.credentials()).refresh() }
        #expect(setting.outcomes == [.failed, .notQueried])
    }

    @Test func requestsUnderWayDoNotUndoIt() async throws {
        let setting = try await failing()
        let reloaded = setting.reloaded(try RefresherSetting.credentials())
        _ = try await reloaded.refresh()
        _ = try? await setting.refresh(["77000000000001"])
        #expect(setting.outcomes.last == .notQueried, "the old one still knows what it knew")
        _ = try await reloaded.refresh(["77000000000002"])
        #expect(setting.outcomes.last == .nothingKnown)
    }
}
