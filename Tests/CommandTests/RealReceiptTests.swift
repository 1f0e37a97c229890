import Foundation
import SharedReceipts
import Testing

/// Real receipts, which live beside the package and not in it.
private enum Real {
    static var folder: URL? { SharedReceipts.folder }

    struct Entry: Decodable {
        let file: String
        let purchases: Int?

        enum CodingKeys: String, CodingKey {
            case file
            case purchases = "in_app_count"
        }

        var kind: String { String(file.prefix { $0 != "/" }) }
    }

    static func entries() throws -> [Entry] {
        let index = try #require(folder).appending(path: "index.json")
        return try JSONDecoder().decode([Entry].self, from: Data(contentsOf: index))
    }

    static func path(_ entry: Entry) throws -> String { try #require(folder).appending(path: entry.file).path }
}

@Suite("Real receipts", .enabled(if: Real.folder != nil), .timeLimit(.minutes(10)))
struct RealReceiptTests {
    private static let genuine = ["production", "sandbox", "ios6"]

    @Test(
        "migrate of everything agrees with the index: 53 app receipts and 6 transaction receipts, the rest quarantined")
    func migrate() async throws {
        let receipts = try #require(Real.folder).path
        let folder = try Folder()
        let outcome = try await folder.stream(receipts, "--quiet", to: "out", isTrusted: false)
        #expect(outcome.status == 1)
        #expect(outcome.error.isEmpty)
        let kinds = try #require(try folder.object("out/summary.json")["migratedByKind"] as? [String: Int])
        #expect(kinds["appReceipt"] == 53)
        #expect(kinds["transactionReceipt"] == 6)

        let entries = try Real.entries()
        func input(_ line: [String: Any]) -> String {
            let name = (line["source"] as? [String: Any])?["input"] as? String ?? ""
            return String(name.dropFirst(receipts.count + 1))
        }
        let transactions = Dictionary(grouping: try folder.lines("out/transactions.ndjson"), by: input)
        let apps = Dictionary(grouping: try folder.lines("out/app-transactions.ndjson"), by: input)
        for entry in entries where Self.genuine.contains(entry.kind) {
            let expected = entry.kind == "ios6" ? 1 : entry.purchases
            #expect(transactions[entry.file]?.count ?? 0 == expected, "\(entry.file)")
            #expect(apps[entry.file]?.count ?? 0 == (entry.kind == "ios6" ? 0 : 1), "\(entry.file)")
        }
        let quarantine = Dictionary(grouping: try folder.lines("out/quarantine.ndjson"), by: input)
        for entry in entries where !Self.genuine.contains(entry.kind) {
            let lines = try #require(quarantine[entry.file], "\(entry.file) is not quarantined")
            #expect(lines.count == 1)
            #expect((lines.first?["reason"] as? String)?.isEmpty == false)
            #expect((lines.first?["message"] as? String)?.hasSuffix(".") == true)
            let original = lines.first?["original"] as? String
            #expect(try original.map { Array($0.utf8) } == Array(Data(contentsOf: URL(filePath: Real.path(entry)))))
            #expect(transactions[entry.file] == nil && apps[entry.file] == nil, "\(entry.file)")
        }
    }

    @Test("The index lists what the folders hold")
    func index() throws {
        let kinds = Dictionary(try Real.entries().map { ($0.kind, 1) }, uniquingKeysWith: +)
        #expect((kinds["production"] ?? 0) + (kinds["sandbox"] ?? 0) == 53)
        #expect(kinds["ios6"] == 6)
    }

    @Test("inspect: 0 for the genuine, 1 for Xcode's (0 with --accept-xcode), 3 for what is no receipt")
    func inspect() async throws {
        for entry in try Real.entries() {
            let path = try Real.path(entry)
            let outcome = try await Command.run("inspect", path)
            switch entry.kind {
            case "xcode":
                #expect(outcome.status == 1, "\(entry.file)")
                let accepted = try await Command.run("inspect", "--accept-xcode", path)
                #expect(accepted.status == 0, "\(entry.file)")
            case "mac-2010": #expect(outcome.status == 1)
            case "malformed", "malformed-ios6", "not-a-receipt": #expect(outcome.status == 3, "\(entry.file)")
            default: #expect(outcome.status == 0, "\(entry.file): \(outcome.output)")
            }
            let json = try await Command.run("inspect", "--json", path)
            #expect(json.status == outcome.status)
            #expect(try json.object()["verdict"] != nil)
        }
    }
}
