public import ReplyComparison
public import VerifyReceipt

/// The requests in shadow mode by outcome. Each submitted request ends in one of the other counters.
public struct ShadowCounters: Sendable, Hashable {
    public var submitted = 0
    /// Not among the submitted: requests that this server has forwarded itself and that came back to it.
    public var returned = 0
    /// Not forwarded: too many were waiting, or the server was stopping.
    public var dropped = 0
    /// Forwarded, and no reply that could be read came within the time: unreachable, HTTP status other than 200, too
    /// large, not JSON.
    public var failed = 0
    public var compared = 0
    /// Answered by the live service with a temporary failure of its own (21005, 21009, 21100 to 21199): nothing to compare
    /// with.
    public var incomparable = 0
    /// Still waiting when the shutdown's time was over.
    public var abandoned = 0
    /// Comparisons that were written to the record.
    public var recorded = 0
    /// Comparisons that should have been written and could not.
    public var recordFailures = 0

    public init() {}
}

/// The outcome of one comparison, for metrics.
public struct ComparisonSummary: Sendable, Hashable {
    public let environment: EndpointEnvironment
    /// `status` of the live service's reply; nil if it has none.
    public let appleStatus: Int64?
    public let ourStatus: Int
    public let counts: ParityCounts
    /// Whether a client would grant the same by both.
    public let entitlement: EntitlementComparison
}
