import AppStoreModels
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// How current an answer is, and what happens while the App Store is away.
@Suite struct FreshnessTests {
    /// An App Store that knows of one further renewal, or does not answer.
    private final class AppStore: CustomerRefreshing {
        struct Away: Error, CustomStringConvertible { let description = "it is away" }

        let store: any TransactionStore
        let isAway: Bool
        let failure: BackendFailure?
        let asked = Mutex<[String]>([])

        init(_ store: any TransactionStore, isAway: Bool = false, failure: BackendFailure? = nil) {
            self.store = store
            self.isAway = isAway
            self.failure = failure
        }

        func refresh(
            originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
        ) async throws -> RefreshedPurchases {
            asked.withLock { $0 += originalTransactionIds }
            if let failure { throw failure }
            if isAway { throw Away() }
            _ = try await store.apply([FreshnessTests.renewal(signed: requestDate)])
            return RefreshedPurchases(
                times: Dictionary(originalTransactionIds.map { ($0, max(notBefore, requestDate)) }) { first, _ in first
                })
        }
    }

    /// What the App Store Server API says about the third month.
    fileprivate static func renewal(signed: Int64, source: FactSource = .appStoreServerAPI) -> FactSet {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "530001234567000"
            $0.transactionId = "530001234569999"
            $0.bundleId = bundleId
            $0.productId = monthly
            $0.purchaseDate = created.adding(months: 2).milliseconds
            $0.originalPurchaseDate = created.adding(months: -2).milliseconds
            $0.expiresDate = created.adding(months: 3).milliseconds
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.signedDate = signed
            $0.environment = .production
        }
        return FactSet(
            scope: StoreScope(environment: .production, bundleId: bundleId),
            transactions: [
                TransactionFact(
                    payload: payload, legacy: nil, origin: FactOrigin(source: source, signedDate: signed))
            ])
    }

    private static func ask(
        _ freshness: Freshness, _ store: any TransactionStore, _ appStore: AppStore?,
        purchases: [ForgedPurchase] = [month(0)],
        appFreshness: Freshness? = nil
    ) async throws -> ReadReply {
        try await testEndpoint(store: store) {
            $0.freshness = freshness
            $0.customerRefresher = appStore
            if let appFreshness { $0.apps = [AppConfiguration(bundleId: bundleId, freshness: appFreshness)] }
        }.ask(body(try appReceipt(purchases)))
    }

    private static let hour: Int64 = 3_600_000
    private static let current = Freshness(source: .appStore, maximumAge: hour)

    @Test func theStoreIsTheDefaultAndCallsNoAPI() async throws {
        let store = MemoryStore()
        let appStore = AppStore(store)
        let reply = try await Self.ask(Freshness(), store, appStore)
        #expect(reply.latest?.count == 1)
        #expect(appStore.asked.withLock { $0.isEmpty })
        #expect(reply.reply.facts.source == .store && reply.reply.facts.ageMilliseconds == nil)
    }

    @Test func localAnswersFromTheReceiptAndStillStoresIt() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.renewal(signed: requestDate)])
        let reply = try await Self.ask(Freshness(source: .local), store, AppStore(store))
        #expect(reply.latest?.compactMap { $0.text("transaction_id") } == ["530001234567000"])
        #expect(reply.reply.facts.source == .receipt)
        let known = try await store.customer(
            [CustomerIdentity(.originalTransactionId, "530001234567000")],
            in: StoreScope(environment: .production, bundleId: bundleId))
        #expect(known?.newestAppReceipt != nil)
    }

    @Test func theAppStoreIsQueriedIfItNeverAnswered() async throws {
        let store = MemoryStore()
        let appStore = AppStore(store)
        let reply = try await Self.ask(Self.current, store, appStore)
        #expect(reply.latest?.compactMap { $0.text("transaction_id") } == ["530001234569999", "530001234567000"])
        #expect(appStore.asked.withLock { $0 } == ["530001234567000"])
        #expect(reply.reply.facts.source == .appStore && reply.reply.facts.ageMilliseconds == 0)
    }

    @Test(
        "The App Store's answer about an erased customer is not stored: the reply is that of the receipt, without an age"
    )
    func erased() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let scope = StoreScope(environment: .production, bundleId: bundleId)
        let purchase = CustomerIdentity(.originalTransactionId, "530001234567000")
        _ = try await store.erase([purchase], in: scope, quarantined: [], leavingHashes: true)
        for isRequired in [false, true] {
            var freshness = Self.current
            freshness.isRequired = isRequired
            let appStore = AppStore(store)
            let reply = try await Self.ask(freshness, store, appStore)
            #expect(appStore.asked.withLock { $0 } == ["530001234567000"])
            #expect(reply.status == 0)
            #expect(reply.latest?.compactMap { $0.text("transaction_id") } == ["530001234567000"])
            #expect(reply.reply.facts.source == .receipt && reply.reply.facts.ageMilliseconds == nil)
        }
        #expect(try await store.counts().transactions == 0)
        try await store.close()
    }

    @Test(
        "A reply with an erased purchase beside another one states no age, because nothing current is stored of the first"
    )
    func partlyErased() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let scope = StoreScope(environment: .production, bundleId: bundleId)
        let erased = CustomerIdentity(.originalTransactionId, "530001234567000")
        _ = try await store.erase([erased], in: scope, quarantined: [], leavingHashes: true)
        let other = ForgedPurchase(.nonConsumable, product: "lifetime", id: "530001234599999", at: created)
        let appStore = AppStore(store)
        let reply = try await Self.ask(Self.current, store, appStore, purchases: [month(0), other])
        #expect(appStore.asked.withLock { $0.contains("530001234567000") })
        #expect(reply.status == 0)
        let stored = try await store.customer(
            [CustomerIdentity(.originalTransactionId, "530001234599999")], in: scope)
        #expect(stored?.transactions.count == 1)
        #expect(reply.reply.facts.ageMilliseconds == nil)
        try await store.close()
    }

    @Test func anAnswerWithinTheMaximumAgeIsUsed() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.renewal(signed: requestDate - Self.hour)])
        let appStore = AppStore(store)
        let reply = try await Self.ask(Self.current, store, appStore)
        #expect(appStore.asked.withLock { $0.isEmpty })
        #expect(reply.reply.facts.source == .store && reply.reply.facts.ageMilliseconds == Self.hour)
    }

    @Test func theSubmissionIsStoredOnceEvenIfTheStoreIsReadAgain() async throws {
        let store = MemoryStore()
        _ = try await Self.ask(Self.current, store, AppStore(store))
        // The receipt, and what the App Store said.
        #expect(await store.setCount == 2)
        // Before the receipt was stored, and after the App Store query. No other data arrived in between.
        #expect(await store.lookUps == 2)
    }

    @Test func aMillisecondBeyondTheMaximumAgeIsQueried() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.renewal(signed: requestDate - Self.hour - 1)])
        let appStore = AppStore(store)
        _ = try await Self.ask(Self.current, store, appStore)
        #expect(appStore.asked.withLock { $0.count } == 1)
    }

    @Test(
        "A notification covers one transaction, and the client chooses which JWS it submits",
        arguments: [FactSource.notificationV2, .signedTransaction])
    func aDocumentWithoutTheFullHistoryMakesNothingCurrent(source: FactSource) async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.renewal(signed: requestDate, source: source)])
        let appStore = AppStore(store)
        _ = try await Self.ask(Self.current, store, appStore)
        #expect(appStore.asked.withLock { $0 } == ["530001234567000"])
    }

    @Test func theOldestPurchaseDecidesTheAge() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.renewal(signed: requestDate)])
        let appStore = AppStore(store)
        // No App Store answer has the second purchase.
        let reply = try await Self.ask(Self.current, store, appStore, purchases: [month(0), nonConsumable])
        #expect(appStore.asked.withLock { $0 } == ["530001234500001"])
        #expect(reply.reply.facts.source == .appStore)
    }

    @Test func theStoreAnswersWithItsAgeIfTheAppStoreIsUnreachable() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.renewal(signed: requestDate - 2 * Self.hour)])
        let reply = try await Self.ask(Self.current, store, AppStore(store, isAway: true))
        #expect(reply.status == 0 && reply.latest?.count == 2)
        let facts = reply.reply.facts
        #expect(facts.source == .store && facts.ageMilliseconds == 2 * Self.hour && facts.appStoreFailed)
        #expect(facts.reason?.contains("it is away") == true)
    }

    @Test func thereIsNoAgeIfTheAppStoreNeverAnswered() async throws {
        let store = MemoryStore()
        let reply = try await Self.ask(Self.current, store, AppStore(store, isAway: true))
        #expect(reply.status == 0 && reply.reply.facts.ageMilliseconds == nil && reply.reply.facts.appStoreFailed)
    }

    @Test func anUnreachableAppStoreGives21005IfACurrentAnswerIsRequired() async throws {
        let store = MemoryStore()
        let required = Freshness(source: .appStore, maximumAge: Self.hour, isRequired: true)
        #expect(try await Self.ask(required, store, AppStore(store, isAway: true)).status == 21005)
        #expect(try await Self.ask(required, store, nil).status == 21005)
        #expect(try await Self.ask(required, store, AppStore(store)).status == 0)
    }

    @Test func aReceiptWithoutPurchasesNeedsNoQuery() async throws {
        let store = MemoryStore()
        let appStore = AppStore(store, isAway: true)
        let required = Freshness(source: .appStore, maximumAge: 0, isRequired: true)
        #expect(try await Self.ask(required, store, appStore, purchases: []).status == 0)
        #expect(appStore.asked.withLock { $0.isEmpty })
    }

    @Test func anAppsOwnRuleBeatsTheGeneralOne() async throws {
        let store = MemoryStore()
        let appStore = AppStore(store)
        _ = try await Self.ask(Freshness(), store, appStore, appFreshness: Self.current)
        #expect(appStore.asked.withLock { $0.count } == 1)
        _ = try await Self.ask(Self.current, store, appStore, appFreshness: Freshness(source: .local))
        #expect(appStore.asked.withLock { $0.count } == 1)
    }

    @Test func aFailureOfTheBackendIsHandedOn() async throws {
        let store = MemoryStore()
        #expect(try await Self.ask(Self.current, store, AppStore(store, failure: .accountNotFound)).status == 21010)
    }
}
