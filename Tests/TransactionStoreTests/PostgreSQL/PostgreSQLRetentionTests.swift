import PostgreSQLTransactionStore
import TestDatabase
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("PostgreSQL: limits of retention", .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLRetentionTests {
    @Test("Old rows are removed even if the time limit of a statement is too short for a page of them")
    func slowDisk() async throws {
        try await TestSchema.with { schema in
            var options = schema.options()
            options.statementTimeout = 1
            let store = try await PostgreSQLTransactionStore.open(url: schema.server.url, options: options)
            let count = 40
            _ = try await store.apply((1...count).map { Samples.consumptionRequest("\($0)", of: "\($0)") })
            try schema.server.sql(
                """
                SET search_path TO \(schema.name);
                CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_sleep(0.05); RETURN OLD; END $$;
                CREATE TRIGGER slow BEFORE DELETE ON notifications FOR EACH ROW EXECUTE FUNCTION slow()
                """)
            #expect(try await store.removeNotifications(signedBefore: .max) == Int64(count))
            #expect(try await store.counts().notifications == 0)
            try await store.close()
        }
    }
}
