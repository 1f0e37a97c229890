internal import AppStoreModels
internal import AppStoreServer
internal import Synchronization

/// Keeps callers from waiting for a server that does not answer.
///
/// After ``failureLimit`` failures in a row, no calls are allowed for ``pause``. Then one trial call decides.
package final class CircuitBreaker: Sendable {
    package static let failureLimit = 5
    /// Milliseconds.
    package static let pause: Int64 = 30_000
    /// The longest pause, in milliseconds, that a failing server can request. Its `Retry-After` may be wrong.
    package static let longestPause: Int64 = 10 * pause
    /// The longest pause that a working server can request with a rate limit. Rate limits count by the hour, as does the
    /// client's rate budget.
    package static let maximumPause: Int64 = 3_600_000

    /// The permission of a caller.
    package enum Permit: Sendable { case go, wait }

    private struct State {
        var failures = 0
        /// No calls are allowed before this time, in milliseconds of the caller's clock.
        var closedUntil: Int64 = .min
        var isTrying = false

        func isClosed(_ now: Int64) -> Bool {
            // Setting the clock back does not prolong the pause.
            let left = closedUntil.subtractingSaturated(now)
            return left > 0 && left <= CircuitBreaker.maximumPause
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether to call the server now. After `go`, the caller reports the outcome with one of the other functions.
    package func permit(now: Int64) -> Permit {
        state.withLock { state in
            guard !state.isClosed(now) else { return .wait }
            guard state.failures >= Self.failureLimit else { return .go }
            guard !state.isTrying else { return .wait }
            state.isTrying = true
            return .go
        }
    }

    /// Whether ``permit(now:)`` would return `wait`.
    package func isOpen(now: Int64) -> Bool {
        state.withLock { $0.isClosed(now) || ($0.failures >= Self.failureLimit && $0.isTrying) }
    }

    package func succeeded() { state.withLock { $0 = State() } }

    /// The server did not answer, or failed.
    /// - Parameters:
    ///   - now: milliseconds.
    ///   - until: the server's `Retry-After`, as a time in milliseconds.
    package func failed(now: Int64, until: Int64? = nil) {
        state.withLock { state in
            state.isTrying = false
            state.failures += 1
            if state.failures >= Self.failureLimit { state.closedUntil = now.addingSaturated(Self.pause) }
            guard let until else { return }
            state.closedUntil = max(state.closedUntil, min(until, now.addingSaturated(Self.longestPause)))
        }
    }

    /// The server, or the rate budget, accepts no requests before `until`.
    package func held(now: Int64, until: Int64) {
        state.withLock { state in
            state.isTrying = false
            state.closedUntil = max(state.closedUntil, min(until, now.addingSaturated(Self.maximumPause)))
        }
    }

    /// A breaker for a new key and the same server: it keeps the `Retry-After` and resets the failure count.
    package func withoutFailures() -> CircuitBreaker {
        let breaker = CircuitBreaker()
        let state = state.withLock { $0 }
        guard state.failures < Self.failureLimit else { return breaker }
        breaker.state.withLock { $0.closedUntil = state.closedUntil }
        return breaker
    }

    /// The outcome does not show whether the server works.
    package func endedInconclusively() { state.withLock { $0.isTrying = false } }

    /// Reports that a call about one customer failed. A failure counts only if it would affect other customers too. A forged
    /// JWS or an id that the App Store rejects concerns one customer.
    package func conclude(from error: any Error, now: Int64) {
        guard let error = error as? AppStoreServerAPIError else { return endedInconclusively() }
        switch error.reason {
        case .rateLimited, .rateBudgetExhausted:
            if let until = error.retryAfter { held(now: now, until: until) } else { failed(now: now) }
        case .notConnected, .interrupted, .timedOut: failed(now: now)
        case .unauthorized, .refused, .unexpectedStatus:
            guard error.concernsApp || (error.httpStatus ?? 0) >= 500 else { return endedInconclusively() }
            failed(now: now, until: error.retryAfter)
        case .responseTooLarge, .invalidResponse, .invalidRequest, .pagingStalled, .tokenFailure: endedInconclusively()
        }
    }
}
