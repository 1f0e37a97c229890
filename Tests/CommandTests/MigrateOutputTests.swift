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

    @Test("Every line is the same for any number of jobs")
    func jobs() async throws {
        let folder = try Self.large()
        for jobs in ["1", "2", "7"] {
            let outcome = try await folder.stream("dump.ndjson", "--jobs", jobs, to: "out\(jobs)")
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

    @Test("The summary's numbers are those of the lines, and the table's those of the summary")
    func summary() async throws {
        let folder = try Folder.withRoot()
        for name in ["production-sha256", "mac", "xcode", "plain-text", "vpp-sandbox", "ios6-v2-production"] {
            try folder.write("in/\(name)", Forged.named(name).bytes)
        }
        #expect(try await folder.stream("in", to: "out").status == 1)
        try expectSummary(of: folder, "out")
        let outcome = try await folder.migrate("in", "--into", "sqlite:store.sqlite", "--summary", "summary.json")
        #expect(outcome.status == 1)
        let summary = try folder.object("summary.json")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count < 30)
        for (label, key) in [
            ("records read", "recordsRead"), ("  migrated", "migrated"), ("  quarantined", "quarantined"),
        ] {
            let line = try #require(lines.first { $0.hasPrefix(label + " ") })
            #expect(line.split(separator: " ").last.flatMap { Int($0) } == summary[key] as? Int)
        }
    }

    @Test("The output folder has the store, the summary and the report; its default is `migrated`")
    func folders() async throws {
        let folder = try Folder.withRoot()
        let deep = try await folder.migrate("-", "--output", "a/b/c/", input: Forged.ndjson(3))
        #expect(deep.status == 0, "\(deep)")
        #expect(folder.names("a/b/c") == ["purchases.sqlite", "report.html", "summary.json"])
        #expect(try folder.object("a/b/c/summary.json")["recordsRead"] as? Int == 3)
        #expect(try folder.text("a/b/c/report.html").hasPrefix("<!doctype html>"))
        let stats = try await Command.run("store", "stats", "--store", "sqlite:a/b/c/purchases.sqlite", in: folder)
        #expect(stats.status == 0, "\(stats)")
        _ = try await folder.migrate("-", input: Forged.ndjson(1))
        #expect(folder.names("migrated") == ["purchases.sqlite", "report.html", "summary.json"])
    }

    @Test("The same command with the same output folder reads nothing again, and adds what is new")
    func sameFolder() async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(3))
        #expect(try await folder.migrate("dump.ndjson").status == 0)
        try folder.write("dump.ndjson", Forged.ndjson(5))
        let second = try await folder.migrate("dump.ndjson")
        #expect(second.status == 0, "\(second)")
        #expect(second.output.contains("3 of the records were migrated by an earlier run and not again."))
        #expect(try folder.object("migrated/summary.json")["recordsRead"] as? Int == 5)
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
