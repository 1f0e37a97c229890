import Foundation
import LegacyReceipts
import Migration
import ReceiptForge
import SharedReceipts
import TestSupport
import TestTraits
import Testing

/// What `migrate` writes is read by Apple's own Python library. Runs when LEGACY_RECEIPTS_PYTHON names a Python interpreter
/// that has the packages of tools/judges/requirements.txt.
@Suite(.computing, .enabled(if: PythonCheck.python != nil, "LEGACY_RECEIPTS_PYTHON is not set"))
struct AppleLibraryMigrationTests {
    private static let outputs = ["transactions.ndjson", "app-transactions.ndjson", "renewal-infos.ndjson"]

    @Test("Apple's library decodes every line that a migration of the fixtures writes")
    func fixtures() async throws {
        try await check(URL(filePath: PackageFolder.path("LegacyFixtures")))
    }

    @Test(
        "Apple's library decodes every line that a migration of the real receipts writes",
        .enabled(if: SharedReceipts.arePresent, "no real receipts"))
    func realReceipts() async throws {
        try await check(#require(SharedReceipts.folder))
    }

    private func check(_ input: URL) async throws {
        let folder = try TemporaryFolder()
        let trust = try TrustPolicy(additionalRoots: [TestCertificateAuthority.rootDER])
        let summary = try await streamRecords(MigrationOptions(trust: trust), inputs: [input.path], to: folder.path)
        try #require(summary.transactions > 50)
        for output in Self.outputs {
            let (status, text) = try PythonCheck.run(on: folder.url.appending(path: output))
            #expect(status == 0, "\(output): \(text.suffix(2000))")
            #expect(text.contains("disagree: 0"), "\(output): \(text.suffix(2000))")
        }
    }
}

private enum PythonCheck {
    static let python = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_PYTHON"]

    static func run(on file: URL) throws -> (status: Int32, output: String) {
        let outcome = try ChildProcess.runWhileBlocking(
            try #require(python), [PackageFolder.path("tools/judges/decode_with_apple_library.py"), file.path])
        return (outcome.status, outcome.output + outcome.errors)
    }
}
