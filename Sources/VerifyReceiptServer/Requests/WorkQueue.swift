import Synchronization

/// Lets a bounded number of requests work and a bounded number wait, first come, first served. Who finds no place is told
/// at once.
final class WorkQueue: Sendable {
    private struct State {
        var working = 0
        var waiting: [CheckedContinuation<Bool, Never>] = []
        /// The first of `waiting` that still waits; what is before it has gone.
        var head = 0

        var waitingCount: Int { waiting.count - head }

        mutating func takeFirst() -> CheckedContinuation<Bool, Never>? {
            guard head < waiting.count else { return nil }
            defer {
                head += 1
                if head == waiting.count {
                    waiting.removeAll(keepingCapacity: true)
                    head = 0
                } else if head > 1_024 {
                    waiting.removeFirst(head)
                    head = 0
                }
            }
            return waiting[head]
        }
    }

    private let maximumWorking: Int
    private let maximumWaiting: Int
    private let state = Mutex(State())

    init(working: Int, waiting: Int) {
        maximumWorking = max(1, working)
        maximumWaiting = max(0, waiting)
    }

    var working: Int { state.withLock { $0.working } }
    var waiting: Int { state.withLock { $0.waitingCount } }

    /// Waits for a place. Each `true` has to be followed by one ``leave()``.
    ///
    /// - Returns: false if there is no place to wait either.
    func enter() async -> Bool {
        if let answer = state.withLock({ tryToEnter(&$0) }) { return answer }
        return await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Bool? in
                if let answer = tryToEnter(&state) { return answer }
                state.waiting.append(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Nil if there is nothing but waiting.
    private func tryToEnter(_ state: inout State) -> Bool? {
        if state.working < maximumWorking {
            state.working += 1
            return true
        }
        return state.waitingCount < maximumWaiting ? nil : false
    }

    /// Gives the place to the next.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if let next = state.takeFirst() { return next }
            state.working -= 1
            return nil
        }
        next?.resume(returning: true)
    }
}
