public import ReplyComparison
public import VerifyReceipt

/// The requests in shadow mode by outcome. Each submitted request ends in one of the other counters.
public struct ShadowCounters: Sendable, Hashable {
    /// Requests whose reply of this server was handed over for a comparison.
    public var submitted = 0
    /// Requests that this server forwarded itself and that came back to it. Not counted as submitted.
    public var returned = 0
    /// Not forwarded: too many were waiting, or the server was stopping.
    public var dropped = 0
    /// Forwarded without a readable reply in time: unreachable, HTTP status other than 200, too large, or not JSON.
    public var failed = 0
    /// Requests with two comparable replies, whether the replies agree or not. ``ComparisonSummary`` has the result of
    /// each.
    public var compared = 0
    /// The live service answered with a temporary failure (21005, 21009, 21100 to 21199), so there is nothing to
    /// compare.
    public var incomparable = 0
    /// Still waiting at the end of the shutdown.
    public var abandoned = 0
    /// Comparisons that were written to the record.
    public var recorded = 0
    /// Comparisons that could not be written to the record.
    public var recordFailures = 0

    /// Counters of a server that has received no request: all numbers are 0.
    public init() {}
}

/// The outcome of one comparison, for metrics.
public struct ComparisonSummary: Sendable, Hashable {
    /// The endpoint that received the request. The live service received it at the same one.
    public let environment: EndpointEnvironment
    /// `status` of the live service's reply; nil if it has none.
    public let appleStatus: Int64?
    /// `status` of this server's reply.
    public let ourStatus: Int
    /// The numbers of equal and different members of the two replies.
    public let counts: ParityCounts
    /// Whether a client would grant the same access after both replies.
    public let entitlement: EntitlementComparison
}
