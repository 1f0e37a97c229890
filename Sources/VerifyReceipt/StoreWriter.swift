internal import Purchases
internal import Synchronization
public import TransactionStore

/// Writes the facts of submitted receipts to the store without delaying answers. An answer waits a limited time for the
/// store. Facts that the store does not take in that time go to the spool, and ``drain()`` moves them to the store.
///
/// Create one writer per store and keep it as long as the store. Endpoints that a reload creates share it. Any number
/// of threads may use it.
public final class StoreWriter: Sendable {
    /// A change of state, for operators.
    public enum Event: Sendable {
        /// The spool holds entries of an earlier run.
        case foundEntries(Int64)
        /// The store has started to fail, and the spool takes the receipts.
        case spooling(reason: String)
        /// The store has taken everything that was in the spool.
        case drained(Int64)
        /// Neither the store nor the spool takes receipts.
        case refusing(reason: String)
        /// The store or the spool takes receipts again.
        case accepting
        /// The store accepts other receipts but rejects this one. `receipt` is its name in logs.
        case setAside(receipt: String, reason: String)
    }

    /// The number of receipts since the writer was created.
    public struct Counts: Hashable, Sendable {
        /// Added to the spool.
        public var spooled: UInt64 = 0
        /// Moved from the spool to the store.
        public var drained: UInt64 = 0
        /// Accepted by neither.
        public var refused: UInt64 = 0
        /// Rejected by the store when they came from the spool.
        public var setAside: UInt64 = 0
        /// Facts that the store left out, because a hash of the customer was left when the customer was erased. A client
        /// that sends its receipt again counts again.
        public var erasedFacts: UInt64 = 0
    }

    /// Where the facts of a receipt were written.
    enum Outcome {
        /// - Parameter mergesCustomers: `AppliedFacts.mergesCustomers`
        case stored(mergesCustomers: Bool)
        /// - Parameter storeFailure: why the store did not take them, if it was tried.
        case spooled(storeFailure: String?)
        /// - Parameters:
        ///   - storeFailure: why the store did not take them, if it was tried.
        ///   - reason: why neither took them.
        case refused(storeFailure: String?, reason: String)
    }

    private struct State {
        var counts = Counts()
        /// Whether the store failed and entries wait.
        var isSpooling = false
        var isRefusing = false
        /// Entries that were drained since the store started to fail.
        var drained: Int64 = 0
        /// When a write to the store last failed, if none has succeeded since.
        var storeFailedAt: ContinuousClock.Instant?
    }

    private let store: any TransactionStore
    /// Nil if facts that the store does not take are dropped.
    public let spool: (any FactSpool)?
    private let storeBreaker: WriteBreaker
    private let spoolBreaker: WriteBreaker
    private let onEvent: @Sendable (Event) -> Void
    private let state = Mutex(State())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// How long a caller waits for the spool.
    private static let spoolLimit = Duration.seconds(2)
    /// How long neither is tried after a failure, and the longest pause between two attempts to drain.
    private static let pause = Duration.seconds(1)
    /// The maximum batch for the store, small enough that receipts of waiting clients are not delayed. After a failure, the
    /// batch is smaller, because a store with a deadline may need more time for a large one.
    private static let batchCount = 128
    private static let batchBytes: Int64 = 4 << 20

    /// - Parameters:
    ///   - store: receives the facts.
    ///   - spool: receives facts that the store does not write in time. It needs a running ``drain()``.
    ///   - onEvent: called after each change of state; must not block.
    public init(
        store: any TransactionStore, spool: (any FactSpool)? = nil,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        self.store = store
        self.spool = spool
        self.onEvent = onEvent
        storeBreaker = WriteBreaker(pause: Self.pause, opensAfter: { !Self.isOfOneReceipt($0) })
        spoolBreaker = WriteBreaker(pause: Self.pause, opensAfter: { !Self.isOfOneReceipt($0) })
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        guard let entries = spool?.state.entries, entries > 0 else { return }
        state.withLock { $0.isSpooling = true }
        onEvent(.foundEntries(entries))
        signal.yield()
    }

    /// The number of receipts by outcome.
    public var counts: Counts { state.withLock { $0.counts } }

    /// Whether entries wait in the spool, or neither store nor spool takes receipts.
    public var isInTrouble: Bool { state.withLock { $0.isSpooling || $0.isRefusing } }

    /// Whether a write to the store failed in the last seconds and none has succeeded since. `checkReadiness` writes
    /// only a few bytes and may miss failures of real writes.
    public var storeFailsWrites: Bool {
        guard let failedAt = state.withLock({ $0.storeFailedAt }) else { return false }
        return failedAt.duration(to: .now) < .seconds(5)
    }

    // MARK: Writing

    /// Writes facts to the store, or else to the spool.
    ///
    /// - Parameters:
    ///   - facts: the facts.
    ///   - limit: how long to wait for the store. A write that takes longer may still succeed. That is safe, because
    ///     the store may receive facts twice.
    func write(_ facts: FactSet, within limit: Duration) async -> Outcome {
        let mergesCustomers = Mutex(false)
        let outcome = await storeBreaker.attempt(within: limit) {
            let applied = try await self.apply([facts])
            mergesCustomers.withLock { $0 = applied.mergesCustomers }
        }
        guard let storeReason = outcome.problem(within: limit) else {
            accepted(storeTook: true)
            return .stored(mergesCustomers: mergesCustomers.withLock { $0 })
        }
        let failure: String? = if case .skipped = outcome { nil } else { storeReason }
        if failure != nil { state.withLock { $0.storeFailedAt = .now } }
        guard let spool else { return refused(failure, "The store did not accept the receipt: \(storeReason)") }
        let spooling = await spoolBreaker.attempt(within: Self.spoolLimit) { [signal] in
            try await spool.append(facts)
            // Also when the write ends after its caller has left.
            signal.yield()
        }
        guard let reason = spooling.problem(within: Self.spoolLimit) else {
            spooled(storeReason)
            return .spooled(storeFailure: failure)
        }
        return refused(
            failure, "The store did not accept the receipt: \(storeReason). Neither did the spool: \(reason)")
    }

    @discardableResult
    private func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        let applied = try await store.apply(sets)
        if applied.erased > 0 { state.withLock { $0.counts.erasedFacts += UInt64(applied.erased) } }
        return applied
    }

    private func accepted(storeTook: Bool) {
        let wasRefusing = set(\.isRefusing, false) { if storeTook { $0.storeFailedAt = nil } }
        if wasRefusing { onEvent(.accepting) }
    }

    private func spooled(_ reason: String) {
        accepted(storeTook: false)
        let isFirst = set(\.isSpooling, true) { state in
            state.counts.spooled += 1
            if !state.isSpooling { state.drained = 0 }
        }
        if isFirst { onEvent(.spooling(reason: reason)) }
        // Signal again, because the entry may have been drained before the spool was marked as in use.
        signal.yield()
    }

    private func refused(_ storeFailure: String?, _ reason: String) -> Outcome {
        if set(\.isRefusing, true, { $0.counts.refused += 1 }) { onEvent(.refusing(reason: reason)) }
        return .refused(storeFailure: storeFailure, reason: reason)
    }

    /// Sets a flag, and returns whether that changed it.
    private func set(
        _ flag: WritableKeyPath<State, Bool>, _ value: Bool, _ before: (inout State) -> Void
    ) -> Bool {
        state.withLock { state in
            before(&state)
            defer { state[keyPath: flag] = value }
            return state[keyPath: flag] != value
        }
    }

    // MARK: Draining

    /// Moves the entries of the spool to the store, oldest first, whenever there are any. An entry that the store
    /// cannot take yet is skipped and tried again after the others. Call it once. It returns when the task is
    /// cancelled, or later if the store hangs, so do not wait for it without a limit.
    public func drain() async {
        guard let spool else { return }
        for await _ in signals {
            var wait = Duration.milliseconds(50)
            var count = Self.batchCount
            // Entries up to this id were moved to the store, or wait for the next round.
            var passed: Int64 = 0
            while !Task.isCancelled {
                do {
                    if try await drainBatch(of: spool, after: passed, count: count) {
                        wait = .milliseconds(50)
                        count = min(count * 2, Self.batchCount)
                        continue
                    }
                    guard passed > 0 else { break }
                    passed = 0
                } catch {
                    if count == 1, let blocked = await blocked(by: error, after: passed, in: spool) {
                        passed = blocked
                    } else {
                        state.withLock { $0.storeFailedAt = .now }
                    }
                    count = max(1, count / 4)
                }
                do { try await Task.sleep(for: wait) } catch { return }
                wait = min(wait * 2, Self.pause)
            }
        }
    }

    /// The single entry that fails while the store accepts others, so that entries behind it need not wait. For
    /// example, another program may have locked the rows of one customer.
    private func blocked(by error: any Error, after passed: Int64, in spool: any FactSpool) async -> Int64? {
        guard let error = error as? TransactionStoreError, error.isTransient else { return nil }
        do {
            try await store.checkReadiness()
            return try await spool.oldest(after: passed, maximumCount: 1, maximumBytes: Self.batchBytes).first?.id
        } catch {
            return nil
        }
    }

    /// - Parameters:
    ///   - spool: the spool.
    ///   - after: the id after which to start; 0 for the oldest entry.
    ///   - count: the maximum number of entries.
    /// - Returns: false if no entry waits after that id.
    /// - Throws: the error that prevents every write to the store, or reading the spool.
    private func drainBatch(of spool: any FactSpool, after: Int64, count: Int) async throws -> Bool {
        let entries = try await spool.oldest(after: after, maximumCount: count, maximumBytes: Self.batchBytes)
        guard !entries.isEmpty else {
            if after == 0 { wasDrained() }
            return false
        }
        var readable: [(entry: SpooledFacts, facts: FactSet)] = []
        for entry in entries {
            switch entry.facts {
            case .success(let facts): readable.append((entry, facts))
            case .failure(let error): try await setAside(entry, error, spool)
            }
        }
        guard !readable.isEmpty else { return true }
        do {
            try await apply(readable.map(\.facts))
            try await remove(readable.map(\.entry), spool)
        } catch  where Self.isOfOneReceipt(error) {
            for (entry, facts) in readable {
                do {
                    try await apply([facts])
                    try await remove([entry], spool)
                } catch  where Self.isOfOneReceipt(error) {
                    // A store that accepts nothing at all must not make the spool set everything aside.
                    try await store.checkReadiness()
                    try await setAside(entry, error, spool)
                }
            }
        }
        return true
    }

    private func remove(_ entries: [SpooledFacts], _ spool: any FactSpool) async throws {
        storeBreaker.close()
        accepted(storeTook: true)
        try await spool.remove(entries.map(\.id))
        spoolBreaker.close()
        state.withLock { state in
            state.counts.drained += UInt64(entries.count)
            state.drained += Int64(entries.count)
        }
    }

    private func setAside(_ entry: SpooledFacts, _ error: any Error, _ spool: any FactSpool) async throws {
        let reason = TransactionStoreError.text(of: error)
        try await spool.setAside(entry.id, reason: reason)
        state.withLock { $0.counts.setAside += 1 }
        onEvent(.setAside(receipt: entry.name, reason: reason))
    }

    /// An entry that was added in the meantime has sent its own signal.
    private func wasDrained() {
        let drained = state.withLock { state -> Int64? in
            guard state.isSpooling else { return nil }
            state.isSpooling = false
            return state.drained
        }
        if let drained { onEvent(.drained(drained)) }
    }

    // MARK: Errors

    /// Whether an error may concern only one receipt or its customer's data, so that the next receipt may succeed.
    private static func isOfOneReceipt(_ error: any Error) -> Bool {
        switch (error as? TransactionStoreError)?.code {
        case .corrupt, .invalidArgument, .engine: true
        default: false
        }
    }
}
