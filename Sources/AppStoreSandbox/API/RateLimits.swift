public import AppStoreModels
public import AppStoreServer
internal import Encodings
internal import Purchases

/// The rate limits of the App Store Server API. Apple states requests per second for each endpoint; here they are
/// counted per hour. The sandbox environment allows a tenth (Reference.md S2).
public struct SandboxRateLimits: Sendable {
    /// If false, no request is counted, and none gets 429.
    public var isEnabled = true
    /// Requests per hour, for endpoints whose limit differs from Apple's.
    public var requestsPerHour: [APIEndpoint: Int] = [:]
    private var counts: [APIEndpoint: (hour: Int64, count: Int)] = [:]

    /// Creates Apple's limits.
    public init() {}

    /// Requests per hour for an endpoint.
    public func limit(of endpoint: APIEndpoint, in environment: Environment) -> Int {
        if let limit = requestsPerHour[endpoint] { return limit }
        let hourly = endpoint.productionRequestsPerSecond * 3_600
        return Int(environment == .production ? hourly : hourly / 10)
    }

    /// Counts a request.
    /// - Parameters:
    ///   - endpoint: the endpoint of the request.
    ///   - environment: its environment.
    ///   - now: the real time, milliseconds since 1970.
    /// - Returns: nil within the limit; otherwise the earliest time for the next request, in milliseconds since 1970.
    mutating func take(_ endpoint: APIEndpoint, in environment: Environment, now: Int64) -> Int64? {
        guard isEnabled else { return nil }
        let hour = now.flooredQuotient(3_600_000)
        let known = counts[endpoint].flatMap { $0.hour == hour ? $0.count : nil } ?? 0
        guard known < limit(of: endpoint, in: environment) else { return (hour + 1) * 3_600_000 }
        counts[endpoint] = (hour, known + 1)
        return nil
    }
}
