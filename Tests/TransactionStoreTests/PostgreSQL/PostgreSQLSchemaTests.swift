import PostgreSQLTransactionStore
import Purchases
import TestDatabase
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("PostgreSQL schema", .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLSchemaTests {
    @Test("Several replicas that start at once make the schema once")
    func startTogether() async throws {
        try await TestSchema.with { schema in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        let store = try await schema.open()
                        _ = try await store.apply([StoreSamples.set(StoreSamples.fact("\(number + 1)"))])
                        try await store.close()
                    }
                }
                try await group.waitForAll()
            }
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).schema_migrations") == "14")
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).transactions") == "12")
        }
    }

    /// How many objects a schema has; empty if it is missing.
    @inline(never)
    private static func objects(_ schema: TestSchema) throws -> String {
        guard try schema.server.sql("SELECT to_regnamespace('\(schema.name)') IS NULL") == "f" else { return "" }
        return try schema.server.sql(
            """
            SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = '\(schema.name)'::regnamespace)
                + (SELECT count(*) FROM pg_proc WHERE pronamespace = '\(schema.name)'::regnamespace)
            """)
    }

    @Test("A store that was created and stayed empty is removed with everything in it", arguments: [false, true])
    func removesEmpty(wasThere: Bool) async throws {
        try await TestSchema.with { schema in
            if wasThere { try schema.server.sql("CREATE SCHEMA \(schema.name)") }
            let store = try await schema.open()
            _ = try await store.apply(
                MigrationStep(
                    checkpoint: MigrationCheckpoint(
                        migration: String(repeating: "a", count: 64), records: 0,
                        digest: [UInt8](repeating: 0, count: 32), state: [])))
            try await store.closeAndRemoveIfEmpty()
            #expect(try Self.objects(schema) == (wasThere ? "0" : ""))
        }
    }

    @Test("A store that has a row, that was there before, or that another program uses is not removed")
    func keepsOthers() async throws {
        try await TestSchema.with { schema in
            let first = try await schema.open()
            let other = try await schema.open()
            let code = await storeErrorCode { try await first.closeAndRemoveIfEmpty() }
            #expect(code == .busy)
            try await other.checkReadiness()
            // The other one has not created it.
            try await other.closeAndRemoveIfEmpty()
            #expect(try !Self.objects(schema).isEmpty)
        }
        try await TestSchema.with { schema in
            let store = try await schema.open()
            _ = try await store.apply(MigrationStep(quarantined: [QuarantinedRecord(line: [1])]))
            try await store.closeAndRemoveIfEmpty()
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).quarantine") == "1")
        }
        try await TestSchema.with { schema in
            let store = try await schema.open()
            try schema.server.sql("CREATE TABLE \(schema.name).theirs (id int4)")
            await #expect(throws: TransactionStoreError.self) { try await store.closeAndRemoveIfEmpty() }
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).readiness") == "1")
        }
    }

    @Test("A program connects at once while a removal waits for another program")
    func connectsDuringRemoval() async throws {
        try await TestSchema.with { schema in
            let first = try await schema.open()
            let other = try await schema.open()
            async let refusal = storeErrorCode { try await first.closeAndRemoveIfEmpty() }
            var options = schema.options()
            options.lockTimeout = 1
            for _ in 0..<20 {
                let late = try await PostgreSQLTransactionStore.open(url: schema.server.url, options: options)
                try await late.close()
                try await Task.sleep(for: .milliseconds(100))
            }
            let code = await refusal
            #expect(code == .busy)
            try await other.close()
        }
    }

    @Test("An empty table of versions that was there before is not removed")
    func keepsVersionsOfOthers() async throws {
        try await TestSchema.with { schema in
            try schema.server.sql("CREATE SCHEMA \(schema.name)")
            try schema.server.sql("CREATE TABLE \(schema.name).schema_migrations (version int8 PRIMARY KEY)")
            let store = try await schema.open()
            try await store.closeAndRemoveIfEmpty()
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).schema_migrations") == "14")
        }
    }

    @Test("A newer schema is refused and left as it is")
    func newer() async throws {
        try await TestSchema.with { schema in
            try await schema.open().close()
            try schema.server.sql("INSERT INTO \(schema.name).schema_migrations VALUES (1000)")
            #expect(await storeErrorCode { _ = try await schema.open() } == .newerSchema)
            #expect(try schema.server.sql("SELECT max(version) FROM \(schema.name).schema_migrations") == "1000")
        }
    }

    @Test("The schema named in the URL comes first, with any characters in its name")
    func named() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let store = try await PostgreSQLTransactionStore.open(
            url: server.url + "&schema=odd%20%22%27%3B--%22%CC%81&connections=1")
        _ = try await store.apply([StoreSamples.set(StoreSamples.fact("1"))])
        try await store.close()
        // The last quote is one character with the accent after it.
        let name = "\"odd \"\"';--\"\"\u{301}\""
        #expect(try server.sql("SELECT count(*) FROM \(name).transactions") == "1")
        try server.sql("SET client_min_messages TO error; DROP SCHEMA \(name) CASCADE")
    }

    @Test("A read-only user can read, and writes report that the store is not writable")
    func readOnlyRole() async throws {
        try await TestSchema.with { schema in
            let role = "reader_" + schema.name
            let owner = try await schema.open()
            _ = try await owner.apply([StoreSamples.set(StoreSamples.fact("1"))])
            try await owner.close()
            try schema.server.sql(
                """
                CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema.name) TO \(role);
                GRANT SELECT ON ALL TABLES IN SCHEMA \(schema.name) TO \(role)
                """)
            let url = schema.server.url.replacing("postgres@", with: "\(role):hunter2@")
            let reader = try await PostgreSQLTransactionStore.open(url: url, options: schema.options())
            #expect(try await reader.customer(original: "1")?.transactions.count == 1)
            #expect(await storeErrorCode { try await reader.checkReadiness() } == .notWritable)
            let set = StoreSamples.set(StoreSamples.fact("2"))
            #expect(await storeErrorCode { _ = try await reader.apply([set]) } == .notWritable)
            try await reader.close()
            try schema.server.sql("DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }

    @Test("A damaged row is reported as corrupt")
    func damaged() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            _ = try await store.apply([StoreSamples.set(StoreSamples.fact("1"))])
            try schema.server.sql("UPDATE \(schema.name).transactions SET payload = '{'")
            #expect(await storeErrorCode { _ = try await store.customer(original: "1") } == .corrupt)
            try await store.close()
        }
    }

    @Test("A database of another encoding holds the same bytes")
    func latin1() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let schema = server.makeSchema()
        try server.sql("CREATE DATABASE \(schema.name) ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        let url = server.url.replacing("/postgres?", with: "/\(schema.name)?")
        let store = try await PostgreSQLTransactionStore.open(url: url)
        let scope = StoreScope(environment: .production, bundleId: "x\u{1F600}")
        let product = "m\u{1F600}\u{0}é"
        _ = try await store.apply([StoreSamples.set(StoreSamples.fact("1", product: product), scope: scope)])
        let customer = try await store.customer(original: "1", in: scope)
        #expect(customer?.transactions.first?.payload.productId == product)
        try await store.close()
        try server.sql("DROP DATABASE \(schema.name)")
    }
}
