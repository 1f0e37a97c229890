import GRDB
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("SQLite: what migrations keep")
struct SQLiteMigrationTests {
    private static let tables = [
        "user_claims", "verified_receipts", "quarantine", "migration_checkpoints", "identities", "transactions",
        "ledger",
    ]

    private static func step(_ number: Int, line: String = "line") -> MigrationStep {
        let identity = Samples.original("\(number)")
        let key = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)
        return MigrationStep(
            facts: [Samples.set(Samples.fact("\(number)"))],
            users: [UserClaim(scope: Samples.scope, identity: identity, userId: "\u{0}\(number)")],
            receipts: [VerifiedReceipt(key: key, scope: Samples.scope, form: .app, identities: [identity])],
            quarantined: [QuarantinedRecord(line: Array("\(line) \(number)".utf8))],
            checkpoint: MigrationCheckpoint(
                migration: String(repeating: "a", count: 64), records: Int64(number), digest: key, state: []))
    }

    @Test("A step that SQLite rejects leaves nothing, in whichever table it fails", arguments: tables)
    func rejected(table: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path)
        _ = try await store.apply(Self.step(1))
        let other = try DatabaseQueue(path: path)
        try await other.write { db in
            try db.execute(
                sql: "CREATE TRIGGER reject BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'rejected'); END")
        }
        var step = Self.step(2)
        step.released = Self.step(1).quarantined.map(\.key)
        #expect(await code { _ = try await store.apply(step) } == .engine)
        for table in Self.tables {
            let count = try await other.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM \(table)") }
            #expect(count == 1)
        }
        #expect(try await store.quarantine(after: nil, limit: 2) == Self.step(1).quarantined)
        #expect(try await store.checkpoint(of: String(repeating: "a", count: 64))?.records == 1)
        try await other.write { try $0.execute(sql: "DROP TRIGGER reject") }
        try other.close()
        #expect(try await store.apply(step).changed == 1)
        #expect(try await store.quarantine(after: nil, limit: 2) == step.quarantined)
        try await store.close()
    }

    @Test("A step that does not fit on a full disk leaves nothing, and a smaller one is applied")
    func fullDisk() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await store.pragma("max_page_count = 80")
        _ = try await store.apply(Self.step(1))
        let large = Self.step(2, line: String(repeating: "x", count: 5_000_000))
        #expect(await code { _ = try await store.apply(large) } == .notWritable)
        #expect(try await store.counts().transactions == 1)
        #expect(try await store.quarantine(after: nil, limit: 2) == Self.step(1).quarantined)
        _ = try await store.apply(Self.step(2))
        #expect(try await store.quarantine(after: nil, limit: 3).count == 2)
        try await store.close()
    }

    @Test("A step waits for another program that writes, and is busy if that takes too long; what is kept can be read")
    func busy() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path, options: .init(busyTimeout: 0.05))
        _ = try await store.apply(Self.step(1))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(await code { _ = try await store.apply(Self.step(2)) } == .busy)
        #expect(try await store.users(of: [Samples.original("1")], in: Samples.scope).count == 1)
        #expect(try await store.quarantine(after: nil, limit: 2).count == 1)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try other.close()
        _ = try await store.apply(Self.step(2))
        #expect(try await store.checkpoint(of: String(repeating: "a", count: 64))?.records == 2)
        try await store.close()
    }
}
