internal import AppStoreModels
public import AppStoreServer
public import Purchases
internal import Synchronization
public import TransactionStore

/// The App Store's answers, by original transaction id.
public typealias AppStoreAnswers = [String: AppStoreAnswer]

/// Queries the App Store Server API about purchases whose stored state is too old, and stores the answers.
///
/// One answer covers one Apple Account. If a customer's purchases belong to several Apple Accounts, each account is queried.
/// Only one call per customer is in progress at a time. The call is cancelled when no request waits for it any longer. A
/// circuit breaker per app and environment fails requests at once while the App Store does not answer. No request waits
/// longer than the timeout.
public final class AppStoreRefresher: Sendable {
    /// The default timeout: how long a request waits for the App Store, and how long a call may take.
    public static let defaultTimeout = Duration.seconds(5)
    /// Calls at the same time per app and environment.
    public static let maximumConcurrency = 64
    /// Waiting requests at the same time per app and environment. Further requests fail at once.
    public static let maximumWaiting = 256
    /// Calls per request. Answers are cached, so the next request continues from there.
    public static let maximumCalls = 16
    /// The maximum time, in milliseconds, to cache the answer that the App Store does not know a purchase. A new purchase
    /// may reach the API a little later.
    public static let longestUnknown: Int64 = 60_000
    /// The maximum number of identities by which other requests can find a call in progress.
    private static let maximumKeys = 256

    /// Runs `wait` for a request that waits for the App Store. Meanwhile a server can give the request's slot to another
    /// request, or cancel the wait. It can also throw ``RefreshError/tooManyWaiting`` instead of waiting.
    package typealias Waiting =
        @Sendable (_ wait: @escaping @Sendable () async throws -> AppStoreAnswers) async throws -> AppStoreAnswers

    private let credentials: [String: AppStoreCredentials]
    private let verifier: SignedDataVerifier
    private let store: any TransactionStore
    private let clock: @Sendable () -> Int64
    /// For the circuit breaker: `Retry-After` uses the machine's time, and ``clock`` may stand still in tests.
    private let wallClock: @Sendable () -> Int64
    private let waiting: Waiting
    private let onRefresh: @Sendable (RefreshOutcome) -> Void
    private let pool: AppStoreClientPool
    /// The clients that this refresher has used. Requests in progress during a reload keep them, so an old key does not return
    /// to the pool.
    private let clients = Mutex<[StoreScope: AppStoreClient]>([:])

    /// - Parameters:
    ///   - credentials: a key for each app that is queried.
    ///   - verifier: verifies the answers.
    ///   - store: receives the answers. If it is a `RequestBudgets`, the refresher shares the rate limits with the other
    ///     programs that use it.
    ///   - transport: sends the requests.
    ///   - timeout: how long a request waits.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    ///   - onRefresh: called with the outcome of each call.
    public convenience init(
        credentials: [AppStoreCredentials], verifier: SignedDataVerifier, store: any TransactionStore,
        transport: any APITransport, timeout: Duration = AppStoreRefresher.defaultTimeout,
        clock: @escaping @Sendable () -> Int64, onRefresh: @escaping @Sendable (RefreshOutcome) -> Void = { _ in }
    ) {
        self.init(
            credentials: credentials, verifier: verifier, store: store,
            pool: AppStoreClientPool(
                transport: transport, timeout: timeout, budgets: store as? any RequestBudgets), clock: clock,
            onRefresh: onRefresh)
    }

    /// - Parameters:
    ///   - credentials: the apps to query, with their keys.
    ///   - verifier: verifies the answers.
    ///   - store: stores the answers.
    ///   - pool: clients and cached answers; refreshers with other configurations may share it.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    ///   - wallClock: the machine's time, if `clock` is another one.
    ///   - waiting: runs each wait.
    ///   - onRefresh: gets the outcome of each refresh.
    package init(
        credentials: [AppStoreCredentials], verifier: SignedDataVerifier, store: any TransactionStore,
        pool: AppStoreClientPool, clock: @escaping @Sendable () -> Int64, wallClock: (@Sendable () -> Int64)? = nil,
        waiting: @escaping Waiting = { try await $0() }, onRefresh: @escaping @Sendable (RefreshOutcome) -> Void
    ) {
        self.wallClock = wallClock ?? clock
        self.credentials = Dictionary(credentials.map { ($0.bundleID, $0) }, uniquingKeysWith: { first, _ in first })
        self.verifier = verifier
        self.store = store
        self.pool = pool
        self.clock = clock
        self.waiting = waiting
        self.onRefresh = onRefresh
    }

    /// Queries the App Store about purchases, except those with an answer at `notBefore` or later, and stores the answers.
    ///
    /// - Parameters:
    ///   - originalTransactionIds: the purchases, each once.
    ///   - identities: the customer's other identities.
    ///   - scope: the app and the environment.
    ///   - notBefore: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: an answer for each purchase, and for other purchases that the same calls covered.
    /// - Throws: ``RefreshError``, `AppStoreServerAPIError`, `SignedDataError`, `TransactionStoreError`, or `CancellationError`.
    ///   No description contains a JWS.
    public func answers(
        about originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> AppStoreAnswers {
        let deadline = ContinuousClock.now + pool.timeout
        let others = originalTransactionIds.map { CustomerIdentity(.originalTransactionId, $0) } + identities
        var answers: AppStoreAnswers = [:]
        var calls = 0
        while let id = firstStale(originalTransactionIds, &answers, scope, notBefore) {
            guard calls < Self.maximumCalls else { throw RefreshError.tooManyCalls }
            calls += 1
            let client = try client(scope)
            guard !client.breaker.isOpen(now: wallClock()) else {
                onRefresh(.notQueried)
                throw RefreshError.unreachable
            }
            // A call in progress for the customer may cover this purchase too. If not, or if the call began before
            // `notBefore`, the loop repeats.
            let keys = ([CustomerIdentity(.originalTransactionId, id)] + others).prefix(Self.maximumKeys).map {
                AppStoreClient.CustomerKey(scope: scope, identity: $0)
            }
            let answered: AppStoreAnswers
            do {
                answered = try await waiting { [self] in
                    try await client.work.value(for: keys, timeout: deadline - .now) { [self] in
                        // Another request may have received the answer meanwhile.
                        if let answer = answer(id, scope), isCurrent(answer, notBefore) { return [id: answer] }
                        return try await ask(client, id, scope)
                    }
                }
            } catch  where error is AppStoreClient.Work.Full || error as? RefreshError == .tooManyWaiting {
                onRefresh(.notQueried)
                throw error
            }
            answers.merge(answered) { $0.time > $1.time ? $0 : $1 }
        }
        return answers
    }

    /// The first purchase without a current answer in `answers` or in the memory.
    private func firstStale(
        _ ids: [String], _ answers: inout AppStoreAnswers, _ scope: StoreScope, _ notBefore: Int64
    ) -> String? {
        for id in ids {
            if let answer = answers[id], isCurrent(answer, notBefore) { continue }
            guard let answer = answer(id, scope), isCurrent(answer, notBefore) else { return id }
            answers[id] = answer
        }
        return nil
    }

    private func isCurrent(_ answer: AppStoreAnswer, _ notBefore: Int64) -> Bool {
        guard answer.time >= notBefore else { return false }
        return answer.isKnown || answer.time >= clock().subtractingSaturated(Self.longestUnknown)
    }

    private func ask(_ client: AppStoreClient, _ id: String, _ scope: StoreScope) async throws -> AppStoreAnswers {
        let time = clock()
        guard client.breaker.permit(now: wallClock()) == .go else {
            onRefresh(.notQueried)
            throw RefreshError.unreachable
        }
        let history: CustomerHistory?
        do { history = try await client.history(of: id, verifier, clock: clock, wallClock: wallClock) } catch {
            onRefresh(error is CancellationError ? .abandoned : .failed)
            throw error
        }
        let answer = AppStoreAnswer(time: time, isKnown: history != nil)
        var covered: Set<String> = [id]
        if let history {
            let facts = FactSet(
                scope: scope, source: .appStoreServerAPI, transactions: history.transactions,
                renewalInfos: history.renewalInfos)
            if !facts.identities.isEmpty { _ = try await store.apply([facts]) }
            covered.formUnion(facts.transactions.map(\.storedOriginalTransactionId))
            covered.formUnion(facts.renewalInfos.compactMap(\.payload.originalTransactionId))
        }
        pool.memory.note(covered, in: scope, of: client.server, answer)
        onRefresh(history == nil ? .nothingKnown : .refreshed)
        return Dictionary(covered.map { ($0, answer) }) { first, _ in first }
    }

    private func client(_ scope: StoreScope) throws -> AppStoreClient {
        guard [.production, .sandbox].contains(scope.environment) else { throw RefreshError.noServer }
        guard let credentials = credentials[scope.bundleId] else { throw RefreshError.notConfigured }
        return try clients.withLock { clients in
            if let client = clients[scope] { return client }
            let client = try pool.client(credentials, scope.environment)
            clients[scope] = client
            return client
        }
    }

    /// The App Store's last answer about a purchase; nil if the memory has none.
    private func answer(_ id: String, _ scope: StoreScope) -> AppStoreAnswer? {
        let server = credentials[scope.bundleId]?.server(scope.environment)
        return pool.memory.answer(id, in: scope, of: server, now: clock())
    }
}

/// Why no request was sent to the App Store.
public enum RefreshError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The App Store has no server for the environment of the purchase, for example Xcode. Use the stored data.
    case noServer
    /// No key is configured for the app. Add one to the credentials.
    case notConfigured
    /// The circuit breaker is open after failures or a `Retry-After`. It retries by itself: use the stored data until then.
    case unreachable
    /// The request needed more than ``AppStoreRefresher/maximumCalls`` calls. Repeat the request: it continues from
    /// there.
    case tooManyCalls
    /// Too many requests are waiting for the App Store. Try again later.
    case tooManyWaiting

    public var description: String {
        switch self {
        case .noServer: "it has no server for this environment"
        case .notConfigured: "the app has no app-store-server key"
        case .unreachable: "it has not answered recently"
        case .tooManyCalls: "one request may make at most \(AppStoreRefresher.maximumCalls) calls"
        case .tooManyWaiting: "too many requests are waiting"
        }
    }
}

/// How a query to the App Store ended, for metrics.
public enum RefreshOutcome: String, Sendable, CaseIterable {
    /// The answer is in the store.
    case refreshed
    /// The App Store does not know the transaction.
    case nothingKnown = "nothing_known"
    /// The App Store did not answer, or the answer cannot be used.
    case failed
    /// No request waited for the answer any longer.
    case abandoned
    /// The circuit breaker was open, or too many requests were waiting.
    case notQueried = "not_queried"
}
