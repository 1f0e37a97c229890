import AppStoreModels
import Foundation
import Purchases
import TestSupport
import Testing
import TransactionStore

@Suite("export", .timeLimit(.minutes(10)))
struct ExportTests {
    private func export(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        try await Command.run(["export", "--store", "sqlite:store.sqlite"] + arguments, in: folder)
    }

    @Test("Writes the tables and prints their row counts; a second run changes nothing and states it")
    func summary() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let first = try await export("--to", "out/tables", "--at", "2023-02-20", in: folder)
        #expect(first.status == 0 && first.error.isEmpty, "\(first.error)")
        #expect(
            first.output == """
                transactions         7
                subscriptions        4
                entitlements         4
                terms                0
                renewal_infos        4
                app_transactions     0
                customers            4
                customer_identities  5
                customer_users       0
                conflicts            0
                to_ask_apple         4
                quarantine           0

                Written to out/tables, as of 2023-02-20T00:00:00Z.

                """)
        #expect(
            folder.names("out/tables") == [
                "app_transactions.ndjson", "conflicts.ndjson", "customer_identities.ndjson", "customer_users.ndjson",
                "customers.ndjson", "entitlements.ndjson", "export.json", "quarantine.ndjson", "renewal_infos.ndjson",
                "subscriptions.ndjson", "terms.ndjson", "to_ask_apple.ndjson",
                "transactions.ndjson",
            ])
        let transactions = try folder.lines("out/tables/transactions.ndjson")
        #expect(
            transactions.compactMap { $0["transactionId"] as? String }.sorted() == [
                "100", "101", "102", "200", "201", "300", "400",
            ])
        let again = try await export("--to", "out/tables", "--at", "2023-02-20", in: folder)
        #expect(again.output.split(separator: "\n").filter { $0.hasSuffix("  unchanged") }.count == 12)
        let json = try await export("--to", "out/tables", "--at", "2023-02-20", "--json", in: folder)
        #expect(json.output == (try folder.text("out/tables/export.json")))
        let tables = try #require(try json.object()["tables"] as? [String: Any])
        #expect(tables["customer_identities"] as? Int == 5)
    }

    @Test("A subscription has its state at --at; the catalog adds fields that documents lack")
    func options() async throws {
        let folder = try Folder()
        let pass = StoredPurchases.purchase("500", "pass", .nonRenewingSubscription, month: 0)
        try await StoredPurchases.makeStore(StoredPurchases.sets + [StoredPurchases.set([pass])], in: folder)
        try folder.write("products.yaml", StoredPurchases.catalog.utf8)
        func statuses(_ date: String) async throws -> [String] {
            let outcome = try await export(
                "--format", "csv", "--to", "tables", "--catalog", "products.yaml", "--at", date, in: folder)
            #expect(outcome.status == 0, "\(outcome.error)")
            let rows = try CSV.rows(folder.text("tables/subscriptions.csv"))
            let place = try #require(rows.first?.firstIndex(of: "status"))
            return rows.dropFirst().map { $0[place] }
        }
        #expect(try await statuses("2023-02-20") == ["active", "active", "active", "active"])
        #expect(try await statuses("2023-05-20T10:00:00Z") == ["expired", "expired", "active", "active"])
        let terms = try CSV.rows(folder.text("tables/terms.csv"))
        #expect(terms.count == 2 && terms[1].contains("500"))
    }

    @Test("The tables and the ledger agree about an upgrade and a refund")
    func ledger() async throws {
        let folder = try Folder()
        let day = StoredPurchases.day
        // Both documents state the upgraded period; the dates alone show that it was upgraded.
        let replaced = StoredPurchases.fact("600", original: "600", 0, 1) { $0.productId = "basic" }
        let successor = StoredPurchases.fact("601", original: "600", 0, 2) {
            $0.purchaseDate = StoredPurchases.month(0) + 9 * day
        }
        let early = TransactionFact(
            payload: replaced.payload, legacy: nil,
            origin: FactOrigin(source: .notificationV2, signedDate: StoredPurchases.month(0)))
        let refunded = StoredPurchases.purchase("700", "lifetime", .nonConsumable, month: 0, refunded: 1)
        try await StoredPurchases.makeStore(
            [StoredPurchases.set([early]), StoredPurchases.set([successor]), StoredPurchases.set([refunded])],
            in: folder)
        let exported = try await export("--at", "2023-03-01", in: folder)
        #expect(exported.status == 0, "\(exported.error)")
        let read = try await Command.run("ledger", "read", "--store", "sqlite:store.sqlite", in: folder)
        var events: [String: String] = [:]
        var stated: [String: [String: Any]] = [:]
        for line in read.output.split(separator: "\n") {
            let entry = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let id = try #require(entry["transactionId"] as? String)
            events[id] = entry["event"] as? String
            stated[id] = entry["transaction"] as? [String: Any]
        }
        #expect(events == ["600": "upgraded", "601": "renewed", "700": "refunded"])
        for row in try folder.lines("tables/transactions.ndjson") {
            let found = stated.removeValue(forKey: row["transactionId"] as? String ?? "")
            let transaction = try #require(found)
            for (name, value) in transaction where name != "signedDate" {
                #expect("\(row[name] ?? "absent")" == "\(value)", "\(name)")
            }
            #expect((row["isUpgraded"] != nil) == (transaction["isUpgraded"] != nil))
            #expect((row["revocationDate"] != nil) == (transaction["revocationDate"] != nil))
        }
        #expect(stated.isEmpty)
    }

    @Test(
        "SQLite's shell makes tables of the CSV files",
        .enabled(if: Command.hasProgram("sqlite3"), "sqlite3 is not installed"))
    func sqlite() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let outcome = try await Command.shell(
            """
            set -e
            "$COMMAND" export --store sqlite:store.sqlite --format csv --at 2023-02-20 >summary
            cd tables
            sqlite3 out.sqlite <sqlite.sql
            sqlite3 out.sqlite 'SELECT count(*), count(price), count(revocationDate) FROM transactions'
            sqlite3 out.sqlite 'SELECT count(*) FROM subscriptions WHERE hasAccess AND accessEnds > periodStart'
            """, in: folder)
        #expect(outcome.error.isEmpty)
        #expect(outcome.output == "7|6|0\n4\n")
    }

    @Test("A missing store, a bad date, a path that is no folder, foreign files: each has its own error")
    func errors() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        try folder.write("file", "x")
        try folder.write("migrated/transactions.ndjson", "{}")
        for (arguments, message) in [
            (["--store", "sqlite:missing.sqlite"], "The file missing.sqlite does not exist"),
            (["--store", "mysql://x"], "Unknown scheme mysql"),
            (["--at", "yesterday"], "'yesterday' is not a date"),
            (["--to", "file"], "file is not a folder"), (["--to", ""], "The path of the folder is empty"),
            (["--to", "migrated"], "migrated/transactions.ndjson was not written by an export"),
            (["--format", "xml"], "'ndjson' and 'csv'"), (["--catalog", "missing.yaml"], "missing.yaml"),
        ] {
            let store = arguments.contains("--store") ? [] : ["--store", "sqlite:store.sqlite"]
            let outcome = try await Command.run(["export"] + store + arguments, in: folder)
            #expect(outcome.status == 2 && outcome.output.isEmpty)
            #expect(outcome.error.contains(message), "\(outcome.error)")
        }
        #expect(!folder.names("").contains("missing.sqlite") && !folder.names("").contains("tables"))
    }
}
