import AppStoreModels
import AppStoreServer
import TransactionStore

/// What asks the App Store about the customers of one app in one environment, and how it went lately.
struct AskedApp: Sendable {
    private let client: AppStoreServerAPIClient
    private let bundleID: String
    let breaker: CircuitBreaker
    /// Where it is asked; nil for Apple's server.
    let server: String?

    /// - Parameter patience: how long a request waits. A call that could not be sent within half of it fails at once, so
    ///   that requests do not queue up for turns that nobody waits for any more.
    /// - Throws: `APIClientConfigurationError`
    init(
        _ credentials: AppStoreCredentials, _ environment: Environment, transport: any APITransport, patience: Duration,
        breaker: CircuitBreaker
    ) throws {
        bundleID = credentials.bundleID
        server = credentials.server(environment)
        self.breaker = breaker
        client = try AppStoreServerAPIClient(
            key: credentials.key, bundleID: credentials.bundleID, environment: environment,
            configuration: APIClientConfiguration(
                baseURL: server,
                rateBudgets: RateBudgets(maximumWait: patience / 2),
                retryPolicy: RetryPolicy(maximumRetryAfter: patience / 2)),
            transport: transport)
    }

    /// What the App Store says about a customer; nil if it knows no such purchase. The breaker is told of the outcome.
    ///
    /// - Parameters:
    ///   - verifier: checks what comes back.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z, asked again when the answer is there.
    /// - Throws: `AppStoreServerAPIError`, `SignedDataError`, `CancellationError`
    func history(
        of originalTransactionId: String, _ verifier: SignedDataVerifier, clock: @escaping @Sendable () -> Int64
    ) async throws -> CustomerHistory? {
        let reader = CustomerHistoryReader(client: client, verifier: verifier, bundleID: bundleID, clock: clock)
        do {
            let history = try await reader.history(of: originalTransactionId)
            breaker.succeeded()
            return history
        } catch let error as AppStoreServerAPIError where error.isAnswer {
            breaker.succeeded()
            return nil
        } catch {
            breaker.conclude(from: error, now: clock())
            throw error
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
