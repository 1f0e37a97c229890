import Synchronization
import VerifyReceipt

/// Keeps requests from waiting for a server that does not answer.
///
/// After ``failureLimit`` failures in a row nobody asks for ``pause``; then one request tries, and its outcome decides.
package final class CircuitBreaker: Sendable {
    package static let failureLimit = 5
    /// Milliseconds.
    package static let pause: Int64 = 30_000
    /// The longest time, in milliseconds, for which a server that is away can keep us away: it may be wrong about the time.
    package static let longestPause: Int64 = 10 * pause
    /// The same for one that answers and wants fewer requests. Rates count by the hour, and the client's rate budget holds
    /// requests back for as long.
    package static let longestHold: Int64 = 3_600_000

    /// What a request may do.
    package enum Permit: Sendable { case go, wait }

    private struct State {
        var failures = 0
        /// Milliseconds of the caller's clock; nobody asks before.
        var closedUntil: Int64 = .min
        var isTrying = false

        func isClosed(_ now: Int64) -> Bool {
            // A clock that was set back does not prolong the pause.
            let left = closedUntil.subtractingSaturated(now)
            return left > 0 && left <= CircuitBreaker.longestHold
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether to ask now. After `go` one of the other calls has to follow.
    package func permit(now: Int64) -> Permit {
        state.withLock { state in
            guard !state.isClosed(now) else { return .wait }
            guard state.failures >= Self.failureLimit else { return .go }
            guard !state.isTrying else { return .wait }
            state.isTrying = true
            return .go
        }
    }

    /// Whether ``permit(now:)`` would say `wait`.
    package func isOpen(now: Int64) -> Bool {
        state.withLock { $0.isClosed(now) || ($0.failures >= Self.failureLimit && $0.isTrying) }
    }

    package func succeeded() { state.withLock { $0 = State() } }

    /// The server is away.
    /// - Parameters:
    ///   - now: milliseconds.
    ///   - until: when the server said to come back, if it did.
    package func failed(now: Int64, until: Int64? = nil) {
        state.withLock { state in
            state.isTrying = false
            state.failures += 1
            if state.failures >= Self.failureLimit { state.closedUntil = now.addingSaturated(Self.pause) }
            guard let until else { return }
            state.closedUntil = max(state.closedUntil, min(until, now.addingSaturated(Self.longestPause)))
        }
    }

    /// The server, or the budget for asking it, wants no requests before a time.
    package func held(now: Int64, until: Int64) {
        state.withLock { state in
            state.isTrying = false
            state.closedUntil = max(state.closedUntil, min(until, now.addingSaturated(Self.longestHold)))
        }
    }

    /// A breaker for whoever asks the same server in another name: it knows of the failures of the old one nothing, but of
    /// the time for which the server wants no requests.
    package func withoutFailures() -> CircuitBreaker {
        let breaker = CircuitBreaker()
        let state = state.withLock { $0 }
        guard state.failures < Self.failureLimit else { return breaker }
        breaker.state.withLock { $0.closedUntil = state.closedUntil }
        return breaker
    }

    /// What happened says nothing about whether the server is there.
    package func learnedNothing() { state.withLock { $0.isTrying = false } }
}
