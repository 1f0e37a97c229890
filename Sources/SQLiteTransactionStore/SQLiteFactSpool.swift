import Foundation
import GRDB
public import Purchases
import Synchronization
public import TransactionStore

/// A spool in one SQLite file (write-ahead log), used by one server.
///
/// When ``append(_:)`` returns, its entries survive a crash of the program and of the machine. Calls that arrive during
/// a commit share the next commit. The file stays locked while it is open.
///
/// | condition | error |
/// |---|---|
/// | another server has the spool open | `busy` |
/// | the folder is missing, the disk fails, the file was removed or replaced while it was open | `unavailable` |
/// | the spool or its disk is full | `notWritable`; works again when the cause is gone |
/// | the file is another kind of database, or damaged | `corrupt` |
/// | the spool was written by a newer program | `newerSchema` |
///
/// Keep the file on a local disk, and preferably not on the disk of the store.
public final class SQLiteFactSpool: FactSpool {
    private let path: String
    private let database: DatabaseQueue
    private let appending: WriteQueue
    private let account: Account
    private let place: Place

    /// The location of the spool. If the file is removed or replaced while it is open, new entries can still be
    /// written. They are lost when the process ends.
    private struct Place: Sendable {
        private let path: String
        private let file: FileIdentity?
        /// SQLite names the log after the file itself, not after a symbolic link to it.
        private let logPath: String
        private let log: FileIdentity?

        /// For an open spool, whose two files both exist.
        init(_ path: String) {
            self.path = path
            file = FileIdentity(path)
            logPath = FileIdentity.resolved(path) + "-wal"
            log = FileIdentity(logPath)
        }

        /// - Throws: `TransactionStoreError` `unavailable` if the next start would not find what is written now.
        func check() throws {
            guard let file, let log, FileIdentity(path) == file, FileIdentity(logPath) == log else {
                throw TransactionStoreError(
                    .unavailable, "The file of the spool was removed or replaced: \(path). Restart the server.")
            }
        }
    }

    /// The values behind ``state``, updated after each commit.
    private final class Account: Sendable {
        let state: Mutex<SpoolState>

        init(_ state: SpoolState) { self.state = Mutex(state) }
    }

    private init(_ path: String, _ database: DatabaseQueue, _ account: Account) {
        self.path = path
        self.database = database
        self.account = account
        let place = Place(path)
        self.place = place
        appending = WriteQueue(factsPerTransaction: 20_000) { calls in
            do {
                try place.check()
                let applied = try await database.writeWithoutTransaction { try Self.append(calls, $0, account) }
                try place.check()
                return applied
            } catch {
                throw TransactionStoreError(error)
            }
        }
    }

    /// Opens the spool at a path. Creates the file if it is missing. Entries that were set aside become waiting entries
    /// again.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - maximumBytes: the total size of entries at which the spool is full. The file itself may be a quarter larger.
    ///   - lockTimeout: how long to wait for another server to release the spool, in seconds. A server that is being
    ///     replaced may still be stopping.
    ///   - onDamage: called with the new path of a damaged file and a description of the damage. An empty spool is then
    ///     opened in its place. If this is nil, a damaged file is an error. Another kind of database is always an
    ///     error.
    /// - Throws: `TransactionStoreError`, see the table above.
    public static func open(
        path: String, maximumBytes: Int64, lockTimeout: Double = 5,
        onDamage: ((_ keptPath: String, _ error: TransactionStoreError) -> Void)? = nil
    ) throws -> SQLiteFactSpool {
        do {
            return try openFile(path, maximumBytes, lockTimeout)
        } catch let error as DatabaseError
            where onDamage != nil && [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode)
        {
            // A symbolic link stays in place, because it selects the disk of the spool.
            let resolved = FileIdentity.resolved(path)
            let keptPath = try keepAside(resolved)
            onDamage?(keptPath, TransactionStoreError(error))
            do { return try openFile(resolved, maximumBytes, lockTimeout) } catch { throw TransactionStoreError(error) }
        } catch {
            throw TransactionStoreError(error)
        }
    }

    /// Renames a damaged file and its log together, so that repair tools find both.
    ///
    /// - Returns: the new path of the file.
    private static func keepAside(_ path: String) throws -> String {
        let kept = path + ".damaged-\(Int64(Date().timeIntervalSince1970 * 1_000))"
        // The file is renamed last. Otherwise a log that stays behind would be used for the new file.
        for suffix in ["-wal", "-shm", ""] where FileIdentity(path + suffix) != nil {
            guard FileIdentity(kept + suffix) == nil, rename(path + suffix, kept + suffix) == 0 else {
                throw TransactionStoreError(
                    .unavailable, "The spool is damaged, and its file cannot be renamed to \(kept + suffix).")
            }
        }
        return kept
    }

    private static func openFile(
        _ path: String, _ maximumBytes: Int64, _ lockTimeout: Double
    ) throws -> SQLiteFactSpool {
        PrivateFile.make(path)
        var configuration = Configuration()
        configuration.label = "FactSpool"
        configuration.busyMode = .timeout(lockTimeout)
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { db in
            // Must come before the first read, so that the lock lasts until the connection closes.
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
            try db.execute(sql: "PRAGMA journal_mode = WAL")
            // With NORMAL, a power failure could undo a commit that was reported as durable (SQLite, "Write-Ahead
            // Logging", 4).
            try db.execute(sql: "PRAGMA synchronous = FULL")
            // Otherwise the bytes of an erased customer would remain in free pages.
            try db.execute(sql: "PRAGMA secure_delete = ON")
        }
        do {
            let database = try DatabaseQueue(path: path, configuration: configuration)
            do {
                let account = Account(try database.writeWithoutTransaction { try prepare($0, maximumBytes) })
                return SQLiteFactSpool(path, database, account)
            } catch {
                // Close now, because the file may be renamed next.
                try? database.close()
                throw error
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw TransactionStoreError(.busy, "Another server uses the spool \(path). Each server needs its own.")
        }
    }

    // MARK: The file

    /// "LRSP" in ASCII.
    static let applicationId: Int32 = 0x4C52_5350
    private static let version: Int32 = 1

    /// An entry that was set aside has a `reason`. The readiness check updates the row in `readiness` to prove that the
    /// file is writable.
    private static let schema = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            digest TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            added INTEGER NOT NULL,
            size INTEGER NOT NULL,
            reason TEXT,
            facts BLOB NOT NULL,
            receipt BLOB
        );
        CREATE INDEX waiting ON entries (id) WHERE reason IS NULL;
        CREATE TABLE readiness (id INTEGER PRIMARY KEY CHECK (id = 1), checks INTEGER NOT NULL);
        INSERT INTO readiness VALUES (1, 0);
        PRAGMA application_id = \(applicationId);
        PRAGMA user_version = \(version);
        """

    private static func prepare(_ db: Database, _ maximumBytes: Int64) throws -> SpoolState {
        // An immediate transaction detects another server's lock at once.
        try db.immediateTransaction {
            let id = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
            let tables = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") ?? 0
            guard id == applicationId || tables == 0 else {
                throw TransactionStoreError(.corrupt, "The file is a SQLite database, but not a spool.")
            }
            guard try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0 <= version else {
                throw TransactionStoreError(.newerSchema, "The spool was written by a newer version of this program.")
            }
            if tables == 0 { try db.execute(sql: schema) }
            try db.execute(sql: "UPDATE entries SET reason = NULL WHERE reason IS NOT NULL")
        }
        let sums = try db.statement("SELECT COUNT(*), COALESCE(SUM(size), 0) FROM entries")
        var state = SpoolState(entries: 0, bytes: 0, maximumBytes: maximumBytes, oldestDate: nil, setAside: 0)
        try sums.forEachRow {
            state.entries = $0.integer(0)
            state.bytes = $0.integer(1)
        }
        state.oldestDate = try oldestDate(db)
        return state
    }

    private static func oldestDate(_ db: Database) throws -> Int64? {
        try db.statement("SELECT added FROM entries WHERE reason IS NULL ORDER BY id LIMIT 1").integer()
    }

    // MARK: Entries

    /// How full the spool is, without access to the disk. Its bytes include 256 for each entry.
    public var state: SpoolState { account.state.withLock { $0 } }

    /// Adds facts. They are durable when this method returns. Facts that the spool already contains need no space.
    /// - Throws: `TransactionStoreError`: `notWritable` if the spool or its disk is full; `invalidArgument` for the
    ///   facts of a notification.
    public func append(_ set: FactSet) async throws {
        _ = try await appending.call([set])
    }

    private static func append(
        _ calls: [[FactSet]], _ db: Database, _ account: Account
    ) throws -> [AppliedFacts] {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        var state = account.state.withLock { $0 }
        try db.immediateTransaction {
            let insert = try db.statement(
                """
                INSERT INTO entries (digest, name, added, size, facts, receipt) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT (digest) DO NOTHING
                """)
            for set in calls.joined() {
                let entry = try EncodedFactSet(set)
                let size = Int64(entry.facts.count + (entry.receipt?.count ?? 0)) + overhead
                guard try insert.run(entry.digest, entry.name, now, size, entry.facts, entry.receipt) > 0 else {
                    continue
                }
                // Checked after the insertion: an entry that the spool already contains needs no space. The error rolls
                // the insertion back.
                guard size <= state.maximumBytes - state.bytes else {
                    throw TransactionStoreError(.notWritable, "The spool is full: it contains \(state.bytes) bytes.")
                }
                state.entries += 1
                state.bytes += size
                if state.oldestDate == nil { state.oldestDate = now }
            }
        }
        account.state.withLock { $0 = state }
        return calls.map { _ in AppliedFacts() }
    }

    /// The bytes that an entry uses in addition to its facts and its receipt.
    private static let overhead: Int64 = 256

    /// The oldest entries, except those that were set aside. At least one if there is one.
    ///
    /// - Parameters:
    ///   - after: the id after which to start; 0 for all entries.
    ///   - maximumCount: the maximum number of entries. 0 or less counts as 1.
    ///   - maximumBytes: the maximum total size, unless the first entry alone is larger.
    /// - Throws: `TransactionStoreError`. An entry that cannot be read has the error in `SpooledFacts.facts` instead.
    public func oldest(after: Int64, maximumCount: Int, maximumBytes: Int64) async throws -> [SpooledFacts] {
        let rows = try await write { db -> [(id: Int64, name: String, facts: [UInt8], receipt: [UInt8]?)] in
            let sizes = try db.statement(
                "SELECT id, size FROM entries WHERE reason IS NULL AND id > ?2 ORDER BY id LIMIT ?1")
            try sizes.set(Int64(max(1, maximumCount)), after)
            var last: Int64?
            var bytes: Int64 = 0
            try sizes.forEachRow { row in
                bytes += row.integer(1)
                if last == nil || bytes <= maximumBytes { last = row.integer(0) }
            }
            guard let last else { return [] }
            let find = try db.statement(
                """
                SELECT id, name, facts, receipt FROM entries WHERE reason IS NULL AND id <= ?1 AND id > ?2 ORDER BY id
                """)
            return try find.rows(last, after) {
                let receipt = $0.bytes(3)
                return (
                    id: $0.integer(0), name: $0.text(1), facts: Array($0.bytes(2)),
                    receipt: receipt.isEmpty ? nil : Array(receipt)
                )
            }
        }
        return rows.map { row in
            let facts = Result { try FactSet(encoded: row.facts, receipt: row.receipt) }
            return SpooledFacts(id: row.id, name: row.name, facts: facts.mapError { TransactionStoreError($0) })
        }
    }

    /// Deletes entries that the store has committed, in one transaction. Unknown ids, and ids of entries that were set
    /// aside, are ignored.
    /// - Throws: `TransactionStoreError`.
    public func remove(_ ids: [Int64]) async throws {
        let account = account
        try await write { db in
            var count: Int64 = 0
            var bytes: Int64 = 0
            try db.immediateTransaction {
                let delete = try db.statement("DELETE FROM entries WHERE id = ?1 AND reason IS NULL RETURNING size")
                for id in ids {
                    guard let size = try delete.integer(id) else { continue }
                    count += 1
                    bytes += size
                }
            }
            let oldest = try Self.oldestDate(db)
            account.state.withLock {
                $0.entries -= count
                $0.bytes -= bytes
                $0.oldestDate = oldest
            }
        }
    }

    /// Keeps an entry that the store rejects, without blocking others. It waits again after the next start. An unknown
    /// id is ignored.
    /// - Throws: `TransactionStoreError`.
    public func setAside(_ id: Int64, reason: String) async throws {
        let account = account
        try await write { db in
            let changed = try db.immediateTransaction {
                try db.statement("UPDATE entries SET reason = ?2 WHERE id = ?1 AND reason IS NULL").run(id, reason)
            }
            guard changed > 0 else { return }
            let oldest = try Self.oldestDate(db)
            account.state.withLock {
                $0.entries -= 1
                $0.setAside += 1
                $0.oldestDate = oldest
            }
        }
    }

    /// Writes one row, because only a write proves that the disk accepts writes.
    /// - Throws: `TransactionStoreError`: `notWritable` if the spool is full or its disk is nearly full.
    public func checkReadiness() async throws {
        let state = state
        guard state.bytes < state.maximumBytes else {
            throw TransactionStoreError(.notWritable, "The spool is full: it contains \(state.bytes) bytes.")
        }
        try place.check()
        try DiskSpace.check(of: path)
        try await write { try $0.execute(sql: "UPDATE readiness SET checks = (checks + 1) % 1000000 WHERE id = 1") }
        try place.check()
    }

    /// Finishes running writes and closes the file. If the spool is empty, the file shrinks to its smallest size.
    /// - Throws: `TransactionStoreError` if the file cannot be closed.
    public func close() async throws {
        await appending.close()
        do {
            // Moves the whole spool into the main file, and makes the file as small as possible. If another file is at
            // the path, SQLite does not touch its log.
            let isEmpty = state.bytes == 0
            try? await database.writeWithoutTransaction { db in
                if isEmpty { try db.execute(sql: "VACUUM") }
                try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            }
            try database.close()
        } catch {
            throw TransactionStoreError(error)
        }
    }

    private func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do { return try await database.writeWithoutTransaction(body) } catch { throw TransactionStoreError(error) }
    }
}
