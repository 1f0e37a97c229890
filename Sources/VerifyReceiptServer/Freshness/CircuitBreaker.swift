import Synchronization

/// Keeps requests from waiting for a server that does not answer.
///
/// After ``failureLimit`` failures in a row nobody asks for ``pause``; then one request tries, and its outcome decides.
package final class CircuitBreaker: Sendable {
    package static let failureLimit = 5
    /// Milliseconds.
    package static let pause: Int64 = 30_000

    /// What a request may do.
    package enum Permit: Sendable { case go, wait }

    private struct State {
        var failures = 0
        /// Milliseconds of the caller's clock; nobody asks before.
        var closedUntil: Int64 = .min
        var isTrying = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether to ask now. After `go`, ``succeeded()`` or ``failed(now:until:)`` has to follow.
    package func permit(now: Int64) -> Permit {
        state.withLock { state in
            guard state.failures >= Self.failureLimit || state.closedUntil > now else { return .go }
            guard now >= state.closedUntil, !state.isTrying else { return .wait }
            state.isTrying = true
            return .go
        }
    }

    package func succeeded() { state.withLock { $0 = State() } }

    /// - Parameters:
    ///   - now: milliseconds.
    ///   - until: when the server said to come back, if it did.
    package func failed(now: Int64, until: Int64? = nil) {
        state.withLock { state in
            state.isTrying = false
            state.failures += 1
            if state.failures >= Self.failureLimit { state.closedUntil = now + Self.pause }
            // A server that is wrong about the time must not lock us out for days.
            if let until { state.closedUntil = max(state.closedUntil, min(until, now + 10 * Self.pause)) }
        }
    }

    /// Whether nobody asks at this moment.
    package func isOpen(now: Int64) -> Bool { state.withLock { $0.closedUntil > now } }
}
