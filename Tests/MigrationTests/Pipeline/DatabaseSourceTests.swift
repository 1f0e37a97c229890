import AppStoreModels
import Foundation
import GRDB
import LegacyReceipts
import Migration
import PostgreSQLTransactionStore
import SQLiteTransactionStore
import TestDatabase
import TestSupport
import Testing
import TransactionStore

@Suite("databases as sources")
struct DatabaseSourceTests {
    enum Engine: CaseIterable, Sendable {
        case sqlite, postgreSQL

        /// Those that can be tested here.
        static var available: [Engine] { PostgreSQLServer.shared == nil ? [.sqlite] : allCases }
    }

    /// A database of the caller, with a table `receipts`.
    private final class Database {
        struct Row {
            let id: Int
            let user: String?
            let receipt: [UInt8]
            let note: String
        }

        let engine: Engine
        let folder: TemporaryFolder
        let address: String
        private let schema = "source_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        private(set) var rows: [Row] = []

        init(_ engine: Engine) throws {
            self.engine = engine
            folder = try TemporaryFolder()
            switch engine {
            case .sqlite: address = "sqlite:" + folder.file("app.sqlite")
            case .postgreSQL:
                let url = try #require(PostgreSQLServer.shared).url
                address = url + (url.contains("?") ? "&" : "?") + "schema=\(schema)"
                try PostgreSQLServer.shared?.sql("CREATE SCHEMA \(schema)")
            }
            let blob = engine == .sqlite ? "" : "bytea"
            try execute("CREATE TABLE receipts (id bigint PRIMARY KEY, user_id text, receipt \(blob), note text)")
        }

        deinit {
            if engine == .postgreSQL { _ = try? PostgreSQLServer.shared?.sql("DROP SCHEMA \(schema) CASCADE") }
        }

        func execute(_ sql: String) throws {
            switch engine {
            case .sqlite: try DatabaseQueue(path: folder.file("app.sqlite")).write { try $0.execute(sql: sql) }
            case .postgreSQL: try PostgreSQLServer.shared?.sql("SET search_path = \(schema); \(sql)")
            }
        }

        /// Adds rows: receipts as bytes and as text, users that are null or empty, and notes with characters that need care.
        func fill() throws {
            let receipts = try FixtureStore.names.compactMap { name -> [UInt8]? in
                let receipt = try FixtureFolder(name).receipt
                return (1...6_000).contains(receipt.count) ? receipt : nil
            }
            for (index, receipt) in receipts.prefix(40).enumerated() {
                let text = String(decoding: receipt, as: UTF8.self).filter { !$0.isNewline }
                let bytes = index % 2 == 0 ? Data(base64Encoded: text).map { [UInt8]($0) } ?? receipt : receipt
                let user = index % 5 == 1 ? nil : index % 7 == 1 ? "" : "user-\(index % 9)"
                rows.append(
                    Row(id: index + 1, user: user, receipt: bytes, note: "a\tb\nc\\N\r\"\(index)'' ü"))
            }
            for row in rows {
                let hex = Printable.hex(row.receipt)
                let isText = String(validating: row.receipt, as: UTF8.self) != nil
                let value =
                    switch engine {
                    case .sqlite: isText ? "CAST(x'\(hex)' AS text)" : "x'\(hex)'"
                    case .postgreSQL: "'\\x\(hex)'::bytea"
                    }
                let user = row.user.map { "'\($0)'" } ?? "NULL"
                try execute("INSERT INTO receipts VALUES (\(row.id), \(user), \(value), '\(row.note)')")
            }
        }

        /// Repeats the rows, so that they need several batches.
        func multiply() throws {
            try execute(
                """
                INSERT INTO receipts
                WITH RECURSIVE times(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM times WHERE n < 15)
                SELECT n * 100 + id, user_id || n, receipt, note FROM receipts, times
                """)
        }

        func migration(
            _ sql: String, key: String? = nil, limit: Int? = nil, user: String? = nil, startsOver: Bool = false,
            _ change: (inout MigrationOptions) -> Void = { _ in }
        ) throws -> StoreMigration {
            var migration = MigrationOptions(trust: try FixtureTrust.withIntermediates())
            migration.query = RowQuery(sql: sql, key: key)
            migration.maximumRecords = limit
            change(&migration)
            var options = StoreMigration.Options(
                migration: migration, userColumn: user, carriedColumns: user == nil ? [] : ["note"],
                startsOver: startsOver, date: 1_790_000_000_000)
            options.stepSize = 1
            return StoreMigration(options: options)
        }

        /// Adds rows without a receipt.
        func insert(_ ids: [Int]) throws {
            for id in ids { try execute("INSERT INTO receipts VALUES (\(id), 'u', NULL, '')") }
        }

        /// Migrates the ids of the rows as transaction ids, by their key.
        func migrateIds(
            into store: SQLiteTransactionStore, startsOver: Bool = false
        ) async throws -> StoreMigrationSummary {
            let sql = "SELECT id, 1000000000000000 + id AS transaction_id FROM receipts"
            return try await migration(sql, key: "id", startsOver: startsOver).run(inputs: [address], into: store)
        }

        func openStore(_ name: String = "store") throws -> SQLiteTransactionStore {
            try SQLiteTransactionStore.open(path: folder.file("\(name).sqlite"), options: .init(durability: .normal))
        }

        /// The lines of an output file without the places of their records.
        func migrated(_ sql: String, to file: String = "quarantine.ndjson") async throws -> [JSONObject] {
            let options = MigrationOptions(
                trust: try FixtureTrust.withIntermediates(), query: RowQuery(sql: sql))
            return try await Self.migrated([address], options, folder.file("output-\(UUID())"), to: file)
        }

        static func migrated(
            _ inputs: [String], _ options: MigrationOptions, _ output: String, to file: String
        ) async throws -> [JSONObject] {
            _ = try await streamRecords(options, inputs: inputs, to: output)
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: output + "/" + file)))
            return try FixtureRun.lines(bytes).compactMap(\.object)
        }

        /// The error of a query.
        func error(_ sql: String, key: String? = nil) async throws -> MigrationError? {
            let store = try openStore("errors-\(UUID())")
            let error = await #expect(throws: MigrationError.self) {
                try await migration(sql, key: key).run(inputs: [address], into: store)
            }
            try await store.close()
            #expect(error?.code == .input)
            return error
        }
    }

    private static let all = "SELECT id, user_id, receipt, note FROM receipts"

    private static func withoutPlace(_ lines: [JSONObject]) -> [String] {
        lines.map { line in
            JSONValue.object(JSONObject(members: line.members.filter { $0.key != "source" && $0.key != "table" }))
                .sortedText
        }
    }

    @Test(
        "each row is a record as in an NDJSON file: blobs are bytes, and null is not an empty text",
        arguments: Engine.available)
    func rows(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        let lines = database.rows.map { row in
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("id", "\(row.id)")
            writer.key("user_id")
            if let user = row.user { writer.string(user) } else { writer.raw(Array("null".utf8)) }
            let text = String(validating: row.receipt, as: UTF8.self)
            writer.member("receipt", text ?? Data(row.receipt).base64EncodedString())
            writer.member("note", row.note.replacing("''", with: "'"))
            writer.endObject()
            return writer.finish()
        }
        let path = try database.folder.write("rows.ndjson", lines.joined(separator: [0x0A]))
        let options = MigrationOptions(trust: try FixtureTrust.withIntermediates())
        let expected = try await Database.migrated(
            [path], options, database.folder.file("expected"), to: "transactions.ndjson")
        let found = try await database.migrated(Self.all + " ORDER BY id;\n", to: "transactions.ndjson")
        #expect(expected.count > 10)
        #expect(Self.withoutPlace(found) == Self.withoutPlace(expected))
        #expect(
            found.map { $0["source"]?["row"]?.integer } == expected.map { ($0["source"]?["line"]?.integer ?? 0) + 1 })
        let input = try #require(found.first?["source"]?["input"]?.string)
        #expect(engine == .sqlite ? input == database.address : input.hasPrefix("PostgreSQL at "))
    }

    @Test("numbers and dates are carried as their text, and null as null", arguments: Engine.available)
    func values(_ engine: Engine) async throws {
        let database = try Database(engine)
        let price = engine == .sqlite ? "1.5" : "1.50::numeric"
        let date = engine == .sqlite ? "'2020-01-02 03:04:05'" : "timestamp '2020-01-02 03:04:05'"
        let lines = try await database.migrated(
            "SELECT 1000000000000001 AS transaction_id, \(price) AS price, \(date) AS at, NULL AS absent, '' AS empty")
        let record = try #require(lines.first?["record"]?.object)
        #expect(record["price"] == .string(engine == .sqlite ? "1.5" : "1.50"))
        #expect(record["at"] == .string("2020-01-02 03:04:05"))
        #expect(record["absent"] == .null)
        #expect(record["empty"] == .string(""))
    }

    @Test("receipts are found by content, also as bytes with tabs and line feeds", arguments: Engine.available)
    func content(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        let named = try await database.migrated(Self.all + " ORDER BY id", to: "transactions.ndjson")
        let unnamed = try await database.migrated(
            "SELECT id, user_id, receipt AS b, note FROM receipts ORDER BY id", to: "transactions.ndjson")
        #expect(unnamed.count == named.count)
    }

    @Test(
        "with a key, a migration continues after an interruption at any step to the same store",
        arguments: Engine.available)
    func interrupted(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        try database.multiply()
        let migration = try database.migration(Self.all, key: "id", user: "user_id")
        let whole = try database.openStore("whole")
        let expected = try await migration.run(inputs: [database.address], into: whole)
        let files = try await StoreMigrationTests.export(whole, database.folder)
        try await whole.close()
        #expect(expected.records.recordsRead == 640 && expected.records.quarantined > 0)
        for commits in [false, true] {
            for stop in 1...2 {
                let store = try database.openStore("stopped-\(stop)-\(commits)")
                let stopping = StoreMigrationTests.Stopping(store, at: stop, commits: commits)
                let error = await #expect(throws: MigrationError.self) {
                    try await migration.run(inputs: [database.address], into: stopping)
                }
                #expect(error?.code == .store)
                let summary = try await migration.run(inputs: [database.address], into: store)
                #expect(summary.records == expected.records)
                #expect((summary.recordsBefore > 0) == (commits || stop > 1))
                #expect(try await StoreMigrationTests.export(store, database.folder) == files)
                try await store.close()
            }
        }
    }

    /// A plan from a sample of 10 rows.
    @inline(never)
    private func plan(_ sql: String, of database: Database, countLimit: Duration) throws -> MigrationPlan {
        let options = MigrationOptions(trust: try FixtureTrust.withIntermediates(), query: RowQuery(sql: sql))
        let planner = MigrationPlanner(
            options: StoreMigration.Options(migration: options, date: 0), engine: nil, sample: 10,
            countLimit: countLimit)
        return try planner.plan(inputs: [database.address])
    }

    @Test("a plan has the number of rows that the database counts", arguments: Engine.available)
    func planned(_ engine: Engine) throws {
        let database = try Database(engine)
        try database.fill()
        try database.multiply()
        for sql in [Self.all, Self.all + " ORDER BY id -- all\n;"] {
            let plan = try plan(sql, of: database, countLimit: .seconds(60))
            #expect(plan.records == 640 && !plan.isWhole && plan.summary.recordsRead == 10)
            #expect(plan.sources.map(\.isQuery) == [true])
            #expect(plan.expectedSeconds != nil && plan.expectedBytes != nil)
        }
    }

    @Test("a plan has no number of records if the rows are not counted in time", arguments: Engine.available)
    func plannedWithoutCount(_ engine: Engine) throws {
        let endless = """
            WITH RECURSIVE n(i) AS (SELECT CAST(1 AS bigint) UNION ALL SELECT i + 1 FROM n)
            SELECT 1000000000000000 + i AS transaction_id FROM n
            """
        let database = try Database(engine)
        let plan = try plan(endless, of: database, countLimit: .milliseconds(200))
        #expect(plan.records == nil && plan.summary.recordsRead == 10)
        #expect(plan.expectedSeconds == nil && plan.expectedBytes == nil)
    }

    @Test("with a key, the next run reads the rows that were added, and no others", arguments: Engine.available)
    func added(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        let store = try database.openStore()
        let migration = try database.migration(Self.all, key: "id")
        let first = try await migration.run(inputs: [database.address], into: store)
        let unchanged = try await migration.run(inputs: [database.address], into: store)
        #expect(unchanged.records == first.records && unchanged.recordsBefore == 40)
        // A row that was read is not read again, so its change does not matter.
        try database.execute("UPDATE receipts SET receipt = NULL WHERE id < 40")
        try database.execute("INSERT INTO receipts SELECT 500 + id, user_id, receipt, note FROM receipts WHERE id = 40")
        let second = try await migration.run(inputs: [database.address], into: store)
        #expect(second.records.recordsRead == 41 && second.recordsBefore == 40)
        #expect(second.records.quarantined - first.records.quarantined <= 1)
        try await store.close()
    }

    @Test(
        "rows that were added before the last key are noticed, also if others were deleted", arguments: Engine.available
    )
    func addedBefore(_ engine: Engine) async throws {
        let database = try Database(engine)
        let store = try database.openStore()
        try database.insert([2, 4, 6, 8])
        #expect(try await database.migrateIds(into: store).records.recordsRead == 4)
        try database.execute("DELETE FROM receipts WHERE id = 4")
        try database.insert([10])
        #expect(try await database.migrateIds(into: store).records.recordsRead == 5)
        // As many rows as were read, but not the same.
        try database.insert([3])
        let error = await #expect(throws: MigrationError.self) { try await database.migrateIds(into: store) }
        #expect(error?.code == .inputChanged)
        #expect(error?.message.contains("1 more than") == true, "\(error?.message ?? "")")
        #expect(try await database.migrateIds(into: store, startsOver: true).records.recordsRead == 5)
        try database.insert([12])
        #expect(try await database.migrateIds(into: store).records.recordsRead == 6)
        try await store.close()
    }

    @Test(
        "rows that were added before the last key are not noticed if as many were deleted; starting over reads them",
        arguments: Engine.available)
    func hiddenByDeletion(_ engine: Engine) async throws {
        let database = try Database(engine)
        let store = try database.openStore()
        func ids() async throws -> Set<String> {
            let lines = try await store.quarantine(after: nil, limit: 100).map { try JSONValue.parse($0.line[...]) }
            return Set(lines.compactMap { $0["record"]?["id"]?.string })
        }
        try database.insert([2, 4, 6])
        #expect(try await database.migrateIds(into: store).records.recordsRead == 3)
        try database.execute("DELETE FROM receipts WHERE id = 2")
        try database.insert([3, 8])
        #expect(try await database.migrateIds(into: store).records.recordsRead == 4)
        #expect(try await ids() == ["2", "4", "6", "8"])
        #expect(try await database.migrateIds(into: store, startsOver: true).records.recordsRead == 4)
        #expect(try await ids().isSuperset(of: ["3", "4", "6", "8"]))
        try await store.close()
    }

    @Test(
        "keys are compared as the database compares them",
        arguments: Engine.available.flatMap { engine in
            // Each with ten rows, in an order that is not that of their texts.
            [
                (engine, "CAST(id AS text)"), (engine, "id * 3 - 20"), (engine, "id * 1.1 - 7"),
                engine == .sqlite
                    ? (
                        engine,
                        "CASE id % 4 WHEN 0 THEN id WHEN 1 THEN id + 0.5 WHEN 2 THEN 't' || id ELSE CAST('b' || id AS blob) END"
                    )
                    : (engine, "timestamptz '2020-01-01 00:00:00.000001+02' - id * interval '100 days'"),
            ]
        })
    func keys(_ engine: Engine, _ key: String) async throws {
        let database = try Database(engine)
        for id in 1...10 { try database.execute("INSERT INTO receipts VALUES (\(id), 'u', NULL, '\(id)')") }
        // A quote, and a quote that is one character with the accent after it.
        let name = "the \"key\"\u{301}"
        let sql =
            "SELECT \(key) AS \"the \"\"key\"\"\u{301}\", 1000000000000000 + id AS transaction_id, note FROM receipts"
        for limit in [1, 3, 5, 6, 8] {
            let store = try database.openStore("store-\(limit)")
            let part = try database.migration(sql, key: name, limit: limit)
            #expect(try await part.run(inputs: [database.address], into: store).records.recordsRead == limit)
            let rest = try await database.migration(sql, key: name).run(inputs: [database.address], into: store)
            #expect(rest.records.recordsRead == 10 && rest.recordsBefore == limit)
            let quarantine = try await store.quarantine(after: nil, limit: 100)
            let notes = try quarantine.map { try JSONValue.parse($0.line[...])["record"]?["note"]?.string }
            #expect(Set(notes.compactMap(\.self)) == Set((1...10).map { "\($0)" }))
            let rows = try quarantine.compactMap { try JSONValue.parse($0.line[...])["source"]?["row"]?.integer }
            #expect(rows.sorted() == (2...11).map { $0 })
            try await store.close()
        }
    }

    @Test("a quarantined row keeps its columns and is migrated when it is tried again", arguments: Engine.available)
    func retried(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        let whole = try database.openStore("whole")
        _ = try await database.migration(Self.all, key: "id", user: "user_id")
            .run(inputs: [database.address], into: whole)
        let store = try database.openStore()
        let small = try database.migration(Self.all, key: "id", user: "user_id") { $0.limits.maximumSize = 100 }
        let first = try await small.run(inputs: [database.address], into: store)
        #expect(first.records.quarantined == 40)
        let second = try await database.migration(Self.all, key: "id", user: "user_id").retry(store)
        #expect(second.records.migrated > 10)
        let (expected, found) = (
            try await StoreMigrationTests.export(whole, database.folder),
            try await StoreMigrationTests.export(store, database.folder)
        )
        for table in ["transactions", "customers", "customer_users", "conflicts", "quarantine"] {
            #expect(found["\(table).ndjson"] == expected["\(table).ndjson"], "\(table)")
        }
        #expect(try !StoreMigrationTests.rows(found, "customer_users").isEmpty)
        try await whole.close()
        try await store.close()
    }

    @Test("without a key, each run begins at the first row and gives the same store", arguments: Engine.available)
    func withoutKey(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        let store = try database.openStore()
        let migration = try database.migration(Self.all + " ORDER BY id")
        let first = try await migration.run(inputs: [database.address], into: store)
        let files = try await StoreMigrationTests.export(store, database.folder)
        let second = try await migration.run(inputs: [database.address], into: store)
        #expect(second.records == first.records && second.recordsBefore == 0)
        #expect(try await StoreMigrationTests.export(store, database.folder) == files)
        try await store.close()
    }

    @Test("a key that is missing, null or repeated is an error that names it", arguments: Engine.available)
    func wrongKeys(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        let missing = try await database.error(Self.all, key: "number")
        #expect(missing?.message.contains("has no column number. Its columns are: id, user_id, receipt, note") == true)
        let null = try await database.error(Self.all, key: "user_id")
        #expect(null?.message.contains("the key user_id is null in some rows") == true, "\(null?.message ?? "")")
        let repeated = try await database.error("SELECT *, id / 2 AS half FROM receipts", key: "half")
        #expect(repeated?.message.contains("the key half has the same value in several rows") == true)
    }

    @Test("a key whose last value is repeated since is an error", arguments: Engine.available)
    func repeatedSince(_ engine: Engine) async throws {
        let database = try Database(engine)
        for id in 1...4 { try database.execute("INSERT INTO receipts VALUES (\(id), 'u\(id)', NULL, '')") }
        let sql = "SELECT user_id AS k, 1000000000000000 + id AS transaction_id FROM receipts"
        let store = try database.openStore()
        _ = try await database.migration(sql, key: "k", limit: 2).run(inputs: [database.address], into: store)
        try database.execute("UPDATE receipts SET user_id = 'u2' WHERE id = 1")
        let error = await #expect(throws: MigrationError.self) {
            try await database.migration(sql, key: "k").run(inputs: [database.address], into: store)
        }
        #expect(error?.message.contains("has the same value in several rows") == true)
        try await store.close()
    }

    @Test(
        "a wrong query stops with the message of the engine, and a column that is not there with those that are",
        arguments: Engine.available)
    func wrongQueries(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        let table = try await database.error("SELECT * FROM purchases")
        #expect(
            table?.message.contains(
                engine == .sqlite ? "no such table: purchases" : "relation \"purchases\" does not exist")
                == true, "\(table?.message ?? "")")
        for key in [nil, "id"] {
            #expect(try await database.error("SELEC 1", key: key)?.message.contains("syntax error") == true)
        }
        let store = try database.openStore()
        for (columns, user) in [(["token"], nil), ([], "owner")] as [([String], String?)] {
            let error = await #expect(throws: MigrationError.self) {
                try await database.migration(Self.all, user: user) { $0.receiptColumns = columns }
                    .run(inputs: [database.address], into: store)
            }
            #expect(error?.message.contains("Its columns are: id, user_id, receipt, note.") == true)
        }
        let undetectable = await #expect(throws: MigrationError.self) {
            try await database.migration("SELECT id, note FROM receipts").run(inputs: [database.address], into: store)
        }
        #expect(undetectable?.message.contains("cannot be detected") == true)
        try await store.close()
    }

    @Test("a query can change nothing", arguments: Engine.available)
    func readOnly(_ engine: Engine) async throws {
        let database = try Database(engine)
        try database.fill()
        let statements = [
            "DELETE FROM receipts", "SELECT 1; DELETE FROM receipts", "SELECT 1) AS q; DELETE FROM receipts; --",
            "DELETE FROM receipts RETURNING id", "COMMIT",
        ]
        for sql in statements {
            for key in [nil, "id"] { _ = try await database.error(sql, key: key) }
        }
        if engine == .postgreSQL {
            try database.execute("CREATE SEQUENCE numbers")
            let error = try await database.error("SELECT nextval('numbers') AS receipt")
            #expect(error?.message.contains("read-only transaction") == true)
        }
        let options = MigrationOptions(query: RowQuery(sql: "SELECT id AS receipt FROM receipts"))
        let summary = try await streamRecords(options, inputs: [database.address], to: database.folder.file("output"))
        #expect(summary.recordsRead == 40)
    }

    @Test(
        "PostgreSQL returns the first hundred rows of a query, independent of the rows of the previous query",
        .enabled(if: PostgreSQLServer.shared != nil), arguments: [nil, "SELECT 1", "SELECT repeat('x', 4000000)"])
    func firstRows(before: String?) throws {
        let query = try PostgreSQLQuery(url: try #require(PostgreSQLServer.shared).url)
        if let before {
            _ = try query.begin(before)
            let hasRow = try query.next { _ in }
            #expect(hasRow)
        }
        // The server computes a row on request, and cannot compute the 151st one. More rows than a hundred could
        // be too large for the memory: nothing is known about their size.
        let names = try query.begin("SELECT id, 1 / (151 - id) AS part FROM generate_series(1, 1000) AS id")
        #expect(names == ["id", "part"])
        var ids: [String] = []
        for _ in 0..<100 {
            var values: [String] = []
            let hasRow = try query.next { values.append($0.map { String(decoding: $0, as: UTF8.self) } ?? "") }
            try #require(hasRow)
            ids += values.prefix(1)
        }
        #expect(ids == (1...100).map { "\($0)" })
        // Now the size is known, and the next rows are many.
        let error = #expect(throws: TransactionStoreError.self) { _ = try query.next { _ in } }
        #expect(error?.message.contains("division by zero") == true)
    }

    @Test("a database that cannot be reached is named in one line, without its password")
    func unreachable() async throws {
        let folder = try TemporaryFolder()
        let addresses = [
            "sqlite:" + folder.file("absent.sqlite"),
            "sqlite:" + (try folder.write("text.sqlite", "no database at all")),
            "postgres://someone:hunter2@127.0.0.1:1/app", "postgres://someone:hunter2@h:port/app",
        ]
        for address in addresses {
            let options = MigrationOptions(query: RowQuery(sql: "SELECT * FROM receipts"))
            let error = await #expect(throws: MigrationError.self) {
                try await streamRecords(options, inputs: [address], to: folder.file("output"))
            }
            #expect(error?.code == .input)
            #expect(error?.message.contains("hunter2") == false && error?.path.contains("hunter2") == false)
            let hasControls = error?.message.unicodeScalars.contains { $0.value < 0x20 }
            #expect(hasControls == false, "\(address)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("absent.sqlite")))
    }

    @Test("a query needs a database, and a database a query")
    func usage() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("a.txt", "1000000000000001")
        let query = RowQuery(sql: "SELECT 1")
        for (inputs, query) in [
            ([path], query), (["sqlite:a", "sqlite:b"], query), (["sqlite:a"], nil), ([path, "postgres://h/d"], nil),
        ] as [([String], RowQuery?)] {
            let error = await #expect(throws: MigrationError.self) {
                try await streamRecords(MigrationOptions(query: query), inputs: inputs, to: folder.file("output"))
            }
            #expect(error?.code == .input)
        }
    }
}
