internal import Dispatch
internal import Synchronization
internal import TransactionStore

/// Limits how long a caller waits for a write, and stops writing to a target that has just failed.
///
/// After a write that failed or took too long, nothing is written for ``pause``. Then one caller tries again. A write
/// that takes too long continues in the background. Until it ends no other write begins, so that writes do not pile up.
final class WriteBreaker: Sendable {
    enum Outcome {
        case written
        case failed(any Error)
        case tooSlow
        /// No write was tried.
        case skipped

        /// Why nothing was written; nil if it was.
        func problem(within limit: Duration) -> String? {
            switch self {
            case .written: nil
            case .skipped: "it recently failed or was too slow"
            case .tooSlow: "it took longer than \(limit)"
            case .failed(let error): TransactionStoreError.text(of: error)
            }
        }
    }

    private struct Call {
        let deadline: ContinuousClock.Instant
        let answer: FirstOutcome
    }

    private struct State {
        /// When the last write failed; nil while writes succeed.
        var failedAt: ContinuousClock.Instant?
        var isTrying = false
        /// Writes that took too long and still run. Their callers have left.
        var late = 0
        /// Writes with a waiting caller.
        var calls: [UInt64: Call] = [:]
        var lastCall: UInt64 = 0
        var isWatched = false
    }

    /// A separate timer for each write would cost more than the rest of the work here.
    private static let tick = DispatchTimeInterval.milliseconds(10)
    /// A serial queue, because it has its own thread. A blocked thread pool does not stop the watch.
    private static let watch = DispatchQueue(label: "WriteBreaker.watch")

    private let pause: Duration
    /// Whether an error is a reason to pause writes.
    private let opensAfter: @Sendable (any Error) -> Bool
    private let state = Mutex(State())

    init(pause: Duration, opensAfter: @escaping @Sendable (any Error) -> Bool) {
        self.pause = pause
        self.opensAfter = opensAfter
    }

    /// - Parameters:
    ///   - limit: how long to wait for the write.
    ///   - write: may continue after this function has returned.
    func attempt(within limit: Duration, _ write: @escaping @Sendable () async throws -> Void) async -> Outcome {
        guard isClosed() else { return .skipped }
        return await withCheckedContinuation { continuation in
            let answer = FirstOutcome(continuation)
            let id = begin(answer, within: limit)
            Task(executorPreference: BlockingThreads.shared) {
                let outcome: Outcome
                do {
                    try await write()
                    outcome = .written
                } catch {
                    outcome = .failed(error)
                }
                self.end(id)
                if answer.give(outcome) { self.note(outcome) } else { self.endedLate() }
            }
        }
    }

    private func begin(_ answer: FirstOutcome, within limit: Duration) -> UInt64 {
        let (id, watches) = state.withLock { state -> (UInt64, Bool) in
            state.lastCall += 1
            state.calls[state.lastCall] = Call(deadline: .now + limit, answer: answer)
            defer { state.isWatched = true }
            return (state.lastCall, !state.isWatched)
        }
        if watches { waitForTick() }
        return id
    }

    private func end(_ id: UInt64) { state.withLock { _ = $0.calls.removeValue(forKey: id) } }

    private func waitForTick() {
        Self.watch.asyncAfter(deadline: .now() + Self.tick) {
            let (overdue, watches) = self.state.withLock { state -> ([FirstOutcome], Bool) in
                let now = ContinuousClock.now
                let overdue = state.calls.filter { $0.value.deadline <= now }
                for id in overdue.keys { state.calls[id] = nil }
                state.isWatched = !state.calls.isEmpty
                return (overdue.values.map(\.answer), state.isWatched)
            }
            for answer in overdue where answer.give(.tooSlow) { self.wasTooSlow() }
            if watches { self.waitForTick() }
        }
    }

    /// Allows writes again, because another one has succeeded.
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

/// Resumes the waiting caller with the first of several outcomes.
private final class FirstOutcome: Sendable {
    private let waiting: Mutex<CheckedContinuation<WriteBreaker.Outcome, Never>?>

    init(_ continuation: CheckedContinuation<WriteBreaker.Outcome, Never>) { waiting = Mutex(continuation) }

    /// Returns whether the outcome was the first.
    func give(_ outcome: WriteBreaker.Outcome) -> Bool {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(returning: outcome)
        return continuation != nil
    }
}
