public import AppStoreModels

/// The rate of calls to each endpoint.
///
/// Apple limits the requests per second for each endpoint and app, counts them by the hour, and allows a tenth in the sandbox
/// (Reference.md S2). The budgets stay below these limits to avoid 429.
public struct RateBudgets: Sendable, Hashable {
    /// Whether there are any; without, only Apple's answer 429 makes the client wait.
    public var isEnabled: Bool

    /// The share of Apple's rates that this client takes, more than 0 and at most 1. Several processes that call the API for
    /// the same app share one budget at Apple's: give each its part.
    public var share: Double

    /// Requests per second for endpoints with another limit, in any environment. `share` applies to them too.
    public var overrides: [APIEndpoint: Double]

    /// The longest time that a call waits for its turn; nil for any. A call that would wait longer fails at once with
    /// ``AppStoreServerAPIError/Reason/rateBudgetExhausted``.
    public var maximumWait: Duration?

    /// Budgets by Apple's rates.
    public init(
        isEnabled: Bool = true, share: Double = 1, overrides: [APIEndpoint: Double] = [:], maximumWait: Duration? = nil
    ) {
        self.isEnabled = isEnabled
        self.share = share
        self.overrides = overrides
        self.maximumWait = maximumWait
    }

    /// Apple's rates, for one process.
    public static let apple = RateBudgets()

    /// No budgets: for a server that is not Apple's.
    public static let unlimited = RateBudgets(isEnabled: false)

    /// Requests a second; nil for as many as one likes. Environments that are not Apple's servers have no rates.
    public func requestsPerSecond(for endpoint: APIEndpoint, in environment: Environment) -> Double? {
        guard isEnabled else { return nil }
        let share = min(max(self.share, 0.000_1), 1)
        if let rate = overrides[endpoint] { return rate > 0 ? rate * share : nil }
        switch environment {
        case .production: return endpoint.productionRequestsPerSecond * share
        case .sandbox: return endpoint.productionRequestsPerSecond * share / 10
        default: return nil
        }
    }
}
