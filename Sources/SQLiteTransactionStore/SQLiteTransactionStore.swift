import Foundation
import GRDB
public import Purchases
public import TransactionStore

/// A transaction store in one SQLite file (write-ahead log), for one or a few programs on one machine.
///
/// When `apply(_:)` returns, its facts survive a crash of the program and of the machine. Several programs may have
/// the file open. One writes at a time, and readers never wait.
///
/// | condition | error |
/// |---|---|
/// | the folder is missing, the disk fails | `unavailable` |
/// | the file is not writable, the disk is full | `notWritable`; works again when the cause is gone |
/// | another program writes for longer than ``Options/busyTimeout`` | `busy` |
/// | the file was removed while the store is open | `unavailable`, also for reads, until the file is back |
/// | the file was replaced by another store | none; a write during the replacement fails with `unavailable` |
/// | an empty file was put in its place | `unavailable` until a store is there |
/// | the file was replaced, and a log exists that is not the old file's | `unavailable` until this program restarts |
/// | its log (`-wal`) was removed while the store is open | `unavailable` until it is back or this program restarts |
/// | the file is not a store, or is damaged | `corrupt` |
/// | the schema is newer than this program | `newerSchema` |
///
/// A look-up may read from a file that was removed or replaced up to 10 milliseconds before the look-up began. All
/// other calls detect the change at once.
///
/// Keep the file on a local disk, because the log needs shared memory (SQLite, "Write-Ahead Logging").
///
/// To replace a file that programs have open, move a *closed* store over it in one step (`mv`). The running program
/// then deletes the log of the old file; otherwise SQLite would write the old log into the new file. To keep the old
/// store, stop the program first.
///
/// Do not copy over the file (`cp`), because that destroys it. A program that opens the new file first would use the
/// old log: start no other program until a running one has answered or is stopped. After `kill -9` or a power failure,
/// delete `-wal` and `-shm` yourself before you put another file in place.
public final class SQLiteTransactionStore: TransactionStore, DeliveryLedger, ConsumptionTasks, PurchaseEndings,
    RequestBudgets
{
    /// How a store is opened.
    public struct Options: Sendable {
        /// The writes that survive a power failure. A crash of the program loses nothing in either mode.
        public enum Durability: String, Sendable {
            /// All facts that were reported as applied.
            case full = "FULL"
            /// All facts except perhaps those of the last few seconds. The file stays consistent.
            case normal = "NORMAL"
        }

        /// How long to wait for another program that writes, in seconds.
        public var busyTimeout: Double
        /// How many look-ups may run at once, at most four per core. Further look-ups wait for their turn.
        public var readers: Int
        /// Which facts survive a power failure. A crash of the process alone loses none.
        public var durability: Durability
        /// Called before each look-up. It simulates a disk that hangs, because no lock of SQLite stops all readers until a test
        /// ends it.
        package var beforeLookUp: (@Sendable () -> Void)?

        /// By default, waits up to 5 seconds for another program that writes, and every applied fact survives a power
        /// failure.
        ///
        /// - Parameters:
        ///   - busyTimeout: seconds.
        ///   - readers: how many look-ups may run at once, at most four per core.
        ///   - durability: which facts survive a power failure.
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
        queue = WriteQueue(factsPerTransaction: 20_000) { calls in
            try await Self.write(to: file) { db -> [AppliedFacts] in
                let writer = try FactWriter(db)
                return try calls.map { sets -> AppliedFacts in
                    var result = AppliedFacts()
                    for set in sets { try writer.apply(set, &result) }
                    return result
                }
            }
        }
        turns = ReadTurns(maximum: LookUpConnections.maximum(options))
        beforeLookUp = options.beforeLookUp
    }

    /// Opens the store at a path. Creates the file if it is missing, and brings an older schema up to date.
    /// - Throws: `TransactionStoreError`, see the table above.
    public static func open(path: String, options: Options = Options()) throws -> SQLiteTransactionStore {
        do {
            return SQLiteTransactionStore(try StoreFile(path: path, options: options), options)
        } catch {
            throw TransactionStoreError(error)
        }
    }

    /// Stores the facts of documents, each set completely or not at all. They are durable when this method returns, as
    /// far as ``Options/durability`` states. Calls at the same time share one commit.
    /// - Throws: `TransactionStoreError`, see the table above.
    public func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        guard !sets.isEmpty else {
            _ = try pool()
            return AppliedFacts()
        }
        return try await queue.call(sets)
    }

    /// Waits for the disk, because it reads the folder.
    private func pool() throws -> DatabasePool {
        do { return try BlockingThreads.wait { try file.pool() } } catch { throw file.error(error) }
    }

    func read<Value: Sendable>(_ value: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do { try await turns.wait() } catch { throw file.error(error) }
        defer { turns.end() }
        do { return try await pool().read(value) } catch { throw file.error(error) }
    }

    /// Everything known about the customer with any of these identities; nil if no customer has one. A running write
    /// does not block it. It waits for its turn if ``Options/readers`` look-ups are running.
    /// - Throws: `TransactionStoreError`, see the table above.
    public func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        // If the disk hangs, the reading threads hang too. Calls that wait for a turn hold no thread, so threads remain
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

    /// Writes one row, because only a write proves that the disk accepts writes. One row may still fit into a file on a
    /// full disk, so the disk must have free space too.
    public func checkReadiness() async throws {
        try file.checkSpace()
        try await write { db in
            try db.execute(sql: "UPDATE readiness SET checks = (checks + 1) % 1000000 WHERE id = 1")
        }
    }

    /// Runs `body` in its own transaction.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.write(to: file, body)
    }

    private static func write<Value: Sendable>(
        to file: StoreFile, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            let pool = try BlockingThreads.wait { try file.pool() }
            let value = try await pool.writeWithoutTransaction { db in try db.immediateTransaction { try body(db) } }
            try BlockingThreads.wait { try file.checkStillThere(pool) }
            return value
        } catch {
            throw file.error(error)
        }
    }

    /// Moves the log into the file, as far as no reader needs it.
    func emptyLog() async throws {
        try await pragma("wal_checkpoint(TRUNCATE)")
    }

    /// Runs a PRAGMA on the writing connection. Returns its first value; nil if it has none.
    ///
    /// Tests use it too: limits such as `max_page_count` and `query_only` apply to the connection that sets them, so no other
    /// connection can simulate a full or read-only disk.
    @discardableResult
    package func pragma(_ text: StaticString) async throws -> String? {
        do {
            return try await pool().writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA \(text)") }
        } catch {
            throw file.error(error)
        }
    }

    /// Finishes running writes and closes the file. Later calls throw `TransactionStoreError` `closed`.
    public func close() async throws {
        await queue.close()
        do { try file.close() } catch { throw file.error(error) }
    }
}
