import AppStoreModels
import Foundation
import LegacyReceipts
import Migration
import ReplyComparison
import TestSupport
import Testing
import VerifyReceipt

@Suite("Recorded pairs") struct RecordedPairTests {
    private let folder: TemporaryFolder

    @inline(never)
    init() throws { folder = try TemporaryFolder() }

    private func write(_ name: String, _ text: String) throws -> String { try folder.write(name, text) }

    /// Removes the files, because a file beside another one can belong to it.
    private func outcomes(_ inputs: [String]) throws -> (pairs: [RecordedPair], skipped: [String]) {
        defer { try? FileManager.default.removeItem(at: folder.url) }
        let source = RecordedPairSource(inputs)
        var found: (pairs: [RecordedPair], skipped: [String]) = ([], [])
        while let batch = try source.next() {
            for outcome in batch {
                switch outcome {
                case .pair(let pair): found.pairs.append(pair)
                case .skipped(_, let reason): found.skipped.append(reason)
                }
            }
        }
        return found
    }

    private func request(_ pair: RecordedPair) throws -> JSONObject {
        try unwrap(try JSONValue.parse(pair.request).object, "request")
    }

    private static let reply = #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"b","in_app":[]}}"#

    @Test("Request and response as objects, and as strings that hold JSON")
    func documents() throws {
        let request = #"{"receipt-data":"MIIT","password":"p","exclude-old-transactions":true,"other":1}"#
        func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }
        let lines = [
            #"{"request":\#(request),"response":\#(Self.reply)}"#,
            #"{"request":\#(quoted(request)),"reply":\#(quoted(Self.reply)),"request_date_ms":"1500"}"#,
        ]
        let found = try outcomes([write("pairs.ndjson", lines.joined(separator: "\n"))])
        #expect(found.skipped.isEmpty && found.pairs.count == 2)
        for pair in found.pairs {
            let request = try self.request(pair)
            #expect(request["receipt-data"]?.string == "MIIT" && request["password"]?.string == "p")
            #expect(request["exclude-old-transactions"]?.bool == true)
            #expect(pair.reply["environment"]?.string == "Sandbox")
        }
        #expect(found.pairs[0].recordedAt == nil && found.pairs[1].recordedAt == 1500)
        #expect(found.pairs[0].place.hasSuffix("pairs.ndjson, line 1"))
    }

    @Test("receipt-data beside the reply, in one JSON document and in an array")
    func beside() throws {
        let record = #"{"receipt-data":"MIIT","exclude-old-transactions":"true","reply":\#(Self.reply)}"#
        for text in [record, "[\(record)]", "[\n\(record),\n\(record)]"] {
            let found = try outcomes([write("pairs.json", text)])
            #expect(!found.pairs.isEmpty && found.skipped.isEmpty)
            for pair in found.pairs {
                #expect(try request(pair)["receipt-data"]?.string == "MIIT")
                #expect(try request(pair)["exclude-old-transactions"]?.string == "true")
            }
        }
    }

    @Test("A reply's file and its receipt's file with the same name")
    func files() throws {
        let receipt = base64(try appReceipt([month(0)]))
        for ending in [".b64", ".txt", ".receipt", ""] {
            _ = try write("a/one" + ending, receipt + "\n")
            let found = try outcomes([write("a/one.json", Self.reply)])
            #expect(found.pairs.count == 1, "\(ending)")
            #expect(try found.pairs.first.map(request)?["receipt-data"]?.string == receipt)
        }
    }

    @Test("A list of files of receipts and replies")
    func list() throws {
        let receipt = base64(try appReceipt([month(0)]))
        _ = try write("receipts/1.b64", receipt)
        _ = try write("replies/1.json", Self.reply)
        let lines = [
            #"{"file":"receipts/1.b64","recorded_response":"replies/1.json","bytes":5}"#,
            #"{"file":"receipts/2.b64","recorded_response":"replies/1.json"}"#,
            #"{"file":"../receipts/1.b64","recorded_response":"replies/1.json"}"#,
            #"{"file":"/etc/passwd","recorded_response":"replies/1.json"}"#, #"{"file":"receipts/1.b64"}"#,
        ]
        let found = try outcomes([write("index.json", "[" + lines.joined(separator: ",") + "]")])
        #expect(found.pairs.count == 1 && found.skipped.count == 4)
        #expect(found.skipped.contains("file names must be relative, without .."))
    }

    @Test("A damaged receipt is sent as Apple's endpoint takes it; what is no receipt as it is")
    func transport() throws {
        let bytes = try appReceipt([month(0)])
        let text = base64(bytes)
        let broken = text.prefix(76) + "\\n" + text.dropFirst(76)
        let lines = [#"{"receipt":"\#(broken)","verifyReceiptResponse":\#(Self.reply)}"#]
        let found = try outcomes([write("pairs.ndjson", lines.joined(separator: "\n"))])
        #expect(try found.pairs.first.map(request)?["receipt-data"]?.string == text)
    }

    @Test("Records without a pair are left out with a reason")
    func skipped() throws {
        let receipt = base64(try appReceipt([month(0)]))
        let lines = [receipt, Self.reply, #"{"request":5,"response":{"status":0}}"#, "{", #"{"response":[]}"#]
        let found = try outcomes([write("mixed.ndjson", lines.joined(separator: "\n"))])
        #expect(found.pairs.isEmpty && found.skipped.count == 5)
        #expect(!found.skipped.contains { $0.contains("MII") })
    }

    @Test("The environment is that of the endpoint that gave the reply")
    func environment() async throws {
        let receipt = base64(try sandboxReceipt([month(0)]))
        let endpoint = try testEndpoint()
        let run = ParityRun(endpoint: endpoint, now: requestDate)
        for reply in [#"{"status":21007}"#, Self.reply] {
            let pair = RecordedPair(
                request: body(text: receipt), reply: try JSONValue.parse(Array(reply.utf8)), place: "")
            let comparison = try await run.compare(pair)
            #expect(comparison.appleStatus == comparison.ourStatus)
        }
    }
}
