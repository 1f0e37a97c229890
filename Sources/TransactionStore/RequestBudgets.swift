internal import AppStoreModels
public import Purchases

/// Shares the rate limits of the App Store Server API between all programs that use one store. Every engine implements it.
///
/// A program takes a few permits at once, so that it does not write to the database for each request. It uses them
/// within a short time, or loses them. The budget refills over time, so that the permits of a killed program return.
public protocol RequestBudgets: Sendable {
    /// Takes permits from a budget, in one database transaction. ``RequestBucket`` has the rule.
    ///
    /// The clock is the store's: that of the database server, or of the machine that has the file.
    /// - Parameters:
    ///   - count: the number of permits that the caller can use now. It may get fewer.
    ///   - budget: the budget. All programs must state the same interval and burst.
    /// - Throws: ``TransactionStoreError``; `invalidArgument` if ``RequestBudget/check()`` fails.
    func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits
}

/// The budget of requests to one endpoint for one app in one environment.
public struct RequestBudget: Hashable, Sendable {
    /// The app and the environment.
    public let scope: StoreScope
    /// The name of the endpoint: 1 to 256 characters of printable ASCII.
    public let endpoint: String
    /// The time in which the budget for one request becomes available, in microseconds, from 1.
    public let interval: Int64
    /// The number of permits in a full budget, from 1.
    public let burst: Int
    /// The number of permits that the caller leaves for more urgent callers: 0 to `burst - 1`.
    public let reserve: Int

    /// The longest interval, in microseconds: eleven days.
    private static let longestInterval: Int64 = 1_000_000_000_000
    private static let largestBurst = 1_000_000

    /// A budget. Numbers outside of their range are clamped.
    public init(scope: StoreScope, endpoint: String, interval: Int64, burst: Int, reserve: Int = 0) {
        self.scope = scope
        self.endpoint = endpoint
        self.interval = max(1, min(interval, Self.longestInterval))
        self.burst = max(1, min(burst, Self.largestBurst))
        self.reserve = max(0, min(reserve, self.burst - 1))
    }

    /// - Throws: ``TransactionStoreError`` `invalidArgument` for an endpoint without a valid name.
    public func check() throws {
        guard !endpoint.isEmpty, CustomerIdentity.isPlain(endpoint) else {
            throw TransactionStoreError(
                .invalidArgument,
                "The name of an endpoint has 1 to \(CustomerIdentity.maximumLength) characters of printable ASCII.")
        }
    }
}

/// The answer to ``RequestBudgets/takePermits(_:of:)``.
public struct RequestPermits: Hashable, Sendable {
    /// The number of requests that the caller may send.
    public let count: Int
    /// If there are none: the time after which one is available, in microseconds. Another caller may take it.
    public let wait: Int64

    /// Permits that an engine grants.
    public init(count: Int, wait: Int64) {
        self.count = count
        self.wait = wait
    }
}

/// The state of a budget, and the rule that grants permits: a token bucket, stored as a single point in time (the generic cell
/// rate algorithm). Engines store ``fullAt``; a budget without a row is full.
public struct RequestBucket: Sendable {
    /// When the bucket is full again if no permits are taken, in microseconds since 1970-01-01T00:00:00Z.
    public private(set) var fullAt: Int64
    /// Whether the engine has to store ``fullAt``.
    public private(set) var hasChanged = false

    /// - Parameter fullAt: the stored value; any value for a full bucket that was never used, such as 0.
    public init(fullAt: Int64) { self.fullAt = fullAt }

    /// Takes at most `count` permits, as many as there are without the reserve.
    /// - Parameters:
    ///   - count: the number of permits that the caller wants.
    ///   - budget: the budget of the bucket.
    ///   - now: microseconds since 1970-01-01T00:00:00Z, by the store's clock.
    public mutating func take(_ count: Int, of budget: RequestBudget, now: Int64) -> RequestPermits {
        let capacity = Int64(budget.burst) * budget.interval
        let (empty, isTooLate) = now.addingReportingOverflow(capacity)
        // A later time results from a clock that was set back: the bucket is empty, and fills again from now on.
        let full = min(max(fullAt, now), isTooLate ? .max : empty)
        if full < fullAt { hasChanged = true }
        let filled = (isTooLate ? Int64.max : empty) - full
        let available = Int(filled / budget.interval) - budget.reserve
        let granted = max(0, min(count, available))
        if granted > 0 { hasChanged = true }
        fullAt = full + Int64(granted) * budget.interval
        let missing = Int64(budget.reserve + 1) * budget.interval - filled
        return RequestPermits(count: granted, wait: granted > 0 ? 0 : max(0, missing))
    }
}
