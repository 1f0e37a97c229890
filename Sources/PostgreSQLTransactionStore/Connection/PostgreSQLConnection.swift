import Dispatch
import TransactionStore

/// How long things may take, in milliseconds.
struct PostgreSQLTimeouts: Sendable {
    /// `statement_timeout` of the session; the server cancels what takes longer.
    let statement: Int
    /// `lock_timeout`: how long one statement may wait for another writer.
    let lock: Int
    /// How long a call waits for a free connection.
    let acquire: Int
    /// How long we wait for any answer. The server has given up by then, if it is alive.
    let answer: Int

    /// The limits for bringing the schema up to date, which takes as long as the store is large.
    var schema: (statement: Int, lock: Int, answer: Int) {
        let statement = max(statement, 30_000)
        return (statement, max(lock, 10_000), statement + 5_000)
    }
}

/// Runs the jobs of one connection one after the other on a thread of its own, so that the blocking calls of libpq never
/// hold a thread of Swift's cooperative pool.
private final class ConnectionExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "PostgreSQLTransactionStore.connection")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// One connection, made when it is first needed and made again after it was lost.
actor PostgreSQLConnection {
    private let executor = ConnectionExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let address: PostgreSQLAddress
    private let timeouts: PostgreSQLTimeouts
    /// Readies a new session: settings, schema.
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

    /// Runs `body` on the thread of the connection. What failed because the server had gone away since the last use is
    /// tried once more on a new connection, unless a COMMIT was under way. What got no answer in time is not: it would wait
    /// as long again.
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
