import AppStoreModels
import AppStoreServer
import TransactionStore

/// What asks the App Store about the customers of one app in one environment, and how it went lately.
struct AskedApp: Sendable {
    let reader: CustomerHistoryReader
    let breaker = CircuitBreaker()

    /// - Parameters:
    ///   - patience: how long a request waits. A call that could not be sent within half of it fails at once, so that
    ///     requests do not queue up for turns that nobody waits for any more.
    ///   - clock: milliseconds since 1970-01-01T00:00:00Z.
    /// - Throws: `APIClientConfigurationError`
    init(
        _ credentials: AppStoreCredentials, _ environment: Environment, verifier: SignedDataVerifier,
        transport: any APITransport, patience: Duration, clock: @escaping @Sendable () -> Int64
    ) throws {
        let client = try AppStoreServerAPIClient(
            key: credentials.key, bundleID: credentials.bundleID, environment: environment,
            configuration: APIClientConfiguration(
                baseURL: environment == .production ? credentials.productionURL : credentials.sandboxURL,
                rateBudgets: RateBudgets(maximumWait: patience / 2),
                retryPolicy: RetryPolicy(maximumRetryAfter: patience / 2)),
            transport: transport)
        reader = CustomerHistoryReader(
            client: client, verifier: verifier, bundleID: credentials.bundleID, clock: clock)
    }

    /// What the App Store says about a customer; nil if it knows no such purchase. The breaker is told of the outcome.
    ///
    /// - Parameter now: milliseconds since 1970-01-01T00:00:00Z, asked again when the answer is there.
    /// - Throws: `AppStoreServerAPIError`, `SignedDataError`, `CancellationError`
    func history(of originalTransactionId: String, now: () -> Int64) async throws -> CustomerHistory? {
        do {
            let history = try await reader.history(of: originalTransactionId)
            breaker.succeeded()
            return history
        } catch let error as AppStoreServerAPIError where error.isAnswer {
            breaker.succeeded()
            return nil
        } catch {
            breaker.conclude(from: error, now: now())
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
