import AppStoreModels
public import AppStoreServer
import Synchronization
public import TransactionStore
public import VerifyReceipt

/// Asks the App Store Server API about customers whose stored state is too old, and puts the answers into the store.
///
/// One call per customer is under way at a time; a circuit breaker per environment keeps requests from waiting while the
/// App Store is away; nobody waits longer than ``patience``, while the call itself goes on and fills the store for the next
/// request.
public final class AppStoreRefresher: CustomerRefreshing {
    /// How long a request waits for the App Store.
    public static let patience = Duration.seconds(5)
    /// How many customers may be asked about at the same time.
    public static let maximumConcurrency = 256

    private struct ClientKey: Hashable {
        let bundleID: String
        let environment: Environment
    }

    private let credentials: [String: AppStoreCredentials]
    private let verifier: SignedDataVerifier
    private let store: any TransactionStore
    private let transport: any APITransport
    private let patience: Duration
    private let clock: @Sendable () -> Int64
    private let onRefresh: @Sendable (RefreshOutcome) -> Void
    private let readers = Mutex<[ClientKey: CustomerHistoryReader]>([:])
    private let breakers: [Environment: CircuitBreaker] = [.production: CircuitBreaker(), .sandbox: CircuitBreaker()]
    private let memory = RefreshMemory()
    private let work = SharedWork<RefreshMemory.Key, Int64>(maximum: AppStoreRefresher.maximumConcurrency)

    /// - Parameters:
    ///   - credentials: the apps that may be asked about.
    ///   - verifier: checks what comes back.
    ///   - store: what the endpoint reads.
    ///   - transport: carries the requests.
    ///   - patience: how long a request waits.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    ///   - onRefresh: is told how each call ended.
    public init(
        credentials: [AppStoreCredentials], verifier: SignedDataVerifier, store: any TransactionStore,
        transport: any APITransport, patience: Duration = AppStoreRefresher.patience,
        clock: @escaping @Sendable () -> Int64, onRefresh: @escaping @Sendable (RefreshOutcome) -> Void = { _ in }
    ) {
        self.credentials = Dictionary(credentials.map { ($0.bundleID, $0) }, uniquingKeysWith: { first, _ in first })
        self.verifier = verifier
        self.store = store
        self.transport = transport
        self.patience = patience
        self.clock = clock
        self.onRefresh = onRefresh
    }

    public func refresh(
        transactionId: String, identities: [CustomerIdentity], scope: StoreScope, notBefore: Int64
    ) async throws -> Int64 {
        if let time = memory.time(identities, in: scope), time >= notBefore { return time }
        guard let breaker = breakers[scope.environment] else { throw Unanswerable.environment }
        let reader = try reader(scope)
        let identity = identities.first ?? CustomerIdentity(.originalTransactionId, transactionId)
        let key = RefreshMemory.Key(scope: scope, identity: identity)
        return try await work.value(for: key, patience: patience) { [self] in
            // Whoever waited before may have done it meanwhile.
            if let time = memory.time(identities, in: scope), time >= notBefore { return time }
            guard breaker.permit(now: clock()) == .go else {
                onRefresh(.notAsked)
                throw Unanswerable.away
            }
            let time = try await ask(reader, transactionId, scope, breaker)
            memory.note(identities, in: scope, at: time)
            return time
        }
    }

    private func ask(
        _ reader: CustomerHistoryReader, _ transactionId: String, _ scope: StoreScope, _ breaker: CircuitBreaker
    ) async throws -> Int64 {
        let time = clock()
        let history: CustomerHistory
        do {
            history = try await reader.history(of: transactionId)
        } catch let error as AppStoreServerAPIError {
            guard error.isAnswer else {
                breaker.failed(now: clock(), until: error.retryAfter)
                onRefresh(.failed)
                throw error
            }
            // The App Store was asked and knows of nothing more.
            breaker.succeeded()
            onRefresh(.nothingKnown)
            return time
        } catch {
            breaker.failed(now: clock())
            onRefresh(.failed)
            throw error
        }
        breaker.succeeded()
        let facts = FactSet(
            scope: scope, source: .appStoreServerAPI, transactions: history.transactions,
            renewalInfos: history.renewalInfos)
        if !facts.identities.isEmpty { _ = try await store.apply([facts]) }
        onRefresh(.refreshed)
        return time
    }

    private func reader(_ scope: StoreScope) throws -> CustomerHistoryReader {
        let key = ClientKey(bundleID: scope.bundleId, environment: scope.environment)
        return try readers.withLock { readers in
            if let reader = readers[key] { return reader }
            guard let credentials = credentials[scope.bundleId] else { throw Unanswerable.app }
            let url = scope.environment == .production ? credentials.productionURL : credentials.sandboxURL
            let client = try AppStoreServerAPIClient(
                key: credentials.key, bundleID: credentials.bundleID, environment: scope.environment,
                configuration: APIClientConfiguration(baseURL: url), transport: transport)
            let reader = CustomerHistoryReader(
                client: client, verifier: verifier, bundleID: credentials.bundleID, clock: clock)
            readers[key] = reader
            return reader
        }
    }

    /// Why the App Store was not asked.
    enum Unanswerable: Error, CustomStringConvertible {
        case environment, app, away

        var description: String {
            switch self {
            case .environment: "it has no server for this environment"
            case .app: "there is no app-store-server key for this app"
            case .away: "it did not answer lately"
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

extension AppStoreServerAPIError {
    /// Whether the App Store has answered the question: it knows no such transaction, account or app.
    fileprivate var isAnswer: Bool {
        switch code {
        case .transactionIdNotFound?, .originalTransactionIdNotFound?, .accountNotFound?: true
        default: false
        }
    }
}
