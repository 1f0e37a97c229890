import Foundation
import GRDB
public import Purchases
public import TransactionStore

/// A transaction store in one SQLite file (write-ahead log), for a program or a few on one machine.
///
/// What ``apply(_:)`` has returned from survives a crash of the program and of the machine. Several programs may have the
/// file open; one writes at a time, and readers never wait.
///
/// | condition | error |
/// |---|---|
/// | the folder is missing, the disk fails | `unavailable` |
/// | the file may not be written to, the disk is full | `notWritable`; works again when the cause is gone |
/// | another program writes for longer than ``Options/busyTimeout`` | `busy` |
/// | the file was removed while the store is open | `unavailable`, for reading too, until it is back |
/// | the file was replaced by another store | none, after a write that it came between: that one reports `unavailable` |
/// | an empty file was put in its place | `unavailable` until a store is there |
/// | it was replaced, and has a log that is not the old one's | `unavailable` until this program starts anew |
/// | its log (`-wal`) was removed while the store is open | `unavailable` until it is back or this program starts anew |
/// | the file is no store, or damaged | `corrupt` |
/// | the schema is newer than this program | `newerSchema` |
///
/// A look-up may read from a file that was removed or replaced up to 10 milliseconds before the look-up began; everything else
/// notices at once.
///
/// Keep the file on a local disk: the log needs shared memory (SQLite, "Write-Ahead Logging").
///
/// A file that programs have open is replaced by moving a *closed* store over it in one step (`mv`). The store then takes the
/// log of the old file away, which SQLite would else write into the new one; whoever wants to keep the old store stops the
/// program first. Copying over the file (`cp`) destroys it, and a program that opens the new file first takes the old log for
/// its own: start no other until one that ran has answered or has been stopped. After `kill -9` or a power cut, remove `-wal`
/// and `-shm` yourself before another file takes the place.
public final class SQLiteTransactionStore: TransactionStore {
    /// How a store is opened.
    public struct Options: Sendable {
        /// What survives a power cut. A crash of the program loses nothing either way.
        public enum Durability: String, Sendable {
            /// Everything that was reported as applied.
            case full = "FULL"
            /// Everything but perhaps the last few seconds; the file stays sound.
            case normal = "NORMAL"
        }

        /// How long to wait for another program that writes, in seconds.
        public var busyTimeout: Double
        /// How many look-ups may run at once, at most four per core. Further ones wait for their turn.
        public var readers: Int
        public var durability: Durability
        /// The size in pages at which the file counts as full; for tests.
        package var maximumPageCount: Int?
        /// Runs in place of waiting for the disk, before each look-up reads; for tests, whose disks do not hang.
        package var beforeLookUp: (@Sendable () -> Void)?

        public init(busyTimeout: Double = 5, readers: Int = .max, durability: Durability = .full) {
            self.busyTimeout = busyTimeout
            self.readers = readers
            self.durability = durability
        }
    }

    private let file: StoreFile
    private let queue: WriteQueue
    private let turns: ReadTurns
    private let beforeLookUp: (@Sendable () -> Void)?

    private init(_ file: StoreFile, _ options: Options) {
        self.file = file
        queue = WriteQueue(factsPerTransaction: 20_000) { calls in try await Self.write(calls, to: file) }
        turns = ReadTurns(maximum: LookUpConnections.maximum(options))
        beforeLookUp = options.beforeLookUp
    }

    /// Opens the store at a path, making the file if it is not there and bringing an older schema up to date.
    /// - Throws: `TransactionStoreError`, see the table above.
    public static func open(path: String, options: Options = Options()) throws -> SQLiteTransactionStore {
        do {
            return SQLiteTransactionStore(try StoreFile(path: path, options: options), options)
        } catch {
            throw TransactionStoreError(error)
        }
    }

    public func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        guard !sets.isEmpty else {
            _ = try pool()
            return AppliedFacts()
        }
        return try await queue.call(sets)
    }

    /// Applies the sets of several calls in one transaction.
    private static func write(_ calls: [[FactSet]], to file: StoreFile) async throws -> [AppliedFacts] {
        do {
            let pool = try BlockingThreads.wait { try file.pool() }
            let results = try await pool.writeWithoutTransaction { db in
                var results: [AppliedFacts] = []
                // Immediate, because a reader that becomes a writer cannot wait for another writer.
                try db.inTransaction(.immediate) {
                    let writer = try FactWriter(db)
                    for sets in calls {
                        var result = AppliedFacts()
                        for set in sets { try writer.apply(set, &result) }
                        results.append(result)
                    }
                    return .commit
                }
                return results
            }
            try BlockingThreads.wait { try file.checkStillThere(pool) }
            return results
        } catch {
            throw file.error(error)
        }
    }

    /// Waits for the disk, whose folder it reads.
    private func pool() throws -> DatabasePool {
        do { return try BlockingThreads.wait { try file.pool() } } catch { throw file.error(error) }
    }

    func read<Value: Sendable>(_ value: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do { try await turns.wait() } catch { throw file.error(error) }
        defer { turns.end() }
        do { return try await pool().read(value) } catch { throw file.error(error) }
    }

    public func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        // A disk that hangs keeps the threads that read from it. Waiting for a turn keeps none, so that threads are left
        // for everything else.
        do { try await turns.wait() } catch { throw file.error(error) }
        defer { turns.end() }
        guard !BlockingThreads.isCurrent else { return try lookUp(identities, scope) }
        return try await withTaskExecutorPreference(BlockingThreads.shared) { try lookUp(identities, scope) }
    }

    /// Waits for the disk.
    private func lookUp(_ identities: [CustomerIdentity], _ scope: StoreScope) throws -> Customer? {
        do {
            return try BlockingThreads.wait {
                beforeLookUp?()
                return try file.lookUp { try Self.customer(identities, scope, $0) }
            }
        } catch {
            throw file.error(error)
        }
    }

    public func hasProcessed(notificationUUID: String) async throws -> Bool {
        try await read { db in
            let find = try SQLStatement(db, "SELECT 1 FROM notifications WHERE notification_uuid = ?1")
            try find.bind(1, notificationUUID)
            return try find.integer() != nil
        }
    }

    public func counts() async throws -> StoreCounts { try await read { db in try Self.counts(db) } }

    /// Writes one row: nothing less shows that the disk takes it. One row may find room in a file whose disk is full, so
    /// there must be room on the disk too.
    public func checkReadiness() async throws {
        try file.checkSpace()
        try await write { db in
            try db.execute(sql: "UPDATE readiness SET checks = (checks + 1) % 1000000 WHERE id = 1")
        }
    }

    /// Runs `body` in a transaction of its own.
    func write(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        do {
            let pool = try pool()
            try await pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try body(db)
                    return .commit
                }
            }
            try BlockingThreads.wait { try file.checkStillThere(pool) }
        } catch {
            throw file.error(error)
        }
    }

    /// Whether the connection that writes is refused to, as on a disk that became read-only; for tests, which may run as a
    /// user whom no permission stops.
    package func setReadOnly(_ isReadOnly: Bool) async throws {
        try await pool().writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = \(isReadOnly ? 1 : 0)") }
    }

    /// A setting of the connection that writes; for tests.
    package func writerSetting(_ name: StaticString) async throws -> String? {
        try await pool().writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(name)") }
    }

    public func close() async throws {
        await queue.close()
        do { try file.close() } catch { throw file.error(error) }
    }
}
