/// Starts a performance test of the developer's server (Retention Messaging API, PerformanceTestRequest; sandbox
/// only).
public struct PerformanceTestRequest: Codable, Hashable, Sendable {
    /// A sandbox purchase to test with.
    public var originalTransactionId: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(originalTransactionId: String) {
        self.originalTransactionId = originalTransactionId
    }
}

/// A performance test has begun (Retention Messaging API, PerformanceTestResponse).
public struct PerformanceTestResponse: AppStoreModel, JSONModel {
    /// The configuration of the test.
    public var config: PerformanceTestConfig?

    /// The identifier of the test.
    public var requestId: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("config", &config)
        try visitor.member("requestId", &requestId)
    }
}

/// The configuration of a performance test (Retention Messaging API, PerformanceTestConfig).
public struct PerformanceTestConfig: AppStoreModel, JSONModel {
    /// The maximum number of requests at the same time.
    public var maxConcurrentRequests: Int64?

    /// The number of requests.
    public var totalRequests: Int64?

    /// The duration of the test, in milliseconds.
    public var totalDuration: Int64?

    /// The maximum response time, in milliseconds.
    public var responseTimeThreshold: Int64?

    /// The required share of good answers, in percent.
    public var successRateThreshold: Int32?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("maxConcurrentRequests", &maxConcurrentRequests)
        try visitor.member("totalRequests", &totalRequests)
        try visitor.member("totalDuration", &totalDuration)
        try visitor.member("responseTimeThreshold", &responseTimeThreshold)
        try visitor.member("successRateThreshold", &successRateThreshold)
    }
}

/// The result of a performance test (Retention Messaging API, PerformanceTestResultResponse).
public struct PerformanceTestResultResponse: AppStoreModel, JSONModel {
    /// The configuration of the test.
    public var config: PerformanceTestConfig?

    /// The URL that is tested.
    public var target: String?

    /// Whether it passed.
    public var result: PerformanceTestStatus?

    /// The share of good answers, in percent.
    public var successRate: Int32?

    /// The number of requests without an answer so far.
    public var numPending: Int32?

    /// The response times.
    public var responseTimes: PerformanceTestResponseTimes?

    /// The number of failed requests, by the raw value of ``SendAttemptResult``.
    public var failures: [String: Int32]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("config", &config)
        try visitor.member("target", &target)
        try visitor.member("result", &result)
        try visitor.member("successRate", &successRate)
        try visitor.member("numPending", &numPending)
        try visitor.member("responseTimes", &responseTimes)
        try visitor.member("failures", &failures)
    }
}

/// The response times of a performance test, in milliseconds (Retention Messaging API, PerformanceTestResponseTimes).
public struct PerformanceTestResponseTimes: AppStoreModel, JSONModel {
    /// The mean.
    public var average: Int64?

    /// The 50th percentile.
    public var p50: Int64?

    /// The 90th percentile.
    public var p90: Int64?

    /// The 95th percentile.
    public var p95: Int64?

    /// The 99th percentile.
    public var p99: Int64?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("average", &average)
        try visitor.member("p50", &p50)
        try visitor.member("p90", &p90)
        try visitor.member("p95", &p95)
        try visitor.member("p99", &p99)
    }
}

/// Whether a performance test passed (Retention Messaging API, PerformanceTestStatus).
public struct PerformanceTestStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Not finished.
    public static let pending = Self(rawValue: "PENDING")
    /// Passed.
    public static let pass = Self(rawValue: "PASS")
    /// Failed.
    public static let fail = Self(rawValue: "FAIL")

    /// The values this package knows.
    public static let knownValues: [Self] = [.pending, .pass, .fail]
}
