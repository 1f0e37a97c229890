import Foundation
import ReceiptForge
import Testing

func testRoot() throws -> [UInt8] { try TestCertificateAuthority.rootDER }

/// The package, found from this file upwards.
private let root: URL? = {
    var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    while folder.path != "/" {
        if FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) { return folder }
        folder.deleteLastPathComponent()
    }
    return nil
}()

@Suite struct DocumentTests {
    static let documents = [
        "README.md", "MIGRATION.md", "SECURITY.md",
        "Sources/AppStoreModels/AppStoreModels.docc/AppStoreModels.md",
        "Sources/LegacyReceipts/LegacyReceipts.docc/LegacyReceipts.md",
        "Sources/ReceiptMigration/ReceiptMigration.docc/ReceiptMigration.md",
        "Sources/ReceiptForge/ReceiptForge.docc/ReceiptForge.md",
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
        for path in ["/work/", "/tmp/", "/root/", "/home/", "/Users/"] { #expect(!content.contains(path)) }
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
