import GRDB
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("SQLite: consumption requests")
struct SQLiteConsumptionTests {
    @Test("A notification whose task cannot be written is not stored at all, and opens the task when it comes again")
    func rejected() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path)
        let other = try DatabaseQueue(path: path)
        try await other.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER reject BEFORE INSERT ON consumption_requests
                    BEGIN SELECT RAISE(ABORT, 'rejected'); END
                    """)
        }
        let set = StoreSamples.consumptionRequest("a", of: "1")
        await #expect(throws: TransactionStoreError.self) { try await store.apply([set]) }
        #expect(try await store.hasProcessed(notificationUUID: "a") == false)
        #expect(try await store.changes(after: 0, limit: 10).isEmpty)
        try await other.write { try $0.execute(sql: "DROP TRIGGER reject") }
        try other.close()
        _ = try await store.apply([set])
        #expect(try await store.openConsumptionTasks(after: nil, limit: 10).map(\.notificationUUID) == ["a"])
        try await store.close()
    }
}
