import Foundation
import ReceiptForge
import Testing

@Suite("migrate: inputs", .timeLimit(.minutes(10)))
struct MigrateInputTests {
    @Test("Files and folders in any number; hidden files are passed over")
    func filesAndFolders() async throws {
        let folder = try Folder.withRoot()
        for (index, der) in Forged.bulk.prefix(3).enumerated() {
            try folder.write("in/deep/\(index).der", der)
            try folder.write("more-\(index)", Forged.base64(der).utf8)
        }
        try folder.write("in/.hidden", Array("junk".utf8))
        let outcome = try await folder.stream("in", "more-0", "more-1", to: "out")
        #expect(outcome.status == 0, "\(outcome.error)")
        let summary = try folder.object("out/summary.json")
        #expect(summary["recordsRead"] as? Int == 5)
        #expect(summary["migrated"] as? Int == 5)
        #expect(summary["inputs"] as? Int == 5)
        let transactions = try folder.lines("out/transactions.ndjson")
        #expect(transactions.count == 10)
        let source = try #require(transactions.first?["source"] as? [String: Any])
        #expect(source["input"] as? String == "in/deep/0.der")
    }

    @Test("NDJSON: the caller's own members are carried through, with the line")
    func ndjson() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(3))
        let outcome = try await folder.stream("dump.ndjson", to: "out")
        #expect(outcome.status == 0)
        let transactions = try folder.lines("out/transactions.ndjson")
        #expect(transactions.count == 6)
        for (index, transaction) in transactions.enumerated() {
            #expect((transaction["record"] as? [String: Any])?["user"] as? String == "u\(index / 2)")
            #expect((transaction["source"] as? [String: Any])?["line"] as? Int == index / 2 + 1)
        }
        #expect(
            folder.names("out") == [
                "app-transactions.ndjson", "quarantine.ndjson", "renewal-infos.ndjson", "summary.json",
                "transactions.ndjson",
            ])
    }

    @Test("CSV: the column is detected or named; a missing name is an error that names it")
    func csv() async throws {
        let folder = try Folder.withRoot()
        let texts = Forged.bulk.map(Forged.base64)
        let rows = "id,note,blob\r\n7,\"a, \"\"b\"\"\",\(texts[0])\r\n8,,\(texts[1])\r\n"
        try folder.write("dump.csv", rows.utf8)
        for options in [[], ["--column", "blob"]] {
            let outcome =
                options.isEmpty
                ? try await folder.stream("dump.csv", to: "out")
                : try await folder.stream("dump.csv", options[0], options[1], to: "out")
            #expect(outcome.status == 0, "\(outcome.error)")
            let records = try folder.lines("out/app-transactions.ndjson").map { $0["record"] as? [String: Any] }
            #expect(records.map { $0?["id"] as? String } == ["7", "8"])
            #expect(records.first??["note"] as? String == "a, \"b\"")
        }
        let outcome = try await folder.stream("dump.csv", "--column", "receipt", to: "new")
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("dump.csv") && outcome.error.contains("receipt"), "\(outcome.error)")
        #expect(folder.names("new").isEmpty)
    }

    @Test("--column chooses among the members of NDJSON")
    func columnOfNDJSON() async throws {
        let folder = try Folder.withRoot()
        let texts = Forged.bulk.map(Forged.base64)
        try folder.write("dump.ndjson", "{\"old\":\"\(texts[0])\",\"new\":\"\(texts[1])\"}\n".utf8)
        let both = try await folder.stream("dump.ndjson", to: "first")
        #expect(both.status == 0)
        #expect(try folder.lines("first/app-transactions.ndjson").count == 2)
        let chosen = try await folder.stream("dump.ndjson", "--column", "new", to: "second")
        #expect(chosen.status == 0)
        let leftOut = "1 documents are not in the column of --column and were not read: old."
        #expect(chosen.error.contains(leftOut), "\(chosen)")
        let members = try #require(folder.object("second/summary.json")["members"] as? [String: [String: Int]])
        #expect(members == ["old": ["leftOut": 1], "new": ["readAsReceipt": 1]])
        #expect(!(try folder.text("second/transactions.ndjson").contains(texts[0].prefix(40))))
        let app = try #require(try folder.payloads("second/app-transactions.ndjson").first)
        #expect(app["bundleId"] as? String == "com.example.bulk.app1")
    }

    @Test("--column is repeatable: the documents of all named columns are read, and no others")
    func severalColumns() async throws {
        let folder = try Folder.withRoot()
        let texts = Forged.bulk.map(Forged.base64)
        let rows = [(texts[0], texts[1]), (texts[2], ""), ("", texts[3]), ("nonsense", texts[4])]
        try folder.write(
            "dump.csv", "old,new,other\n" + rows.map { "\($0),\($1),\(texts[5])\n" }.joined())
        try folder.write(
            "dump.ndjson", rows.map { #"{"old":"\#($0)","new":"\#($1)","other":"\#(texts[5])"}"# + "\n" }.joined())
        for name in ["dump.csv", "dump.ndjson"] {
            let outcome = try await folder.stream(name, "--column", "old", "--column", "new", to: "\(name)-out")
            #expect(outcome.error.contains("4 documents are not in the column of --column"), "\(outcome)")
            let apps = try folder.payloads("\(name)-out/app-transactions.ndjson")
            let expected = (0..<5).map { "com.example.bulk.app\($0)" }
            #expect(apps.compactMap { $0["bundleId"] as? String }.sorted() == expected)
            let wrong = try await folder.migrate(name, "--column", "old", "--column", "othr", "--output", "wrong")
            #expect(wrong.status == 2 && wrong.error.contains("othr"), "\(wrong)")
            let two = try await folder.migrate(name, "--column", "payload", "--column", "body", "--output", "wrong")
            #expect(two.status == 2 && two.error.contains("payload"), "\(two)")
        }
        // A name like no other is not seen in the first records, but at the end.
        let wrong = try await folder.migrate("dump.ndjson", "--column", "old", "--column", "body", "--output", "late")
        #expect(wrong.status == 1 && wrong.error.contains("No record has the column or member body"), "\(wrong)")
        let streamed = try await folder.stream("dump.ndjson", "--column", "old", "--column", "body", to: "late-lines")
        #expect(streamed.status == 1 && streamed.error.contains("No record has the column or member body"))
    }

    @Test("A column that no record has is named at the end, also with --columns-appear-later")
    func laterColumn() async throws {
        let folder = try Folder.withRoot()
        let without = String(repeating: "{\"user_id\":\"u\"}\n", count: 100)
        try folder.write("dump.ndjson", (without + "{\"receipt\":\"\(Forged.base64(Forged.bulk[0]))\"}\n").utf8)
        let stopped = try await folder.migrate("dump.ndjson", "--column", "receipt", "--into", "sqlite:store.sqlite")
        #expect(stopped.status == 2 && stopped.error.contains("--columns-appear-later"), "\(stopped)")
        func later(_ column: String) async throws -> Outcome {
            try await folder.migrate(
                "dump.ndjson", "--column", column, "--columns-appear-later", "--into", "sqlite:\(column).sqlite")
        }
        let read = try await later("receipt")
        #expect(read.status == 1 && !read.error.contains("No record has"), "\(read)")
        let wrong = try await later("body")
        #expect(wrong.status == 1 && wrong.error.contains("No record has the column or member body. If"), "\(wrong)")
        #expect(wrong.error.contains("run migrate --retry with the right one"), "\(wrong)")
        _ = try await folder.migrate(
            "--retry", "--column", "receipt", "--into", "sqlite:body.sqlite", "--summary", "retried.json")
        #expect(try folder.object("retried.json")["migrated"] as? Int == 1)
    }

    @Test("Standard input gives the same transactions as a file")
    func standardInput() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(5))
        _ = try await folder.stream("dump.ndjson", to: "file")
        let outcome = try await folder.stream("-", to: "stdin", input: Forged.ndjson(5))
        #expect(outcome.status == 0)
        let renamed = try folder.text("file/transactions.ndjson")
            .replacing("\"input\":\"dump.ndjson\"", with: "\"input\":\"-\"")
        #expect(try folder.text("stdin/transactions.ndjson") == renamed)
    }

    @Test("An empty input gives no lines")
    func empty() async throws {
        let folder = try Folder.withRoot()
        let outcome = try await folder.stream("-", to: "out")
        #expect(outcome.status == 0)
        #expect(outcome.error == "0 records: 0 migrated, 0 quarantined.\n")
        #expect(try folder.bytes("out/transactions.ndjson").isEmpty)
        #expect(try folder.object("out/summary.json")["recordsRead"] as? Int == 0)
    }

    @Test("--input-format is obeyed")
    func inputFormat() async throws {
        let folder = try Folder.withRoot()
        let lines = Forged.bulk.prefix(2).map { Forged.base64($0) + "\n" }.joined()
        try folder.write("lines.txt", lines.utf8)
        let asLines = try await folder.stream("lines.txt", "--input-format", "lines", to: "lines")
        #expect(asLines.status == 0)
        #expect(try folder.object("lines/summary.json")["migrated"] as? Int == 2)
        let asFile = try await folder.stream("lines.txt", "--input-format", "file", to: "file")
        #expect(asFile.status == 0)
        let file = try folder.object("file/summary.json")
        #expect(file["recordsRead"] as? Int == 1 && file["migrated"] as? Int == 1)
    }

    @Test("Quarantined records can be migrated again, with the caller's members")
    func quarantineAgain() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(2))
        let refused = try await folder.stream("dump.ndjson", to: "first", isTrusted: false)
        #expect(refused.status == 1)
        let again = try await folder.stream("first/quarantine.ndjson", "--column", "original", to: "second")
        #expect(again.status == 0, "\(again.output)")
        #expect(try folder.object("second/summary.json")["transactions"] as? Int == 4)
        let record = try #require(try folder.lines("second/transactions.ndjson").first?["record"] as? [String: Any])
        #expect(record as NSDictionary == ["user": "u0"])
    }

    @Test("--max-size moves the limit between migrated and quarantined")
    func maximumSize() async throws {
        let folder = try Folder.withRoot()
        let size = Forged.bulk[0].count
        try folder.write("receipt", Forged.bulk[0])
        let within = try await folder.stream("receipt", "--max-size", String(size), to: "within")
        #expect(within.status == 0)
        let beyond = try await folder.stream("receipt", "--max-size", String(size - 1), to: "beyond")
        #expect(beyond.status == 1)
        #expect(try folder.lines("beyond/quarantine.ndjson").first?["reason"] as? String == "tooLarge")
    }
}
