import AppStoreModels
public import AppStoreServer
public import Purchases
import Synchronization
public import TransactionStore
public import VerifyReceipt

/// Asks the App Store Server API about purchases whose stored state is too old, and puts the answers into the store.
///
/// An answer is about one Apple Account, and what it does not name is not known to be current: a customer with several
/// accounts is asked about as often. One call per customer is under way at a time, for as long as requests wait for it. A
/// circuit breaker per app and environment keeps requests from waiting while the App Store is away or too slow. No request
/// waits longer than ``patience``, and one that waits holds no slot of the server.
public final class AppStoreRefresher: CustomerRefreshing {
    /// How long a request waits for the App Store, and how long a call may take.
    public static let patience = Duration.seconds(5)
    /// How many customers of one app and environment may be asked about at the same time.
    public static let maximumConcurrency = 64
    /// How many requests of one app and environment may wait at the same time. Further ones are answered as if the App Store
    /// were away.
    public static let maximumWaiting = 256
    /// How many questions one request may lead to. What was answered is remembered, so the next request goes on from there;
    /// with a maximum age that is shorter than this takes, a customer about whom more has to be asked is never current.
    public static let maximumQuestions = 16
    /// How long, in milliseconds, the App Store's word that it does not know a purchase counts at most: it may learn of a new
    /// one a little later.
    public static let longestUnknown: Int64 = 60_000
    /// By how many identities a call under way can be found.
    private static let maximumKeys = 256

    private typealias Answers = AskedApp.Answers

    private let credentials: [String: AppStoreCredentials]
    private let verifier: SignedDataVerifier
    private let store: any TransactionStore
    private let clock: @Sendable () -> Int64
    /// For the circuit breaker: `Retry-After` counts by it, and ``clock`` may stand still in tests.
    private let wallClock: @Sendable () -> Int64
    private let onRefresh: @Sendable (RefreshOutcome) -> Void
    private let apps: AskedApps
    /// Those that this value has asked already: requests that are under way during a reload must not undo it.
    private let asked = Mutex<[StoreScope: AskedApp]>([:])

    /// - Parameters:
    ///   - credentials: the apps that may be asked about.
    ///   - verifier: checks what comes back.
    ///   - store: what the endpoint reads.
    ///   - transport: carries the requests.
    ///   - patience: how long a request waits.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    ///   - onRefresh: is told how each call ended.
    public convenience init(
        credentials: [AppStoreCredentials], verifier: SignedDataVerifier, store: any TransactionStore,
        transport: any APITransport, patience: Duration = AppStoreRefresher.patience,
        clock: @escaping @Sendable () -> Int64, onRefresh: @escaping @Sendable (RefreshOutcome) -> Void = { _ in }
    ) {
        self.init(
            credentials: credentials, verifier: verifier, store: store,
            apps: AskedApps(transport: transport, patience: patience), clock: clock, onRefresh: onRefresh)
    }

    /// - Parameters:
    ///   - apps: what is known of asking; may be of another refresher with another configuration.
    ///   - wallClock: the machine's time, where `clock` is another one.
    package init(
        credentials: [AppStoreCredentials], verifier: SignedDataVerifier, store: any TransactionStore, apps: AskedApps,
        clock: @escaping @Sendable () -> Int64, wallClock: (@Sendable () -> Int64)? = nil,
        onRefresh: @escaping @Sendable (RefreshOutcome) -> Void
    ) {
        self.wallClock = wallClock ?? clock
        self.credentials = Dictionary(credentials.map { ($0.bundleID, $0) }, uniquingKeysWith: { first, _ in first })
        self.verifier = verifier
        self.store = store
        self.apps = apps
        self.clock = clock
        self.onRefresh = onRefresh
    }

    public func refresh(
        originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> RefreshedPurchases {
        let deadline = ContinuousClock.now + apps.patience
        let others = originalTransactionIds.map { CustomerIdentity(.originalTransactionId, $0) } + identities
        var answers: Answers = [:]
        var questions = 0
        while let id = firstStale(originalTransactionIds, &answers, scope, notBefore) {
            guard questions < Self.maximumQuestions else { throw Unanswerable.tooMuch }
            questions += 1
            let app = try app(scope)
            guard !app.breaker.isOpen(now: wallClock()) else {
                onRefresh(.notAsked)
                throw Unanswerable.away
            }
            // A call that is under way for the customer may answer this too; if it does not, or began too early for this
            // request, the next turn of the loop finds out.
            let keys = ([CustomerIdentity(.originalTransactionId, id)] + others).prefix(Self.maximumKeys).map {
                AskedApp.CustomerKey(scope: scope, identity: $0)
            }
            let answered: Answers
            do {
                answered = try await WorkPlace.away { [self] in
                    try await app.work.value(for: keys, patience: deadline - .now) { [self] in
                        // Another request may have asked meanwhile.
                        if let answer = answer(id, scope), isCurrent(answer, notBefore) { return [id: answer] }
                        return try await ask(app, id, scope)
                    }
                }
            } catch  where error is WorkPlace.TooManyAway || error is AskedApp.Work.Full {
                onRefresh(.notAsked)
                throw error
            }
            answers.merge(answered) { $0.time > $1.time ? $0 : $1 }
        }
        return RefreshedPurchases(
            times: answers.filter { $0.value.isKnown }.mapValues { $0.time },
            unknown: Set(answers.filter { !$0.value.isKnown }.keys))
    }

    /// The first purchase about which the App Store was not asked lately enough, as far as `answers` and the memory tell.
    private func firstStale(
        _ ids: [String], _ answers: inout Answers, _ scope: StoreScope, _ notBefore: Int64
    ) -> String? {
        for id in ids {
            if let answer = answers[id], isCurrent(answer, notBefore) { continue }
            guard let answer = answer(id, scope), isCurrent(answer, notBefore) else { return id }
            answers[id] = answer
        }
        return nil
    }

    private func isCurrent(_ answer: RefreshMemory.Answer, _ notBefore: Int64) -> Bool {
        guard answer.time >= notBefore else { return false }
        return answer.isKnown || answer.time >= clock().subtractingSaturated(Self.longestUnknown)
    }

    private func ask(_ app: AskedApp, _ id: String, _ scope: StoreScope) async throws -> Answers {
        let time = clock()
        guard app.breaker.permit(now: wallClock()) == .go else {
            onRefresh(.notAsked)
            throw Unanswerable.away
        }
        let history: CustomerHistory?
        do { history = try await app.history(of: id, verifier, clock: clock, wallClock: wallClock) } catch {
            onRefresh(error is CancellationError ? .abandoned : .failed)
            throw error
        }
        let answer = RefreshMemory.Answer(time: time, isKnown: history != nil)
        var covered: Set<String> = [id]
        if let history {
            let facts = FactSet(
                scope: scope, source: .appStoreServerAPI, transactions: history.transactions,
                renewalInfos: history.renewalInfos)
            if !facts.identities.isEmpty { _ = try await store.apply([facts]) }
            covered.formUnion(facts.transactions.map(\.storedOriginalTransactionId))
            covered.formUnion(facts.renewalInfos.compactMap(\.payload.originalTransactionId))
        }
        apps.memory.note(covered, in: scope, of: app.server, answer)
        onRefresh(history == nil ? .nothingKnown : .refreshed)
        return Dictionary(covered.map { ($0, answer) }) { first, _ in first }
    }

    private func app(_ scope: StoreScope) throws -> AskedApp {
        guard [.production, .sandbox].contains(scope.environment) else { throw Unanswerable.environment }
        guard let credentials = credentials[scope.bundleId] else { throw Unanswerable.app }
        return try asked.withLock { asked in
            if let app = asked[scope] { return app }
            let app = try apps.app(credentials, scope.environment)
            asked[scope] = app
            return app
        }
    }

    /// What the App Store last answered about a purchase; nil if it is not remembered.
    private func answer(_ id: String, _ scope: StoreScope) -> RefreshMemory.Answer? {
        let server = credentials[scope.bundleId]?.server(scope.environment)
        return apps.memory.answer(id, in: scope, of: server, now: clock())
    }

    /// Why the App Store was not asked.
    enum Unanswerable: Error, CustomStringConvertible {
        case environment, app, away, tooMuch

        var description: String {
            switch self {
            case .environment: "it has no server for this environment"
            case .app: "there is no app-store-server key for this app"
            case .away: "it did not answer lately"
            case .tooMuch: "one request asks no more than \(AppStoreRefresher.maximumQuestions) questions"
            }
        }
    }
}

/// How asking the App Store ended, for metrics.
public enum RefreshOutcome: String, Sendable, CaseIterable {
    /// The store has what the App Store said.
    case refreshed
    /// The App Store does not know the transaction.
    case nothingKnown = "nothing_known"
    /// No answer, or one that is not good.
    case failed
    /// The requests that waited for the answer have left.
    case abandoned
    /// The circuit breaker kept the request back, or too many requests wait.
    case notAsked = "not_asked"
}
