public import AppStoreModels
public import AppStoreServer
internal import Purchases

/// How many requests the App Store Server API takes: so many a second for each endpoint, counted by the hour, in the
/// sandbox a tenth (Reference.md S2).
public struct SandboxRateLimits: Sendable {
    /// Whether there are any.
    public var isEnabled = true
    /// Requests an hour for endpoints that shall have others than Apple's.
    public var requestsPerHour: [APIEndpoint: Int] = [:]
    private var counts: [APIEndpoint: (hour: Int64, count: Int)] = [:]

    /// Apple's.
    public init() {}

    /// Requests an hour for an endpoint.
    public func limit(of endpoint: APIEndpoint, in environment: Environment) -> Int {
        if let limit = requestsPerHour[endpoint] { return limit }
        let hourly = endpoint.productionRequestsPerSecond * 3_600
        return Int(environment == .production ? hourly : hourly / 10)
    }

    /// Counts a request.
    /// - Parameter now: milliseconds since 1970, by the wall clock.
    /// - Returns: nil if it may pass, else the earliest time for the next one, in milliseconds since 1970.
    mutating func take(_ endpoint: APIEndpoint, in environment: Environment, now: Int64) -> Int64? {
        guard isEnabled else { return nil }
        let hour = now.flooredQuotient(3_600_000)
        let known = counts[endpoint].flatMap { $0.hour == hour ? $0.count : nil } ?? 0
        guard known < limit(of: endpoint, in: environment) else { return (hour + 1) * 3_600_000 }
        counts[endpoint] = (hour, known + 1)
        return nil
    }
}
