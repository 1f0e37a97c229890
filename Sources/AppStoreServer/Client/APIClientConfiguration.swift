/// How an ``AppStoreServerAPIClient`` works. The default suits Apple's servers.
public struct APIClientConfiguration: Sendable {
    /// The server, for example `http://127.0.0.1:8080`; nil for Apple's server of the client's environment.
    public var baseURL: String?

    /// How long one attempt may take, until the last byte of the answer. Apple's own libraries wait 30 seconds.
    public var timeout: Duration

    /// The largest answer, in bytes. A page of 20 transactions has about 150 KiB, and each subscription of a status
    /// answer about 15 KiB. Apple's own Swift library accepts 1 MiB. The default of 4 MiB is enough for a customer with
    /// hundreds of subscriptions.
    public var maximumResponseSize: Int

    /// The header field `User-Agent`.
    public var userAgent: String

    /// The rate limit of each endpoint.
    public var rateBudgets: RateBudgets

    /// The rate limits that this client shares with other programs, in addition to ``rateBudgets``; nil if it shares none.
    /// While it cannot be reached, the client keeps to half of its own budgets.
    public var sharedBudget: (any SharedRateBudget)?

    /// When a request is sent again.
    public var retryPolicy: RetryPolicy

    /// The source of the current time.
    public var clock: ServerClock

    /// Called after each attempt, for logs and metrics. It runs in the task of the call, so it must be fast.
    public var observer: (@Sendable (APIAttempt) -> Void)?

    /// Called when the rate of an endpoint changes, which only adaptive ``rateBudgets`` do. It runs in the task of a call, so
    /// it must be fast.
    public var rateObserver: (@Sendable (APIRateChange) -> Void)?

    /// A configuration with these values.
    public init(
        baseURL: String? = nil,
        timeout: Duration = .seconds(30),
        maximumResponseSize: Int = 4 << 20,
        userAgent: String = "legacy-receipts",
        rateBudgets: RateBudgets = .apple,
        sharedBudget: (any SharedRateBudget)? = nil,
        retryPolicy: RetryPolicy = RetryPolicy(),
        clock: ServerClock = .system,
        observer: (@Sendable (APIAttempt) -> Void)? = nil,
        rateObserver: (@Sendable (APIRateChange) -> Void)? = nil
    ) {
        self.baseURL = baseURL
        self.timeout = timeout
        self.maximumResponseSize = maximumResponseSize
        self.userAgent = userAgent
        self.rateBudgets = rateBudgets
        self.sharedBudget = sharedBudget
        self.retryPolicy = retryPolicy
        self.clock = clock
        self.observer = observer
        self.rateObserver = rateObserver
    }
}

/// One request that was sent, and its result. Contains no data about the customer.
public struct APIAttempt: Sendable {
    /// The endpoint.
    public let endpoint: APIEndpoint

    /// The number of the attempt within the call, from 1.
    public let number: Int

    /// The duration of the attempt.
    public let duration: Duration

    /// The error; nil for success.
    public let error: AppStoreServerAPIError?

    /// The wait before the next attempt; nil if there is none.
    public let retryDelay: Duration?
}

/// Why a client cannot be created.
public enum APIClientConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Apple has no server for the environment, and no base URL was given. Set a base URL or use another environment.
    case noServer(String)
    /// The base URL is not `http://` or `https://` with a host, or it has a query or a fragment. Correct it.
    case invalidBaseURL

    /// Two errors of the same kind are equal. Environments are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    private var kind: Int {
        switch self {
        case .noServer: 0
        case .invalidBaseURL: 1
        }
    }

    /// One sentence for a person.
    public var description: String {
        switch self {
        case .noServer(let environment):
            "Apple has no server for the environment \(environment); give a base URL or another environment."
        case .invalidBaseURL: "The base URL must be http:// or https:// with a host, without query and fragment."
        }
    }
}
