internal import Foundation

/// The time, and waiting for it to pass. A test puts its own in place of the system's.
public struct ServerClock: Sendable {
    /// The time of day, in milliseconds since 1970-01-01 00:00 UTC: for tokens and for `Retry-After`.
    public var now: @Sendable () -> Int64

    /// The time since some fixed moment, which no adjustment of the time of day touches: for rate budgets.
    public var uptime: @Sendable () -> Duration

    /// Waits. Throws `CancellationError` when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// A clock of the given parts.
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
