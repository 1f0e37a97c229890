import Foundation
import ReceiptForge
import TestSupport
import Testing

@Suite("migrate: output", .timeLimit(.minutes(10)))
struct MigrateOutputTests {
    /// More records than a batch has, good and bad ones, so that batches finish out of order.
    private static func large() throws -> Folder {
        let folder = try Folder.withRoot()
        var bytes = Forged.ndjson(700)
        for index in 0..<40 { bytes += Array("{\"user\":\"bad\(index)\",\"receipt\":\"MIIC\(index)\"}\n".utf8) }
        bytes += Forged.ndjson(300)
        try folder.write("dump.ndjson", bytes)
        return folder
    }

    @Test("The bytes of every file are the same whatever the number of jobs")
    func jobs() async throws {
        let folder = try Self.large()
        for jobs in ["1", "2", "7"] {
            let outcome = try await folder.migrate("dump.ndjson", "--output", "out\(jobs)", "--jobs", jobs)
            #expect(outcome.status == 1)
        }
        let names = folder.names("out1")
        #expect(names.count == 5)
        for name in names {
            let first = try folder.bytes("out1/\(name)")
            #expect(try folder.bytes("out2/\(name)") == first, "\(name)")
            #expect(try folder.bytes("out7/\(name)") == first, "\(name)")
        }
        try expectSummary(of: folder, "out7")
        #expect(try folder.object("out7/summary.json")["recordsRead"] as? Int == 1040)
    }

    @Test("The summary's numbers are those of the files, and the table's those of the summary")
    func summary() async throws {
        let folder = try Folder.withRoot()
        for name in ["production-sha256", "mac", "xcode", "plain-text", "vpp-sandbox", "ios6-v2-production"] {
            try folder.write("in/\(name)", Forged.named(name).bytes)
        }
        let outcome = try await folder.migrate("in", "--output", "out")
        #expect(outcome.status == 1)
        try expectSummary(of: folder, "out")
        let summary = try folder.object("out/summary.json")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count < 30)
        for (label, key) in [
            ("records read", "recordsRead"), ("  migrated", "migrated"), ("  quarantined", "quarantined"),
            ("transactions", "transactions"), ("app transactions", "appTransactions"),
        ] {
            let line = try #require(lines.first { $0.hasPrefix(label + " ") })
            #expect(line.split(separator: " ").last.flatMap { Int($0) } == summary[key] as? Int)
        }
    }

    /// Columns that are no members of the payload.
    private static let ours: Set = [
        "termStart", "standing", "asOf", "asOfKind", "notes", "provenance", "source", "record",
    ]

    @Test("CSV parses back to the transactions of NDJSON")
    func csv() async throws {
        let folder = try Folder.withRoot()
        try folder.write("in/mixed.ndjson", Forged.ndjson(3))
        try folder.write("in/unicode", Forged.named("unicode").bytes)
        _ = try await folder.migrate("in", "--output", "json")
        let outcome = try await folder.migrate("in", "--output", "csv", "--format", "csv")
        #expect(outcome.status == 0)
        #expect(!folder.names("csv").contains("transactions.ndjson"))
        let rows = try CSV.rows(folder.text("csv/transactions.csv"))
        let header = try #require(rows.first)
        let objects = try folder.lines("json/transactions.ndjson")
        #expect(rows.count == objects.count + 1)
        for (row, object) in zip(rows.dropFirst(), objects) {
            #expect(row.count == header.count)
            let fields = Dictionary(uniqueKeysWithValues: zip(header, row))
            let payload = try #require(object["transaction"] as? [String: Any])
            // Every member is a column, and every other column of the payload is empty.
            #expect(Set(payload.keys).isSubset(of: header))
            for (name, field) in fields where !Self.ours.contains(name) {
                #expect(field == payload[name].map { "\($0)" } ?? "", "\(name)")
            }
            #expect(fields["asOf"] == object["asOf"].map { "\($0)" })
            #expect(fields["asOfKind"] == object["asOfKind"] as? String)
            #expect(fields["standing"] == object["standing"] as? String)
            for name in ["provenance", "source", "record"] {
                let value = try? JSONSerialization.jsonObject(with: Data((fields[name] ?? "").utf8))
                #expect(value as? NSDictionary == object[name] as? NSDictionary, "\(name)")
            }
        }
        #expect(rows.contains { $0.contains("com.example.りんご.🍎.pomme_verte—é") })
    }

    @Test("The output folder is made with the folders above it; its default is `migrated`")
    func folders() async throws {
        let folder = try Folder.withRoot()
        let deep = try await folder.migrate("-", "--output", "a/b/c/", input: Forged.ndjson(1))
        #expect(deep.status == 0)
        #expect(folder.names("a/b/c").count == 5)
        _ = try await folder.migrate("-", input: Forged.ndjson(1))
        #expect(folder.names("migrated").count == 5)
    }

    /// Recounts what a summary says.
    private func expectSummary(of folder: Folder, _ output: String) throws {
        let summary = try folder.object("\(output)/summary.json")
        func number(_ key: String) -> Int { summary[key] as? Int ?? -1 }
        func sum(_ key: String) -> Int { (summary[key] as? [String: Int])?.values.reduce(0, +) ?? -1 }
        let transactions = try folder.payloads("\(output)/transactions.ndjson")
        #expect(number("transactions") == transactions.count)
        #expect(try number("appTransactions") == folder.lines("\(output)/app-transactions.ndjson").count)
        #expect(try number("renewalInfos") == folder.lines("\(output)/renewal-infos.ndjson").count)
        let quarantine = try folder.lines("\(output)/quarantine.ndjson")
        #expect(number("quarantined") == quarantine.count)
        #expect(number("migrated") + number("quarantined") == number("recordsRead"))
        for key in ["migratedByKind", "migratedByEnvironment"] { #expect(sum(key) == number("migrated"), "\(key)") }
        for key in ["quarantinedByKind", "quarantinedByReason"] {
            #expect(sum(key) == number("quarantined"), "\(key)")
        }
        for key in [
            "transactionsByStanding", "transactionsByType", "transactionsByYear", "transactionsByProduct",
        ] { #expect(sum(key) == number("transactions"), "\(key)") }
        let products = Dictionary(
            transactions.map { ($0["productId"] as? String ?? "unknown", 1) }, uniquingKeysWith: +)
        #expect(summary["transactionsByProduct"] as? [String: Int] == products)
        let reasons = Dictionary(quarantine.map { ($0["reason"] as? String ?? "", 1) }, uniquingKeysWith: +)
        #expect(summary["quarantinedByReason"] as? [String: Int] == reasons)
        for (field, count) in summary["transactionFieldsNotCarried"] as? [String: Int] ?? [:] {
            #expect(transactions.count { $0[field] == nil } == count, "\(field)")
        }
    }
}
