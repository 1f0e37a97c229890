import GRDB
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("SQLite ledger")
struct SQLiteLedgerTests {
    @Test("A lease that lasts longer than any can, since the clock was set back, has expired")
    func clockSetBack() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path)
        #expect(try await store.lease("shop", to: "a", for: 60_000).isGranted)
        #expect(try await store.lease("shop", to: "b", for: 60_000).isGranted == false)
        let other = try DatabaseQueue(path: path)
        let hours = 2 * LedgerLimits.maximumLeaseMilliseconds
        try await other.write {
            try $0.execute(sql: "UPDATE ledger_consumers SET leased_until = leased_until + \(hours)")
        }
        try other.close()
        #expect(try await store.consumers() == [LedgerConsumer(name: "shop", position: 0, holder: nil)])
        #expect(try await store.lease("shop", to: "b", for: 60_000).isGranted)
        #expect(try await store.consumers() == [LedgerConsumer(name: "shop", position: 0, holder: "b")])
        try await store.close()
    }

    /// SQLite gives the number after the last row again if that row is deleted.
    @Test("No position is given twice, also when all entries were removed")
    func positions() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        func revoked(_ revision: Int64) -> FactSet {
            StoreSamples.set(
                StoreSamples.fact("1", source: .notificationV2, at: StoreSamples.june + revision) {
                    $0.revocationDate = revision % 2 == 0 ? 1 : nil
                })
        }
        var seen: [Int64] = []
        for revision in 0..<10 {
            _ = try await store.apply([revoked(Int64(revision))])
            seen += try await store.changes(after: seen.last ?? 0, limit: 10).map(\.position)
            #expect(try await store.removeEntries(before: .max, evenUnread: true).position == seen.last)
        }
        #expect(seen == Array(1...10))
        try await store.close()
    }

    @Test("Damaged rows keep only the terms of their customer from entries, and receipts are not read")
    func damagedTerms() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path)
        try await checkDamagedTerms(store) {
            let other = try DatabaseQueue(path: path)
            try await other.write {
                try $0.execute(
                    sql: """
                        UPDATE transactions SET payload = X'7B' WHERE transaction_id = '1';
                        INSERT INTO receipts (customer_id, form, signed_date, bytes)
                        SELECT DISTINCT customer_id, 9, 0, X'00' FROM identities
                        """)
            }
            try other.close()
        }
        try await store.close()
    }
}
