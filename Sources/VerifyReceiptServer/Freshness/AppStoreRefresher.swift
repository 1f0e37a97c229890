import AppStoreModels
public import AppStoreServer
import Synchronization
public import TransactionStore
public import VerifyReceipt

/// Asks the App Store Server API about purchases whose stored state is too old, and puts the answers into the store.
///
/// An answer is about one Apple Account, and what it does not name is not known to be current: a customer with several
/// accounts is asked about as often. One call per customer is under way at a time; a circuit breaker per app and environment
/// keeps requests from waiting while the App Store is away; nobody waits longer than ``patience``, while the call itself goes
/// on and fills the store for the next request.
public final class AppStoreRefresher: CustomerRefreshing {
    /// How long a request waits for the App Store.
    public static let patience = Duration.seconds(5)
    /// How many customers may be asked about at the same time.
    public static let maximumConcurrency = 256
    /// How many questions one request may lead to. What was answered is remembered, so the next request goes on from there;
    /// with a maximum age that is shorter than this takes, a customer about whom more has to be asked is never current.
    public static let maximumQuestions = 16
    /// By how many identities a call under way can be found.
    private static let maximumKeys = 256

    private struct CustomerKey: Hashable {
        let scope: StoreScope
        let identity: CustomerIdentity
    }

    /// When the App Store was asked, by original transaction id; milliseconds.
    private typealias Times = [String: Int64]

    private let credentials: [String: AppStoreCredentials]
    private let verifier: SignedDataVerifier
    private let store: any TransactionStore
    private let clock: @Sendable () -> Int64
    private let onRefresh: @Sendable (RefreshOutcome) -> Void
    private let apps: AskedApps
    /// Those that this value has asked already: requests that are under way during a reload must not undo it.
    private let asked = Mutex<[StoreScope: AskedApp]>([:])
    private let work = SharedWork<CustomerKey, Times>(maximum: AppStoreRefresher.maximumConcurrency)

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

    /// - Parameter apps: what is known of asking; may be of another refresher with another configuration.
    package init(
        credentials: [AppStoreCredentials], verifier: SignedDataVerifier, store: any TransactionStore, apps: AskedApps,
        clock: @escaping @Sendable () -> Int64, onRefresh: @escaping @Sendable (RefreshOutcome) -> Void
    ) {
        self.credentials = Dictionary(credentials.map { ($0.bundleID, $0) }, uniquingKeysWith: { first, _ in first })
        self.verifier = verifier
        self.store = store
        self.apps = apps
        self.clock = clock
        self.onRefresh = onRefresh
    }

    public func refresh(
        originalTransactionIds: [String], identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> [String: Int64] {
        let deadline = ContinuousClock.now + apps.patience
        let others = originalTransactionIds.map { CustomerIdentity(.originalTransactionId, $0) } + identities
        var times: Times = [:]
        var questions = 0
        while let id = firstStale(originalTransactionIds, &times, scope, notBefore) {
            guard questions < Self.maximumQuestions else { throw Unanswerable.tooMuch }
            questions += 1
            let app = try app(scope)
            // A call that is under way for the customer may answer this too; if it does not, or began too early for this
            // request, the next turn of the loop finds out.
            let keys = ([CustomerIdentity(.originalTransactionId, id)] + others).prefix(Self.maximumKeys)
            let answered = try await work.value(
                for: keys.map { CustomerKey(scope: scope, identity: $0) }, patience: deadline - .now
            ) { [self] in
                // Whoever waited before may have done it meanwhile.
                if let time = time(id, scope), time >= notBefore { return [id: time] }
                return try await ask(app, id, scope)
            }
            times.merge(answered, uniquingKeysWith: max)
        }
        return times
    }

    /// The first purchase about which the App Store was not asked lately enough, as far as `times` and the memory tell.
    private func firstStale(
        _ ids: [String], _ times: inout Times, _ scope: StoreScope, _ notBefore: Int64
    ) -> String? {
        for id in ids {
            if let time = times[id], time >= notBefore { continue }
            guard let time = time(id, scope), time >= notBefore else { return id }
            times[id] = time
        }
        return nil
    }

    private func ask(_ app: AskedApp, _ id: String, _ scope: StoreScope) async throws -> Times {
        let time = clock()
        guard app.breaker.permit(now: time) == .go else {
            onRefresh(.notAsked)
            throw Unanswerable.away
        }
        let history: CustomerHistory?
        do { history = try await app.history(of: id, verifier, clock: clock) } catch {
            onRefresh(.failed)
            throw error
        }
        // Where it knows of nothing, it was asked about this purchase all the same.
        var covered: Set<String> = [id]
        if let history {
            let facts = FactSet(
                scope: scope, source: .appStoreServerAPI, transactions: history.transactions,
                renewalInfos: history.renewalInfos)
            if !facts.identities.isEmpty { _ = try await store.apply([facts]) }
            covered.formUnion(facts.transactions.map(\.storedOriginalTransactionId))
            covered.formUnion(facts.renewalInfos.compactMap(\.payload.originalTransactionId))
        }
        apps.memory.note(covered, in: scope, of: app.server, at: time)
        onRefresh(history == nil ? .nothingKnown : .refreshed)
        return Dictionary(covered.map { ($0, time) }, uniquingKeysWith: max)
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

    /// When the App Store was last asked about a purchase, in milliseconds; nil if it is not known.
    private func time(_ id: String, _ scope: StoreScope) -> Int64? {
        let server = credentials[scope.bundleId]?.server(scope.environment)
        return apps.memory.time(id, in: scope, of: server, now: clock())
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
    /// The circuit breaker kept the request back.
    case notAsked = "not_asked"
}
