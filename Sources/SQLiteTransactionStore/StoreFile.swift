import Dispatch
import Foundation
import GRDB
import Synchronization
import TransactionStore

/// The file of a store and the connections to it.
///
/// SQLite keeps writing to a file that was removed or replaced, and those writes are lost. Before each use (before
/// look-ups, at most once per ``maximumAge``) this type therefore checks that the paths still lead to the open file and
/// its log. If the file is missing, calls fail with `unavailable` until it is back. If another file is there, that file
/// is opened. This type never creates an empty file in its place, and never opens an empty file as a store.
///
/// SQLite finds a log by its name, and would write the old file's log into the new file. Therefore the old log is
/// deleted first. If a log of unknown origin is there, nothing is opened.
final class StoreFile: Sendable {
    /// Connections, and the file and log that they are connected to.
    private final class Connected: Sendable {
        // Closed before the pool, because the pool's last connection empties the log.
        let lookUps: LookUpConnections
        let pool: DatabasePool
        let file: FileIdentity
        /// The path without symbolic links.
        let resolvedPath: String
        /// SQLite names the log after the file itself, not after a symbolic link to it ("Temporary Files Used By SQLite").
        let logPath: String
        let log: FileIdentity?
        let indexPath: String
        let index: FileIdentity?
        /// When the file and the log were last seen in place, in nanoseconds of uptime.
        let lastSeen = Atomic<UInt64>(0)

        init(_ path: String, _ options: SQLiteTransactionStore.Options) throws {
            pool = try StoreFile.openPool(path, options)
            guard let file = FileIdentity(path) else { throw StoreFile.gone(path) }
            self.file = file
            resolvedPath = FileIdentity.resolved(path)
            logPath = resolvedPath + "-wal"
            log = FileIdentity(logPath)
            indexPath = resolvedPath + "-shm"
            index = FileIdentity(indexPath)
            let (logPath, log) = (logPath, log)
            lookUps = LookUpConnections(
                path, maximum: LookUpConnections.maximum(options), busyTimeout: options.busyTimeout
            ) {
                FileIdentity(path) == file && FileIdentity(logPath) == log
            }
        }
    }

    private enum State {
        case open(Connected)
        case closed
    }

    private let path: String
    private let options: SQLiteTransactionStore.Options
    private let state: Mutex<State>
    /// Connections to files that are no longer at the path. Closing them would delete the log of the current file,
    /// because SQLite finds the log by its name.
    private let retired = Mutex<[Connected]>([])

    init(path: String, options: SQLiteTransactionStore.Options) throws {
        self.path = path
        self.options = options
        PrivateFile.make(path)
        state = Mutex(.open(try Connected(path, options)))
    }

    static let closed = TransactionStoreError(.closed, "The store was closed.")

    /// Translates an error for the caller.
    func error(_ error: any Error) -> TransactionStoreError {
        let isClosed = state.withLock { if case .closed = $0 { true } else { false } }
        // A call that was running while the store closed fails with an error of the closed connection.
        return isClosed ? Self.closed : TransactionStoreError(error)
    }

    private static func unavailable(_ problem: String, _ path: String) -> TransactionStoreError {
        TransactionStoreError(.unavailable, "\(problem): \(path)")
    }

    private static func gone(_ path: String) -> TransactionStoreError {
        unavailable("The file of the store was removed", path)
    }

    private static func replaced(_ path: String) -> TransactionStoreError {
        unavailable("The file of the store was replaced", path)
    }

    /// Connections to the file at the path.
    func pool() throws -> DatabasePool { try connected().pool }

    /// Calls `body` with a connection to the file that is at the path now, or was there at most ``maximumAge`` ago.
    /// Checking the path each time would take a quarter of the time of a small look-up.
    func lookUp<Value>(_ body: (LookUpConnection) throws -> Value) throws -> Value {
        do {
            return try lookUps().read(body)
        } catch is LookUpConnections.Replaced {
            do { return try connected().lookUps.read(body) } catch is LookUpConnections.Replaced {
                throw Self.replaced(path)
            }
        }
    }

    private func lookUps() throws -> LookUpConnections {
        let connected = try state.withLock { try Self.opened($0) }
        let now = DispatchTime.now().uptimeNanoseconds
        let lastSeen = connected.lastSeen.load(ordering: .relaxed)
        if lastSeen > 0, now < lastSeen &+ Self.maximumAge { return connected.lookUps }
        let checked = try self.connected()
        checked.lastSeen.store(now, ordering: .relaxed)
        return checked.lookUps
    }

    /// How long a check of the path is valid for look-ups, in nanoseconds.
    private static let maximumAge: UInt64 = 10_000_000

    private func connected() throws -> Connected {
        let connected = try state.withLock { try Self.opened($0) }
        if FileIdentity(path) == connected.file, FileIdentity(connected.logPath) == connected.log { return connected }
        connected.lastSeen.store(0, ordering: .relaxed)
        return try state.withLock { try reconnected(&$0) }
    }

    private static func opened(_ state: State) throws -> Connected {
        guard case .open(let connected) = state else { throw closed }
        return connected
    }

    /// Handles a file or a log that is not in place.
    private func reconnected(_ state: inout State) throws -> Connected {
        let connected = try Self.opened(state)
        guard let now = FileIdentity(path) else { throw Self.gone(path) }
        if now == connected.file {
            guard FileIdentity(connected.logPath) == connected.log else {
                throw Self.unavailable("The log of the store was removed", connected.logPath)
            }
            return connected
        }
        if FileIdentity.isEmpty(path) { throw Self.unavailable("The file of the store is empty", path) }
        try removeLog(of: connected)
        let reopened = try Connected(path, options)
        retired.withLock { $0.append(connected) }
        state = .open(reopened)
        return reopened
    }

    /// Deletes the log that the replaced file left next to the current file. The retired connections keep both open.
    private func removeLog(of replaced: Connected) throws {
        // A symbolic link may now lead to another file, whose log is a different one.
        for log in Set([replaced.logPath, FileIdentity.resolved(path) + "-wal"]) {
            guard let found = FileIdentity(log), found != replaced.log, !FileIdentity.isEmpty(log) else { continue }
            throw Self.unavailable(
                "The file of the store was replaced, and it has a log of unknown origin; restart the program", log)
        }
        // If only a symbolic link changed, the old file still exists and needs its log.
        guard FileIdentity(replaced.resolvedPath) != replaced.file else { return }
        for (path, identity) in [(replaced.indexPath, replaced.index), (replaced.logPath, replaced.log)] {
            guard let identity, FileIdentity(path) == identity else { continue }
            guard unlink(path) == 0 else {
                throw Self.unavailable("The file of the store was replaced, and its old log cannot be removed", path)
            }
        }
    }

    /// Throws if the path no longer leads to the file that `pool` writes to.
    func checkStillThere(_ pool: DatabasePool) throws {
        guard try self.pool() === pool else { throw Self.replaced(path) }
    }

    /// - Throws: `TransactionStoreError` `notWritable` if the disk is full.
    func checkSpace() throws { try DiskSpace.check(of: path) }

    func close() throws {
        let connected: Connected? = state.withLock { state in
            guard case .open(let connected) = state else { return nil }
            state = .closed
            guard FileIdentity(path) == connected.file else {
                // Otherwise the next program that opens the new file would write the old log into it.
                if FileIdentity(path) != nil { try? removeLog(of: connected) }
                retired.withLock { $0.append(connected) }
                return nil
            }
            return connected
        }
        guard let connected else { return }
        connected.lookUps.close()
        // Moves the log into the main file, so that a copy of that file alone is complete. This can fail if another
        // program has the store open, which loses nothing.
        try? connected.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        // SQLite removes the log by its name, so another log there stays.
        try Self.close(connected.pool, path) {
            connected.log != nil && FileIdentity(path) == connected.file
                && FileIdentity(connected.logPath) == connected.log
        }
    }

    /// Closes a pool. Removes the log and its index if `isInPlace` and no other program has the file open.
    private static func close(_ pool: DatabasePool, _ path: String, isInPlace: () -> Bool) throws {
        let last = isInPlace() ? LastConnection(path, isInPlace: isInPlace) : nil
        defer { last?.close() }
        try pool.close()
    }

    // MARK: Opening

    /// The page cache of a reading connection. It holds the upper pages of the indices of any store.
    static let readerCacheKibibytes = 16_384

    /// SQLite does not wait for another program that creates the same file at this moment, and that switches it to a
    /// write-ahead log (SQLite, "Write-Ahead Logging", 3.3). So this waits.
    private static func openPool(_ path: String, _ options: SQLiteTransactionStore.Options) throws -> DatabasePool {
        let end = ContinuousClock.now + .seconds(min(max(0, options.busyTimeout), 1e6))
        while true {
            do {
                return try openPoolOnce(path, options)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < end {
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    private static func openPoolOnce(
        _ path: String, _ options: SQLiteTransactionStore.Options
    ) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "TransactionStore"
        configuration.busyMode = .timeout(options.busyTimeout)
        // For everything except look-ups.
        configuration.maximumReaderCount = min(max(1, options.readers), 4)
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            // For new files. The transactions of a customer are tens of kilobytes of adjacent data, which large pages
            // read in few pieces.
            try db.execute(sql: "PRAGMA page_size = 16384")
            // A bulk load writes to all parts of the index.
            let cache = db.configuration.readonly ? readerCacheKibibytes : 65_536
            try db.execute(sql: "PRAGMA cache_size = -\(cache)")
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        let file = FileIdentity(path)
        do {
            try prepare(pool, options)
        } catch {
            // Close now, so that no log stays next to a rejected file.
            try? close(pool, path) { file != nil && FileIdentity(path) == file }
            throw error
        }
        return pool
    }

    private static func prepare(_ pool: DatabasePool, _ options: SQLiteTransactionStore.Options) throws {
        try check(pool)
        try migrate(pool)
        try pool.writeWithoutTransaction { db in
            // With NORMAL, a power failure could undo a commit that was reported as durable (SQLite, "Write-Ahead
            // Logging", 4).
            try db.execute(sql: "PRAGMA synchronous = \(options.durability.rawValue)")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 1000")
        }
    }

    /// Rejects a file that is not a store, and a store that a newer program wrote.
    private static func check(_ pool: DatabasePool) throws {
        try pool.read { db in
            let id = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
            // Another program that is creating the file at this moment begins with the migrator's table.
            let tables =
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'") ?? 0
            guard id == SQLiteSchema.applicationId || tables == 0 else {
                throw TransactionStoreError(.corrupt, "The file is a SQLite database, but not a store.")
            }
            if try SQLiteSchema.migrator.hasBeenSuperseded(db) {
                throw TransactionStoreError(.newerSchema, "The store was written by a newer version of this program.")
            }
        }
    }

    /// Two programs may open a new file at once. The second one finds the tables already created.
    private static func migrate(_ pool: DatabasePool) throws {
        do {
            try SQLiteSchema.migrator.migrate(pool)
        } catch let error as DatabaseError where [.SQLITE_ERROR, .SQLITE_CONSTRAINT].contains(error.resultCode) {
            try SQLiteSchema.migrator.migrate(pool)
        }
    }
}
