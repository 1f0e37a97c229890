internal import AppStoreModels
internal import AppStoreServer
internal import Purchases
internal import TransactionStore

/// Queries the App Store about the customers of one app in one environment, and tracks recent failures.
struct AppStoreClient: Sendable {
    struct CustomerKey: Hashable {
        let scope: StoreScope
        let identity: CustomerIdentity
    }

    typealias Work = SharedWork<CustomerKey, AppStoreAnswers>

    private let client: AppStoreServerAPIClient
    private let bundleID: String
    private let timeout: Duration
    let breaker: CircuitBreaker
    /// The calls in progress. Each app has its own, so a server that hangs for one app does not delay other apps.
    let work = Work(
        maximum: AppStoreRefresher.maximumConcurrency, maximumCallers: AppStoreRefresher.maximumWaiting)
    /// The address of the API; nil for Apple's.
    let server: String?

    /// - Parameters:
    ///   - credentials: the app and its key.
    ///   - environment: the environment to query.
    ///   - transport: sends the requests.
    ///   - timeout: how long a request waits, and how long a call may take. If the rate budget delays a call by more
    ///     than half of the timeout, the call fails at once, because its answer would come too late.
    ///   - breaker: gets the outcome of each call.
    ///   - budgets: the store through which programs share the rate limits; nil to share none.
    /// - Throws: `APIClientConfigurationError`
    init(
        _ credentials: AppStoreCredentials, _ environment: Environment, transport: any APITransport, timeout: Duration,
        breaker: CircuitBreaker, budgets: (any RequestBudgets)?
    ) throws {
        bundleID = credentials.bundleID
        server = credentials.server(environment)
        self.timeout = timeout
        self.breaker = breaker
        client = try AppStoreServerAPIClient(
            key: credentials.key, bundleID: credentials.bundleID, environment: environment,
            configuration: APIClientConfiguration(
                baseURL: server, timeout: timeout,
                rateBudgets: RateBudgets(maximumWait: timeout / 2),
                sharedBudget: budgets.map { store in
                    StoreRateBudget(
                        store, scope: StoreScope(environment: environment, bundleId: credentials.bundleID),
                        priority: .interactive)
                },
                retryPolicy: RetryPolicy(maximumRetryAfter: timeout / 2)),
            transport: transport)
    }

    /// The App Store did not answer in time.
    struct TooSlow: Error, CustomStringConvertible { let description = "no answer in time" }

    /// The App Store's data about a customer; nil if the App Store does not know the purchase. Reports the outcome to
    /// the breaker.
    ///
    /// - Parameters:
    ///   - originalTransactionId: a purchase of the customer.
    ///   - verifier: verifies the answer.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z, read again when the answer arrives.
    ///   - wallClock: the same for the breaker.
    /// - Throws: `AppStoreServerAPIError`, `SignedDataError`, ``TooSlow``, or `CancellationError` if no request waits
    ///   any longer.
    func history(
        of originalTransactionId: String, _ verifier: SignedDataVerifier, clock: @escaping @Sendable () -> Int64,
        wallClock: @Sendable () -> Int64
    ) async throws -> CustomerHistory? {
        let reader = CustomerHistoryReader(client: client, verifier: verifier, bundleID: bundleID, clock: clock)
        let start = ContinuousClock.now
        do {
            let history = try await within(timeout, else: TooSlow()) {
                try await reader.history(of: originalTransactionId)
            }
            breaker.succeeded()
            return history
        } catch let error as AppStoreServerAPIError where error.isUnknownPurchase {
            breaker.succeeded()
            return nil
        } catch  where error is TooSlow || error is CancellationError {
            // If all requests stop waiting early, the App Store may still be working. After half of the timeout, it
            // counts as too slow.
            let hasWaited = error is TooSlow || ContinuousClock.now - start >= timeout / 2
            guard hasWaited else {
                breaker.endedInconclusively()
                throw error
            }
            breaker.failed(now: wallClock())
            // The requests time out at the same time as the call. In either order, the App Store was too slow.
            throw TooSlow()
        } catch {
            breaker.conclude(from: error, now: wallClock())
            throw error
        }
    }
}

extension AppStoreServerAPIError {
    /// Whether the App Store answered that it knows no such transaction or account, or that no transaction can have this id.
    /// Edited documents contain invalid ids.
    var isUnknownPurchase: Bool {
        switch code {
        case .transactionIdNotFound?, .originalTransactionIdNotFound?, .accountNotFound?, .invalidTransactionId?: true
        default: false
        }
    }
}
