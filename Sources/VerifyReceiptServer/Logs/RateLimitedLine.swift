import Synchronization

/// Limits a frequent log line: the first one is written at once, then at most one in ten seconds.
final class RateLimitedLine: Sendable {
    private static let interval = Duration.seconds(10)

    private struct State {
        var last: ContinuousClock.Instant?
        var count = 0
    }

    private let state = Mutex(State())

    /// Notes one more event.
    ///
    /// - Returns: the events since the last line, if a line is due now.
    func note() -> Int? {
        state.withLock { state in
            state.count += 1
            let now = ContinuousClock.now
            if let last = state.last, last.duration(to: now) < Self.interval { return nil }
            state.last = now
            defer { state.count = 0 }
            return state.count
        }
    }
}
