import NIOCore
import Synchronization

/// Processes a bounded number of requests at the same time, and queues a bounded number in order. A request beyond both is
/// rejected at once.
///
/// A request that waits for an external system is suspended: another request takes its slot, and it continues later without
/// queueing. So requests that need no store continue while a store hangs. The number of suspended requests is bounded too.
/// Beyond it, requests keep their slots, so that a slow store fills the queue.
final class WorkQueue: Sendable {
    private struct State {
        /// Can exceed the maximum, because requests that return do not queue.
        var working = 0
        var away = 0
        var waiting = CircularBuffer<CheckedContinuation<Bool, Never>>()
    }

    private let maximumWorking: Int
    private let maximumWaiting: Int
    private let maximumAway: Int
    private let state = Mutex(State())

    init(working: Int, waiting: Int, away: Int) {
        maximumWorking = max(1, working)
        maximumWaiting = max(0, waiting)
        maximumAway = max(0, away)
    }

    var waiting: Int { state.withLock { $0.waiting.count } }
    var away: Int { state.withLock { $0.away } }
    var inFlight: Int { state.withLock { $0.working + $0.away } }

    /// Waits for a slot. After `true`, the caller must call ``leave()`` once; ``WorkPlace`` does so.
    ///
    /// - Returns: false if the queue is full too.
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

    /// The answer; nil if the request has to wait.
    private func tryToEnter(_ state: inout State) -> Bool? {
        if state.working < maximumWorking {
            state.working += 1
            return true
        }
        return state.waiting.count < maximumWaiting ? nil : false
    }

    /// Gives the slot to the next request.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            // If requests that returned exceed the maximum, no other request gets this slot.
            if state.working <= maximumWorking, let next = state.waiting.popFirst() { return next }
            state.working -= 1
            return nil
        }
        next?.resume(returning: true)
    }

    /// Gives the slot to the next request during a wait. After `true`, the caller must call ``comeBack()`` or
    /// ``stayAway()``.
    ///
    /// - Returns: false if too many requests are away; this one then keeps its slot.
    func stepAway() -> Bool {
        let isAway = state.withLock { state -> Bool in
            guard state.away < maximumAway else { return false }
            state.away += 1
            return true
        }
        if isAway { leave() }
        return isAway
    }

    /// Continues after a wait, without queueing.
    func comeBack() {
        state.withLock { state in
            state.away -= 1
            state.working += 1
        }
    }

    /// Ends without a slot.
    func stayAway() { state.withLock { $0.away -= 1 } }
}

/// The slot of one request in a ``WorkQueue``.
final class WorkPlace: Sendable {
    private struct State {
        /// The number of waits in progress. Work that the request started can continue, and wait, after its answer.
        var waits = 0
        var isAway = false
        var isOver = false
    }

    /// The slot of the request that the current task works for.
    @TaskLocal static var current: WorkPlace?

    private let queue: WorkQueue
    private let hasClient: @Sendable () -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - queue: the queue that the request has entered.
    ///   - hasClient: whether the client still waits for the answer.
    init(_ queue: WorkQueue, hasClient: @escaping @Sendable () -> Bool = { true }) {
        self.queue = queue
        self.hasClient = hasClient
    }

    private var isAway: Bool { state.withLock { $0.isAway } }

    /// How often a request that is away checks whether its client has disconnected.
    private static let step = Duration.milliseconds(100)

    /// Too many requests are away, so this one cannot give its slot to others.
    struct TooManyAway: Error, CustomStringConvertible { let description = "too many requests wait" }

    /// Waits without a slot, if the current task works for a request. If the client disconnects, the wait is canceled.
    /// - Throws: ``TooManyAway`` if it would have to keep its slot while it waits, and the errors of `wait`.
    static func away<Value: Sendable>(_ wait: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let place = current else { return try await wait() }
        place.stepAway()
        defer { place.comeBack() }
        guard place.isAway else { throw TooManyAway() }
        let waiting = Task { try await wait() }
        let watching = Task {
            while place.hasClient() { try await Task.sleep(for: step) }
            waiting.cancel()
        }
        defer { watching.cancel() }
        let outcome = await withTaskCancellationHandler {
            await waiting.result
        } onCancel: {
            waiting.cancel()
        }
        return try outcome.get()
    }

    /// Called before a wait. The caller must call ``comeBack()`` after it.
    func stepAway() {
        state.withLock { state in
            state.waits += 1
            guard state.waits == 1, !state.isOver else { return }
            state.isAway = queue.stepAway()
        }
    }

    func comeBack() {
        state.withLock { state in
            state.waits -= 1
            guard state.waits == 0, state.isAway else { return }
            state.isAway = false
            queue.comeBack()
        }
    }

    /// Called when the request is answered.
    func leave() {
        state.withLock { state in
            state.isOver = true
            guard state.isAway else { return queue.leave() }
            state.isAway = false
            queue.stayAway()
        }
    }
}
