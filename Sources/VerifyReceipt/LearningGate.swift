internal import Synchronization
internal import TransactionStore

/// Keeps learning from holding answers up: an answer waits ``limit`` for a write at most, and after one that failed or took
/// longer nothing is written for ``pause``. Then one request tries again.
///
/// What is not learned is not lost to the answer, which joins the submitted facts itself. A write that took too long goes
/// on in the background; while one does, no other is begun, so that none pile up.
final class LearningGate: Sendable {
    /// How long an answer waits for a write.
    let limit: Duration
    /// Milliseconds.
    static let pause: Int64 = 5_000

    enum Outcome {
        case learned
        case failed(any Error)
        case tooSlow
        case skipped
    }

    private struct State {
        /// When the last write failed, in milliseconds of the caller's clock; nil while writes succeed.
        var failedAt: Int64?
        var isTrying = false
        /// Writes that nobody waits for any more.
        var late = 0
    }

    private let state = Mutex(State())

    init(limit: Duration) { self.limit = limit }

    /// - Parameters:
    ///   - now: milliseconds of the caller's clock.
    ///   - write: may go on after this has returned.
    func learn(now: Int64, _ write: @escaping @Sendable () async throws -> Void) async -> Outcome {
        guard isOpen(now) else { return .skipped }
        return await withCheckedContinuation { continuation in
            let answer = FirstOutcome(continuation)
            let timer = Task {
                do { try await Task.sleep(for: self.limit) } catch { return }
                if answer.give(.tooSlow) { self.wasTooSlow(now) }
            }
            Task {
                let outcome: Outcome
                do {
                    try await write()
                    outcome = .learned
                } catch {
                    outcome = .failed(error)
                }
                timer.cancel()
                if answer.give(outcome) { self.note(outcome, now) } else { self.endedLate() }
            }
        }
    }

    private func isOpen(_ now: Int64) -> Bool {
        state.withLock { state in
            guard let failedAt = state.failedAt else { return true }
            // A clock that was set back does not prolong the pause.
            let (elapsed, overflow) = now.subtractingReportingOverflow(failedAt)
            guard overflow || elapsed < 0 || elapsed >= Self.pause, state.late == 0, !state.isTrying else {
                return false
            }
            state.isTrying = true
            return true
        }
    }

    private func note(_ outcome: Outcome, _ now: Int64) {
        state.withLock { state in
            state.isTrying = false
            if case .failed(let error) = outcome, Self.isOfTheStore(error) {
                state.failedAt = now
            } else {
                state.failedAt = nil
            }
        }
    }

    private func wasTooSlow(_ now: Int64) {
        state.withLock { state in
            state.isTrying = false
            state.failedAt = now
            state.late += 1
        }
    }

    private func endedLate() { state.withLock { $0.late -= 1 } }

    /// What cannot be read of one customer says nothing about the next ones.
    private static func isOfTheStore(_ error: any Error) -> Bool {
        (error as? TransactionStoreError)?.code != .corrupt
    }
}

/// Hands the first of several outcomes to who waits for it.
private final class FirstOutcome: Sendable {
    private let waiting: Mutex<CheckedContinuation<LearningGate.Outcome, Never>?>

    init(_ continuation: CheckedContinuation<LearningGate.Outcome, Never>) { waiting = Mutex(continuation) }

    /// Whether it was the first.
    func give(_ outcome: LearningGate.Outcome) -> Bool {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: outcome)
        return continuation != nil
    }
}
