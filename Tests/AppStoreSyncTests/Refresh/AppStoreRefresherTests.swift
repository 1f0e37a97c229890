import AppStoreModels
import AppStoreServer
import AppStoreSync
import Crypto
import Foundation
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore

@Suite struct AppStoreRefresherTests {
    private static let scope = StoreScope(environment: .production, bundleId: AccountsAPI.bundleID)
    static let now: Int64 = 1_716_000_000_000

    private static func setting(
        trustsAuthority: Bool = true, timeout: Duration = .seconds(300), accounts: [[String]] = [[AccountsAPI.ada]],
        clock: @escaping @Sendable () -> Int64 = { now }
    ) throws -> RefresherSetting {
        try RefresherSetting(
            try AccountsAPI(signed: now, accounts: accounts), trustsAuthority: trustsAuthority, timeout: timeout,
            clock: clock)
    }

    @Test func answersOfTheAppStoreAreStored() async throws {
        let setting = try Self.setting()
        #expect(try await setting.refresh() == [AccountsAPI.ada: Self.now])
        let identity = CustomerIdentity(.originalTransactionId, AccountsAPI.ada)
        let customer = try #require(try await setting.store.customer([identity], in: Self.scope))
        #expect(customer.transactions.map(\.payload.transactionId) == [AccountsAPI.ada + "9"])
        #expect(customer.transactions.first?.origins.map(\.source) == [.appStoreServerAPI])
        #expect(customer.renewalInfos.first?.payload.autoRenewStatus == .off)
        #expect(setting.outcomes == [.refreshed])
    }

    @Test func aRecentlyQueriedCustomerIsNotQueriedAgain() async throws {
        let setting = try Self.setting()
        _ = try await setting.refresh()
        _ = try await setting.refresh()
        #expect(setting.outcomes == [.refreshed])
    }

    @Test func aCustomerIsQueriedAgainAfterTheMaximumAge() async throws {
        let time = Mutex(Self.now)
        let setting = try Self.setting(clock: { time.withLock { $0 } })
        _ = try await setting.refresh()
        time.withLock { $0 += 1 }
        #expect(try await setting.refresh(notBefore: Self.now + 1) == [AccountsAPI.ada: Self.now + 1])
        #expect(setting.outcomes == [.refreshed, .refreshed])
    }

    @Test func manyWaitingRequestsShareOneCall() async throws {
        let setting = try Self.setting()
        try await withThrowingTaskGroup(of: [String: Int64].self) { group in
            for _ in 0..<200 { group.addTask { try await setting.refresh() } }
            for try await times in group { #expect(times == [AccountsAPI.ada: Self.now]) }
        }
        #expect(setting.api.requests.withLock { $0.count } == 2, "history and statuses, once each")
    }

    @Test func requestsWithDifferentIdsOfOneCustomerShareOneCall() async throws {
        let ids = [AccountsAPI.ada, AccountsAPI.adaToo]
        let setting = try Self.setting(accounts: [ids])
        try await withThrowingTaskGroup(of: [String: Int64].self) { group in
            for number in 0..<200 {
                // As from before and from after it was known that both are one customer's.
                group.addTask { try await setting.refresh(number.isMultiple(of: 2) ? [ids[0]] : ids.reversed()) }
            }
            for try await times in group { #expect(times[ids[0]] == Self.now) }
        }
        #expect(setting.api.histories.count == 1)
    }

    @Test func oneAnswerCoversAllSubscriptionsOfAnAccount() async throws {
        let ids = [AccountsAPI.ada, AccountsAPI.adaToo]
        let setting = try Self.setting(accounts: [ids])
        #expect(try await setting.refresh(ids) == [ids[0]: Self.now, ids[1]: Self.now])
        _ = try await setting.refresh([ids[1]])
        #expect(setting.api.histories == [ids[0]])
    }

    @Test("An answer about one account says nothing of another one, though both have one account token")
    func accounts() async throws {
        let setting = try Self.setting(accounts: [[AccountsAPI.ada], [AccountsAPI.bob]])
        let token = CustomerIdentity(.appAccountToken, "7e3fb20b-4cdb-47cc-936d-99d65f608138")
        _ = try await setting.refresh([AccountsAPI.ada], identities: [token])
        #expect(setting.api.histories == [AccountsAPI.ada])
        let times = try await setting.refresh([AccountsAPI.ada, AccountsAPI.bob], identities: [token])
        #expect(times == [AccountsAPI.ada: Self.now, AccountsAPI.bob: Self.now])
        #expect(setting.api.histories == [AccountsAPI.ada, AccountsAPI.bob])
    }

    @Test(
        "An App Store that does not know a purchase has answered, and the purchase is not current",
        arguments: [
            4_040_001, 4_040_005, 4_040_010, 4_000_006,
        ])
    func unknownPurchase(code: Int) async throws {
        let setting = try Self.setting()
        setting.api.mode.withLock { $0 = .refuses(status: code / 10_000, code: code) }
        #expect(try await setting.ask() == [AccountsAPI.ada: AppStoreAnswer(time: Self.now, isKnown: false)])
        #expect(setting.outcomes == [.nothingKnown])
    }

    @Test func aRequestHasALimitOfCallsAndTheNextRequestContinues() async throws {
        let setting = try Self.setting()
        let ids = (1...AppStoreRefresher.maximumCalls + 4).map { "77000000000\($0)" }
        await #expect(throws: RefreshError.tooManyCalls) { try await setting.refresh(ids) }
        #expect(setting.api.histories.count == AppStoreRefresher.maximumCalls)
        #expect(try await setting.ask(ids).filter { !$0.value.isKnown }.keys.sorted() == ids.sorted())
        #expect(setting.api.histories == ids)
    }

    @Test("An answer that a purchase is unknown counts for a minute, and never longer than requested")
    func unknownForAWhile() async throws {
        let time = Mutex(Self.now)
        let setting = try Self.setting(clock: { time.withLock { $0 } })
        setting.api.mode.withLock { $0 = .refuses(status: 404, code: 4_040_010) }
        _ = try await setting.ask()
        time.withLock { $0 += AppStoreRefresher.longestUnknown }
        #expect(try await setting.ask()[AccountsAPI.ada]?.isKnown == false && setting.api.histories.count == 1)
        #expect(try await setting.ask(notBefore: Self.now + 1)[AccountsAPI.ada]?.isKnown == false)
        #expect(setting.api.histories.count == 2)
        // Since then it has learned of the purchase.
        setting.api.mode.withLock { $0 = .answers }
        time.withLock { $0 += AppStoreRefresher.longestUnknown + 1 }
        #expect(try await setting.ask(notBefore: Self.now)[AccountsAPI.ada]?.isKnown == true)
    }

    @Test func dataThatIsNotGenuineIsAFailureAndNotStored() async throws {
        let setting = try Self.setting(trustsAuthority: false)
        await #expect(throws: SignedDataError.self) { try await setting.refresh() }
        #expect(try await setting.store.counts().transactions == 0)
        #expect(setting.outcomes == [.failed])
    }

    @Test func noRequestWaitsLongerThanTheTimeout() async throws {
        let setting = try Self.setting(timeout: .milliseconds(10))
        setting.api.mode.withLock { $0 = .hangs }
        await #expect(throws: (any Error).self) { try await setting.refresh() }
    }

    @Test func appsWithoutAKeyAreNeverQueried() async throws {
        let setting = try Self.setting()
        await #expect(throws: RefreshError.notConfigured) {
            _ = try await setting.ask(["1"], bundleID: "com.example.other", notBefore: 0)
        }
        #expect(setting.api.requests.withLock { $0.isEmpty })
    }

    @Test(arguments: [Int64.min, -62_135_596_800_001, -1, 0, 253_402_300_800_000, .max])
    func theClockMayShowAnything(now: Int64) async throws {
        let setting = try Self.setting(clock: { now })
        #expect(try await setting.refresh(notBefore: now) == [AccountsAPI.ada: now])
        setting.api.mode.withLock { $0 = .refuses(status: 500, code: 5_000_000) }
        for _ in 0...CircuitBreaker.failureLimit { _ = try? await setting.refresh(["530009990000000"], notBefore: now) }
        #expect(setting.outcomes.last == (now == .max ? .failed : .notQueried))
    }

    @Test("A server with no room for another wait sends no request, and the outcome is not_queried")
    func noRoomToWait() async throws {
        let setting = try RefresherSetting(
            try AccountsAPI(signed: Self.now), clock: { Self.now }, waiting: { _ in throw RefreshError.tooManyWaiting })
        await #expect(throws: RefreshError.tooManyWaiting) { try await setting.ask() }
        #expect(setting.outcomes == [.notQueried])
        #expect(setting.api.requests.withLock { $0.isEmpty })
    }

    @Test("Each request takes a permit of the budget that the programs of the store share, and leaves no reserve")
    func sharedBudget() async throws {
        // A store that takes longer than half a second is left alone for a while: such a round says nothing.
        try await eventually("the store answers in time") {
            let budgets = GrantedBudgets()
            let setting = try RefresherSetting(
                try AccountsAPI(signed: Self.now), clock: { Self.now }, budgets: budgets)
            let end = ContinuousClock.now + .milliseconds(500)
            _ = try await setting.refresh()
            let taken = budgets.taken.withLock { $0 }
            guard taken.count > 1 || ContinuousClock.now < end else { return false }
            #expect(taken.map(\.endpoint) == ["getTransactionHistory", "getAllSubscriptionStatuses"])
            #expect(taken.allSatisfy { $0.scope == Self.scope && $0.reserve == 0 && $0.burst == 25 })
            return true
        }
    }

    @Test func environmentsWithoutAServerAreRefused() async throws {
        let setting = try Self.setting()
        let scope = StoreScope(environment: .xcode, bundleId: AccountsAPI.bundleID)
        await #expect(throws: RefreshError.noServer) {
            try await setting.refresher.answers(about: ["1"], identities: [], scope: scope, notBefore: 0)
        }
        #expect(setting.api.requests.withLock { $0.isEmpty })
    }
}

/// Grants every permit, and records the budgets.
private final class GrantedBudgets: RequestBudgets {
    let taken = Mutex<[RequestBudget]>([])

    func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits {
        taken.withLock { $0.append(budget) }
        return RequestPermits(count: count, wait: 0)
    }
}

/// A refresher with its own store and App Store.
struct RefresherSetting: Sendable {
    let api: AccountsAPI
    let store: any TransactionStore
    private(set) var refresher: AppStoreRefresher
    private let makeRefresher: @Sendable ([AppStoreCredentials]) -> AppStoreRefresher
    private let folder: TemporaryFolder
    private let noted = Noted()

    private final class Noted: Sendable {
        let list = Mutex<[RefreshOutcome]>([])
    }

    /// How asking ended, each time.
    var outcomes: [RefreshOutcome] { noted.list.withLock { $0 } }

    init(
        _ api: AccountsAPI, transport: (any APITransport)? = nil, credentials: [AppStoreCredentials]? = nil,
        trustsAuthority: Bool = true, timeout: Duration = .seconds(300), clock: @escaping @Sendable () -> Int64,
        budgets: (any RequestBudgets)? = nil,
        waiting: @escaping AppStoreRefresher.Waiting = { try await $0() }
    ) throws {
        self.api = api
        folder = try TemporaryFolder()
        store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        let roots = trustsAuthority ? [TestSignedDataAuthority.standard.rootCertificate] : []
        let verifier = try SignedDataVerifier(trust: SignedDataTrust(additionalRoots: roots))
        let pool = AppStoreClientPool(transport: transport ?? api, timeout: timeout, budgets: budgets)
        makeRefresher = { [noted, store] credentials in
            AppStoreRefresher(
                credentials: credentials, verifier: verifier, store: store, pool: pool, clock: clock,
                waiting: waiting,
                onRefresh: { outcome in noted.list.withLock { $0.append(outcome) } })
        }
        refresher = makeRefresher(try credentials ?? [Self.credentials()])
    }

    /// The same after the configuration was read again.
    func reloaded(_ credentials: AppStoreCredentials) -> RefresherSetting {
        var reloaded = self
        reloaded.refresher = makeRefresher([credentials])
        return reloaded
    }

    static func credentials(
        _ bundleID: String = AccountsAPI.bundleID, url: String? = nil, pem: String? = nil
    ) throws -> AppStoreCredentials {
        AppStoreCredentials(
            bundleID: bundleID,
            key: try InAppPurchaseKey(
                pem: pem ?? P256.Signing.PrivateKey().pemRepresentation, keyID: "ABCDEFGHIJ",
                issuerID: "99b16628-15e4-4668-972b-eeff55eeff55"), productionURL: url, sandboxURL: url)
    }

    /// The date of the App Store query for each purchase that it knows.
    func refresh(
        _ ids: [String] = [AccountsAPI.ada], identities: [CustomerIdentity] = [],
        bundleID: String = AccountsAPI.bundleID, notBefore: Int64 = AppStoreRefresherTests.now
    ) async throws -> [String: Int64] {
        try await ask(ids, identities: identities, bundleID: bundleID, notBefore: notBefore)
            .filter(\.value.isKnown).mapValues(\.time)
    }

    func ask(
        _ ids: [String] = [AccountsAPI.ada], identities: [CustomerIdentity] = [],
        bundleID: String = AccountsAPI.bundleID, notBefore: Int64 = AppStoreRefresherTests.now
    ) async throws -> AppStoreAnswers {
        try await refresher.answers(
            about: ids, identities: identities, scope: StoreScope(environment: .production, bundleId: bundleID),
            notBefore: notBefore)
    }
}
