import Dispatch
import GRDB
import GRDBSQLite
import Purchases
import Synchronization
import TransactionStore

/// The connections for look-ups. They open on demand, up to the number of look-ups that may run at once.
///
/// GRDB's own readers serve everything else. For each transaction they compile the statements for its begin and end
/// again and pass several queues, which takes longer than the look-up itself.
final class LookUpConnections: Sendable {
    /// The file of the connections, or its log, is no longer at its path.
    struct Replaced: Error {}

    private struct State {
        /// The most recently used connection is the last one. It is used first, because its pages are in the caches.
        var idle: [LookUpConnection] = []
        var isClosed = false
    }

    private let path: String
    private let isInPlace: @Sendable () -> Bool
    private let busyTimeout: Double
    private let maximum: Int
    /// Its value is the number of look-ups that may still begin.
    private let free: DispatchSemaphore
    private let state = Mutex(State())

    /// How many look-ups may run at once. Some of the shared threads stay free even if all look-ups hang.
    static func maximum(_ options: SQLiteTransactionStore.Options) -> Int {
        min(max(1, options.readers), BlockingThreads.sharedMaximum - BlockingThreads.sharedReserve)
    }

    /// - Parameters:
    ///   - path: the path of the file.
    ///   - maximum: how many look-ups may run at once, at least 1.
    ///   - busyTimeout: in seconds.
    ///   - isInPlace: whether the path still leads to the file that was opened first, and to its log.
    init(_ path: String, maximum: Int, busyTimeout: Double, isInPlace: @escaping @Sendable () -> Bool) {
        self.path = path
        self.isInPlace = isInPlace
        self.busyTimeout = busyTimeout
        self.maximum = maximum
        free = DispatchSemaphore(value: self.maximum)
    }

    /// Calls `body` with a connection that is not in a transaction. Waits until one is free.
    /// - Throws: what `body` throws; ``Replaced`` before `body` was called; `DatabaseError`; `TransactionStoreError`
    ///   `closed`; `CancellationError`.
    func read<Value>(_ body: (LookUpConnection) throws -> Value) throws -> Value {
        free.wait()
        defer { free.signal() }
        try Task.checkCancellation()
        let connection = try take()
        defer { giveBack(connection) }
        return try body(connection)
    }

    private func take() throws -> LookUpConnection {
        let idle = try state.withLock { state in
            guard !state.isClosed else { throw StoreFile.closed }
            return state.idle.popLast()
        }
        if let idle { return idle }
        let connection = LookUpConnection(try LookUpConnection.open(path))
        // Another file may have taken its place since the last check. Nothing was read from it yet.
        guard isInPlace() else { throw Replaced() }
        try connection.prepare(busyTimeout: busyTimeout)
        return connection
    }

    private func giveBack(_ connection: LookUpConnection) {
        // A connection that is stuck in a transaction would read the same old snapshot forever.
        guard !connection.isInsideTransaction else { return }
        state.withLock { state in
            if !state.isClosed { state.idle.append(connection) }
        }
    }

    /// Closes all connections after the last one is returned.
    func close() {
        for _ in 0..<maximum { free.wait() }
        let idle = state.withLock { state in
            defer { state.idle = [] }
            state.isClosed = true
            return state.idle
        }
        withExtendedLifetime(idle) {}
        // Later callers get the error `closed`. Dispatch also requires that a semaphore is destroyed with at least its
        // initial value.
        for _ in 0..<maximum { free.signal() }
    }
}

/// A read-only connection that keeps its prepared statements. It closes when its last owner releases it.
///
/// `@unchecked Sendable`: the connection moves between threads, but ``LookUpConnections`` owns each idle one and lends
/// it to one caller at a time, under a lock. SQLite allows that (SQLite, "Using SQLite In Multi-Threaded
/// Applications").
final class LookUpConnection: StatementSource, @unchecked Sendable {
    private let connection: OpaquePointer
    /// Fewer than ten, and their texts differ in the first characters. A linear search is cheaper than hashing such
    /// long texts.
    private var statements: [(sql: String, handle: OpaquePointer)] = []

    /// Scopes are never deleted, so their ids are cached. The number is bounded, because the store may contain other
    /// apps.
    private var scopeIds: [StoreScope: Int64] = [:]
    private static let maximumScopes = 256

    /// - Parameter connection: closed together with this object.
    fileprivate init(_ connection: OpaquePointer) { self.connection = connection }

    fileprivate static func open(_ path: String) throws -> OpaquePointer {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened else { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
        guard code == SQLITE_OK else {
            defer { sqlite3_close_v2(opened) }
            throw DatabaseError(connection: opened)
        }
        return opened
    }

    fileprivate func prepare(busyTimeout: Double) throws {
        sqlite3_busy_timeout(connection, Int32(clamping: Int64(min(busyTimeout, 1e6) * 1_000)))
        try statement("PRAGMA cache_size = -\(StoreFile.readerCacheKibibytes)").run()
    }

    deinit {
        for statement in statements { sqlite3_finalize(statement.handle) }
        sqlite3_close_v2(connection)
    }

    func statement(_ sql: String) throws -> SQLStatement {
        for known in statements where known.sql == sql { return SQLStatement(known.handle, on: connection) }
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw DatabaseError(connection: connection) }
        statements.append((sql, prepared))
        return SQLStatement(prepared, on: connection)
    }

    func scopeId(_ scope: StoreScope) throws -> Int64? {
        if let known = scopeIds[scope] { return known }
        guard let id = try SQLiteTransactionStore.scopeId(scope, self) else { return nil }
        if scopeIds.count < Self.maximumScopes { scopeIds[scope] = id }
        return id
    }

    fileprivate var isInsideTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// Runs `body` in a transaction: all its statements read one snapshot.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try statement("BEGIN").run()
        do {
            let value = try body()
            try statement("COMMIT").run()
            return value
        } catch {
            // After some errors SQLite has already ended the transaction.
            if isInsideTransaction { _ = try? statement("ROLLBACK").run() }
            throw error
        }
    }
}
