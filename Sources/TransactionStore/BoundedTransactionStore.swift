import Dispatch
public import Purchases
import Synchronization

/// A store that limits how long its callers wait. If the underlying store hangs, waiting calls fail, and further calls
/// fail at once until it answers again. It recovers by itself.
///
/// Reads and writes have separate circuit breakers, because another program may block only the writers.
///
/// | condition | what a call gets |
/// |---|---|
/// | the store answers | its answer |
/// | the store has not answered any waiting call of this kind for ``deadline`` | `unavailable`, for all of them |
/// | the store still hangs after that | `unavailable` at once, except for one trial call in each half of the ``deadline`` |
/// | one call waits for twice the ``deadline`` while the store answers others | `busy` |
/// | ``maximumCalls`` calls are waiting | `busy` at once |
///
/// A call that timed out cannot be recalled from a disk or a server that hangs. It is cancelled and abandoned, and
/// ``abandonedCalls`` counts it until it ends. Its writes may still be committed; applying the same facts again is
/// safe.
public final class BoundedTransactionStore: TransactionStore {
    /// The two kinds of calls.
    public enum CallKind: String, Sendable, CaseIterable {
        /// Calls that only read: `customer(_:in:)` and `hasProcessed(notificationUUID:)`.
        case read
        /// Calls that write, or check that the store can be written: `apply(_:)` and `checkReadiness()`.
        case write
    }

    /// How long calls wait without any answer from the store.
    public let deadline: Duration
    /// How many calls of one kind may wait, including abandoned calls that have not ended.
    public static let maximumCalls = 1_024

    private let store: any TransactionStore
    private let reading: CallGuard
    private let writing: CallGuard

    /// - Parameters:
    ///   - store: the store that answers the calls.
    ///   - deadline: greater than zero.
    ///   - onChange: called when calls of a kind start (`true`) or stop (`false`) failing at once.
    ///   - willWait: called before a call waits. The returned closure is called after the wait, in the same task.
    public init(
        _ store: any TransactionStore, deadline: Duration,
        onChange: @escaping @Sendable (_ kind: CallKind, _ isHanging: Bool) -> Void = { _, _ in },
        willWait: @escaping @Sendable () -> (@Sendable () -> Void)? = { nil }
    ) {
        self.store = store
        self.deadline = deadline
        reading = CallGuard(deadline: deadline, willWait: willWait) { onChange(.read, $0) }
        writing = CallGuard(deadline: deadline, willWait: willWait) { onChange(.write, $0) }
    }

    private func calls(_ kind: CallKind) -> CallGuard { kind == .read ? reading : writing }

    /// Whether calls of a kind fail at once because the store hangs.
    public func isHanging(_ kind: CallKind) -> Bool { calls(kind).isHanging }

    /// How many abandoned calls have not ended.
    public var abandonedCalls: Int { CallKind.allCases.reduce(0) { $0 + calls($1).abandoned } }

    /// How many calls have timed out so far.
    public var timeouts: UInt64 { CallKind.allCases.reduce(0) { $0 + calls($1).timeouts } }

    /// As the store, within the ``deadline`` for writes. After a timeout the facts may still be committed; applying
    /// them again is safe.
    /// - Throws: ``TransactionStoreError``: `unavailable` or `busy` as in the table of this type, or the error of the
    ///   store.
    public func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        try await writing.run { [store] in try await store.apply(sets) }
    }

    /// As the store, within the ``deadline`` for reads.
    /// - Throws: ``TransactionStoreError``: `unavailable` or `busy` as in the table of this type, or the error of the
    ///   store.
    public func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        try await reading.run { [store] in try await store.customer(identities, in: scope) }
    }

    /// As the store, within the ``deadline`` for reads.
    /// - Throws: ``TransactionStoreError``: `unavailable` or `busy` as in the table of this type, or the error of the
    ///   store.
    public func hasProcessed(notificationUUID: String) async throws -> Bool {
        try await reading.run { [store] in try await store.hasProcessed(notificationUUID: notificationUUID) }
    }

    /// Has no deadline, because counting takes longer the larger the store is.
    public func counts() async throws -> StoreCounts { try await store.counts() }

    /// As the store, within the ``deadline`` for writes: the store is ready only if it can be written. Reads that hang
    /// do not make it fail.
    /// - Throws: ``TransactionStoreError``: `unavailable` or `busy` as in the table of this type, or the error of the
    ///   store.
    public func checkReadiness() async throws {
        try await writing.run { [store] in try await store.checkReadiness() }
    }

    /// Waits for running writes, without a deadline.
    public func close() async throws { try await store.close() }
}

/// Watches the calls of one kind.
///
/// Time is measured in ticks of a tenth of the deadline. A process that was itself stopped or got no processor time
/// therefore does not count that time against the store.
private final class CallGuard: Sendable {
    private struct Call {
        let begin: UInt64
        let giveUp: @Sendable (TransactionStoreError) -> Void
    }

    private struct State {
        var tick: UInt64 = 0
        var calls: [UInt64: Call] = [:]
        var lastCall: UInt64 = 0
        /// The tick of the last call that ended in time.
        var lastEnd: UInt64 = 0
        var abandoned = 0
        var timeouts: UInt64 = 0
        var isHanging = false
        /// While the store hangs: when the next trial call may run, and which call it is.
        var tryAfter = ContinuousClock.now
        var trying: UInt64?
        var isWatched = false
    }

    private static let ticksPerDeadline: UInt64 = 10
    private static let hanging = TransactionStoreError(.unavailable, "the store does not answer")
    private static let tooSlow = TransactionStoreError(.busy, "the store answers other calls, not this one")
    private static let full = TransactionStoreError(.busy, "too many calls wait for the store")
    /// A serial queue, because it has its own thread. A blocked thread pool does not stop the watch.
    private static let watch = DispatchQueue(label: "BoundedTransactionStore.watch")

    private let tickLength: DispatchTimeInterval
    private let pause: Duration
    private let willWait: @Sendable () -> (@Sendable () -> Void)?
    private let onChange: @Sendable (Bool) -> Void
    private let state = Mutex(State())

    init(
        deadline: Duration, willWait: @escaping @Sendable () -> (@Sendable () -> Void)?,
        onChange: @escaping @Sendable (Bool) -> Void
    ) {
        let nanoseconds = deadline / .nanoseconds(1) / Double(Self.ticksPerDeadline)
        tickLength = .nanoseconds(Int(max(1_000_000, min(nanoseconds, 1e15))))
        pause = deadline / 2
        self.willWait = willWait
        self.onChange = onChange
    }

    var isHanging: Bool { state.withLock { $0.isHanging } }
    var abandoned: Int { state.withLock { $0.abandoned } }
    var timeouts: UInt64 { state.withLock { $0.timeouts } }

    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let resumeWork = willWait()
        defer { resumeWork?() }
        return try await withCheckedThrowingContinuation { continuation in
            let waiting = WaitingCaller(continuation)
            let id: UInt64
            do {
                id = try begin { waiting.resume(.failure($0), isGivenUp: true) }
            } catch {
                return waiting.resume(.failure(error))
            }
            // An engine that reads synchronously does so on these threads.
            waiting.call = Task(executorPreference: BlockingThreads.shared) {
                let result: Result<Value, any Error>
                do { result = .success(try await body()) } catch { result = .failure(error) }
                self.end(id, result)
                waiting.resume(result)
            }
        }
    }

    private func begin(_ giveUp: @escaping @Sendable (TransactionStoreError) -> Void) throws -> UInt64 {
        let (id, watches) = try state.withLock { state -> (UInt64, Bool) in
            if state.isHanging, state.trying != nil || ContinuousClock.now < state.tryAfter { throw Self.hanging }
            guard state.calls.count + state.abandoned < BoundedTransactionStore.maximumCalls else {
                throw state.isHanging ? Self.hanging : Self.full
            }
            state.lastCall += 1
            if state.isHanging { state.trying = state.lastCall }
            state.calls[state.lastCall] = Call(begin: state.tick, giveUp: giveUp)
            defer { state.isWatched = true }
            return (state.lastCall, !state.isWatched)
        }
        if watches { waitForTick() }
        return id
    }

    private func end<Value>(_ id: UInt64, _ result: Result<Value, any Error>) {
        let hasRecovered = state.withLock { state -> Bool in
            guard state.calls.removeValue(forKey: id) != nil else {
                state.abandoned -= 1
                // A late answer is still an answer: the next call is tried at once.
                if case .success = result { state.tryAfter = .now }
                return false
            }
            state.lastEnd = state.tick
            guard state.trying == id else { return false }
            state.trying = nil
            state.isHanging = false
            return true
        }
        if hasRecovered { onChange(false) }
    }

    private func waitForTick() {
        Self.watch.asyncAfter(deadline: .now() + tickLength) { self.tick() }
    }

    private func tick() {
        var givenUp: [Call] = []
        var error = Self.hanging
        let (hasBegunToHang, watches) = state.withLock { state -> (Bool, Bool) in
            state.tick += 1
            let oldest = state.calls.values.lazy.map(\.begin).min() ?? state.tick
            var overdue = Array(state.calls.keys)
            let hangs = state.tick - max(oldest, state.lastEnd) > Self.ticksPerDeadline
            if !hangs {
                error = Self.tooSlow
                overdue = overdue.filter { id in
                    state.calls[id].map { state.tick - $0.begin > 2 * Self.ticksPerDeadline } ?? false
                }
            }
            givenUp = overdue.compactMap { state.calls.removeValue(forKey: $0) }
            state.abandoned += givenUp.count
            state.timeouts += UInt64(givenUp.count)
            let hasBegun = hangs && !state.isHanging
            if hangs {
                state.isHanging = true
                state.trying = nil
                state.tryAfter = .now + pause
            }
            state.isWatched = !state.calls.isEmpty
            return (hasBegun, state.isWatched)
        }
        if hasBegunToHang { onChange(true) }
        for call in givenUp { call.giveUp(error) }
        if watches { waitForTick() }
    }
}

/// Resumes a caller with the first of two results: the result of the call, or the timeout.
private final class WaitingCaller<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var call: Task<Void, Never>?
        var isGivenUp = false
    }

    private let state: Mutex<State>

    init(_ continuation: CheckedContinuation<Value, any Error>) {
        state = Mutex(State(continuation: continuation))
    }

    /// The task to cancel when the caller gives up.
    var call: Task<Void, Never>? {
        get { state.withLock { $0.call } }
        set {
            let isGivenUp = state.withLock { state in
                state.call = newValue
                return state.isGivenUp
            }
            if isGivenUp { newValue?.cancel() }
        }
    }

    func resume(_ result: Result<Value, any Error>, isGivenUp: Bool = false) {
        let (continuation, call) = state.withLock {
            state -> (CheckedContinuation<Value, any Error>?, Task<Void, Never>?) in
            defer { state.continuation = nil }
            state.isGivenUp = state.isGivenUp || isGivenUp
            return (state.continuation, isGivenUp ? state.call : nil)
        }
        call?.cancel()
        continuation?.resume(with: result)
    }
}
