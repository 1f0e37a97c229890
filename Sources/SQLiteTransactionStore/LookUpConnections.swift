import Dispatch
import GRDB
import GRDBSQLite
import Purchases
import Synchronization
import TransactionStore

/// The connections that look-ups read from: at most as many as may read at once, opened when they are needed.
///
/// GRDB's own readers are for everything else. What they do for each transaction beside reading (statements for its begin
/// and end compiled anew, ways through several queues) takes longer than to look a customer up.
final class LookUpConnections: Sendable {
    /// The file that the connections are to is no longer in its place, or its log is not.
    struct Replaced: Error {}

    private struct State {
        /// The one used last comes first: its pages are in the caches.
        var idle: [LookUpConnection] = []
        var isClosed = false
    }

    private let path: String
    private let isInPlace: @Sendable () -> Bool
    private let busyTimeout: Double
    private let maximum: Int
    /// As many as there may be connections more.
    private let free: DispatchSemaphore
    private let state = Mutex(State())

    /// How many look-ups may run at once. Some of the shared threads stay free, whatever holds up the look-ups.
    static func maximum(_ options: SQLiteTransactionStore.Options) -> Int {
        min(max(1, options.readers), BlockingThreads.sharedMaximum - BlockingThreads.sharedReserve)
    }

    /// - Parameters:
    ///   - path: of the file.
    ///   - isInPlace: whether the path leads to the file that was opened first, and to its log.
    ///   - maximum: how many may read at once, at least 1.
    ///   - busyTimeout: seconds.
    init(_ path: String, maximum: Int, busyTimeout: Double, isInPlace: @escaping @Sendable () -> Bool) {
        self.path = path
        self.isInPlace = isInPlace
        self.busyTimeout = busyTimeout
        self.maximum = maximum
        free = DispatchSemaphore(value: self.maximum)
    }

    /// Gives `body` a connection, outside of a transaction. Waits for one.
    /// - Throws: what `body` throws; ``Replaced`` before it was called; `DatabaseError`; `TransactionStoreError` `closed`;
    ///   `CancellationError`.
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
        // Another file may have taken the place since that was checked last. Nothing was read from it yet.
        guard isInPlace() else { throw Replaced() }
        try connection.prepare(busyTimeout: busyTimeout)
        return connection
    }

    private func giveBack(_ connection: LookUpConnection) {
        // One that is stuck in a transaction would read what once was for ever.
        guard !connection.isInsideTransaction else { return }
        state.withLock { state in
            if !state.isClosed { state.idle.append(connection) }
        }
    }

    /// Closes all, when the last one is given back.
    func close() {
        for _ in 0..<maximum { free.wait() }
        let idle = state.withLock { state in
            defer { state.idle = [] }
            state.isClosed = true
            return state.idle
        }
        withExtendedLifetime(idle) {}
        // Whoever comes later is told, and a semaphore must not go away with less than it began with.
        for _ in 0..<maximum { free.signal() }
    }
}

/// A connection that only reads and keeps its statements. It is closed when nobody holds it any more.
///
/// `@unchecked Sendable`: it goes from thread to thread, but only ``LookUpConnections`` holds one that is idle, and gives it
/// to one caller at a time, under a lock. SQLite allows that (SQLite, "Using SQLite In Multi-Threaded Applications").
final class LookUpConnection: StatementSource, @unchecked Sendable {
    private let connection: OpaquePointer
    /// Fewer than ten, whose texts are told apart at once: searching costs less than hashing such long ones.
    private var statements: [(sql: String, handle: OpaquePointer)] = []

    /// What is never taken away again need not be asked for twice. Bounded, since strangers' apps may be stored too.
    private var scopeIds: [StoreScope: Int64] = [:]
    private static let maximumScopes = 256

    /// - Parameter connection: is closed together with this.
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

    /// All statements of `body` see the store of one moment.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try statement("BEGIN").run()
        do {
            let value = try body()
            try statement("COMMIT").run()
            return value
        } catch {
            // After some errors SQLite has ended it already.
            if isInsideTransaction { _ = try? statement("ROLLBACK").run() }
            throw error
        }
    }
}
