import PostgreSQLTransactionStore
import TestDatabase
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("PostgreSQL: consumption requests", .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLConsumptionTests {
    @Test("A notification whose task cannot be written is not stored at all, and opens the task when it comes again")
    func rejected() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            try schema.server.sql(
                """
                CREATE FUNCTION \(schema.name).reject() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'rejected'; END $$;
                CREATE TRIGGER reject BEFORE INSERT ON \(schema.name).consumption_requests
                    FOR EACH ROW EXECUTE FUNCTION \(schema.name).reject()
                """)
            let set = StoreSamples.consumptionRequest("a", of: "1")
            #expect(await storeErrorCode { _ = try await store.apply([set]) } == .engine)
            #expect(try await store.hasProcessed(notificationUUID: "a") == false)
            #expect(try await store.changes(after: 0, limit: 10).isEmpty)
            try schema.server.sql("SET client_min_messages TO error; DROP FUNCTION \(schema.name).reject() CASCADE")
            _ = try await store.apply([set])
            #expect(try await store.openConsumptionTasks(after: nil, limit: 10).map(\.notificationUUID) == ["a"])
            try await store.close()
        }
    }
}
