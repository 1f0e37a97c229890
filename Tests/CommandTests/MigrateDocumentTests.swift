import Foundation
import ReceiptForge
import SharedReceipts
import Testing

/// Records with more than one document, and the report about every column.
@Suite("migrate: every document of a record", .timeLimit(.minutes(10)))
struct MigrateDocumentTests {
    private static let outputs = ["transactions.ndjson", "app-transactions.ndjson", "renewal-infos.ndjson"]

    /// A reply of Apple's to a forged receipt: one more purchase than the receipt has, and a renewal.
    private static func reply(_ index: Int) -> String {
        let id = 530_002_000_000_000 + index
        let row =
            #"{"product_id":"a.b","transaction_id":"\#(id)","original_transaction_id":"\#(id)","quantity":"1","purchase_date_ms":"1710498030000","expires_date_ms":"1713176430000","is_trial_period":"false"}"#
        let renewal =
            #"{"product_id":"a.b","auto_renew_product_id":"a.b","original_transaction_id":"\#(id)","auto_renew_status":"1"}"#
        let receipt =
            #"{"receipt_type":"Production","bundle_id":"com.example.orchard","request_date_ms":"1710500000000","in_app":[]}"#
        return
            #"{"status":0,"environment":"Production","receipt":\#(receipt),"latest_receipt_info":[\#(row)],"pending_renewal_info":[\#(renewal)]}"#
    }

    private static func quoted(_ text: String, csv: Bool) -> String {
        if csv { return "\"" + text.replacing("\"", with: "\"\"") + "\"" }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The same records as a table and as lines.
    private static func write(_ records: [[(String, String)]], to folder: Folder) throws {
        let names = records[0].map(\.0)
        var table = names.joined(separator: ",") + "\r\n"
        var lines = ""
        for record in records {
            table += record.map { quoted($0.1, csv: true) }.joined(separator: ",") + "\r\n"
            lines += "{" + record.map { "\"\($0.0)\":" + quoted($0.1, csv: false) }.joined(separator: ",") + "}\n"
        }
        try folder.write("dump.csv", Array(table.utf8))
        try folder.write("dump.ndjson", Array(lines.utf8))
    }

    /// Migrates both and expects the same lines, but for the place they come from. Gives the numbers.
    private static func expectSame(_ folder: Folder) async throws -> [String: Any] {
        for file in ["dump.csv", "dump.ndjson"] {
            let outcome = try await folder.stream(file, to: file + ".out")
            #expect(outcome.status < 2, "\(outcome.error)")
        }
        for name in outputs {
            func lines(_ file: String) throws -> [NSDictionary] {
                try folder.lines("\(file).out/\(name)").map { line in
                    var line = line
                    var source = line["source"] as? [String: Any] ?? [:]
                    for key in ["input", "line", "row"] { source[key] = nil }
                    line["source"] = source
                    return line as NSDictionary
                }
            }
            #expect(try lines("dump.csv") == lines("dump.ndjson"), "\(name)")
        }
        let table = try folder.object("dump.csv.out/summary.json")
        let lines = try folder.object("dump.ndjson.out/summary.json")
        for key in table.keys where key != "bytesRead" {
            #expect(table[key] as? NSObject == lines[key] as? NSObject, "\(key)")
        }
        return table
    }

    @Test("A receipt, a second one and a reply in one record give the same as CSV and as NDJSON, and all are read")
    func sameBothWays() async throws {
        let folder = try Folder.withRoot()
        let texts = Forged.bulk.map(Forged.base64)
        var records: [[(String, String)]] = []
        for index in 0..<12 {
            records.append([
                ("user_id", "u-\(index)"), ("receipt_data", texts[index]), ("response", Self.reply(index)),
                ("latest_receipt", index % 2 == 0 ? texts[(index + 1) % 12] : ""),
            ])
        }
        // Where the receipt is empty the reply counts, and the other way round.
        records.append([
            ("user_id", "u-12"), ("receipt_data", ""), ("response", Self.reply(12)), ("latest_receipt", ""),
        ])
        records.append([("user_id", "u-13"), ("receipt_data", texts[0]), ("response", ""), ("latest_receipt", "")])
        try Self.write(records, to: folder)
        let summary = try await Self.expectSame(folder)
        #expect(summary["migrated"] as? Int == 14)
        #expect(summary["quarantined"] as? Int == 0)
        // Twelve receipts and six second ones of two purchases each, a thirteenth alone, and thirteen rows.
        #expect(summary["transactions"] as? Int == 24 + 12 + 2 + 13)
        #expect(summary["renewalInfos"] as? Int == 13)
        let members = try #require(summary["members"] as? [String: [String: Int]])
        #expect(members["user_id"] == ["carriedAlong": 14])
        #expect(members["receipt_data"] == ["readAsReceipt": 13, "empty": 1])
        #expect(members["response.latest_receipt_info"] == ["readAsReply": 13])
        #expect(members["latest_receipt"] == ["readAsReceipt": 6, "empty": 8])
    }

    @Test(
        "Real replies next to their receipts give the same as CSV and as NDJSON",
        .enabled(if: SharedReceipts.arePresent, "no real receipts"))
    func realPairs() async throws {
        let folder = try Folder.withRoot()
        let shared = try #require(SharedReceipts.folder)
        var records: [[(String, String)]] = []
        for kind in ["pairs", "responses"] {
            let url = shared.appending(path: kind)
            for name in try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() {
                guard name.hasSuffix(".json") else { continue }
                let reply = try String(contentsOf: url.appending(path: name), encoding: .utf8)
                    .replacing("\n", with: " ").replacing("\r", with: " ").replacing("\t", with: " ")
                // "sandbox-007.json" answers sandbox/007.b64.
                let receipt = shared.appending(path: name.replacing("-", with: "/").replacing(".json", with: ".b64"))
                let hasReceipt = kind == "pairs" && FileManager.default.fileExists(atPath: receipt.path)
                let text = hasReceipt ? try String(contentsOf: receipt, encoding: .utf8) : ""
                records.append([
                    ("user_id", name), ("receipt", text.replacing("\n", with: "")), ("response", reply),
                ])
            }
        }
        try #require(records.count > 20)
        try Self.write(records, to: folder)
        let summary = try await Self.expectSame(folder)
        #expect(summary["transactions"] as? Int ?? 0 > 400)
        #expect(summary["renewalInfos"] as? Int ?? 0 > 5)
        #expect(summary["documentsNotRead"] as? Int == 0)
    }

    @Test("A quarantined row of a table is migrated again with its header, and columns keep their names")
    func quarantineOfTables() async throws {
        let folder = try Folder.withRoot()
        let texts = Forged.bulk.map(Forged.base64)
        // A delimiter, quotes and a line end inside of the rows; a file of bytes; a row of another width.
        let note = "\"a;b \"\"c\"\"\""
        let rows =
            "user;receipt;note\nu0;\(texts[0]);\(note)\nu1;\"\(texts[1])\";plain\nu2;\(texts[2])\n"
        try folder.write("in/dump.csv", Array(rows.utf8))
        try folder.write("in/receipt.der", Forged.bulk[3])
        let refused = try await folder.stream("in", to: "migrated", isTrusted: false)
        #expect(refused.status == 1)
        #expect(try folder.object("migrated/summary.json")["quarantined"] as? Int == 4)
        // The command of the guide, with the trust that was missing.
        let again = try await folder.stream(
            "migrated/quarantine.ndjson", "--column", "original", to: "second-try")
        #expect(again.status == 1, "\(again.output)\(again.error)")
        let records = try folder.lines("second-try/transactions.ndjson").map { $0["record"] as? NSDictionary }
        #expect(
            records == [
                ["user": "u0", "note": "a;b \"c\""], ["user": "u0", "note": "a;b \"c\""],
                ["user": "u1", "note": "plain"], ["user": "u1", "note": "plain"], nil, nil,
            ])
        let left = try folder.lines("second-try/quarantine.ndjson")
        #expect(left.map { $0["reason"] as? String } == ["columnCount"])
        #expect(left.first?["original"] as? String == "u2;\(texts[2])")
        // A third time gives what the second gave: lines do not wrap one another.
        _ = try await folder.stream("second-try/quarantine.ndjson", to: "third-try")
        let third = try folder.lines("third-try/quarantine.ndjson")
        #expect(third.first?["original"] as? String == left.first?["original"] as? String)
        #expect(third.first?["table"] as? NSDictionary == left.first?["table"] as? NSDictionary)
    }

    @Test("A dump of PostgreSQL without a header: columns by number, also of the rows that come back from quarantine")
    func dumpOfPostgreSQL() async throws {
        let folder = try Folder.withRoot()
        let texts = Forged.bulk.map(Forged.base64)
        try folder.write("dump.txt", Array("u\\t0\t\(texts[0])\n\\N\t\(texts[1])\nu2\tx\t\(texts[2])\n\\.\n".utf8))
        let refused = try await folder.stream(
            "dump.txt", "--table-dialect", "postgresql", "--no-header", "--column", "2", to: "migrated",
            isTrusted: false)
        #expect(refused.status == 1, "\(refused.error)")
        let again = try await folder.stream(
            "migrated/quarantine.ndjson", "--column", "original", to: "second-try")
        #expect(again.status == 1, "\(again.output)\(again.error)")
        let records = try folder.lines("second-try/transactions.ndjson").map { $0["record"] as? NSDictionary }
        #expect(
            records == [["column 1": "u\t0"], ["column 1": "u\t0"], ["column 1": NSNull()], ["column 1": NSNull()]])
        #expect(try folder.lines("second-try/quarantine.ndjson").map { $0["reason"] as? String } == ["columnCount"])
        let beyond = try await folder.stream(
            "dump.txt", "--table-dialect", "postgresql", "--no-header", "--column", "3", to: "third")
        #expect(beyond.status == 2)
        #expect(beyond.error.contains("dump.txt has no column 3. Its columns are: column 1, column 2."))
        for delimiter in ["a", "::", ""] {
            let wrong = try await folder.stream("dump.txt", "--delimiter", delimiter, to: "fourth")
            #expect(wrong.status == 2 && wrong.error.contains("--delimiter takes tab, or one ASCII character"))
        }
    }

    @Test(
        "Of a record whose documents are partly refused, the good ones are migrated and each other one is quarantined")
    func partlyRefused() async throws {
        let folder = try Folder.withRoot()
        let texts = Forged.bulk.map(Forged.base64)
        let play = #"{"store":"PLAY_STORE","product_id":"p","transaction_id":"GPA.1-2"}"#
        let row = #"{"product_id":"p","transaction_id":"530003000000000","purchase_date_ms":"1710498030000"}"#
        let line = """
            {"user":"u","receipts":[{"n":1,"receipt":"\(texts[0])"},{"n":2,"receipt":"\(texts[1].prefix(800))"}],\
            "rows":[\(row),\(play)],"reply":{"status":21002}}

            """
        try folder.write("dump.ndjson", Array(line.utf8))
        let outcome = try await folder.stream("dump.ndjson", to: "out")
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("2 documents quarantined."), "\(outcome.error)")
        let summary = try folder.object("out/summary.json")
        #expect(summary["migrated"] as? Int == 1 && summary["quarantined"] as? Int == 0)
        #expect(summary["documentsQuarantinedByReason"] as? [String: Int] == ["truncated": 1, "otherStore": 1])
        #expect((summary["notes"] as? [String: Int])?["replyNotRead"] == 1)
        let transactions = try folder.lines("out/transactions.ndjson")
        #expect(transactions.map { $0["standing"] as? String } == ["recorded", "verifiedReceipt", "verifiedReceipt"])
        #expect(transactions.last?["record"] as? NSDictionary == ["user": "u", "receipts.n": 1])
        let quarantine = try folder.lines("out/quarantine.ndjson")
        let paths = quarantine.map { ($0["source"] as? [String: Any])?["path"] as? String ?? "" }
        #expect(paths.sorted() == ["receipts[]", "rows"])
        let cut = try #require(quarantine.first { $0["reason"] as? String == "truncated" })
        #expect(cut["original"] as? String == String(texts[1].prefix(800)))
        #expect(cut["record"] as? NSDictionary == ["user": "u", "receipts.n": 2])
        // After a manual repair, it continues with its original columns.
        let repaired = try folder.text("out/quarantine.ndjson").split(separator: "\n")
            .filter { $0.contains("truncated") }
            .map { $0.replacing("\"original\":\"\(texts[1].prefix(800))\"", with: "\"original\":\"\(texts[1])\"") }
        try folder.write("repaired.ndjson", Array((repaired.joined(separator: "\n") + "\n").utf8))
        let second = try await folder.stream("repaired.ndjson", to: "second")
        #expect(second.status == 0, "\(second.output)")
        #expect(
            try folder.lines("second/transactions.ndjson").map { $0["record"] as? NSDictionary } == [
                ["user": "u", "receipts.n": 2], ["user": "u", "receipts.n": 2],
            ])
    }

    @Test("A column that seems to contain unread documents is named, and the exit status is 1")
    func notRead() async throws {
        let folder = try Folder.withRoot()
        let texts = Forged.bulk.map(Forged.base64)
        let line = "{\"receipt\":\"\(texts[0])\",\"log\":\"posted receipt-data=\(texts[1])\"}\n"
        try folder.write("dump.ndjson", Array(line.utf8))
        let outcome = try await folder.stream("dump.ndjson", to: "out")
        #expect(outcome.status == 1)
        #expect(outcome.error.contains("look like documents and were not read: log"), "\(outcome.error)")
        let summary = try folder.object("out/summary.json")
        #expect(summary["documentsNotRead"] as? Int == 1 && summary["quarantined"] as? Int == 0)
        #expect((summary["members"] as? [String: [String: Int]])?["log"] == ["looksLikeDocument": 1])
        // It is not lost either: it travels along.
        #expect(try folder.text("out/transactions.ndjson").contains(texts[1]))
    }

    @Test("Paths of members are bounded in the summary, and equal for any number of jobs")
    func boundedMembers() async throws {
        let folder = try Folder.withRoot()
        let text = Forged.base64(Forged.bulk[0])
        var lines = ""
        for index in 0..<1_500 { lines += "{\"c\(index % 1_400)\":\(index),\"receipt\":\"\(text)\"}\n" }
        try folder.write("dump.ndjson", Array(lines.utf8))
        for jobs in ["1", "3"] {
            let outcome = try await folder.stream("dump.ndjson", "--jobs", jobs, to: "out\(jobs)")
            #expect(outcome.status == 0)
        }
        let members = try #require(folder.object("out1/summary.json")["members"] as? [String: [String: Int]])
        #expect(members.count == 1_001)
        let counts = members.values.flatMap(\.values)
        #expect(counts.reduce(0, +) == 3_000)
        #expect(try folder.bytes("out1/summary.json") == folder.bytes("out3/summary.json"))
    }

    @Test("Every line says of when its source is, and how that is known")
    func asOf() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/app", Forged.named("production-sha256").bytes)
        try folder.write("tunes.der", TestCertificateAuthority.iTunesStoreIntermediateDER)
        try folder.write("in/ios6", Forged.named("ios6-v2-production").bytes)
        try folder.write("in/reply.json", Array(Self.reply(1).utf8))
        let row = #"{"product_id":"p","transaction_id":"530003000000000","purchase_date_ms":"1710498030000"}"#
        try folder.write("in/row.json", Array(row.utf8))
        let undated = #"{"product_id":"p","transaction_id":"530003000000001"}"#
        try folder.write("in/undated.json", Array(undated.utf8))
        _ = try await folder.stream("in", "--intermediate", "tunes.der", to: "out")
        var kinds: [String: Set<String>] = [:]
        for name in Self.outputs {
            for line in try folder.lines("out/\(name)") {
                let source = try #require(line["source"] as? [String: Any])
                let input = try #require(source["input"] as? String)
                kinds[input, default: []].insert("\(line["asOfKind"] ?? "-") \(line["asOf"] ?? "-")")
                if input == "in/app", let app = line["appTransaction"] as? [String: Any] {
                    #expect((line["asOf"] as? NSNumber) == (app["receiptCreationDate"] as? NSNumber))
                }
            }
        }
        #expect(kinds["in/reply.json"] == ["recorded 1710500000000"])
        #expect(kinds["in/row.json"] == ["recordedNotBefore 1710498030000"])
        #expect(kinds["in/undated.json"] == ["- -"])
        #expect(kinds["in/app"]?.count == 1 && kinds["in/app"]?.first?.hasPrefix("signed ") == true)
        #expect(kinds["in/ios6"]?.count == 1 && kinds["in/ios6"]?.first?.hasPrefix("signedNotBefore ") == true)
    }
}
