import Foundation
import GRDB
import Migration
import TestSupport
import Testing

/// The SQL of Documentation/Export.md, on an exported store.
@Suite("The example queries")
struct ExportQueryTests {
    private typealias Samples = ExportSamples

    /// The SQL blocks of a section of the document.
    @inline(never)
    private static func queries(_ section: String) throws -> [String] {
        let document = try String(
            contentsOf: FixtureStore.packageRoot.appending(path: "Documentation/Export.md"), encoding: .utf8)
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
