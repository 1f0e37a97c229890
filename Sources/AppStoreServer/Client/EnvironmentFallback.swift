public import AppStoreModels

/// Finds the environment of a transaction: it queries production first, then the sandbox (Reference.md S1).
///
/// Purchases made through TestFlight and App Review are in the sandbox, even those of an app in production.
///
///     let found = try await apps.first { try await $0.getTransactionInfo("1000000831360853") }
///     found.environment // production or sandbox
public struct EnvironmentFallback: Sendable {
    /// Whether the app has a release in production. Until then, production answers 401 to every call.
    public enum ProductionRelease: Sendable, Hashable {
        /// The app is released: 401 means that the credentials are wrong, and the sandbox is not queried.
        case released
        /// The app is not released: after 401 from production, the sandbox is queried.
        case notReleased
        /// Unknown: after 401, the sandbox is queried, and its result is used. If the sandbox does not find the
        /// transaction, the error is the 401, because the transaction may be in production.
        case unknown
    }

    /// The result of a call and its environment.
    public struct Found<Value: Sendable>: Sendable {
        /// The result of the call.
        public let value: Value

        /// The environment that answered.
        public let environment: Environment
    }

    /// The client that is called first.
    public let production: AppStoreServerAPIClient

    /// The client that is called second.
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

    /// Calls production. If production does not find the transaction (4040010, 4040005), calls the sandbox.
    ///
    /// - Parameter call: a call of one endpoint. It may run twice.
    /// - Throws: the error of production, unless the sandbox fails for another reason than an unknown transaction; then the
    ///   error of the sandbox.
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
        // The same key is rejected twice, so the key is wrong.
        if sandbox.reason == .unauthorized { return production }
        return sandbox.isUnknownTransaction && productionRelease == .unknown ? production : sandbox
    }
}

extension AppStoreServerAPIError {
    /// Whether the environment does not know the transaction: 4040010, or 4040005 for an original transaction id in the
    /// path.
    public var isUnknownTransaction: Bool {
        code == .transactionIdNotFound || code == .originalTransactionIdNotFound
    }
}
