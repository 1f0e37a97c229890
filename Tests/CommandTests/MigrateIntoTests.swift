import Foundation
import TestDatabase
import TestSupport
import Testing

@Suite("migrate --into", .timeLimit(.minutes(10)))
struct MigrateIntoTests {
    private static func export(_ store: String, _ tables: String, in folder: Folder) async throws -> [String: [UInt8]] {
        let outcome = try await Command.run(
            ["export", "--store", "sqlite:\(store)", "--to", tables, "--at", "2026-01-01"], in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        var files: [String: [UInt8]] = [:]
        for name in folder.names(tables) { files[name] = Array(try folder.text("\(tables)/\(name)").utf8) }
        return files
    }

    @Test("Merges receipts in a store, says what it did, and a second time does nothing")
    func merged() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(24) + Array("{\"receipt\":\"nonsense\"}\n".utf8))
        let first = try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite")
        #expect(first.status == 1, "\(first.error)")
        #expect(
            first.output == """
                records read            25
                  migrated              24
                    appReceipt          24
                  quarantined            1
                    unknownForm          1
                facts new to the store  48
                facts it had             0

                Merged in sqlite:store.sqlite.
                The store has the quarantined records and the reasons; migrate --retry reads them again.
                Next:
                  legacy-receipts report --store sqlite:store.sqlite
                  legacy-receipts enrich --store sqlite:store.sqlite --bundle-id ID --dry-run
                  legacy-receipts export --store sqlite:store.sqlite

                """, "\(first.output)")
        #expect(!folder.names("").contains("migrated"))
        let tables = try await Self.export("store.sqlite", "tables", in: folder)
        let second = try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite")
        #expect(second.status == 1)
        #expect(second.output.contains("25 of the records were migrated by an earlier run and not again."))
        #expect(try await Self.export("store.sqlite", "again", in: folder) == tables)
        let users = try folder.lines("tables/customer_users.ndjson")
        #expect(users.count == 24)
        let conflicts = try folder.lines("tables/conflicts.ndjson")
        #expect(conflicts.allSatisfy { ($0["userIds"] as? [String])?.count == 2 })
    }

    @Test("The next commands have the store in quotes if a shell needs them")
    func quotedStore() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(1))
        let outcome = try await folder.migrate("dump.ndjson", "--into", "sqlite:Bob's store.sqlite")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Merged in sqlite:Bob's store.sqlite.\n"), "\(outcome)")
        let next = "\n  legacy-receipts export --store 'sqlite:Bob'\\''s store.sqlite'\n"
        #expect(outcome.output.contains(next), "\(outcome)")
    }

    @Test("--html writes the page of report at the end; where it cannot be written, the migration stays")
    func page() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(3))
        let failed = try await folder.migrate(
            "dump.ndjson", "--into", "sqlite:store.sqlite", "--html", "none/report.html")
        #expect(failed.status == 2 && failed.error.contains("none/report.html cannot be written"), "\(failed)")
        #expect(failed.output.contains("facts new to the store  12"), "\(failed)")
        let outcome = try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite", "--html", "report.html")
        #expect(outcome.status == 0 && outcome.output.hasSuffix("The numbers of the store are in report.html.\n"))
        let page = try folder.text("report.html")
        #expect(page.hasPrefix("<!doctype html>") && page.contains("sqlite:store.sqlite"))
        #expect(page.contains("<caption>dump.ndjson</caption>"))
        let alone = try await folder.migrate("dump.ndjson", "--html", "report.html")
        #expect(alone.status == 2 && alone.error.contains("The output folder has a summary and a report"), "\(alone)")
    }

    @Test("Ctrl-C keeps finished work and prints how to continue")
    func interrupted() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(600))
        let script = """
            mkfifo input
            "$COMMAND" migrate - --quiet --jobs 1 --trust-root root.der --into sqlite:store.sqlite <input &
            exec 3>input
            cat dump.ndjson >&3
            sleep 1
            kill -INT $!
            wait $!
            """
        let outcome = try await Command.shell(script, in: folder)
        #expect(outcome.status == 130, "\(outcome)")
        #expect(outcome.error.contains("Run the same command to continue where it stopped."))
        let again = try await folder.migrate(
            "-", "--jobs", "1", "--into", "sqlite:store.sqlite",
            input: [UInt8](try Data(contentsOf: folder.url.appending(path: "dump.ndjson"))))
        #expect(again.status == 0, "\(again.error)")
        #expect(again.output.contains("records read            600"))
    }

    @Test(
        "A signal while the store is created leaves nothing behind, and the command prints how to continue",
        arguments: [("--output out", "out/purchases.sqlite"), ("--into sqlite:store.sqlite", "store.sqlite")])
    func interruptedAtOnce(options: String, store: String) async throws {
        let folder = try Folder.withRoot()
        // The input has no data and does not end. The shell would let the command ignore SIGINT.
        let script = """
            mkfifo input
            exec 3<>input
            "$COMMAND" migrate - --quiet --trust-root root.der \(options) <input &
            until [ -e \(store) ]; do kill -0 $! || break; done
            kill -TERM $!
            wait $!
            """
        let outcome = try await Command.shell(script, in: folder)
        #expect(outcome.status == 143, "\(outcome)")
        #expect(outcome.error.contains("Run the same command to continue where it stopped."), "\(outcome)")
        #expect(folder.names("") == ["input", "root.der"])
    }

    @Test(
        "A migration into PostgreSQL that stops before its first record leaves nothing behind",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"), arguments: [false, true])
    func nothingLeftInPostgreSQL(isInterrupted: Bool) async throws {
        let folder = try Folder.withRoot()
        let server = try #require(PostgreSQLServer.shared)
        let schema = "nothing_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        defer { _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(schema) CASCADE") }
        let url = server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
        let missing = "SELECT to_regnamespace('\(schema)') IS NULL"
        if isInterrupted {
            // The input has no data and does not end. The shell would let the command ignore SIGINT.
            let script = """
                mkfifo input
                exec 3<>input
                "$COMMAND" migrate - --quiet --trust-root root.der --into '\(url)' <input &
                echo $! >number
                wait $!
                """
            async let running = Command.shell(script, in: folder)
            while try server.sql(missing) == "t" { try await Task.sleep(for: .milliseconds(20)) }
            let number = try folder.text("number").trimmingCharacters(in: .whitespacesAndNewlines)
            let process = try #require(Int32(number))
            _ = kill(process, SIGTERM)
            let outcome = try await running
            #expect(outcome.status == 143, "\(outcome)")
        } else {
            try folder.write("table.csv", "user_id,receipt\nu1,nonsense\n")
            let outcome = try await folder.migrate("table.csv", "--column", "wrong", "--into", url)
            #expect(outcome.status == 2 && outcome.error.contains("wrong"), "\(outcome)")
        }
        #expect(try server.sql(missing) == "t")
    }

    @Test("A changed input is named, and --start-over reads it again")
    func changed() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(4))
        #expect(try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite").status == 0)
        try folder.write("dump.ndjson", Forged.ndjson(3))
        let changed = try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite")
        #expect(changed.status == 2)
        #expect(changed.error.contains("The input dump.ndjson has changed since its first"), "\(changed.error)")
        #expect(changed.error.contains("--start-over"))
        let again = try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite", "--start-over")
        #expect(again.status == 0 && again.output.contains("records read            3"), "\(again)")
    }

    @Test("--limit reads the first records only, and the whole input continues after them")
    func limit() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(700))
        let lines = try await folder.stream("dump.ndjson", "--limit", "3", to: "out")
        #expect(lines.status == 0 && lines.error.hasSuffix("Records after the first 3 were not read (--limit).\n"))
        #expect(try folder.lines("out/transactions.ndjson").count == 6)
        let first = try await folder.migrate("dump.ndjson", "--limit", "300", "--into", "sqlite:store.sqlite")
        #expect(first.status == 0 && first.output.hasSuffix("Records after the first 300 were not read (--limit).\n"))
        let second = try await folder.migrate("dump.ndjson", "--into", "sqlite:store.sqlite")
        #expect(second.output.contains("records read            700"), "\(second)")
        #expect(second.output.contains("300 of the records were migrated by an earlier run"))
        #expect(!second.output.contains("--limit"))
        _ = try await folder.migrate("dump.ndjson", "--into", "sqlite:whole.sqlite")
        let tables = try await Self.export("store.sqlite", "tables", in: folder)
        #expect(try await Self.export("whole.sqlite", "whole", in: folder) == tables)
    }

    @Test("A pipe that is cut off is an error with --expect-records")
    func expectedRecords() async throws {
        let folder = try Folder.withRoot()
        let records = Forged.ndjson(5)
        for arguments in [["--output", "out"], ["--into", "sqlite:store.sqlite"]] {
            let cut = try await Command.run(
                ["migrate", "-", "--quiet", "--trust-root", "root.der", "--expect-records", "6"] + arguments,
                input: records, in: folder)
            #expect(cut.status == 2)
            #expect(
                cut.error == "Error: 6 records were expected and 5 were read. Check whether the input is complete.\n")
            // The input may have ended inside a record.
            #expect(!folder.names("").contains(arguments[0] == "--output" ? "out" : "store.sqlite"))
            let whole = try await Command.run(
                ["migrate", "-", "--quiet", "--trust-root", "root.der", "--expect-records", "5"] + arguments,
                input: records, in: folder)
            #expect(whole.status == 0, "\(whole)")
        }
    }

    @Test("After a pipe was cut off inside a record, the same command with the whole pipe gives the store of one run")
    func cutPipe() async throws {
        let folder = try Folder.withRoot()
        let records = Forged.ndjson(Forged.historyRecords(1_200))
        func migrate(_ store: String, _ input: [UInt8]) async throws -> Outcome {
            try await folder.migrate("-", "--expect-records", "1200", "--into", "sqlite:\(store)", input: input)
        }
        let cut = try await migrate("cut.sqlite", Array(records.dropLast(records.count / 3)))
        #expect(cut.status == 2 && cut.error.contains("1200 records were expected"), "\(cut)")
        let whole = try await migrate("cut.sqlite", records)
        #expect(whole.status == 0, "\(whole)")
        #expect(whole.output.contains("of the records were migrated by an earlier run"), "\(whole)")
        let once = try await migrate("once.sqlite", records)
        #expect(once.status == 0, "\(once)")
        let tables = try await Self.export("cut.sqlite", "cut", in: folder)
        #expect(try await Self.export("once.sqlite", "once", in: folder) == tables)
    }

    @Test("The quarantine is migrated again with --retry")
    func retry() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(4))
        let strict = try await Command.run(
            ["migrate", "--quiet", "dump.ndjson", "--into", "sqlite:store.sqlite"], in: folder)
        #expect(strict.status == 1 && strict.output.contains("untrustedRoot"), "\(strict)")
        let retried = try await folder.migrate("--retry", "--into", "sqlite:store.sqlite")
        #expect(retried.status == 0, "\(retried)")
        _ = try await Self.export("store.sqlite", "tables", in: folder)
        #expect(try folder.lines("tables/quarantine.ndjson").isEmpty)
        #expect(try folder.lines("tables/customer_users.ndjson").count == 4)
    }

    @Test("--default-bundle-id and --default-environment state what rows are of, to migrate, its filter, and plan")
    func defaults() async throws {
        let folder = try Folder.withRoot()
        let row = "coins,530001,530001,1700000000000"
        try folder.write("rows.csv", "product_id,transaction_id,original_transaction_id,purchase_date_ms\n\(row)\n")
        let options = ["--default-bundle-id", "com.example.app", "--default-environment", "sandbox"]
        let store = ["migrate", "--quiet", "--into", "sqlite:store.sqlite"]
        let without = try await Command.run(store + ["rows.csv"], in: folder)
        #expect(without.status == 1 && without.output.contains("notFiled"), "\(without)")
        let retried = try await Command.run(store + ["--retry"] + options, in: folder)
        #expect(retried.status == 0, "\(retried)")
        _ = try await Self.export("store.sqlite", "tables", in: folder)
        let stored = try #require(try folder.lines("tables/transactions.ndjson").first)
        #expect(stored["bundleId"] as? String == "com.example.app" && stored["environment"] as? String == "Sandbox")
        let stream = try await Command.run(["migrate", "--quiet", "--stream", "rows.csv"] + options, in: folder)
        #expect(stream.status == 0 && stream.output.contains(#""bundleId":"com.example.app""#), "\(stream)")
        #expect(stream.output.contains(#""bundleId":"recorded reply record.--default-bundle-id""#), "\(stream)")
        let plan = try await Command.run(["plan", "rows.csv"] + options, in: folder)
        #expect(plan.status == 0 && plan.output.contains("--default-bundle-id com.example.app"), "\(plan)")
        for wrong in [["--default-bundle-id", "6001234567"], ["--default-environment", "Xcode"]] {
            let refused = try await Command.run(store + ["rows.csv"] + wrong, in: folder)
            #expect(refused.status == 2 && refused.error.contains("\(wrong[0]) takes"), "\(refused)")
        }
    }

    @Test(
        "--retry of a store that is not there is an error and creates nothing",
        arguments: [["--into", "sqlite:none.sqlite"], ["--output", "none"], []])
    func retryWithoutStore(arguments: [String]) async throws {
        let folder = try Folder.withRoot()
        let outcome = try await Command.run(["migrate", "--quiet", "--retry"] + arguments, in: folder)
        #expect(outcome.status == 2 && outcome.error.contains("does not exist"), "\(outcome)")
        #expect(folder.names("") == ["root.der"])
    }

    @Test(
        "Options that do not fit together are refused",
        arguments: [
            ["dump.ndjson", "--retry", "--into", "sqlite:a"], ["--into", "sqlite:a"],
            ["dump.ndjson", "--limit", "1", "--expect-records", "2"], ["dump.ndjson", "--summary", "s.json"],
            ["dump.ndjson", "--into", "sqlite:a", "--output", "b"], ["dump.ndjson", "--output", ""], [],
        ])
    func refused(arguments: [String]) async throws {
        let folder = try Folder.withRoot()
        let outcome = try await Command.run(["migrate"] + arguments, in: folder)
        #expect(outcome.status == 2, "\(outcome)")
        #expect(folder.names("") == ["root.der"])
    }
}
