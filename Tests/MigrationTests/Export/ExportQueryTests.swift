import Foundation
import GRDB
import Migration
import ProductCatalog
import SQLiteTransactionStore
import TestDatabase
import TestSupport
import Testing
import TransactionStore

/// The SQL of Documentation/Export.md, on an exported store.
@Suite("The example queries")
struct ExportQueryTests {
    /// The SQL blocks of a section of the document.
    @inline(never)
    private static func queries(_ section: String) throws -> [String] {
        let document = try String(
            contentsOf: PackageFolder.url.appending(path: "Documentation/Export.md"), encoding: .utf8)
        let parts = document.components(separatedBy: "\n## ")
        let text = try #require(parts.first { $0.hasPrefix(section) })
        return text.components(separatedBy: "```sql\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
    }

    /// Runs `sqlite.sql` as the shell does, which has the command for the import.
    @inline(never)
    private static func load(_ folder: TemporaryFolder) throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        let script = try String(contentsOfFile: folder.file("sqlite.sql"), encoding: .utf8)
        try database.writeWithoutTransaction { db in
            var statement = ""
            for line in script.split(separator: "\n") where !line.hasPrefix(".bail") {
                if line.hasPrefix(".import ") {
                    let words = line.split(separator: " ").map(String.init)
                    #expect(words.prefix(4) == [".import", "--csv", "--skip", "1"])
                    for row in try CSV.rows(String(contentsOfFile: folder.file(words[4]), encoding: .utf8)).dropFirst()
                    {
                        let places = row.map { _ in "?" }.joined(separator: ", ")
                        try db.execute(
                            sql: "INSERT INTO \(words[5]) VALUES (\(places))", arguments: StatementArguments(row))
                    }
                    continue
                }
                statement += line + "\n"
                guard line.hasSuffix(";") else { continue }
                try db.execute(sql: statement)
                statement = ""
            }
            #expect(statement.isEmpty)
        }
        return database
    }

    @Test("run on the tables that sqlite.sql makes, and each finds something")
    func queries() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore { _ = try await Samples.export(.csv).run($0, to: folder.path) }
        let database = try Self.load(folder)
        let queries = try Self.queries("Example queries")
        #expect(queries.count == 10)
        try await database.read { db in
            for query in queries {
                let rows = try Row.fetchAll(db, sql: query)
                #expect(!rows.isEmpty, "\(query)")
            }
        }
        let joins = try Self.queries("Your own users")
        let users = try #require(joins.first)
        try await database.write { db in
            try db.execute(sql: users)
            for query in joins.dropFirst() {
                let rows = try Row.fetchAll(db, sql: query)
                #expect(!rows.isEmpty, "\(query)")
            }
        }
    }

    /// The store of `LegacyFixtures/inputs`, as the guide migrates it.
    @inline(never)
    private static func withInputs(_ body: (SQLiteTransactionStore, TableExport) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        let options = StoreMigration.Options(
            migration: MigrationOptions(trust: try FixtureTrust.withIntermediates()), date: Samples.date)
        let summary = try await StoreMigration(options: options).run(
            inputs: [FixtureStore.root.appending(path: "inputs").path], into: store)
        #expect(summary.records.migrated > 20)
        let products = try String(contentsOf: FixtureStore.root.appending(path: "products.yaml"), encoding: .utf8)
        // 2024-03-15.
        try await body(
            store, TableExport(format: .csv, catalog: try catalog(products), date: 1_710_460_800_000))
        try await store.close()
    }

    @Test("run on an export of LegacyFixtures/inputs")
    func queriesOfInputs() async throws {
        let folder = try TemporaryFolder()
        try await Self.withInputs { _ = try await $1.run($0, to: folder.path) }
        let database = try Self.load(folder)
        let found = try await database.write { db in
            let found = try Self.queries("Example queries").count { try !Row.fetchAll(db, sql: $0).isEmpty }
            let joins = try Self.queries("Your own users")
            try db.execute(sql: joins[0])
            for query in joins.dropFirst() { _ = try Row.fetchAll(db, sql: query) }
            return found
        }
        // The inputs have neither prices, nor a subscription with a billing problem.
        #expect(found >= 6)
    }

    /// A query with the replacements that the document has for PostgreSQL.
    @inline(never)
    private static func forPostgreSQL(_ query: String) throws -> String {
        let document = try String(
            contentsOf: PackageFolder.url.appending(path: "Documentation/Export.md"), encoding: .utf8)
        let table = try #require(
            document.components(separatedBy: "| SQLite | PostgreSQL |\n|---|---|\n").last?
                .components(separatedBy: "\n\n").first)
        var query = query
        for row in table.split(separator: "\n") {
            let cells = row.split(separator: "`").map(String.init).filter { $0.count > 3 }
            try #require(cells.count == 2, "\(row)")
            let pattern = NSRegularExpression.escapedPattern(for: cells[0]).replacing(
                "X", with: #"((?:[^()']|\([^()]*\))+?)"#)
            query = query.replacingOccurrences(
                of: #"(?<![a-z_])"# + pattern, with: cells[1].replacing("X", with: "$1"), options: .regularExpression)
        }
        return query
    }

    @Test(
        "run on PostgreSQL with the replacements of the document, and each finds something",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func queriesOfPostgreSQL() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let schema = "queries_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let url = server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
        defer { _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA \(schema) CASCADE") }
        try await Samples.withStore { _ = try await Samples.export(.csv).run($0, into: .postgreSQL(url)) }
        let joins = try Self.queries("Your own users")
        try server.sql("SET search_path TO \(schema); \(joins[0])")
        for query in try Self.queries("Example queries") + joins.dropFirst() {
            let query = try Self.forPostgreSQL(query)
            #expect(try !server.sql("SET search_path TO \(schema); \(query)").isEmpty, "\(query)")
        }
        try await Self.withInputs { _ = try await $1.run($0, into: .postgreSQL(url)) }
        for query in try Self.queries("Example queries") + joins.dropFirst() {
            try server.sql("SET search_path TO \(schema); \(try Self.forPostgreSQL(query))")
        }
    }

    @Test("compare numbers as numbers, and absent values are NULL")
    func types() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore { _ = try await Samples.export(.csv).run($0, to: folder.path) }
        try await Self.load(folder).read { db in
            func value(_ sql: String) throws -> Int? { try Int.fetchOne(db, sql: sql) }
            let rows = try ExportedRows("transactions", in: folder).rows
            let (refunded, priced) = (rows.count { $0["revocationDate"] != nil }, rows.count { $0["price"] != nil })
            #expect(try value("SELECT count(*) FROM transactions") == rows.count)
            #expect(try value("SELECT count(revocationDate) FROM transactions") == refunded)
            #expect(try value("SELECT count(*) FROM transactions WHERE price > 1000") == priced)
            #expect(try value("SELECT count(*) FROM transactions WHERE isUpgraded") == 1)
            #expect(try value("SELECT count(*) FROM transactions WHERE typeof(purchaseDate) <> 'integer'") == 0)
            let hostile = try String.fetchOne(db, sql: "SELECT productId FROM transactions WHERE transactionId = '700'")
            #expect(hostile == Samples.hostile)
        }
    }
}
