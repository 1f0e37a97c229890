import Foundation
import TestSupport
import Testing

@Suite("plan", .timeLimit(.minutes(10)))
struct PlanTests {
    /// Runs `plan` with the test root trusted.
    private func plan(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        try await Command.run(["plan", "--trust-root", "root.der"] + arguments, in: folder)
    }

    private func table(_ rows: Int) -> String {
        "blob,user id,country\n"
            + (0..<rows).map { "\(Forged.base64(Forged.bulk[$0 % Forged.bulk.count])),u\($0),DE\n" }.joined()
    }

    @Test("Writes nothing, and prints a command that gives the planned result")
    func command() async throws {
        let folder = try Folder.withRoot()
        try folder.write("a dump.csv", table(24))
        let names = folder.names("")
        // A quote, and a quote that is one character with the accent after it.
        let store = "it's'\u{301}.sqlite"
        let outcome = try await plan(
            "a dump.csv", "--sample", "100", "--carry", "country", "--into", "sqlite:\(store)", in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(folder.names("") == names)
        #expect(outcome.output.contains("receipt: 24 (by its content)"), "\(outcome.output)")
        #expect(outcome.output.contains("user id: 24 (by its name)"))
        #expect(outcome.output.contains("kept with the user (--carry): 24"))
        let line = String(try #require(outcome.output.split(separator: "\n").last).drop { $0 == " " })
        #expect(line.hasPrefix("legacy-receipts migrate --expect-records 24 --trust-root root.der "))
        let migrated = try await Command.shell(
            line.replacing("legacy-receipts", with: "$COMMAND", maxReplacements: 1), in: folder)
        #expect(migrated.status == 0, "\(migrated.error)")
        #expect(migrated.output.contains("migrated              24"), "\(migrated.output)")
        #expect(folder.names("").contains(store))
    }

    @Test("Fails if all records are read and their number is not the expected one, as migrate would")
    func expectedRecords() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.csv", table(3))
        let cut = try await plan("dump.csv", "--expect-records", "4", in: folder)
        #expect(cut.status == 2 && cut.error.contains("4 records were expected, and the inputs have 3."), "\(cut)")
        #expect(cut.output.contains("records in the sample"), "\(cut)")
        let whole = try await plan("dump.csv", "--expect-records", "3", in: folder)
        #expect(whole.status == 0, "\(whole)")
        // The others are not read.
        let sample = try await plan("dump.csv", "--expect-records", "4", "--sample", "2", in: folder)
        #expect(sample.status == 0, "\(sample)")
    }

    @Test("Rejects an address that migrate would reject, and does not print its password")
    func wrongAddress() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.csv", table(3))
        for into in ["host=localhost password=secret", "mysql://u:secret@h/db", " postgres://u:secret@h/db"] {
            let outcome = try await plan("dump.csv", "--into", into, in: folder)
            #expect(outcome.status == 2 && outcome.error.contains("The store cannot be used"), "\(outcome)")
            #expect(!"\(outcome)".contains("secret"), "\(outcome)")
        }
    }

    @Test("Says that no column names the users")
    func noUser() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.csv", table(3).replacing("user id", with: "owner"))
        let text = "No column names your users"
        let plain = try await plan("dump.csv", in: folder)
        #expect(plain.status == 0 && plain.output.contains(text), "\(plain)")
        for options in [["--user-column", "owner"], ["--stream"]] {
            let outcome = try await Command.run(["plan", "--trust-root", "root.der", "dump.csv"] + options, in: folder)
            #expect(outcome.status == 0 && !outcome.output.contains(text), "\(outcome)")
        }
    }

    @Test("Suggests the keys of an object as users if their values have documents under the same names")
    func userKeys() async throws {
        let folder = try Folder.withRoot()
        let users = Forged.bulk.prefix(2).enumerated().map { "\"u\($0)\":{\"receipt\":\"\(Forged.base64($1))\"}" }
        let object = "{\(users.joined(separator: ","))}"
        for (json, keys) in [("{\"users\":\(object)}", "users.*"), (object, "*")] {
            try folder.write("export.json", Array(json.utf8))
            let plain = try await plan("export.json", in: folder)
            #expect(plain.output.contains("--user-column '\(keys)'"), "\(plain)")
            let named = try await plan("export.json", "--user-column", keys, in: folder)
            #expect(named.status == 0 && !named.output.contains("No column names your users"), "\(named)")
        }
    }

    @Test(
        "Is for the destination that migrate has, and ends with 1 if something would be quarantined")
    func destination() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(3) + Array("{\"receipt\":\"nonsense\"}\n".utf8))
        let outcome = try await plan("dump.ndjson", "--sample=3", in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(
            outcome.output.hasSuffix(
                "\n  legacy-receipts migrate --trust-root root.der dump.ndjson\n"))
        let whole = try await plan("dump.ndjson", "--json", "--output", "tables", in: folder)
        #expect(whole.status == 1)
        let object = try whole.object()
        #expect(
            object["command"] as? [String] == [
                "legacy-receipts", "migrate", "--expect-records", "4", "--trust-root", "root.der", "dump.ndjson",
                "--output", "tables",
            ])
        #expect((object["summary"] as? [String: Any])?["quarantined"] as? Int == 1)
        let text = try await plan("dump.ndjson", in: folder)
        #expect(text.output.contains("1 × unknownForm: "))
        #expect(text.output.contains("dump.ndjson, line 4, SHA-256 "))
        #expect(!text.output.contains("nonsense"))
        #expect(folder.names("") == ["dump.ndjson", "root.der"])
    }

    @Test("plan and migrate say how many replies granted nothing and are not read")
    func silentReplies() async throws {
        let folder = try Folder.withRoot()
        let records = zip(Forged.bulk, [21002, 21010]).map { receipt, status in
            "{\"receipt\":\"\(Forged.base64(receipt))\",\"reply\":{\"status\":\(status)}}\n"
        }
        try folder.write("dump.ndjson", Array(records.joined().utf8))
        let text = "2 verifyReceipt replies granted nothing and are not read."
        let planned = try await plan("dump.ndjson", in: folder)
        #expect(planned.status == 0 && planned.output.contains(text), "\(planned)")
        let migrated = try await Command.run(["migrate", "--trust-root", "root.der", "dump.ndjson"], in: folder)
        #expect(migrated.status == 0 && migrated.output.contains(text), "\(migrated)")
        let streamed = try await folder.stream("dump.ndjson", to: "lines")
        #expect(streamed.status == 0 && streamed.error.contains(text), "\(streamed)")
    }

    @Test("plan and migrate say how many rows next to a document are not read")
    func rowsNotRead() async throws {
        let folder = try Folder.withRoot()
        let receipt = Forged.base64(Forged.bulk[0])
        let record = """
            {"receipt":"\(receipt)","product_id":"p","transaction_id":"530003000000000",\
            "original_transaction_id":"530003000000000","purchase_date_ms":"yesterday"}

            """
        try folder.write("dump.ndjson", Array(record.utf8))
        let text = "1 rows next to a document are not read: they have no date that can be read"
        let planned = try await plan("dump.ndjson", in: folder)
        #expect(planned.output.contains(text), "\(planned)")
        let migrated = try await Command.run(["migrate", "--trust-root", "root.der", "dump.ndjson"], in: folder)
        #expect(migrated.output.contains(text), "\(migrated)")
    }

    @Test("A pipe has no size; a wrong column ends with 2 and is named")
    func unknown() async throws {
        let folder = try Folder.withRoot()
        let outcome = try await Command.run(
            ["plan", "-", "--trust-root", "root.der", "--sample", "5"], input: Forged.ndjson(20), in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.contains("unknown: a pipe or a compressed file does not state its size"))
        try folder.write("dump.csv", table(3))
        let wrong = try await plan("dump.csv", "--column", "payload", in: folder)
        #expect(wrong.status == 2)
        let retry = try await plan("--retry", "--into", "sqlite:store.sqlite", in: folder)
        #expect(retry.status == 2)
        #expect(retry.error.contains("plan reads inputs; --retry has none."))
        #expect(wrong.error.contains("dump.csv has no column payload. Its columns are: blob, user id, country."))
    }

    @Test("The rows of a query are counted by the database; their number is unknown if that takes too long")
    func query() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.csv", table(3))
        let store = try await Command.run(
            ["migrate", "--trust-root", "root.der", "dump.csv", "--into", "sqlite:app.sqlite"], in: folder)
        #expect(store.status == 0, "\(store)")
        let endless = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT 1000000000000000 + i AS transaction_id FROM n
            """
        for (sql, text) in [
            (endless + " LIMIT 3000", "3000, counted by the database"),
            (endless, "unknown: the database did not count the rows of the query, or not in time"),
        ] {
            let outcome = try await plan("sqlite:app.sqlite", "--query", sql, "--sample", "5", in: folder)
            #expect(outcome.output.contains(text), "\(outcome)")
            #expect(!outcome.output.contains("does not state its size"))
        }
    }

    @Test("The printed command has the address of a PostgreSQL store, without its password")
    func commandWithoutPassword() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.csv", table(3))
        let store = "postgres://owner:s%2Fcret@db.example.com:5433/purchases?sslmode=require&schema=shop"
        let shown = "postgres://owner@db.example.com:5433/purchases?sslmode=require&schema=shop"
        for argument in [["--into", store], ["--into=" + store]] {
            let words = ["plan", "--trust-root", "root.der", "dump.csv"] + argument
            let outcome = try await Command.run(words, in: folder)
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.output.contains(shown) && !outcome.output.contains("cret"), "\(outcome.output)")
            #expect(outcome.output.contains("Add it, for example with PGPASSWORD or ~/.pgpass."))
            #expect(outcome.output.contains("in PostgreSQL, with indexes"), "\(outcome.output)")
        }
        let json = try await plan("dump.csv", "--json", "--into", store, in: folder)
        #expect((try json.object()["command"] as? [String])?.last == shown)
        #expect(!json.output.contains("cret") && json.error.contains("PGPASSWORD"))
    }
}
