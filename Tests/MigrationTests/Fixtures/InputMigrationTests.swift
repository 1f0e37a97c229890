import AppStoreModels
import Foundation
import Migration
import TestSupport
import Testing

/// LegacyFixtures/inputs: tables as backends have them, with everything in them that people stored.
@Suite("Migrating the fixture inputs")
struct InputMigrationTests {
    private static let inputs = FixtureStore.root.appending(path: "inputs")
    private static let outputs = ["transactions.ndjson", "app-transactions.ndjson", "renewal-infos.ndjson"]
    private static let copies = 20

    /// The records of an input, without what ends their lines, by an independent and simple reading.
    private static func records(_ file: String, _ bytes: [UInt8]) -> [[UInt8]] {
        var records: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in bytes {
            if file.hasSuffix(".csv"), byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: "\n"), !isQuoted {
                if records[records.count - 1].last == UInt8(ascii: "\r") { records[records.count - 1].removeLast() }
                records.append([])
            } else {
                records[records.count - 1].append(byte)
            }
        }
        if records.last == [] { records.removeLast() }
        return records
    }

    private static func number(_ line: JSONValue) -> Int? {
        (line["source"]?["line"] ?? line["source"]?["row"])?.integer.map { Int($0) }
    }

    private static func input(_ line: JSONValue) -> String { line["source"]?["input"]?.string ?? "" }

    @Test("Each record is migrated or quarantined, and not both", arguments: ["customers.ndjson", "customers.csv"])
    func oneEnd(file: String) async throws {
        let path = Self.inputs.appending(path: file)
        let bytes = [UInt8](try Data(contentsOf: path))
        let records = Self.records(file, bytes)
        let files = try await FixtureRun.files([path.path], jobs: 1)
        var migrated: Set<Int> = []
        for name in Self.outputs {
            for line in try FixtureRun.lines(files[name] ?? []) { migrated.insert(try #require(Self.number(line))) }
        }
        var quarantined: [Int] = []
        for line in try FixtureRun.lines(files["quarantine.ndjson"] ?? []) {
            let number = try #require(Self.number(line))
            quarantined.append(number)
            let original = try FixtureRun.original(line)
            #expect(original == records[number - 1])
            let offset = Int(try #require(line["source"]?["byteOffset"]?.integer))
            #expect(Array(bytes[offset..<offset + original.count]) == original)
        }
        #expect(Set(quarantined).count == quarantined.count)
        #expect(migrated.isDisjoint(with: quarantined))
        // The header of the table is row 1.
        let first = file.hasSuffix(".csv") ? 2 : 1
        #expect(migrated.union(quarantined) == Set(first...records.count))
        let summary = try JSONValue.parse(files["summary.json"] ?? [])
        #expect(summary["recordsRead"] == .integer(Int64(records.count - first + 1)))
        #expect(summary["migrated"] == .integer(Int64(migrated.count)))
        #expect(summary["quarantined"] == .integer(Int64(quarantined.count)))
        #expect(migrated.count >= 8 && quarantined.count >= 7)
    }

    @Test("If the documents that are not migrated would repeat long columns, the whole record is quarantined once")
    func manyRefused() async throws {
        let folder = try TemporaryFolder()
        let note = String(repeating: "x", count: 20_000)
        let row = #"{"product_id":"p","transaction_id":"1000000000000001"}"#
        let record = "{\"note\":\"\(note)\",\"list\":[\(row)\(String(repeating: ",\"M\"", count: 500))]}"
        let path = try folder.write("record.json", [UInt8](record.utf8))
        let files = try await FixtureRun.files([path], jobs: 1)
        #expect(try FixtureRun.lines(files["transactions.ndjson"] ?? []).count == 1)
        let lines = try FixtureRun.lines(files["quarantine.ndjson"] ?? [])
        #expect(lines.map { $0["source"]?["path"]?.string } == ["(migrated record)"])
        #expect(try lines.map { try FixtureRun.original($0) } == [[UInt8](record.utf8)])
    }

    @Test("A record whose lines would repeat long columns hundreds of times is quarantined", arguments: [10, 100])
    func repeatedColumns(count: Int) async throws {
        let folder = try TemporaryFolder()
        let rows = (1...count).map { "{\"product_id\":\"p\",\"transaction_id\":\"\($0)\"}" }.joined(separator: ",")
        let record = "{\"note\":\"\(String(repeating: "x", count: 1 << 20))\",\"list\":[\(rows)]}"
        let path = try folder.write("record.json", [UInt8](record.utf8))
        let files = try await FixtureRun.files([path], jobs: 1)
        let transactions = try FixtureRun.lines(files["transactions.ndjson"] ?? [])
        let quarantined = try FixtureRun.lines(files["quarantine.ndjson"] ?? []).map { $0["reason"]?.string }
        #expect(transactions.count == (count == 10 ? 10 : 0))
        #expect(quarantined == (count == 10 ? [] : ["tooManyColumns"]))
    }

    @Test("Lines of renewals and of apps repeat long columns too")
    func repeatedColumnsOfOtherLines() async throws {
        let folder = try TemporaryFolder()
        let note = String(repeating: "x", count: 1 << 20)
        func hundred(_ element: (Int) -> String) -> String { (1...100).map(element).joined(separator: ",") }
        let renewals = hundred { #"{"original_transaction_id":"\#($0)","product_id":"p","auto_renew_status":"1"}"# }
        let apps = hundred { #"{"status":0,"environment":"Sandbox","receipt":{"bundle_id":"\#($0)","in_app":[]}}"# }
        let records = [
            #"{"note":"\#(note)","reply":{"status":0,"receipt":{"bundle_id":"app"},"pending_renewal_info":[\#(renewals)]}}"#,
            #"{"note":"\#(note)","replies":[\#(apps)]}"#,
        ]
        let path = try folder.write("records.ndjson", [UInt8](records.joined(separator: "\n").utf8))
        let files = try await FixtureRun.files([path], jobs: 1)
        for name in Self.outputs { #expect(files[name]?.count == 0, "\(name)") }
        let quarantined = try FixtureRun.lines(files["quarantine.ndjson"] ?? []).map { $0["reason"]?.string }
        #expect(quarantined == ["tooManyColumns", "tooManyColumns"])
    }

    @Test("Each form in the inputs is recognized")
    func kinds() async throws {
        let files = try await FixtureRun.files([Self.inputs.path], jobs: 1)
        let summary = try JSONValue.parse(files["summary.json"] ?? [])
        for kind in ["appReceipt", "transactionReceipt", "verifyReceiptReply", "notificationV1"] {
            #expect(summary["migratedByKind"]?[kind] != nil, "\(kind)")
        }
        let reasons = [
            "untrustedRoot", "signatureMismatch", "certificateExpired", "xcodeReceipt", "truncated",
            "jwsCertificateCount",
            "bareTransactionId", "otherStore", "statusNotAccepted", "empty", "unknownForm", "invalidJSON",
            "columnCount",
            "contentNotReceipt", "untrustedLeaf",
        ]
        for reason in reasons { #expect(summary["quarantinedByReason"]?[reason] != nil, "\(reason)") }
        #expect(summary["quarantinedByReason"]?["missingIdentifier"] == nil)
    }

    @Test("The caller's own columns travel with every transaction")
    func carried() async throws {
        let files = try await FixtureRun.files([Self.inputs.path], jobs: 1)
        for name in Self.outputs {
            for line in try FixtureRun.lines(files[name] ?? []) {
                let user = try #require(line["record"]?["user_id"]?.string)
                let isTable = Self.input(line).hasSuffix(".csv")
                let first = isTable ? 1999 : 1000
                #expect(user == "u-\(first + (try #require(Self.number(line))))")
                #expect((line["record"]?["signed_up"] != nil) == isTable)
            }
        }
    }

    /// Copies of the inputs, one after the other in each file: several batches, by records and by bytes.
    private static func manyRecords(in folder: URL) throws -> [String] {
        var paths: [String] = []
        for file in ["customers.ndjson", "customers.csv"] {
            var bytes = [UInt8](try Data(contentsOf: inputs.appending(path: file)))
            let headerEnd = file.hasSuffix(".csv") ? (bytes.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1 : 0
            let body = bytes[headerEnd...]
            for _ in 1..<copies { bytes += body }
            // Not UTF-8: can only be kept as base64.
            bytes += Array("{\"user_id\":\"J".utf8) + [0xFC] + Array("rgen\",\"receipt\":\"MII\"}\n".utf8)
            let path = folder.appending(path: file)
            try Data(bytes).write(to: path)
            paths.append(path.path)
        }
        return paths
    }

    @Test("The number of jobs does not change a byte of the output")
    func jobs() async throws {
        let folder = try TemporaryFolder()
        let paths = try Self.manyRecords(in: folder.url)
        let one = try await FixtureRun.files(paths, jobs: 1)
        for jobs in [2, 4, 7] {
            let several = try await FixtureRun.files(paths, jobs: jobs)
            for name in FixtureRun.allFiles { #expect(several[name] == one[name], "\(name), \(jobs) jobs") }
        }
        #expect(FixtureRun.allFiles.allSatisfy { one[$0]?.isEmpty == false })
    }

    @Test("Where batches end does not change what a record becomes")
    func batches() async throws {
        let folder = try TemporaryFolder()
        let paths = try Self.manyRecords(in: folder.url)
        let many = try await FixtureRun.files(paths, jobs: 4)
        for path in paths {
            let file = String(path.split(separator: "/").last ?? "")
            let header = file.hasSuffix(".csv") ? 1 : 0
            let original = Self.records(file, [UInt8](try Data(contentsOf: Self.inputs.appending(path: file))))
            let count = original.count - header
            for name in Self.outputs + ["quarantine.ndjson"] {
                var byCopy: [Int: [JSONValue]] = [:]
                for line in try FixtureRun.lines(many[name] ?? []) where Self.input(line) == path {
                    let index = try #require(Self.number(line)) - 1 - header
                    byCopy[index / count, default: []].append(Self.withoutPlace(line, record: index % count))
                }
                let first = byCopy[0] ?? []
                for copy in 0..<Self.copies { #expect(byCopy[copy] ?? [] == first, "\(file) \(name) \(copy)") }
                // The one line that is not UTF-8.
                #expect(byCopy[Self.copies]?.count ?? 0 == (name == "quarantine.ndjson" ? 1 : 0))
            }
        }
    }

    /// The line with the number of the record within its copy in place of where it stood.
    private static func withoutPlace(_ line: JSONValue, record: Int) -> JSONValue {
        var members = line.object?.members.filter { $0.key != "source" } ?? []
        let source = line["source"]?.object?.members.filter { !["line", "row", "byteOffset"].contains($0.key) } ?? []
        members.append(.init(key: "source", value: .object(JSONObject(members: source))))
        members.append(.init(key: "record number", value: .integer(Int64(record))))
        return .object(JSONObject(members: members))
    }

    @Test("A notification that is kept as an object under the name of receipts is a notification")
    func notificationUnderReceipt() throws {
        let notification = #"{"notification_type":"CANCEL","bid":"a.b","bvrs":"1","unified_receipt":{"status":0}}"#
        for name in ["receipt", "payload", "body"] {
            let line = Array("{\"user_id\":1,\"\(name)\":\(notification)}\n".utf8)
            let source = RecordSource([.bytes(line, name: "n")])
            let record = try #require(try source.nextBatch()?.records().first)
            guard case .notification = record.payload else {
                Issue.record("\(name): \(record.payload)")
                continue
            }
            #expect(record.carried == [CarriedColumn(name: "user_id", value: .json("1"))])
        }
    }
}
