import AppStoreModels
import Foundation
import LegacyReceipts
import Migration
import ProductCatalog
import TestSupport

/// What `migrate LegacyFixtures/*/receipt.*` writes, done once, by case.
enum FixtureMigration {
    struct Output {
        var transactions: [String] = []
        var appTransactions: [String] = []
        var quarantined: [[UInt8]] = []
    }

    static let shared = Task { try await migrated() }

    private static func migrated() async throws -> [String: Output] {
        let inputs = try FixtureStore.names.map { try "\($0)/\(FixtureFolder($0).receiptFile)" }
        let files = try await FixtureRun.files(
            inputs.map { FixtureStore.root.appending(path: $0).path }, jobs: 2,
            ["transactions.ndjson", "app-transactions.ndjson", "quarantine.ndjson"])
        // The folder's files were made from the folder above LegacyFixtures.
        let prefix = PackageFolder.url.path + "/"
        var cases: [String: Output] = [:]
        for (file, bytes) in files {
            let text = String(decoding: bytes, as: UTF8.self).replacing(prefix, with: "")
            for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
                let value = try JSONValue.parse(Array(line))
                let parts = value["source"]?["input"]?.string?.split(separator: "/") ?? []
                guard parts.count == 3 else { throw FixtureProblem("A line of \(file) names no case.") }
                switch file {
                case "transactions.ndjson":
                    cases[String(parts[1]), default: Output()].transactions.append(value.sortedText)
                case "quarantine.ndjson":
                    cases[String(parts[1]), default: Output()].quarantined.append(try FixtureRun.original(value))
                default: cases[String(parts[1]), default: Output()].appTransactions.append(value.sortedText)
                }
            }
        }
        return cases
    }
}

/// Migrations into temporary folders.
enum FixtureRun {
    static let allFiles = [
        "transactions.ndjson", "app-transactions.ndjson", "renewal-infos.ndjson", "quarantine.ndjson", "summary.json",
    ]

    /// Migrates with the fixtures' trust and catalog; gives the contents of output files.
    static func files(_ inputs: [String], jobs: Int, _ names: [String] = allFiles) async throws -> [String: [UInt8]] {
        let folder = try TemporaryFolder()
        let options = MigrationOptions(
            trust: try FixtureTrust.withIntermediates(),
            catalog: try ProductCatalog.load(paths: [FixtureStore.root.appending(path: "products.yaml").path]),
            jobs: jobs)
        let output = folder.url.appending(path: "output")
        _ = try await streamRecords(options, inputs: inputs, to: output.path)
        var files: [String: [UInt8]] = [:]
        for name in names { files[name] = [UInt8](try Data(contentsOf: output.appending(path: name))) }
        return files
    }

    /// The record that a line of quarantine.ndjson keeps.
    static func original(_ line: JSONValue) throws -> [UInt8] {
        if let text = line["original"]?.string { return Array(text.utf8) }
        guard let base64 = line["originalBase64"]?.string, let data = Data(base64Encoded: base64) else {
            throw FixtureProblem("A quarantined record without its original.")
        }
        return [UInt8](data)
    }

    static func lines(_ bytes: [UInt8]) throws -> [JSONValue] {
        try bytes.split(separator: UInt8(ascii: "\n")).map { try JSONValue.parse($0) }
    }
}
