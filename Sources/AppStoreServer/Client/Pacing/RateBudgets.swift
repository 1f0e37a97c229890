public import AppStoreModels

/// The rate of calls to each endpoint.
///
/// Apple limits the requests per second for each endpoint and app, counts them by the hour, and allows a tenth in the sandbox
/// (Reference.md S2). The budgets stay below these limits to avoid 429.
public struct RateBudgets: Sendable, Hashable {
    /// Whether rate budgets apply. If not, the client waits only after a 429 from Apple.
    public var isEnabled: Bool

    /// The share of Apple's rates for this client, more than 0 and at most 1. Several processes that call the API for
    /// the same app share Apple's limit: give each a part, or a ``SharedRateBudget``.
    public var share: Double

    /// Requests per second for endpoints with a different limit, in any environment. `share` applies to them too.
    public var overrides: [APIEndpoint: Double]

    /// The longest time that a call waits for its turn; nil for no limit. A call that would wait longer fails at once
    /// with ``AppStoreServerAPIError/Reason/rateBudgetExhausted``.
    public var maximumWait: Duration?

    /// Whether a 429 lowers the rate of its endpoint. It halves the rate, but not below one request per second. After each
    /// minute without a 429, the rate rises by a tenth of the budget, up to the budget. This is for long runs: they then
    /// continue at a rate that Apple accepts, also with programs that share no budget with them. Apple's `Retry-After`
    /// applies in any case.
    public var isAdaptive: Bool

    /// Budgets based on Apple's rates.
    public init(
        isEnabled: Bool = true, share: Double = 1, overrides: [APIEndpoint: Double] = [:],
        maximumWait: Duration? = nil, isAdaptive: Bool = false
    ) {
        self.isEnabled = isEnabled
        self.share = share
        self.overrides = overrides
        self.maximumWait = maximumWait
        self.isAdaptive = isAdaptive
    }

    /// Apple's rates, for one process.
    public static let apple = RateBudgets()

    /// No budgets, for servers other than Apple's.
    public static let unlimited = RateBudgets(isEnabled: false)

    /// Requests per second; nil for no limit. Environments without a server of Apple's have no limits.
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

/// A rate that changed while the client was running (``RateBudgets/isAdaptive``).
public struct APIRateChange: Sendable, Hashable {
    /// The endpoint.
    public let endpoint: APIEndpoint
    /// The environment of the client.
    public let environment: Environment
    /// The requests per second from now on.
    public let requestsPerSecond: Double
    /// The budget, in requests per second, which the rate reaches again step by step.
    public let limit: Double
}
