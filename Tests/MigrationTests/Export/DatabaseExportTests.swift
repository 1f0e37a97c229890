import AppStoreModels
import Foundation
import Migration
import PostgreSQLTransactionStore
import Purchases
import SQLiteTransactionStore
import TestDatabase
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Exports into databases")
struct DatabaseExportTests {
    /// A database for one test.
    struct Target: Sendable {
        enum Engine: String, Sendable {
            case sqlite, postgreSQL
        }

        /// PostgreSQL only where the tests have a server.
        static let engines: [Engine] = PostgreSQLServer.shared == nil ? [.sqlite] : [.sqlite, .postgreSQL]

        let address: StoreURL
        /// In the first column.
        let texts: @Sendable (String) async throws -> [String]
        let run: @Sendable (String) async throws -> Void

        /// SQL for the text of a date: its milliseconds, or `infinity`.
        func text(ofDate column: String) -> String {
            switch address {
            case .sqlite: "CAST(\(column) AS TEXT)"
            case .postgreSQL:
                """
                CASE WHEN isfinite(\(column)) THEN CAST(CAST(extract(epoch FROM \(column)) * 1000 AS BIGINT) AS TEXT) \
                ELSE CAST(\(column) AS TEXT) END
                """
            }
        }

        func count(_ table: String, where condition: String = "1 = 1") async throws -> Int {
            let count = try await texts("SELECT CAST(count(*) AS TEXT) FROM \(table) WHERE \(condition)").first
            return try #require(Int(count ?? ""))
        }

        @inline(never)
        static func with(_ engine: Engine, _ body: (Target) async throws -> Void) async throws {
            switch engine {
            case .sqlite:
                let folder = try TemporaryFolder()
                let path = folder.file("tables.sqlite")
                let file = try SQLiteTableFile(path: path)
                try await body(
                    Target(
                        address: .sqlite(path: path), texts: { sql in try await file.perform { try $0.texts(sql) } },
                        run: { sql in _ = try await file.perform { try $0.run(sql) } }))
                file.close()
            case .postgreSQL:
                let server = try #require(PostgreSQLServer.shared)
                let schema = "export_" + UUID().uuidString.lowercased().filter { $0 != "-" }
                let url = server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
                defer { _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA \(schema) CASCADE") }
                let database = try PostgreSQLTableDatabase(url: url)
                try await body(
                    Target(
                        address: .postgreSQL(url), texts: { sql in try await database.perform { try $0.texts(sql) } },
                        run: { sql in _ = try await database.perform { try $0.run(sql) } }))
                await database.close()
            }
        }
    }

    /// The rows of a table as texts; of JSON only whether there is a value.
    @inline(never)
    private static func rows(_ table: TableOutline, in target: Target) async throws -> [String] {
        let values = table.columns.map { column in
            switch column.kind {
            case .json: "CASE WHEN \(column.name) IS NULL THEN '' ELSE 'json' END"
            case .boolean: "CASE WHEN \(column.name) THEN 'true' WHEN NOT \(column.name) THEN 'false' ELSE '' END"
            case .date: "coalesce(\(target.text(ofDate: column.name)), '')"
            case .text, .integer: "coalesce(CAST(\(column.name) AS TEXT), '')"
            }
        }
        return try await target.texts("SELECT \(values.joined(separator: " || '\u{1F}' || ")) FROM \(table.name)")
            .sorted()
    }

    @Test("have the rows of the files", arguments: Target.engines)
    func rows(_ engine: Target.Engine) async throws {
        let folder = try TemporaryFolder()
        try await Target.with(engine) { target in
            try await Samples.withStore { store in
                _ = try await Samples.export(.csv).run(store, to: folder.path)
                let summary = try await Samples.export(.csv).run(store, into: target.address)
                #expect(summary.tables.allSatisfy { $0.written == $0.rows && $0.changed == 0 && $0.removed == 0 })
                #expect(summary.tables.map(\.name) == ExportedTables.outlines.map(\.name))
                for (table, counts) in zip(ExportedTables.outlines, summary.tables) {
                    let expected = try ExportedRows(table.name, in: folder).rows.map { row in
                        table.columns.map { column in
                            let value = row[column.name] ?? ""
                            return column.kind == .json && !value.isEmpty ? "json" : value
                        }.joined(separator: "\u{1F}")
                    }
                    #expect(counts.rows == expected.count)
                    #expect(try await Self.rows(table, in: target) == expected.sorted(), "\(table.name)")
                }
            }
        }
    }

    @Test("change nothing the second time, and then only the rows that differ", arguments: Target.engines)
    func changes(_ engine: Target.Engine) async throws {
        try await Target.with(engine) { target in
            try await Samples.withStore { store in
                let export = try Samples.export(.csv)
                let first = try await export.run(store, into: target.address)
                let second = try await export.run(store, into: target.address)
                #expect(second.tables.allSatisfy { $0.written == 0 && $0.changed == 0 && $0.removed == 0 })
                #expect(second.tables.map(\.rows) == first.tables.map(\.rows))
                _ = try await store.apply([
                    StoreSamples.set(
                        renewals: [StoreSamples.renewal("100", product: "basic", at: Samples.june + 40 * Samples.day)]),
                    StoreSamples.set(Samples.period("1000", "1000", from: 0)),
                ])
                let third = try await export.run(store, into: target.address)
                let counts = third.tables.filter { $0.written + $0.changed + $0.removed > 0 }.map {
                    "\($0.name) \($0.written) \($0.changed) \($0.removed)"
                }
                #expect(
                    counts == [
                        "transactions 1 0 0", "subscriptions 1 1 0", "entitlements 1 0 0", "renewal_infos 0 1 0",
                        "customers 1 1 0", "customer_identities 1 0 0", "to_ask_apple 2 0 0",
                    ])
            }
        }
    }

    @Test("have exact dates, and those out of PostgreSQL's range also in the column more", arguments: Target.engines)
    func dates(_ engine: Target.Engine) async throws {
        try await Target.with(engine) { target in
            try await Samples.withStore(Samples.distant) { store in
                let export = try Samples.export(.csv)
                _ = try await export.run(store, into: target.address)
                let value = engine == .sqlite ? "purchaseDate" : "CAST(purchaseDate AT TIME ZONE 'UTC' AS TEXT)"
                let found = try await target.texts(
                    "SELECT transactionId || ' ' || \(value) FROM transactions ORDER BY transactionId")
                switch engine {
                case .sqlite:
                    #expect(found == Samples.dates.map { "\($0.id) \($0.milliseconds)" })
                    #expect(try await target.count("transactions", where: "more LIKE '%datesOutOfRange%'") == 0)
                case .postgreSQL:
                    #expect(found == Samples.dates.map { "\($0.id) \($0.text)" })
                    let outside = try await target.texts(
                        """
                        SELECT transactionId || ' ' || CAST(more -> 'datesOutOfRange' AS TEXT) FROM transactions
                        WHERE more ? 'datesOutOfRange' ORDER BY transactionId
                        """)
                    #expect(
                        outside == [
                            #"1106 {"purchaseDate": -210866803200001}"#, #"1107 {"purchaseDate": 9224318016000000}"#,
                            #"1108 {"purchaseDate": -9223372036854775808}"#,
                            #"1109 {"asOf": 9223372036854775807, "purchaseDate": 9223372036854775807}"#,
                        ])
                    let other = try await target.texts(
                        "SELECT transactionId FROM transactions WHERE more ? 'commitmentInfo'")
                    #expect(other == ["1107"])
                    #expect(try await target.count("customers", where: "asOf = 'infinity'") == 1)
                }
                let second = try await export.run(store, into: target.address)
                #expect(second.tables.allSatisfy { $0.written == 0 && $0.changed == 0 && $0.removed == 0 })
            }
        }
    }

    /// Makes the dates in PostgreSQL numbers of milliseconds, as earlier versions wrote them.
    @inline(never)
    private static func makeDatesNumeric(in target: Target) async throws {
        for table in ExportedTables.outlines {
            let hasMore = table.columns.contains { $0.name == "more" }
            let changes = table.columns.filter { $0.kind == .date }.map { column in
                let name = column.name
                let exact = hasMore ? "CAST(more -> 'datesOutOfRange' ->> '\(name)' AS BIGINT)" : "NULL"
                return """
                    ALTER COLUMN \(name) TYPE BIGINT USING CASE \(name)
                        WHEN 'infinity' THEN coalesce(\(exact), 9223372036854775807)
                        WHEN '-infinity' THEN coalesce(\(exact), -9223372036854775807)
                        ELSE CAST(extract(epoch FROM \(name)) * 1000 AS BIGINT) END
                    """
            }
            guard !changes.isEmpty else { continue }
            try await target.run("ALTER TABLE \(table.name) \(changes.joined(separator: ", "))")
            guard hasMore else { continue }
            try await target.run(
                "UPDATE \(table.name) SET more = NULLIF(more - 'datesOutOfRange', '{}') WHERE more ? 'datesOutOfRange'")
        }
    }

    /// The types that the dates have in PostgreSQL.
    @inline(never)
    private static func dateTypes(in target: Target) async throws -> [String] {
        let dates = ExportedTables.outlines.flatMap(\.columns).filter { $0.kind == .date }
        let names = Set(dates.map { "'\($0.name.lowercased())'" }).joined(separator: ", ")
        return try await target.texts(
            """
            SELECT DISTINCT CAST(data_type AS TEXT) FROM information_schema.columns
            WHERE table_schema = current_schema() AND column_name IN (\(names))
            """)
    }

    @Test(
        "convert the dates that earlier versions wrote as numbers, and then change no row",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"))
    func numericDates() async throws {
        try await Target.with(.postgreSQL) { target in
            try await Samples.withStore(Samples.sets + Samples.distant) { store in
                let export = try Samples.export(.csv)
                _ = try await export.run(store, into: target.address)
                var before: [[String]] = []
                for table in ExportedTables.outlines { before.append(try await Self.rows(table, in: target)) }
                try await Self.makeDatesNumeric(in: target)
                #expect(try await Self.dateTypes(in: target) == ["bigint"])
                try await target.run("CREATE INDEX mine ON transactions (purchaseDate)")
                try await target.run("CREATE VIEW products AS SELECT DISTINCT productId FROM transactions")
                let summary = try await export.run(store, into: target.address)
                #expect(try await Self.dateTypes(in: target) == ["timestamp with time zone"])
                #expect(summary.tables.allSatisfy { $0.written == 0 && $0.changed == 0 && $0.removed == 0 })
                for (table, rows) in zip(ExportedTables.outlines, before) {
                    #expect(try await Self.rows(table, in: target) == rows, "\(table.name)")
                }
                let indexes = "schemaname = current_schema() AND indexname = 'mine'"
                #expect(try await target.count("pg_indexes", where: indexes) == 1)
                #expect(try await target.count("products") > 0)
            }
        }
    }

    @Test(
        "write nothing if a view uses dates that earlier versions wrote as numbers, and name the view",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"))
    func numericDatesInView() async throws {
        try await Target.with(.postgreSQL) { target in
            try await Samples.withStore { store in
                let export = try Samples.export(.csv)
                _ = try await export.run(store, into: target.address)
                try await Self.makeDatesNumeric(in: target)
                try await target.run("CREATE VIEW mine AS SELECT max(purchaseDate) FROM transactions")
                let error = await #expect(throws: MigrationError.self) {
                    try await export.run(store, into: target.address)
                }
                #expect(error?.code == .outputConflict)
                #expect(error?.message.hasSuffix("create them again: mine.") == true)
                #expect(try await Self.dateTypes(in: target) == ["bigint"])
                try await target.run("DROP VIEW mine")
                _ = try await export.run(store, into: target.address)
                #expect(try await Self.dateTypes(in: target) == ["timestamp with time zone"])
            }
        }
    }

    @Test(
        "add the columns that earlier versions did not write, also where dates are numbers, and keep the rows",
        arguments: Target.engines, [false, true])
    func addedColumns(_ engine: Target.Engine, hasNumericDates: Bool) async throws {
        guard engine == .postgreSQL || !hasNumericDates else { return }
        let added = [
            "legacyReceiptType", "volumePurchaseExpirationDate", "volumePurchaseDate", "volumePurchaseOrganization",
        ]
        var legacy = LegacyAppTransactionFields()
        legacy.receiptType = "ProductionVPP"
        legacy.expirationDate = Samples.june
        let receipt = StoreSamples.set(
            identities: [StoreSamples.original("700")], app: StoreSamples.app("1", legacy: legacy))
        try await Target.with(engine) { target in
            try await Samples.withStore(Samples.sets + [receipt]) { store in
                let export = try Samples.export(.csv)
                _ = try await export.run(store, into: target.address)
                if hasNumericDates { try await Self.makeDatesNumeric(in: target) }
                for column in added { try await target.run("ALTER TABLE app_transactions DROP COLUMN \(column)") }
                let summary = try await export.run(store, into: target.address)
                for table in summary.tables {
                    #expect(table.written == 0 && table.removed == 0, "\(table.name)")
                    #expect(table.changed == (table.name == "app_transactions" ? 1 : 0), "\(table.name)")
                }
                #expect(
                    try await target.count(
                        "app_transactions",
                        where: "legacyReceiptType = 'ProductionVPP' AND volumePurchaseExpirationDate IS NOT NULL") == 1)
                let again = try await export.run(store, into: target.address)
                #expect(again.tables.allSatisfy { $0.written == 0 && $0.changed == 0 && $0.removed == 0 })
            }
        }
    }

    @Test("remove the rows of a customer that the store no longer has", arguments: Target.engines)
    func removal(_ engine: Target.Engine) async throws {
        try await Target.with(engine) { target in
            try await Samples.withStore { _ = try await Samples.export(.csv).run($0, into: target.address) }
            let customer = try #require(
                try await target.texts("SELECT customer FROM transactions WHERE transactionId = '500'").first)
            #expect(try await target.count("subscriptions", where: "customer = '\(customer)'") == 1)
            let others = Samples.sets.filter { $0.transactions.first?.payload.transactionId != "500" }
            try await Samples.withStore(others) { store in
                let summary = try await Samples.export(.csv).run(store, into: target.address)
                for table in summary.tables {
                    #expect(table.written == 0 && table.changed == 0, "\(table.name)")
                    #expect(try await target.count(table.name) == table.rows)
                }
                #expect(summary.tables.first { $0.name == "transactions" }?.removed == 1)
                #expect(summary.tables.first { $0.name == "subscriptions" }?.removed == 1)
            }
            for table in ExportedTables.outlines where table.columns.contains(where: { $0.name == "customer" }) {
                #expect(try await target.count(table.name, where: "customer = '\(customer)'") == 0, "\(table.name)")
            }
            try await Samples.withStore([]) { store in
                let summary = try await Samples.export(.csv).run(store, into: target.address)
                #expect(summary.tables.allSatisfy { $0.rows == 0 })
            }
            #expect(try await target.count("transactions") == 0)
        }
    }

    @Test(
        "never touch a table of the same name with other columns, another type or another key",
        arguments: Target.engines,
        ["(id INTEGER, note TEXT)", "(customer TEXT)", "(customer TEXT PRIMARY KEY, note TEXT)"])
    func foreign(_ engine: Target.Engine, _ columns: String) async throws {
        try await Target.with(engine) { target in
            try await target.run("CREATE TABLE customers \(columns)")
            let column = columns.contains("note") ? "note" : "customer"
            try await target.run(
                "INSERT INTO customers (\(column)\(columns.contains("KEY") ? ", customer" : "")) VALUES ('mine'\(columns.contains("KEY") ? ", 'x'" : ""))"
            )
            try await Samples.withStore { store in
                let error = await #expect(throws: MigrationError.self) {
                    try await Samples.export(.csv).run(store, into: target.address)
                }
                #expect(error?.code == .outputConflict)
                #expect(error?.message.contains("has a table customers with other columns") == true)
            }
            #expect(try await target.texts("SELECT \(column) FROM customers") == ["mine"])
            await #expect(throws: TransactionStoreError.self) { try await target.count("transactions") }
        }
    }

    @Test("leave other tables alone", arguments: Target.engines)
    func otherTables(_ engine: Target.Engine) async throws {
        try await Target.with(engine) { target in
            try await target.run("CREATE TABLE users (id TEXT)")
            try await target.run("INSERT INTO users VALUES ('u1')")
            try await Samples.withStore { _ = try await Samples.export(.csv).run($0, into: target.address) }
            try await Samples.withStore([]) { _ = try await Samples.export(.csv).run($0, into: target.address) }
            #expect(try await target.texts("SELECT id FROM users") == ["u1"])
        }
    }

    @Test("never touch a store", arguments: Target.engines)
    func store(_ engine: Target.Engine) async throws {
        try await Target.with(engine) { target in
            let other: any CompleteTransactionStore
            switch target.address {
            case .sqlite(let path): other = try SQLiteTransactionStore.open(path: path)
            case .postgreSQL(let url): other = try await PostgreSQLTransactionStore.open(url: url)
            }
            for set in Samples.sets { _ = try await other.apply([set]) }
            let before = try await other.counts()
            let error = await #expect(throws: MigrationError.self) {
                try await Samples.export(.csv).run(other, into: target.address)
            }
            #expect(error?.code == .outputConflict && error?.message.contains("is a store") == true)
            #expect(try await other.counts() == before)
            try await other.close()
        }
    }

    @Test("that fail or are canceled keep the tables of the export before", arguments: Target.engines)
    func failure(_ engine: Target.Engine) async throws {
        try await Target.with(engine) { target in
            try await Samples.withStore { store in
                _ = try await Samples.export(.csv).run(store, into: target.address)
                var before: [[String]] = []
                for table in ExportedTables.outlines { before.append(try await Self.rows(table, in: target)) }
                for failure in [TransactionStoreError(.unavailable, "gone"), CancellationError()] as [any Error] {
                    let failing = TableExportTests.Failing(store: store, failure: failure)
                    await #expect(throws: (any Error).self) {
                        try await Samples.export(.csv).run(failing, into: target.address)
                    }
                }
                for (table, rows) in zip(ExportedTables.outlines, before) {
                    #expect(try await Self.rows(table, in: target) == rows, "\(table.name)")
                }
            }
        }
    }

    @Test("take any text: quotes, NUL, half a surrogate pair, numbers without bounds", arguments: Target.engines)
    func hostile(_ engine: Target.Engine) async throws {
        let product = "'; DROP TABLE transactions; --\"\\\u{0}\u{202E}"
        let carried = #"{"a":"\ud800x\u0000\udc00","b":"\ud83d\ude00\\u0000","n":-1e99999,"m":12.5e3}"#
        let line = #"{"reason":"r","message":"'\u0000\"","source":{"sha256":"01"},"record":{"a":"\u0000","n":1e99999}}"#
        try await Target.with(engine) { target in
            try await Samples.withStore([
                StoreSamples.set(Samples.purchase("700", product, .nonConsumable, from: 1))
            ]) { store in
                _ = try await store.apply(
                    MigrationStep(
                        users: [
                            UserClaim(
                                scope: StoreSamples.scope, identity: CustomerIdentity(.originalTransactionId, "700"),
                                userId: product, carried: carried)
                        ], quarantined: [QuarantinedRecord(line: Array(line.utf8))]))
                let export = try Samples.export(.csv)
                _ = try await export.run(store, into: target.address)
                let text = product.replacing("\u{0}", with: "\u{FFFD}")
                #expect(try await target.texts("SELECT productId FROM transactions") == [text])
                #expect(try await target.texts("SELECT userId FROM customer_users") == [text])
                #expect(try await target.texts("SELECT message FROM quarantine WHERE sha256 = '01'") == ["'\u{FFFD}\""])
                #expect(try await target.count("quarantine", where: "sha256 = '01' AND record IS NOT NULL") == 1)
                switch engine {
                case .sqlite:
                    #expect(try await target.texts("SELECT carried FROM customer_users") == ["[\(carried)]"])
                case .postgreSQL:
                    let values = try await target.texts(
                        "SELECT value FROM customer_users, jsonb_each_text(carried -> 0) ORDER BY key")
                    #expect(values == ["\u{FFFD}x\u{FFFD}\u{FFFD}", "\u{1F600}\\u0000", "12500", "-1e99999"])
                }
                let second = try await export.run(store, into: target.address)
                #expect(second.tables.allSatisfy { $0.written == 0 && $0.changed == 0 && $0.removed == 0 })
            }
        }
    }

    @Test("have the primary keys of the documentation")
    func keys() throws {
        let document = try String(
            contentsOf: PackageFolder.url.appending(path: "Documentation/Export.md"), encoding: .utf8)
        for table in ExportedTables.outlines {
            let columns = table.key.columns.map { "`\($0)`" }.joined(separator: ", ")
            let key = table.key.isUnique ? columns : "none; an index on \(columns)"
            #expect(document.contains("| `\(table.name)` | \(key) |"), "\(table.name)")
        }
    }

    @Test("into what is no database are an error that names it")
    func notADatabase() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", String(repeating: "no database\n", count: 100))
        try await Samples.withStore { store in
            for path in [file, folder.path, "\(file)/tables.sqlite", folder.file("missing/tables.sqlite")] {
                let error = await #expect(throws: MigrationError.self) {
                    try await Samples.export(.csv).run(store, into: .sqlite(path: path))
                }
                #expect(error?.code == .output)
                #expect(error?.message.contains(path) == true)
            }
            let error = await #expect(throws: MigrationError.self) {
                try await Samples.export(.csv).run(
                    store, into: .postgreSQL("postgresql://user:hunter2@localhost:1/none?connect_timeout=2"))
            }
            #expect(error?.code == .output && error?.message.contains("hunter2") == false)
        }
        #expect(try folder.files().keys.sorted() == ["file"])
    }
}
