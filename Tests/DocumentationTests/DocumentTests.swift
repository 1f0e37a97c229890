import AppStoreModels
import AppStoreServer
import Foundation
import LegacyReceipts
import Migration
import ProductCatalog
import Purchases
import ReceiptForge
import TestTraits
import Testing

func testRoot() throws -> [UInt8] { try TestCertificateAuthority.rootDER }

/// The package, found from this file upwards.
let root: URL? = {
    var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    while folder.path != "/" {
        if FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) { return folder }
        folder.deleteLastPathComponent()
    }
    return nil
}()

@Suite(.computing) struct DocumentTests {
    static let documents = [
        "README.md", "MIGRATION.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md",
        "Documentation/ARCHITECTURE.md", "Documentation/AppStore.md", "Documentation/BENCHMARKS.md",
        "Documentation/Catalogs.md",
        "Documentation/Clients.md", "Documentation/Compare.md", "Documentation/Customer.md", "Documentation/Export.md",
        "Documentation/Fields.md", "Documentation/Inspect.md", "Documentation/Ledger.md",
        "Documentation/Libraries.md",
        "Documentation/Migrate.md", "Documentation/Offers.md", "Documentation/Reference.md", "Documentation/Replies.md",
        "Documentation/Report.md", "Documentation/RUNBOOK.md",
        "Documentation/Server.md",
        "Sources/AppStoreModels/AppStoreModels.docc/AppStoreModels.md",
        "Sources/LegacyReceipts/LegacyReceipts.docc/LegacyReceipts.md",
        "Sources/ProductCatalog/ProductCatalog.docc/ProductCatalog.md",
        "Sources/Purchases/Purchases.docc/Purchases.md",
        "Sources/Migration/Migration.docc/Migration.md",
        "Sources/ReceiptForge/ReceiptForge.docc/ReceiptForge.md",
        "Sources/ReplyComparison/ReplyComparison.docc/ReplyComparison.md",
        "tools/spark/README.md",
    ]

    /// What only a device can run, and what belongs into a package description.
    static let exemptBeginnings = ["import StoreKit", ".package(", ".product("]

    @Test(arguments: documents)
    func everySwiftSampleIsOneThatTheTestsRun(_ document: String) throws {
        let root = try #require(root)
        let samples = lines(try text(root, "Tests/DocumentationTests/Samples.swift"))
        for block in swiftBlocks(try text(root, document)) {
            let wanted = lines(block).filter { !$0.hasPrefix("import ") }
            let exempt = Self.exemptBeginnings.contains { block.hasPrefix($0) }
            #expect(exempt || contains(samples, wanted), "\(document) shows code that no test compiles: \(block)")
        }
    }

    @Test(arguments: documents)
    func noDocumentNamesAMachine(_ document: String) throws {
        let content = try text(#require(root), document)
        for path in ["/tmp/", "/root/", "/home/", "/Users/"] { #expect(!content.contains(path)) }
    }

    /// A file that no list names would escape the other tests of this suite.
    @Test func everyDocumentOfTheFolderIsChecked() throws {
        let folder = try #require(root).appending(path: "Documentation")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        #expect(!files.isEmpty)
        for file in files { #expect(Self.documents.contains("Documentation/\(file)")) }
    }

    @Test(arguments: documents)
    func everyLinkToAFileLeadsToOne(_ document: String) throws {
        let root = try #require(root)
        let folder = root.appending(path: document).deletingLastPathComponent()
        for match in try text(root, document).matches(of: /\]\(([^)#]+)[^)]*\)/) where !match.1.contains("://") {
            let target = folder.appending(path: String(match.1)).standardized.path
            #expect(FileManager.default.fileExists(atPath: target), "\(document) links to \(match.1)")
        }
    }

    /// What a document calls `Sources/…`, `Tests/…` or `tools/…` is a file or a folder of the package.
    @Test(arguments: documents)
    func everyPathInADocumentExists(_ document: String) throws {
        let root = try #require(root)
        for match in try text(root, document).matches(of: /`((?:Sources|Tests|tools|LegacyFixtures)\/[\w.+\/-]+)`/) {
            let target = root.appending(path: String(match.1)).path
            #expect(FileManager.default.fileExists(atPath: target), "\(document) names \(match.1)")
        }
    }

    @Test func architectureNamesEveryRoom() throws {
        let root = try #require(root)
        let document = try text(root, "Documentation/ARCHITECTURE.md")
        let rooms = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path)
        #expect(rooms.count > 10)
        for room in rooms { #expect(document.contains("`\(room)`"), "ARCHITECTURE.md does not name \(room)") }
    }

    @Test func readmeIsShort() throws {
        let words = try text(#require(root), "README.md").split(whereSeparator: \.isWhitespace).count
        #expect(words < 1_200, "README.md has \(words) words: move what few users need to Documentation/")
    }

    @Test func migrateDocumentExplainsEveryReason() throws {
        let document = try text(#require(root), "Documentation/Migrate.md")
        var names = ReceiptError.Code.allCases.map(\.rawValue) + RecordedReplyError.Code.allCases.map(\.rawValue)
        names += InputProblem.Code.allCases.map(\.rawValue)
        names += [
            "jwsOtherToken", "jwsOtherPayload", "malformedStoreKit2JSON", "bareTransactionId", "recordedNotAccepted",
            "otherEnvironment", "otherBundleId",
        ]
        for name in names { #expect(document.contains("`\(name)`"), "Migrate.md does not explain \(name)") }
    }

    @Test(arguments: MappingNote.allCases.map(\.name) + InferenceRule.allCases.map(\.name))
    func fieldsDocumentExplainsEveryNoteAndRule(_ name: String) throws {
        let document = try text(#require(root), "Documentation/Fields.md")
        let rows = document.split(separator: "\n").filter { $0.hasPrefix("| `\(name)` |") }
        #expect(rows.count == 1)
        #expect(rows.allSatisfy { $0.hasSuffix(". |") }, "\(name) has no sentence")
    }

    @Test func inspectDocumentExplainsEveryCheckOfAJWS() throws {
        let document = try text(#require(root), "Documentation/Inspect.md")
        let rows = document.split(separator: "\n").compactMap {
            $0.firstMatch(of: /^\| `(\w+)` \|/).map { String($0.1) }
        }
        for name in SignedDataInspection.Check.Name.allCases { #expect(rows.contains(name.rawValue), "\(name)") }
    }

    @Test func fieldsDocumentNamesEveryModernField() throws {
        let document = try text(#require(root), "Documentation/Fields.md")
        let names =
            TransactionField.allCases.map { "\($0.name)" } + RenewalInfoField.allCases.map { "\($0.name)" }
            + AppTransactionField.allCases.map { "\($0.name)" }
        for name in names { #expect(document.contains("`\(name)`"), "Fields.md does not say where \(name) comes from") }
    }

    @Test(arguments: ExportedTables.outlines.map(\.name))
    func exportDocumentExplainsEveryColumnOfATable(_ name: String) throws {
        try check("Documentation/Export.md", ExportedTables.outlines, name)
    }

    @Test(arguments: CustomerTables.outlines.map(\.name))
    func customerDocumentExplainsEveryColumnOfATable(_ name: String) throws {
        try check("Documentation/Customer.md", CustomerTables.outlines, name)
    }

    private func check(_ file: String, _ outlines: [TableOutline], _ name: String) throws {
        let document = try text(#require(root), file)
        let outline = try #require(outlines.first { $0.name == name })
        let section = try #require(document.components(separatedBy: "\n### ").first { $0.hasPrefix("\(name)\n") })
        let hasSentence = section.contains(/^\w+\n\n\S.*\.\n\n/)
        #expect(hasSentence, "\(name)")
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let unexplained = rows.filter { !$0.contains(/\| \S[^|]*\. \|$/) }
        #expect(unexplained.isEmpty, "\(name)")
        let columns = rows.map { $0.split(separator: "|").prefix(2).joined(separator: "|") }
        #expect(columns == outline.columns.map { " `\($0.name)` | \($0.kind) " })
    }

    /// What reads, writes, stores or prints payloads takes the members from the table. A second list would be forgotten.
    @Test(arguments: [
        TransactionField.allCases.map { "\($0.name)" }, RenewalInfoField.allCases.map { "\($0.name)" },
        AppTransactionField.allCases.map { "\($0.name)" },
    ])
    func onlyTheFileOfAPayloadListsItsMembers(_ names: [String]) throws {
        let sources = try #require(root).appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var listing: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            let words = Set(text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
            if names.allSatisfy(words.contains) { listing.append(file.lastPathComponent) }
        }
        #expect(listing.count == 1, "\(listing)")
    }

    /// The documentation comment of each case of a public error: a sentence about the cause, and one about the remedy.
    @Test func everyCaseOfAPublicErrorStatesCauseAndRemedy() throws {
        let sources = try #require(root).appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var cases = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains(/(?m)^public (struct|enum) \w+: .*\bError\b/) else { continue }
            var comment: [Substring] = []
            var indent: String?
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if let open = line.firstMatch(of: /^( *)public enum (?:Code|Reason|\w*(?:Error|Refusal|Failure))\b/) {
                    indent = String(open.1)
                }
                guard let outer = indent else { continue }
                if line == outer + "}" {
                    indent = nil
                } else if line.hasPrefix(outer + "    /// ") {
                    comment.append(line.dropFirst(outer.count + 8))
                    continue
                } else if line.hasPrefix(outer + "    case ") {
                    cases += 1
                    let states = comment.joined(separator: " ").contains(/\. [A-Z`]/)
                    #expect(states, "\(file.lastPathComponent):\(line) lacks a cause or a remedy")
                }
                comment = []
            }
        }
        #expect(cases > 150, "\(cases)")
    }

    @Test func securityDocumentStatesTheLimitsOfTheCode() throws {
        let security = try text(#require(root), "SECURITY.md")
        let rows = [
            ("defaultMaximumSize", "3,145,728", DecodingLimits.defaultMaximumSize, 3_145_728),
            ("defaultMaximumDepth", "16", DecodingLimits.defaultMaximumDepth, 16),
            ("defaultMaximumCertificates", "8", DecodingLimits.defaultMaximumCertificates, 8),
            ("maximumSigners", "1", DecodingLimits.maximumSigners, 1),
            ("defaultMaximumAttributes", "300,000", DecodingLimits.defaultMaximumAttributes, 300_000),
            ("defaultMaximumKeys", "256", DecodingLimits.defaultMaximumKeys, 256),
            ("recordSize", "16 MiB", InputLimits.recordSize, 16 << 20),
            ("oversizeExcerpt", "64 KiB", InputLimits.oversizeExcerpt, 64 << 10),
            ("detectionRows", "100", InputLimits.detectionRows, 100),
            ("payloadNesting", "8", InputLimits.payloadNesting, 8),
            ("folderDepth", "128", InputLimits.folderDepth, 128),
            ("transactionIDDigits", "20", InputLimits.transactionIDDigits, 20),
            ("memberPaths", "1,000", InputLimits.memberPaths, 1_000),
            ("memberNameBytes", "1,000; 100", InputLimits.memberNameBytes, 100),
            ("maximumPurchases", "100,000", RecordedReply.maximumPurchases, 100_000),
            ("columnsInLines", "64 MiB", InputLimits.columnsInLines, 64 << 20),
            ("columnsOfTable", "32,767", InputLimits.columnsOfTable, 32_767),
            ("superfluousFields", "10,000", InputLimits.superfluousFields, 10_000),
            ("otherElements", "1,000", InputLimits.otherElements, 1_000),
            ("maximumMembers", "1,000", MigrationSummary.maximumMembers, 1_000),
            ("maximumNames", "1,000", MigrationSummary.maximumNames, 1_000),
            ("maximumProducts", "10,000", MigrationSummary.maximumProducts, 10_000),
            ("fileBytes", "16 MiB", CatalogLimits.fileBytes, 16 << 20),
            ("feedPrologBytes", "65,536", CatalogLimits.feedPrologBytes, 65_536),
            ("textBytes", "4,096", CatalogLimits.textBytes, 4_096),
        ]
        for (name, shown, value, expected) in rows {
            #expect(value == expected, "\(name) has changed; SECURITY.md says \(shown)")
            let row = security.split(separator: "\n").first { $0.contains("\(name)`") }
            #expect(row?.contains("| \(shown)") == true, "SECURITY.md does not say \(shown) for \(name)")
        }
    }

    @Test func theTimesOfTheGuideAreThoseOfTheBenchmark() throws {
        let root = try #require(root)
        let benchmark = lines(try text(root, "Documentation/BENCHMARKS.md"))
        let rows = lines(try text(root, "MIGRATION.md")).filter { $0.contains(" | 1,000,000 | ") }
        #expect(rows.count == 3)
        for row in rows {
            // The name, the number of rows, the time and the memory.
            let cells = row.components(separatedBy: " | ")
            try #require(cells.count == 4, "\(row)")
            let isThere = benchmark.contains { $0.contains(" | \(cells[2]) | ") && $0.hasSuffix(" | \(cells[3])") }
            #expect(isThere, "BENCHMARKS.md has no row with these numbers: \(row)")
        }
    }

    private func text(_ root: URL, _ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private func contains(_ samples: [String], _ wanted: [String]) -> Bool {
        guard let first = wanted.first else { return true }
        return samples.indices.contains { samples[$0] == first && samples[$0...].starts(with: wanted) }
    }

    private func swiftBlocks(_ text: String) -> [String] {
        text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
    }
}
