import Foundation
import GRDB
import Synchronization
import TransactionStore

/// The file of a store and the connections to it.
///
/// SQLite goes on with a file that somebody removed or replaced, and what it writes there is lost. So before each use it is
/// checked that the path still leads to the open file. If it leads nowhere, calls fail with `unavailable` until the file is
/// back; if it leads to another file, that one is opened. An empty file is never made in its place.
final class StoreFile: Sendable {
    private struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    private enum State {
        case open(DatabasePool, Identity)
        case closed
    }

    private let path: String
    private let options: SQLiteTransactionStore.Options
    private let state: Mutex<State>
    /// Connections to files that are no longer at the path. Closing them would remove the log of the file that is there
    /// now, because SQLite finds the log by its name.
    private let retired = Mutex<[DatabasePool]>([])

    init(path: String, options: SQLiteTransactionStore.Options) throws {
        self.path = path
        self.options = options
        let pool = try Self.openPool(path, options)
        guard let identity = Self.identity(path) else { throw Self.gone(path) }
        state = Mutex(.open(pool, identity))
    }

    static let closed = TransactionStoreError(.closed, "The store was closed.")

    /// What an error that a call ran into means to its caller.
    func error(_ error: any Error) -> TransactionStoreError {
        let isClosed = state.withLock { if case .closed = $0 { true } else { false } }
        // A call that was under way when the store was closed finds its connection gone.
        return isClosed ? Self.closed : TransactionStoreError(error)
    }

    private static func gone(_ path: String) -> TransactionStoreError {
        TransactionStoreError(.unavailable, "The file of the store is gone: \(path)")
    }

    private static func identity(_ path: String) -> Identity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Identity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Connections to the file at the path.
    func pool() throws -> DatabasePool {
        try state.withLock { state in
            guard case .open(let pool, let identity) = state else { throw Self.closed }
            guard let now = Self.identity(path) else { throw Self.gone(path) }
            if now == identity { return pool }
            let reopened = try Self.openPool(path, options)
            retired.withLock { $0.append(pool) }
            state = .open(reopened, now)
            return reopened
        }
    }

    /// Throws if the path no longer leads to the file that `pool` writes to.
    func checkStillThere(_ pool: DatabasePool) throws {
        guard try self.pool() === pool else {
            throw TransactionStoreError(.unavailable, "The file of the store was replaced: \(path)")
        }
    }

    func close() throws {
        let pool: DatabasePool? = state.withLock { state in
            guard case .open(let pool, let identity) = state else { return nil }
            state = .closed
            guard Self.identity(path) == identity else {
                retired.withLock { $0.append(pool) }
                return nil
            }
            return pool
        }
        guard let pool else { return }
        // The whole store in one file, so that somebody who copies that file has all of it. Another program that has the
        // store open may keep the log from being emptied; nothing is lost by that.
        try? pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try pool.close()
    }

    // MARK: Opening

    private static func openPool(_ path: String, _ options: SQLiteTransactionStore.Options) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "TransactionStore"
        configuration.busyMode = .timeout(options.busyTimeout)
        configuration.maximumReaderCount = max(1, options.readers)
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            // 64 MB: the index of a bulk load is written all over.
            try db.execute(sql: "PRAGMA cache_size = -65536")
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try check(pool)
        try migrate(pool)
        try pool.writeWithoutTransaction { db in
            // With NORMAL a power cut could take back what was reported as durable (SQLite, "Write-Ahead Logging", 4).
            try db.execute(sql: "PRAGMA synchronous = \(options.durability.rawValue)")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
            if let pages = options.maximumPageCount { try db.execute(sql: "PRAGMA max_page_count = \(pages)") }
        }
        return pool
    }

    /// Refuses what is not a store, or one of a newer program.
    private static func check(_ pool: DatabasePool) throws {
        try pool.read { db in
            let id = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
            let tables = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") ?? 0
            guard id == SQLiteSchema.applicationId || tables == 0 else {
                throw TransactionStoreError(.corrupt, "The file is a SQLite database of something else.")
            }
            if try SQLiteSchema.migrator.hasBeenSuperseded(db) {
                throw TransactionStoreError(.newerSchema, "The store was written by a newer version of this program.")
            }
        }
    }

    /// Two programs may open a new file at once; the one that comes second finds the tables made.
    private static func migrate(_ pool: DatabasePool) throws {
        do {
            try SQLiteSchema.migrator.migrate(pool)
        } catch let error as DatabaseError where [.SQLITE_ERROR, .SQLITE_CONSTRAINT].contains(error.resultCode) {
            try SQLiteSchema.migrator.migrate(pool)
        }
    }
}
