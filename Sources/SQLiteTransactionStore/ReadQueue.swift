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

    private struct State {
        var waiting: [Call] = []
        var readers = 0
    }

    /// How many calls one transaction answers at most; the log of the store cannot begin anew while one is open.
    private static let callsPerTransaction = 64

    private let maximumReaders: Int
    private let pool: @Sendable () throws -> DatabasePool
    private let state = Mutex(State())
    // SQLite waits for the disk, which the threads of Swift's own pool must not do.
    private let threads = DispatchQueue(label: "TransactionStore.read", attributes: .concurrent)

    /// - Parameter pool: gives the connections to read from, or throws what all waiting calls then throw.
    init(readers: Int, pool: @escaping @Sendable () throws -> DatabasePool) {
        maximumReaders = max(1, readers)
        self.pool = pool
    }

    func read<Value: Sendable>(_ value: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let call = Call(
                read: { db in continuation.resume(with: Result { try value(db) }) },
                fail: { continuation.resume(throwing: $0) })
            let needsReader = state.withLock { state in
                state.waiting.append(call)
                guard state.readers < maximumReaders else { return false }
                state.readers += 1
                return true
            }
            if needsReader { threads.async { self.readWaiting() } }
        }
    }

    private func readWaiting() {
        while let calls = takeCalls() {
            var answered = 0
            do {
                try pool().read { db in
                    for call in calls {
                        answered += 1
                        call.read(db)
                    }
                }
            } catch {
                for call in calls[answered...] { call.fail(error) }
            }
        }
    }

    /// The next calls, a fair share of those that wait; nil, and one reader less, if none does.
    private func takeCalls() -> [Call]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.readers -= 1
                return nil
            }
            let share = (state.waiting.count + maximumReaders - 1) / maximumReaders
            let count = min(share, Self.callsPerTransaction)
            defer { state.waiting.removeFirst(count) }
            return Array(state.waiting.prefix(count))
        }
    }
}
