import Foundation
import PostgreSQLTransactionStore
import Purchases
import SQLiteTransactionStore
import TestDatabase
import TestSupport
import Testing
import TransactionStore

@Suite("export into databases", .timeLimit(.minutes(10)))
struct ExportDatabaseTests {
    private func export(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        try await Command.run(["export", "--store", "sqlite:store.sqlite"] + arguments, in: folder)
    }

    @Test("Says per table how many rows there are, and how many it wrote, changed and removed")
    func summary() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let first = try await export("--to", "sqlite:tables.sqlite", "--at", "2023-02-20", in: folder)
        #expect(first.status == 0 && first.error.isEmpty, "\(first.error)")
        #expect(
            first.output.contains(
                "table                rows  written  changed  removed\ntransactions            7        7        0        0\n"
            ))
        #expect(first.output.hasSuffix("\nWritten to sqlite:tables.sqlite, as of 2023-02-20T00:00:00Z.\n"))
        let later = try await export("--to", "sqlite:tables.sqlite", "--at", "2023-05-20", "--json", in: folder)
        let tables = try #require(try later.object()["tables"] as? [String: [String: Int]])
        #expect(tables["transactions"] == ["rows": 7, "written": 0, "changed": 0, "removed": 0])
        // One has expired since, and another has renewed and expired: it has another transaction.
        #expect(tables["entitlements"] == ["rows": 4, "written": 1, "changed": 1, "removed": 1])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("tables.sqlite"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test("The store itself, --format, a bad address, a table of the user's: each has its own error")
    func errors() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let mine = try SQLiteTableFile(path: folder.file("mine.sqlite"))
        _ = try await mine.perform { try $0.run("CREATE TABLE transactions (id TEXT)") }
        mine.close()
        _ = try await export("--to", "before", "--at", "2023-02-20", in: folder)
        for (arguments, message) in [
            (["--to", "sqlite:store.sqlite"], "--to is the store itself"),
            (["--to", "sqlite:./store.sqlite"], "sqlite:./store.sqlite is a store"),
            (["--to", "sqlite:"], "has no path"),
            (["--to", "sqlite:x.sqlite", "--format", "csv"], "--format is for a folder"),
            (["--to", "sqlite:mine.sqlite"], "sqlite:mine.sqlite has a table transactions with other columns"),
            (["--to", "postgres://localhost:1/x?connect_timeout=2"], "The tables cannot be written to"),
        ] {
            let outcome = try await Command.run(["export", "--store", "sqlite:store.sqlite"] + arguments, in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains(message), "\(outcome.error)")
        }
        _ = try await export("--to", "after", "--at", "2023-02-20", in: folder)
        for name in folder.names("before") {
            #expect(try folder.bytes("after/\(name)") == folder.bytes("before/\(name)"), "\(name)")
        }
    }

    @Test("--kind writes the import file of a vendor and prints what it left out")
    func vendor() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await export("--kind", "adapty", "--to", "vendor", in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(
            outcome.output.hasPrefix("rows               0\nrowsWithoutPrice   0\nwithoutUser        4\n"),
            "\(outcome.output)")
        #expect(outcome.output.hasSuffix("\nWritten to vendor/adapty.csv.\n"))
        #expect(try folder.text("vendor/adapty.csv") == "user_id,apple_original_transaction_id\r\n")
        for (arguments, message) in [
            (["--at", "2023-02-20"], "are for the tables, not for --kind adapty"),
            (["--to", "sqlite:x.sqlite"], "--kind writes into a folder"),
        ] {
            let refused = try await Command.run(
                ["export", "--store", "sqlite:store.sqlite", "--kind", "adapty"] + arguments, in: folder)
            #expect(refused.status == 2 && refused.error.contains(message), "\(refused.error)")
        }
    }

    @Test(
        "--kind of a vendor without a public import format is an error with the reason",
        arguments: [
            ("superwall", "Superwall publishes no import file format"), ("nobody", "revenuecat, adapty, qonversion"),
        ])
    func unknownVendor(name: String, message: String) async throws {
        let folder = try Folder()
        let refused = try await Command.run(
            ["export", "--store", "sqlite:store.sqlite", "--kind", name, "--to", "vendor"], in: folder)
        #expect(refused.status == 2 && refused.error.contains(message), "\(refused.error)")
        #expect(folder.names("").isEmpty)
    }

    @Test("An export that is killed leaves the tables of one export: SQLite")
    func killed() async throws {
        let folder = try Folder()
        try await checkKills("sqlite:tables.sqlite", in: folder) {
            let file = try SQLiteTableFile(path: folder.file("tables.sqlite"))
            let texts = try await file.perform { try $0.texts(Self.content) }
            file.close()
            return texts
        }
    }

    @Test(
        "An export that is killed leaves the tables of one export: PostgreSQL",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"))
    func killedPostgreSQL() async throws {
        let folder = try Folder()
        let server = try #require(PostgreSQLServer.shared)
        let schema = "export_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        defer { _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA \(schema) CASCADE") }
        let url = server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
        try await checkKills(url, in: folder) {
            let database = try PostgreSQLTableDatabase(url: url)
            let texts = try await database.perform { try $0.texts(Self.content) }
            await database.close()
            return texts
        }
    }

    /// The statuses in the tables, which depend on `--at`.
    private static let content = """
        SELECT 'subscription ' || status || ' ' || CAST(count(*) AS TEXT) FROM subscriptions GROUP BY status
        UNION ALL SELECT 'entitlement ' || status || ' ' || CAST(count(*) AS TEXT) FROM entitlements GROUP BY status
        UNION ALL SELECT 'customers ' || CAST(count(*) AS TEXT) FROM customers WHERE hasAccess
        ORDER BY 1
        """

    private func checkKills(_ address: String, in folder: Folder, _ content: () async throws -> [String]) async throws {
        let sets = (0..<300).map { number in
            StoredPurchases.set([
                StoredPurchases.fact("\(1_000 + number)", original: "\(1_000 + number)", 0, Int64(1 + number % 4))
            ])
        }
        try await StoredPurchases.makeStore(sets, in: folder)
        var whole: [[String]] = []
        let dates = ["2023-05-20", "2023-02-20"]
        let clock = ContinuousClock()
        var duration = Duration.zero
        for date in dates {
            let start = clock.now
            let outcome = try await export("--to", address, "--at", date, in: folder)
            duration = clock.now - start
            #expect(outcome.status == 0, "\(outcome.error)")
            whole.append(try await content())
        }
        #expect(whole[0] != whole[1])
        for round in 0..<16 {
            let seconds = duration / .seconds(1) * Double(round + 1) / 16
            let command = "timeout -s KILL \(seconds) \"$COMMAND\" export --store sqlite:store.sqlite"
            _ = try await Command.shell("\(command) --to '\(address)' --at \(dates[round % 2])", in: folder)
            #expect(whole.contains(try await content()), "round \(round)")
        }
        let last = try await export("--to", address, "--at", dates[0], in: folder)
        #expect(last.status == 0, "\(last.error)")
        #expect(try await content() == whole[0])
    }
}
