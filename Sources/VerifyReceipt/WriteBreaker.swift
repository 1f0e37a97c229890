internal import Synchronization

/// Bounds how long a caller waits for a write, and keeps writes away from what has just failed.
///
/// After a write that failed or took too long nothing is written for ``pause``; then one caller tries again. A write that
/// took too long goes on in the background; while one does, no other is begun, so that none pile up.
final class WriteBreaker: Sendable {
    enum Outcome {
        case written
        case failed(any Error)
        case tooSlow
        /// Nothing was tried.
        case skipped
    }

    private struct State {
        /// When the last write failed; nil while writes succeed.
        var failedAt: ContinuousClock.Instant?
        var isTrying = false
        /// Writes that nobody waits for any more.
        var late = 0
    }

    private let pause: Duration
    /// Whether an error is a reason to write nothing else for a while.
    private let opensAfter: @Sendable (any Error) -> Bool
    private let state = Mutex(State())

    init(pause: Duration, opensAfter: @escaping @Sendable (any Error) -> Bool) {
        self.pause = pause
        self.opensAfter = opensAfter
    }

    /// - Parameter write: may go on after this has returned.
    func attempt(within limit: Duration, _ write: @escaping @Sendable () async throws -> Void) async -> Outcome {
        guard isClosed() else { return .skipped }
        return await withCheckedContinuation { continuation in
            let answer = FirstOutcome(continuation)
            let timer = Task {
                do { try await Task.sleep(for: limit) } catch { return }
                if answer.give(.tooSlow) { self.wasTooSlow() }
            }
            Task {
                let outcome: Outcome
                do {
                    try await write()
                    outcome = .written
                } catch {
                    outcome = .failed(error)
                }
                timer.cancel()
                if answer.give(outcome) { self.note(outcome) } else { self.endedLate() }
            }
        }
    }

    /// Lets writes through again: another one has succeeded.
    func close() { state.withLock { $0.failedAt = nil } }

    private func isClosed() -> Bool {
        state.withLock { state in
            guard let failedAt = state.failedAt else { return true }
            guard failedAt.duration(to: .now) >= pause, state.late == 0, !state.isTrying else { return false }
            state.isTrying = true
            return true
        }
    }

    private func note(_ outcome: Outcome) {
        state.withLock { state in
            state.isTrying = false
            if case .failed(let error) = outcome, opensAfter(error) {
                state.failedAt = .now
            } else {
                state.failedAt = nil
            }
        }
    }

    private func wasTooSlow() {
        state.withLock { state in
            state.isTrying = false
            state.failedAt = .now
            state.late += 1
        }
    }

    private func endedLate() { state.withLock { $0.late -= 1 } }
}

/// Hands the first of several outcomes to the caller that waits for it.
private final class FirstOutcome: Sendable {
    private let waiting: Mutex<CheckedContinuation<WriteBreaker.Outcome, Never>?>

    init(_ continuation: CheckedContinuation<WriteBreaker.Outcome, Never>) { waiting = Mutex(continuation) }

    /// Whether it was the first.
    func give(_ outcome: WriteBreaker.Outcome) -> Bool {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: outcome)
        return continuation != nil
    }
}
