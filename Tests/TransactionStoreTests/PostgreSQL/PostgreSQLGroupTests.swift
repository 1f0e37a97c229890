import PostgreSQLTransactionStore
import TestDatabase
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("PostgreSQL group commits", .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLGroupTests {
    @Test("Calls that wait while a transaction is being committed share the next one")
    func shared() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...300 {
                    group.addTask {
                        let set = StoreSamples.set(
                            StoreSamples.fact("\(number)"), receipt: StoreSamples.receipt("r\(number)"))
                        return try await store.apply([set]).changed
                    }
                }
                for try await changed in group { #expect(changed == 2) }
            }
            #expect(try await store.counts().customers == 300)
            // Each row keeps the number of the transaction that wrote it.
            let written = try schema.server.sql("SELECT count(DISTINCT xmin::text) FROM \(schema.name).transactions")
            #expect(try #require(Int(written)) <= 100)
            try await store.close()
        }
    }

    @Test("A call that the store refuses fails alone")
    func alone() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            try schema.server.sql(
                """
                SET client_min_messages TO error;
                ALTER TABLE \(schema.name).receipts ADD CHECK (octets <> 'refused'::bytea)
                """)
            try await withThrowingTaskGroup(of: (Int, TransactionStoreError.Code?).self) { group in
                for number in 1...100 {
                    group.addTask {
                        let text = number % 20 == 0 ? "refused" : "r\(number)"
                        let set = StoreSamples.set(
                            StoreSamples.fact("\(number)"), receipt: StoreSamples.receipt(text))
                        return (number, await storeErrorCode { _ = try await store.apply([set]) })
                    }
                }
                for try await (number, code) in group { #expect(code == (number % 20 == 0 ? .engine : nil)) }
            }
            #expect(try await store.counts().receipts == 95)
            try await store.close()
        }
    }
}
