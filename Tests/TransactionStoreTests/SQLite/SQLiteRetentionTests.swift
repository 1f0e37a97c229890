import GRDB
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore

@Suite("SQLite: another program can write while old rows are removed", .serialized)
struct SQLiteRetentionTests {
    private static let rows: Int64 = 40_000

    @Test("Notifications")
    func notifications() async throws {
        try await check(
            rows: """
                INSERT INTO notifications (notification_uuid, scope_id, notification_type, signed_date, body)
                SELECT 'uuid-' || n, 1, 'TEST', 0, zeroblob(1000)
                """
        ) { try await $0.removeNotifications(signedBefore: 1) }
    }

    @Test("Entries of the ledger")
    func entries() async throws {
        try await check(
            rows: """
                INSERT INTO ledger (scope_id, transaction_id, number, event, original_transaction_id, recorded_at)
                SELECT 1, n / 100, n % 100, 2, '1', 0
                """
        ) { try await $0.removeEntries(before: .max, evenUnread: true).position }
    }

    /// How often a program found the file free and locked. It does not wait.
    private final class Attempts: Sendable {
        let hasEnded = Atomic<Bool>(false)
        let free = Atomic<Int>(0)
        let locked = Atomic<Int>(0)
    }

    /// Tries to write all the time while rows are removed.
    /// - Parameters:
    ///   - rows: a statement that inserts a row for each number `n`.
    ///   - remove: returns how many rows it has gone through.
    private func check(
        rows: String, removedBy remove: (SQLiteTransactionStore) async throws -> Int64
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path)
        let other = try DatabaseQueue(path: path)
        let numbers = "SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(Self.rows)"
        try await other.write {
            try $0.execute(sql: "WITH RECURSIVE numbers(n) AS (\(numbers)) \(rows) FROM numbers")
        }
        let attempts = Attempts()
        defer { attempts.hasEnded.store(true, ordering: .relaxed) }
        let trial = Task {
            while !attempts.hasEnded.load(ordering: .relaxed) {
                do {
                    try await other.writeWithoutTransaction { try $0.inTransaction(.immediate) { .rollback } }
                    attempts.free.add(1, ordering: .relaxed)
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    attempts.locked.add(1, ordering: .relaxed)
                }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        let removed = try await remove(store)
        attempts.hasEnded.store(true, ordering: .relaxed)
        try await trial.value
        #expect(removed == Self.rows)
        let (free, locked) = (attempts.free.load(ordering: .relaxed), attempts.locked.load(ordering: .relaxed))
        // The pauses are as long as the batches, up to 100 milliseconds, and the machine may be slow.
        #expect(locked > 0 && free * 8 >= locked, "free: \(free), locked: \(locked)")
        try other.close()
        try await store.close()
    }
}
