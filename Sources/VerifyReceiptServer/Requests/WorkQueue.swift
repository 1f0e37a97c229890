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
        var suspended = 0
        var waiting = CircularBuffer<CheckedContinuation<Bool, Never>>()
    }

    private let maximumWorking: Int
    private let maximumWaiting: Int
    private let maximumSuspended: Int
    private let state = Mutex(State())

    init(working: Int, waiting: Int, suspended: Int) {
        maximumWorking = max(1, working)
        maximumWaiting = max(0, waiting)
        maximumSuspended = max(0, suspended)
    }

    var waiting: Int { state.withLock { $0.waiting.count } }
    var suspended: Int { state.withLock { $0.suspended } }
    var inFlight: Int { state.withLock { $0.working + $0.suspended } }

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

    /// Gives the slot to the next request during a wait. After `true`, the caller must call ``resumeWork()`` or
    /// ``leaveWhileSuspended()``.
    ///
    /// - Returns: false if too many requests are suspended; this one then keeps its slot.
    func suspend() -> Bool {
        let isSuspended = state.withLock { state -> Bool in
            guard state.suspended < maximumSuspended else { return false }
            state.suspended += 1
            return true
        }
        if isSuspended { leave() }
        return isSuspended
    }

    /// Continues after a wait, without queueing.
    func resumeWork() {
        state.withLock { state in
            state.suspended -= 1
            state.working += 1
        }
    }

    /// Ends without a slot.
    func leaveWhileSuspended() { state.withLock { $0.suspended -= 1 } }
}

/// The slot of one request in a ``WorkQueue``.
final class WorkPlace: Sendable {
    private struct State {
        /// The number of waits in progress. Work that the request started can continue, and wait, after its answer.
        var waits = 0
        var isSuspended = false
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

    private var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// How often a request that is suspended checks whether its client has disconnected.
    private static let step = Duration.milliseconds(100)

    /// Too many requests are suspended, so this one cannot give its slot to others.
    struct TooManySuspended: Error, CustomStringConvertible { let description = "too many requests wait" }

    /// Waits without a slot, if the current task works for a request. If the client disconnects, the wait is canceled.
    /// - Throws: ``TooManySuspended`` if it would have to keep its slot while it waits, and the errors of `wait`.
    static func suspended<Value: Sendable>(_ wait: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let place = current else { return try await wait() }
        place.suspend()
        defer { place.resumeWork() }
        guard place.isSuspended else { throw TooManySuspended() }
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

    /// Called before a wait. The caller must call ``resumeWork()`` after it.
    func suspend() {
        state.withLock { state in
            state.waits += 1
            guard state.waits == 1, !state.isOver else { return }
            state.isSuspended = queue.suspend()
        }
    }

    func resumeWork() {
        state.withLock { state in
            state.waits -= 1
            guard state.waits == 0, state.isSuspended else { return }
            state.isSuspended = false
            queue.resumeWork()
        }
    }

    /// Called when the request is answered.
    func leave() {
        state.withLock { state in
            state.isOver = true
            guard state.isSuspended else { return queue.leave() }
            state.isSuspended = false
            queue.leaveWhileSuspended()
        }
    }
}
