import AppStoreModels
import AppStoreServer
import Crypto
import Foundation
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// An App Store Server API with one customer, who has one subscription.
final class OneCustomerAPI: APITransport {
    enum Mode: Sendable { case answers, knowsNothing, fails, hangs }

    let mode = Mutex(Mode.answers)
    let requests = Mutex<[String]>([])
    private let transactions: String
    private let statuses: String

    /// - Parameter signed: when the App Store answers, in milliseconds.
    init(signed: Int64) throws {
        let authority = TestSignedDataAuthority.standard
        let transaction = try authority.sign(
            payload: Array(
                #"""
                {"transactionId":"530001234569999","originalTransactionId":"530001234567000","bundleId":"\#(Self.bundleID)",
                "productId":"com.example.orchard.premium.monthly","purchaseDate":1715768430000,
                "originalPurchaseDate":1705314030000,"expiresDate":1718446830000,"quantity":1,
                "type":"Auto-Renewable Subscription","environment":"Production","signedDate":\#(signed)}
                """#.utf8))
        let renewal = try authority.sign(
            payload: Array(
                #"""
                {"originalTransactionId":"530001234567000","productId":"com.example.orchard.premium.monthly",
                "autoRenewProductId":"com.example.orchard.premium.monthly","autoRenewStatus":0,
                "environment":"Production","signedDate":\#(signed)}
                """#.utf8))
        transactions = #"{"revision":"1","hasMore":false,"signedTransactions":["\#(transaction)"]}"#
        statuses = #"""
            {"data":[{"lastTransactions":[{"originalTransactionId":"530001234567000","status":1,
            "signedTransactionInfo":"\#(transaction)","signedRenewalInfo":"\#(renewal)"}]}]}
            """#
    }

    static let bundleID = "com.example.orchard"

    func send(_ request: APITransportRequest) async throws -> APITransportResponse {
        requests.withLock { $0.append(request.url) }
        switch mode.withLock({ $0 }) {
        case .answers:
            let body = request.url.contains("/subscriptions/") ? statuses : transactions
            return APITransportResponse(status: 200, body: Array(body.utf8))
        case .knowsNothing:
            let body = #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#
            return APITransportResponse(status: 404, body: Array(body.utf8))
        case .fails: throw APITransportError.notConnected("refused")
        case .hangs:
            try await Task.sleep(for: .seconds(3_600))
            throw APITransportError.timedOut
        }
    }
}

@Suite struct AppStoreRefresherTests {
    private static let scope = StoreScope(environment: .production, bundleId: OneCustomerAPI.bundleID)
    private static let identities = [CustomerIdentity(.originalTransactionId, "530001234567000")]
    private static let now: Int64 = 1_716_000_000_000

    static func credentials(url: String? = nil) throws -> AppStoreCredentials {
        AppStoreCredentials(
            bundleID: OneCustomerAPI.bundleID,
            key: try InAppPurchaseKey(
                pem: P256.Signing.PrivateKey().pemRepresentation, keyID: "ABCDEFGHIJ",
                issuerID: "99b16628-15e4-4668-972b-eeff55eeff55"), productionURL: url, sandboxURL: url)
    }

    private struct Setting {
        let folder: TemporaryFolder
        let api: OneCustomerAPI
        let store: any TransactionStore
        let refresher: AppStoreRefresher
        let outcomes: Outcomes

        func refresh(notBefore: Int64 = AppStoreRefresherTests.now) async throws -> Int64 {
            try await refresher.refresh(
                transactionId: "530001234567000", identities: AppStoreRefresherTests.identities,
                scope: AppStoreRefresherTests.scope, notBefore: notBefore)
        }
    }

    private final class Outcomes: Sendable {
        private let list = Mutex<[RefreshOutcome]>([])
        func note(_ outcome: RefreshOutcome) { list.withLock { $0.append(outcome) } }
        var all: [RefreshOutcome] { list.withLock { $0 } }
    }

    private static func setting(
        trustsAuthority: Bool = true, patience: Duration = .seconds(60),
        clock: @escaping @Sendable () -> Int64 = { now }
    ) throws -> Setting {
        let api = try OneCustomerAPI(signed: now)
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        let outcomes = Outcomes()
        let roots = trustsAuthority ? [TestSignedDataAuthority.standard.rootCertificate] : []
        let refresher = AppStoreRefresher(
            credentials: [try credentials()],
            verifier: try SignedDataVerifier(trust: SignedDataTrust(additionalRoots: roots)), store: store,
            transport: api, patience: patience, clock: clock, onRefresh: { outcomes.note($0) })
        return Setting(folder: folder, api: api, store: store, refresher: refresher, outcomes: outcomes)
    }

    @Test func whatTheAppStoreSaysIsInTheStoreAfterwards() async throws {
        let setting = try Self.setting()
        #expect(try await setting.refresh() == Self.now)
        let customer = try #require(try await setting.store.customer(Self.identities, in: Self.scope))
        #expect(customer.transactions.map(\.payload.transactionId) == ["530001234569999"])
        #expect(customer.transactions.first?.origins.map(\.source) == [.appStoreServerAPI])
        #expect(customer.renewalInfos.first?.payload.autoRenewStatus == .off)
        #expect(setting.outcomes.all == [.refreshed])
    }

    @Test func whoWasAskedAboutAMomentAgoIsNotAskedAboutAgain() async throws {
        let setting = try Self.setting()
        _ = try await setting.refresh()
        _ = try await setting.refresh()
        #expect(setting.outcomes.all == [.refreshed])
        _ = try await setting.refresh(notBefore: Self.now + 1)
        #expect(setting.outcomes.all == [.refreshed, .refreshed])
    }

    @Test func oneCallIsUnderWayHoweverManyRequestsWait() async throws {
        let setting = try Self.setting()
        try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<200 { group.addTask { try await setting.refresh() } }
            for try await time in group { #expect(time == Self.now) }
        }
        #expect(setting.api.requests.withLock { $0.count } == 2, "history and statuses, once each")
    }

    @Test func anUnknownTransactionIsAnAnswer() async throws {
        let setting = try Self.setting()
        setting.api.mode.withLock { $0 = .knowsNothing }
        #expect(try await setting.refresh() == Self.now)
        #expect(setting.outcomes.all == [.nothingKnown])
    }

    @Test func dataThatIsNotGenuineIsAFailureAndNotStored() async throws {
        let setting = try Self.setting(trustsAuthority: false)
        await #expect(throws: SignedDataError.self) { try await setting.refresh() }
        #expect(try await setting.store.counts().transactions == 0)
        #expect(setting.outcomes.all == [.failed])
    }

    @Test func afterSoManyFailuresNobodyAsks() async throws {
        let setting = try Self.setting()
        setting.api.mode.withLock { $0 = .fails }
        for _ in 0..<CircuitBreaker.failureLimit {
            await #expect(throws: AppStoreServerAPIError.self) { try await setting.refresh() }
        }
        let asked = setting.api.requests.withLock { $0.count }
        await #expect(throws: (any Error).self) { try await setting.refresh() }
        #expect(setting.api.requests.withLock { $0.count } == asked)
        #expect(setting.outcomes.all.last == .notAsked)
    }

    @Test func nobodyWaitsLongerThanThePatience() async throws {
        let setting = try Self.setting(patience: .milliseconds(10))
        setting.api.mode.withLock { $0 = .hangs }
        await #expect(throws: (any Error).self) { try await setting.refresh() }
    }

    @Test func appsWithoutAKeyAreNeverAskedAbout() async throws {
        let setting = try Self.setting()
        await #expect(throws: (any Error).self) {
            try await setting.refresher.refresh(
                transactionId: "1", identities: [],
                scope: StoreScope(environment: .production, bundleId: "com.example.other"), notBefore: 0)
        }
        #expect(setting.api.requests.withLock { $0.isEmpty })
    }
}
