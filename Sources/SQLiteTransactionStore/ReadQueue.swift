import Dispatch
import GRDB
import Synchronization

/// Lets the look-ups that wait share a connection and a transaction: a visit to another thread and the beginning and end of
/// a transaction cost as much as a small look-up itself. Each call still succeeds or fails on its own. Not for what reads
/// for long: others would wait for it.
///
/// A call sees everything that was committed before it was made, since a transaction begins after its calls were taken.
final class ReadQueue: Sendable {
    private struct Call: Sendable {
        let read: @Sendable (Database) -> Void
        let fail: @Sendable (any Error) -> Void
    }

    /// By what a call is found when its task is cancelled, which may be before it waits.
    private final class Ticket: Sendable {
        let isCancelled = Atomic<Bool>(false)
    }

    private struct State {
        var waiting: [(ticket: Ticket, call: Call)] = []
        var idle: [DispatchQueue] = []
        /// How many readers there are, idle ones too.
        var readers = 0
    }

    /// How many calls one transaction answers at most, so that a slow one does not hold many up.
    private static let callsPerTransaction = 16

    private let maximumReaders: Int
    private let pool: @Sendable () throws -> DatabasePool
    private let state = Mutex(State())

    /// - Parameter pool: gives the connections to read from, or throws what all waiting calls then throw.
    init(readers: Int, pool: @escaping @Sendable () throws -> DatabasePool) {
        maximumReaders = max(1, readers)
        self.pool = pool
    }

    /// - Throws: what `value` or the connection throws; `CancellationError` if the task is cancelled before its turn comes.
    func read<Value: Sendable>(_ value: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let ticket = Ticket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let call = Call(
                    read: { db in continuation.resume(with: Result { try value(db) }) },
                    fail: { continuation.resume(throwing: $0) })
                if !enqueue(call, ticket) { call.fail(CancellationError()) }
            }
        } onCancel: {
            ticket.isCancelled.store(true, ordering: .sequentiallyConsistent)
            takeOut(ticket)?.fail(CancellationError())
        }
    }

    /// False if the call is cancelled already.
    private func enqueue(_ call: Call, _ ticket: Ticket) -> Bool {
        let reader = state.withLock { state -> DispatchQueue?? in
            guard !ticket.isCancelled.load(ordering: .sequentiallyConsistent) else { return nil }
            state.waiting.append((ticket, call))
            if let reader = state.idle.popLast() { return reader }
            guard state.readers < maximumReaders else { return .some(nil) }
            state.readers += 1
            // A serial queue has a thread of its own. Concurrent ones share as many as there are processors with Swift's
            // tasks, and SQLite waits for the disk.
            return DispatchQueue(label: "TransactionStore.read")
        }
        guard let reader else { return false }
        reader?.async { [self] in if let reader { readWaiting(reader) } }
        return true
    }

    private func takeOut(_ ticket: Ticket) -> Call? {
        state.withLock { state in
            state.waiting.firstIndex { $0.ticket === ticket }.map { state.waiting.remove(at: $0).call }
        }
    }

    private func readWaiting(_ reader: DispatchQueue) {
        while var calls = takeCalls(reader) {
            while !calls.isEmpty { answer(&calls) }
        }
    }

    /// Answers calls from the first on in one transaction: all of them, unless it ends before.
    private func answer(_ calls: inout ArraySlice<Call>) {
        let before = calls.count
        do {
            try pool().read { db in
                while let call = calls.popFirst() {
                    call.read(db)
                    // After some errors, as those of the disk, SQLite has ended the transaction. What is read then would be
                    // of several moments.
                    guard db.isInsideTransaction else { return }
                }
            }
        } catch {
            // It was the transaction of those that have their answers.
            guard calls.count == before else { return }
            for call in calls { call.fail(error) }
            calls = []
        }
    }

    /// The next calls, a fair share of those that wait; nil, and the reader is idle, if none does.
    private func takeCalls(_ reader: DispatchQueue) -> ArraySlice<Call>? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.idle.append(reader)
                return nil
            }
            let share = (state.waiting.count - 1) / maximumReaders + 1
            let count = min(share, Self.callsPerTransaction)
            defer { state.waiting.removeFirst(count) }
            return state.waiting.prefix(count).map(\.call)[...]
        }
    }
}
