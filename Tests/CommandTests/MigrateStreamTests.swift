import Foundation
import ReceiptForge
import TestSupport
import Testing

@Suite("migrate --stream", .timeLimit(.minutes(10)))
struct MigrateStreamTests {
    /// Good and bad records by turns, more than a batch has.
    private static func records() -> [String] {
        let texts = Forged.bulk.map(Forged.base64)
        return (0..<300).flatMap { number in
            [
                "{\"user\":\"u\(number)\",\"receipt\":\"\(texts[number % texts.count])\"}",
                number.isMultiple(of: 2) ? "{\"user\":\"bad\(number)\",\"receipt\":\"MIIC\"}" : "\u{1}{[",
            ]
        }
    }

    private static func stream(
        _ records: [String], in folder: Folder, _ arguments: String...
    ) async throws -> (outcome: Outcome, lines: [[String: Any]]) {
        let input = Array((records.joined(separator: "\n") + "\n").utf8)
        let outcome = try await Command.run(
            ["migrate", "-", "--stream", "--input-format", "ndjson", "--trust-root", "root.der"] + arguments,
            input: input,
            in: folder)
        let lines = try outcome.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        return (outcome, lines)
    }

    private static func line(_ result: [String: Any]) -> Int? { (result["source"] as? [String: Any])?["line"] as? Int }

    @Test("Each record ends with a line that counts its lines, in the order of the input, for any content")
    func records() async throws {
        let folder = try Folder.withRoot()
        let records = Self.records()
        let (outcome, lines) = try await Self.stream(records, in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.error == "600 records: 300 migrated, 300 quarantined.\n")
        #expect(folder.names("") == ["root.der"])
        var ended: [Int?] = []
        var counts: [String: Int] = [:]
        for line in lines {
            let output = try #require(line["output"] as? String)
            guard output == "records" else {
                counts[output, default: 0] += 1
                continue
            }
            for name in ["transactions", "app-transactions", "renewal-infos", "quarantine"] {
                #expect(line[name] as? Int == counts[name] ?? 0)
            }
            #expect(line["status"] as? String == (counts["quarantine"] == nil ? "migrated" : "quarantined"))
            ended.append(Self.line(line))
            counts = [:]
        }
        #expect(ended == (1...600).map { $0 })
        #expect(counts.isEmpty)
    }

    @Test("The lines are those of the files, and two halves of an input give what the whole gives")
    func sameLines() async throws {
        let folder = try Folder.withRoot()
        let records = Self.records()
        let whole = try await Self.stream(records, in: folder, "--jobs", "2").lines
        func comparable(_ lines: [[String: Any]]) -> [NSDictionary] {
            lines.map { line in
                var line = line
                var source = line["source"] as? [String: Any]
                for name in ["line", "byteOffset"] { source?[name] = nil }
                line["source"] = source
                return line as NSDictionary
            }
        }
        let halves = [records[..<123], records[123...]]
        var joined: [[String: Any]] = []
        for half in halves { joined += try await Self.stream(Array(half), in: folder, "--quiet").lines }
        #expect(comparable(joined) == comparable(whole))
        try folder.write("dump.ndjson", Array((records.joined(separator: "\n") + "\n").utf8))
        _ = try await folder.stream("dump.ndjson", to: "out")
        for name in ["transactions", "app-transactions", "renewal-infos", "quarantine"] {
            let files = try folder.lines("out/\(name).ndjson").map { line in
                var line = line
                var source = line["source"] as? [String: Any]
                source?["input"] = "-"
                line["source"] = source
                return line as NSDictionary
            }
            let streamed = whole.filter { $0["output"] as? String == name }.map { line in
                var line = line
                line["output"] = nil
                return line as NSDictionary
            }
            #expect(streamed == files, "\(name)")
        }
    }

    @Test("A line of the quarantine can be streamed again")
    func again() async throws {
        let folder = try Folder.withRoot()
        let records = ["{\"user\":\"u\",\"receipt\":\"\(Forged.base64(Forged.bulk[0]))\"}"]
        let input = Array((records[0] + "\n").utf8)
        let refused = try await Command.run(["migrate", "-", "--stream", "--quiet"], input: input, in: folder)
        let line = try #require(
            refused.output.split(separator: "\n").first { $0.contains("\"output\":\"quarantine\"") })
        let again = try await Self.stream([String(line)], in: folder, "--column", "original")
        #expect(again.outcome.status == 0, "\(again.outcome)")
        let transaction = try #require(again.lines.first)
        #expect(transaction["output"] as? String == "transactions")
        #expect((transaction["record"] as? [String: Any])?["user"] as? String == "u")
    }

    @Test("A reader that closes the pipe ends the stream without a message")
    func closedPipe() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(600))
        let outcome = try await Command.shell(
            "\"$COMMAND\" migrate dump.ndjson --stream --trust-root root.der | head -n 1 | wc -l", in: folder)
        #expect(outcome.output.trimmingCharacters(in: .whitespaces).hasPrefix("1"))
        #expect(outcome.error.isEmpty, "\(outcome.error)")
    }

    @Test(
        "Options of files and stores are refused",
        arguments: [
            ["--into", "sqlite:s"], ["--output", "out"], ["--carry", "a"], ["--user-column", "a"], ["--start-over"],
            ["--html", "a.html"],
        ])
    func options(arguments: [String]) async throws {
        let folder = try Folder.withRoot()
        let outcome = try await Command.run(["migrate", "-", "--stream"] + arguments, input: [], in: folder)
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("--stream"), "\(outcome.error)")
        #expect(folder.names("") == ["root.der"])
    }
}
