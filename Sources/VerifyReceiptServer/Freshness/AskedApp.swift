import AppStoreModels
import AppStoreServer
import Purchases
import TransactionStore

/// What asks the App Store about the customers of one app in one environment, and how it went lately.
struct AskedApp: Sendable {
    struct CustomerKey: Hashable {
        let scope: StoreScope
        let identity: CustomerIdentity
    }

    /// By original transaction id.
    typealias Answers = [String: RefreshMemory.Answer]
    typealias Work = SharedWork<CustomerKey, Answers>

    private let client: AppStoreServerAPIClient
    private let bundleID: String
    private let patience: Duration
    let breaker: CircuitBreaker
    /// The calls under way. Each app has its own, so that a server that hangs for one app holds no other up.
    let work = Work(
        maximum: AppStoreRefresher.maximumConcurrency, maximumCallers: AppStoreRefresher.maximumWaiting)
    /// Where it is asked; nil for Apple's server.
    let server: String?

    /// - Parameter patience: how long a request waits, and how long a call may take. A call that could not be sent within
    ///   half of it fails at once, so that requests do not queue up for turns that come too late.
    /// - Throws: `APIClientConfigurationError`
    init(
        _ credentials: AppStoreCredentials, _ environment: Environment, transport: any APITransport, patience: Duration,
        breaker: CircuitBreaker
    ) throws {
        bundleID = credentials.bundleID
        server = credentials.server(environment)
        self.patience = patience
        self.breaker = breaker
        client = try AppStoreServerAPIClient(
            key: credentials.key, bundleID: credentials.bundleID, environment: environment,
            configuration: APIClientConfiguration(
                baseURL: server, timeout: patience,
                rateBudgets: RateBudgets(maximumWait: patience / 2),
                retryPolicy: RetryPolicy(maximumRetryAfter: patience / 2)),
            transport: transport)
    }

    /// The App Store has not answered in time.
    struct TooSlow: Error, CustomStringConvertible { let description = "no answer in time" }

    /// What the App Store says about a customer; nil if it knows no such purchase. The breaker is told of the outcome.
    ///
    /// - Parameters:
    ///   - verifier: checks what comes back.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z, asked again when the answer is there.
    ///   - wallClock: the same for the breaker.
    /// - Throws: `AppStoreServerAPIError`, `SignedDataError`, ``TooSlow``, or `CancellationError` if the requests that
    ///   waited have left.
    func history(
        of originalTransactionId: String, _ verifier: SignedDataVerifier, clock: @escaping @Sendable () -> Int64,
        wallClock: @Sendable () -> Int64
    ) async throws -> CustomerHistory? {
        let reader = CustomerHistoryReader(client: client, verifier: verifier, bundleID: bundleID, clock: clock)
        let start = ContinuousClock.now
        do {
            let history = try await inTime { try await reader.history(of: originalTransactionId) }
            breaker.succeeded()
            return history
        } catch let error as AppStoreServerAPIError where error.isAnswer {
            breaker.succeeded()
            return nil
        } catch  where error is TooSlow || error is CancellationError {
            // A request that leaves early says nothing about the App Store; one that has waited does.
            let hasWaited = error is TooSlow || ContinuousClock.now - start >= patience / 2
            if hasWaited { breaker.failed(now: wallClock()) } else { breaker.learnedNothing() }
            throw error
        } catch {
            breaker.conclude(from: error, now: wallClock())
            throw error
        }
    }

    /// Runs calls that are cancelled where they take too long together.
    private func inTime<Value: Sendable>(_ calls: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await calls() }
            group.addTask { [patience] in
                try await Task.sleep(for: patience)
                throw TooSlow()
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}

extension AppStoreServerAPIError {
    /// Whether the App Store has answered the question: it knows no such transaction or account, or no transaction can
    /// have such an id (documents that people edited hold some).
    fileprivate var isAnswer: Bool {
        switch code {
        case .transactionIdNotFound?, .originalTransactionIdNotFound?, .accountNotFound?, .invalidTransactionId?: true
        default: false
        }
    }
}
