import Synchronization

/// Limits how many calls read at once, in order of arrival. A waiting call holds no thread.
final class ReadTurns: Sendable {
    private struct Waiting {
        let id: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var reading = 0
        var waiting: [Waiting] = []
        /// The index of the first element of `waiting` that still waits. Elements before it are done.
        var head = 0
        var lastId: UInt64 = 0

        mutating func takeFirst() -> Waiting? {
            guard head < waiting.count else { return nil }
            defer {
                head += 1
                if head == waiting.count || head > 1_024 {
                    waiting.removeFirst(head)
                    head = 0
                }
            }
            return waiting[head]
        }

        mutating func take(_ id: UInt64) -> Waiting? {
            guard let place = waiting[head...].firstIndex(where: { $0.id == id }) else { return nil }
            return waiting.remove(at: place)
        }
    }

    private let maximum: Int
    private let state = Mutex(State())

    init(maximum: Int) { self.maximum = maximum }

    /// Waits for a turn. Call ``end()`` once after each successful wait.
    /// - Throws: `CancellationError`.
    func wait() async throws {
        if state.withLock({ enter(&$0) }) { return }
        let id = state.withLock { state in
            state.lastId += 1
            return state.lastId
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isFree = state.withLock { state -> Bool in
                    if enter(&state) { return true }
                    state.waiting.append(Waiting(id: id, continuation: continuation))
                    return false
                }
                if isFree {
                    continuation.resume()
                } else if Task.isCancelled {
                    // The cancellation handler may have run before the call was in the queue.
                    cancel(id)
                }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func enter(_ state: inout State) -> Bool {
        guard state.reading < maximum else { return false }
        state.reading += 1
        return true
    }

    private func cancel(_ id: UInt64) {
        let waiting = state.withLock { $0.take(id) }
        waiting?.continuation.resume(throwing: CancellationError())
    }

    /// Passes the turn to the next waiting call.
    func end() {
        let next = state.withLock { state -> Waiting? in
            if let next = state.takeFirst() { return next }
            state.reading -= 1
            return nil
        }
        next?.continuation.resume()
    }
}
