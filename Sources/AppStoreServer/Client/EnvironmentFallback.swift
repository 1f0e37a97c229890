public import AppStoreModels

/// Finds out which environment a transaction belongs to: production is asked first, then the sandbox (Reference.md S1).
///
/// Purchases made through TestFlight and App Review are in the sandbox, even those of an app in production.
///
///     let found = try await apps.first { try await $0.getTransactionInfo("1000000831360853") }
///     found.environment // where it is
public struct EnvironmentFallback: Sendable {
    /// Whether the app has a release in production. Until it has, production answers 401 to every call.
    public enum ProductionRelease: Sendable, Hashable {
        /// It has: 401 means that the credentials are wrong, and the sandbox is not asked.
        case released
        /// It has not: 401 from production means to ask the sandbox.
        case notReleased
        /// Not known: after 401 the sandbox is asked, and what it finds is good. If it does not know the transaction either,
        /// the 401 is what went wrong, for the transaction may be in production.
        case unknown
    }

    /// What a call found, and where.
    public struct Found<Value: Sendable>: Sendable {
        /// The result of the call.
        public let value: Value

        /// The environment that answered.
        public let environment: Environment
    }

    /// The client that is asked first.
    public let production: AppStoreServerAPIClient

    /// The client that is asked next.
    public let sandbox: AppStoreServerAPIClient

    /// Whether the app has a release in production.
    public let productionRelease: ProductionRelease

    /// Two clients for the same app.
    public init(
        production: AppStoreServerAPIClient, sandbox: AppStoreServerAPIClient,
        productionRelease: ProductionRelease = .unknown
    ) {
        self.production = production
        self.sandbox = sandbox
        self.productionRelease = productionRelease
    }

    /// Calls production; if it does not know the transaction (4040010, 4040005), calls the sandbox.
    ///
    /// If the sandbox does not know it either, the transaction is unknown, and the error says so.
    /// - Parameter call: a call of one endpoint. It may run twice.
    /// - Throws: what `call` throws. If the sandbox was asked and fails for another reason than not knowing the transaction,
    ///   its error.
    public func first<Value: Sendable>(
        _ call: @Sendable (AppStoreServerAPIClient) async throws -> Value
    ) async throws -> Found<Value> {
        let refusal: AppStoreServerAPIError
        do {
            return Found(value: try await call(production), environment: production.environment)
        } catch let error as AppStoreServerAPIError where leadsToSandbox(error) {
            refusal = error
        }
        do {
            return Found(value: try await call(sandbox), environment: sandbox.environment)
        } catch let error as AppStoreServerAPIError {
            throw decide(production: refusal, sandbox: error)
        }
    }

    private func leadsToSandbox(_ error: AppStoreServerAPIError) -> Bool {
        error.isUnknownTransaction || error.reason == .unauthorized && productionRelease != .released
    }

    private func decide(
        production: AppStoreServerAPIError, sandbox: AppStoreServerAPIError
    ) -> AppStoreServerAPIError {
        guard production.reason == .unauthorized else { return sandbox }
        // The same key is refused twice: the key is wrong.
        if sandbox.reason == .unauthorized { return production }
        return sandbox.isUnknownTransaction && productionRelease == .unknown ? production : sandbox
    }
}

extension AppStoreServerAPIError {
    /// Whether the environment does not know the transaction: 4040010, or 4040005 where the path has an original one.
    public var isUnknownTransaction: Bool {
        code == .transactionIdNotFound || code == .originalTransactionIdNotFound
    }
}
