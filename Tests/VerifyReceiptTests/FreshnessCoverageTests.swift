import AppStoreModels
import Purchases
import ReceiptForge
import Synchronization
import Testing
import TransactionStore
import VerifyReceipt

/// The purchases that need an App Store query before an answer counts as current.
@Suite struct FreshnessCoverageTests {
    private static let scope = StoreScope(environment: .production, bundleId: bundleId)
    private static let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
    /// The subscription of the receipt, and that of another Apple Account of the same person.
    private static let ada = "530001234567000"
    private static let bob = "530007770000000"
    private static let required = Freshness(source: .appStore, maximumAge: 3_600_000, isRequired: true)

    /// One transaction that the App Store states.
    private static func fact(
        _ original: String, signed: Int64 = requestDate, refunded: Bool = false, token: String? = token,
        source: FactSource = .appStoreServerAPI, bought: Int64 = created.adding(months: -2).milliseconds,
        expires: Int64? = created.adding(months: 3).milliseconds
    ) -> FactSet {
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = original
            $0.transactionId = original
            $0.bundleId = bundleId
            $0.productId = monthly
            $0.purchaseDate = bought
            $0.originalPurchaseDate = bought
            $0.expiresDate = expires
            $0.quantity = 1
            $0.type = expires == nil ? .nonConsumable : .autoRenewableSubscription
            $0.appAccountToken = token
            $0.signedDate = signed
            $0.revocationReason = refunded ? .other : nil
            $0.revocationDate = refunded ? requestDate - 1 : nil
            $0.environment = .production
        }
        return FactSet(
            scope: scope,
            transactions: [
                TransactionFact(
                    payload: payload, legacy: nil, origin: FactOrigin(source: source, signedDate: signed))
            ])
    }

    /// An App Store of these accounts with one purchase each. It answers only about the queried purchase.
    private final class AppStore: CustomerRefreshing {
        let store: any TransactionStore
        let accounts: [String: FactSet]
        /// The date of the query that it reports.
        let time: Int64
        /// What it does not know.
        let unknown: Set<String>
        let onAsked: @Sendable () async -> Void
        let asked = Mutex<[String]>([])

        init(
            _ store: any TransactionStore, _ accounts: [String: FactSet] = [:], time: Int64 = requestDate,
            unknown: Set<String> = [], onAsked: @escaping @Sendable () async -> Void = {}
        ) {
            self.store = store
            self.accounts = accounts
            self.time = time
            self.unknown = unknown
            self.onAsked = onAsked
        }

        func refresh(
            originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
        ) async throws -> RefreshedPurchases {
            for id in originalTransactionIds {
                asked.withLock { $0.append(id) }
                if let facts = accounts[id] { _ = try await store.apply([facts]) }
            }
            await onAsked()
            let known = originalTransactionIds.filter { !unknown.contains($0) }
            return RefreshedPurchases(
                times: Dictionary(known.map { ($0, time) }) { first, _ in first },
                unknown: unknown.intersection(originalTransactionIds))
        }
    }

    private static func ask(
        _ store: any TransactionStore, _ appStore: AppStore, _ freshness: Freshness = required,
        now: Int64 = requestDate, _ change: (inout EndpointConfiguration) -> Void = { _ in }
    ) async throws -> ReadReply {
        try await testEndpoint(store: store) {
            $0.freshness = freshness
            $0.customerRefresher = appStore
            change(&$0)
        }.ask(body(try appReceipt([month(0)])), now: now)
    }

    @Test func anAnswerAboutOneAccountDoesNotCoverTheOther() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.fact(Self.ada), Self.fact(Self.bob, signed: requestDate - 3_600_001)])
        let appStore = AppStore(store, [Self.bob: Self.fact(Self.bob, refunded: true)])
        let reply = try await Self.ask(store, appStore)
        #expect(appStore.asked.withLock { $0 } == [Self.bob])
        #expect(reply.latest(Self.bob)?["cancellation_date_ms"] != nil)
        #expect(reply.reply.facts.ageMilliseconds == 0)
    }

    @Test func anAccountThatTheAnswerRevealsIsQueriedToo() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.fact(Self.bob, signed: requestDate - 3_600_001)])
        let appStore = AppStore(
            store, [Self.ada: Self.fact(Self.ada), Self.bob: Self.fact(Self.bob, refunded: true)])
        let reply = try await Self.ask(store, appStore)
        #expect(appStore.asked.withLock { $0 } == [Self.ada, Self.bob])
        #expect(reply.latest(Self.bob)?["cancellation_date_ms"] != nil)
    }

    @Test func aPurchaseStoredSinceTheLastAnswerIsQueried() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.fact(Self.ada), Self.fact(Self.bob, source: .notificationV2)])
        let appStore = AppStore(store)
        _ = try await Self.ask(store, appStore)
        #expect(appStore.asked.withLock { $0 } == [Self.bob])
    }

    @Test func unsignedPurchasesAreQueriedWhereRepliesShowThem() async throws {
        for recordedFacts in [EndpointConfiguration.RecordedFacts.completing, .granting] {
            let store = MemoryStore()
            let recorded = Self.fact(Self.bob, source: .recordedReply)
            let identity = CustomerIdentity(.originalTransactionId, Self.ada)
            _ = try await store.apply([
                FactSet(scope: Self.scope, identities: [identity], transactions: recorded.transactions)
            ])
            let appStore = AppStore(store)
            _ = try await Self.ask(store, appStore) { $0.recordedFacts = recordedFacts }
            let asked = Set(appStore.asked.withLock { $0 })
            #expect(asked == (recordedFacts == .granting ? [Self.ada, Self.bob] : [Self.ada]))
        }
    }

    @Test func aPurchaseMissingFromTheAnswerCountsAsQueried() async throws {
        let store = MemoryStore()
        let appStore = AppStore(store)
        let reply = try await Self.ask(store, appStore)
        #expect(reply.status == 0 && reply.reply.facts.ageMilliseconds == 0)
        #expect(appStore.asked.withLock { $0 } == [Self.ada])
    }

    @Test("A purchase that the App Store does not know is not current: 21010 where that is required, else no age")
    func unknownPurchase() async throws {
        let store = MemoryStore()
        let appStore = AppStore(store, unknown: [Self.ada])
        let refused = try await Self.ask(store, appStore)
        #expect(refused.status == 21010)
        let facts = refused.reply.facts
        #expect(facts.ageMilliseconds == nil && !facts.appStoreFailed)
        #expect(facts.reason?.contains("does not know 1 of") == true)
        let answered = try await Self.ask(store, appStore, Freshness(source: .appStore, maximumAge: 3_600_000))
        #expect(answered.status == 0 && answered.reply.facts.ageMilliseconds == nil)
        #expect(answered.reply.facts.source == .store && !answered.reply.facts.appStoreFailed)
    }

    @Test("One unknown current subscription is enough for 21010, with other purchases of any account")
    func oneUnknownSubscription() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.fact(Self.ada), Self.fact(Self.bob, signed: requestDate - 3_600_001)])
        #expect(try await Self.ask(store, AppStore(store, unknown: [Self.bob])).status == 21010)
        #expect(try await Self.ask(store, AppStore(store, unknown: [Self.ada])).status == 0)
    }

    @Test("A purchase that is no running subscription and unknown refuses none that was confirmed: 0 without age")
    func confirmedBesideUnknownPurchase() async throws {
        for expires in [nil, requestDate] {
            let store = MemoryStore()
            let old = Self.fact(Self.bob, source: .receipt, bought: 1_380_000_000_000, expires: expires)
            _ = try await store.apply([Self.fact(Self.ada), old])
            let appStore = AppStore(store, unknown: [Self.bob])
            let answered = try await Self.ask(store, appStore)
            #expect(appStore.asked.withLock { $0 } == [Self.bob])
            #expect(answered.status == 0 && answered.reply.facts.ageMilliseconds == nil)
            #expect(answered.reply.facts.reason?.contains("does not know 1 of") == true)
            let nothing = try await Self.ask(
                store, AppStore(store, unknown: [Self.ada, Self.bob]), now: requestDate + 3_600_001)
            #expect(nothing.status == 21010, "nothing is confirmed any more")
        }
    }

    @Test("Of a new and an old unknown purchase the App Store may learn of the new one yet: 21005")
    func oldAndNewUnknownPurchase() async throws {
        for (bought, status) in [(requestDate - 3_600_000, 21005), (requestDate - 86_400_000, 21010)] {
            let store = MemoryStore()
            _ = try await store.apply([
                Self.fact(Self.ada, source: .receipt),
                Self.fact(Self.bob, source: .receipt, bought: bought, expires: nil),
            ])
            let appStore = AppStore(store, unknown: [Self.ada, Self.bob])
            #expect(try await Self.ask(store, appStore).status == status)
        }
    }

    @Test("The App Store may learn of a purchase of the last day yet: 21005")
    func newUnknownPurchase() async throws {
        let bought = created.adding(months: -2).milliseconds
        for (now, status) in [(bought + 86_400_000 - 1, 21005), (bought + 86_400_000, 21010)] {
            let store = MemoryStore()
            let appStore = AppStore(store, unknown: [Self.ada])
            #expect(try await Self.ask(store, appStore, now: now).status == status)
        }
    }

    @Test func anAnswerFromTheFutureIsNone() async throws {
        let store = MemoryStore()
        _ = try await store.apply([Self.fact(Self.ada, signed: requestDate + 1)])
        let appStore = AppStore(store)
        _ = try await Self.ask(store, appStore)
        #expect(appStore.asked.withLock { $0 } == [Self.ada])
    }

    @Test func anAnswerThatIsTooOldIsIgnoredAndCallsAreLimited() async throws {
        let store = MemoryStore()
        let appStore = AppStore(store, time: requestDate - 3_600_001)
        #expect(try await Self.ask(store, appStore).status == 21005)
        #expect(appStore.asked.withLock { $0.count } == 4)
        let reply = try await Self.ask(store, appStore, Freshness(source: .appStore, maximumAge: 3_600_000))
        #expect(reply.status == 0 && reply.reply.facts.ageMilliseconds == nil)
    }

    @Test("An App Store answer that cannot be read back from the store is not used", arguments: [true, false])
    func unreadable(isRequired: Bool) async throws {
        let store = VanishingStore()
        let appStore = AppStore(store) { await store.vanish() }
        let freshness = Freshness(source: .appStore, maximumAge: 3_600_000, isRequired: isRequired)
        let reply = try await Self.ask(store, appStore, freshness) { $0.whenStoreFails = .receiptOnly }
        #expect(reply.status == (isRequired ? 21005 : 0))
        #expect(reply.reply.facts.ageMilliseconds == nil && reply.reply.facts.storeFailed)
    }

    @Test(
        "The clock may show anything",
        arguments: [Int64.min, -62_135_596_800_001, -1, 0, 1, 253_402_300_800_000, .max])
    func oddTimes(now: Int64) async throws {
        for kind in StoreKind.allCases {
            try await kind.withStore { store in
                _ = try await store.apply([Self.fact(Self.bob)])
                let appStore = AppStore(store, [Self.ada: Self.fact(Self.ada)], time: now)
                #expect(try await Self.ask(store, appStore, now: now).status == 0)
                let always = Freshness(source: .appStore, maximumAge: .max, isRequired: true)
                #expect(try await Self.ask(store, appStore, always, now: now).status == 0)
            }
        }
    }
}

/// A store without customers, until it cannot be read any more.
private actor VanishingStore: TransactionStore {
    private var isGone = false

    func vanish() { isGone = true }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        if isGone { throw TransactionStoreError(.unavailable, "as configured") }
        return nil
    }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts { AppliedFacts() }
    func hasProcessed(notificationUUID: String) async throws -> Bool { false }
    func counts() async throws -> StoreCounts {
        StoreCounts(
            transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
    }
    func checkReadiness() async throws {}
    func close() async throws {}
}
