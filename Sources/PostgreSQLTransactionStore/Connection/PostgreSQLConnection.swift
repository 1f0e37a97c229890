import Dispatch
import TransactionStore

/// Time limits, in milliseconds.
struct PostgreSQLTimeouts: Sendable {
    /// `statement_timeout` of the session: the server cancels a statement that takes longer.
    let statement: Int
    /// `lock_timeout`: how long one statement may wait for another writer.
    let lock: Int
    /// How long a call waits for a free connection.
    let acquire: Int
    /// How long a call waits for any answer from the server. A server that works has reached its own limits by then.
    let answer: Int

    /// The limits for a schema migration, whose duration grows with the size of the store.
    var schema: (statement: Int, lock: Int, answer: Int) {
        let statement = max(statement, 30_000)
        return (statement, max(lock, 10_000), statement + 5_000)
    }
}

/// Runs the jobs of one connection in order on a dedicated thread. The blocking calls of libpq therefore never hold a
/// thread of Swift's cooperative pool.
private final class ConnectionExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "PostgreSQLTransactionStore.connection")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// One connection. It opens at its first use, and reopens after it was lost.
actor PostgreSQLConnection {
    private let executor = ConnectionExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let address: PostgreSQLAddress
    private let timeouts: PostgreSQLTimeouts
    /// Prepares a new session: settings and schema.
    private let prepare: @Sendable (PostgreSQLSession) throws -> Void
    private var session: PostgreSQLSession?

    init(
        _ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts,
        prepare: @escaping @Sendable (PostgreSQLSession) throws -> Void
    ) {
        self.address = address
        self.timeouts = timeouts
        self.prepare = prepare
    }

    /// Runs `body` on the thread of the connection.
    ///
    /// If the server closed the connection since its last use, `body` runs once more on a new connection, unless a
    /// COMMIT was under way. A call that timed out is not repeated, because it would only time out again.
    func perform<Value: Sendable>(_ body: @Sendable (PostgreSQLSession) throws -> Value) throws -> Value {
        let wasOpen = session != nil
        do {
            return try attempt(body)
        } catch let failure as PostgreSQLFailure where wasOpen && failure.isStaleConnection {
            return try attempt(body)
        }
    }

    private func attempt<Value: Sendable>(_ body: @Sendable (PostgreSQLSession) throws -> Value) throws -> Value {
        let current: PostgreSQLSession
        if let session {
            current = session
        } else {
            current = try PostgreSQLSession(address, timeouts: timeouts)
            try prepare(current)
            session = current
        }
        defer { if current.isLost { session = nil } }
        return try body(current)
    }

    func close() { session = nil }
}
