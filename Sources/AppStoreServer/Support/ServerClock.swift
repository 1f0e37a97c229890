internal import Foundation

/// The current time, and waiting. Tests replace the system's clock.
public struct ServerClock: Sendable {
    /// The time of day, in milliseconds since 1970-01-01 00:00 UTC: for tokens and for `Retry-After`.
    public var now: @Sendable () -> Int64

    /// The time since a fixed moment, unaffected by changes of the time of day; for rate budgets.
    public var uptime: @Sendable () -> Duration

    /// Waits. Throws `CancellationError` if the task is canceled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// A clock with these functions.
    public init(
        now: @escaping @Sendable () -> Int64,
        uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
    }

    /// The clock of this machine.
    public static let system: ServerClock = {
        let start = ContinuousClock.now
        return ServerClock(
            now: { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) },
            uptime: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(for: $0) })
    }()
}
