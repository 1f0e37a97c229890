import Foundation
import LegacyReceipts
import Migration
import ReceiptForge

/// `migrate --stream`, NDJSON to NDJSON, one job: receipts per second of processor time, and the peak of memory.
struct MigrationBenchmark {
    let receiptCount: Int
    /// The number of distinct receipts. They are repeated up to the count.
    private let distinctCount = 500

    func run() async throws {
        let folder = try temporaryFolder("legacy-receipts-benchmark")
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = folder.appendingPathComponent("receipts.ndjson").path
        try writeInput(input)

        let trust = try TrustPolicy(additionalRoots: [TestCertificateAuthority.shared().root.der])
        let migration = MigrationStream(options: MigrationOptions(trust: trust, jobs: 1))
        let outputPath = folder.appendingPathComponent("out.ndjson").path
        _ = FileManager.default.createFile(atPath: outputPath, contents: nil)
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
        defer { try? output.close() }
        let start = Clock.processorSeconds()
        let summary = try await migration.run(inputs: [input]) { try output.write(contentsOf: $0) }
        let seconds = Clock.processorSeconds() - start
        precondition(summary.migrated == receiptCount, "every receipt is genuine")
        let target = 20_000.0
        Figure(
            name: "migrate \(receiptCount) receipts, per second and core", value: Double(receiptCount) / seconds,
            unit: "receipts/s", reference: "20000 receipts/s", ratio: Double(receiptCount) / seconds / target
        ).report()
        Figure(
            name: "peak memory of this process", value: Clock.peakMegabytes(), unit: "MB", reference: "200 MB",
            ratio: Clock.peakMegabytes() / 200
        ).report()
    }

    private func writeInput(_ path: String) throws {
        let lines = try forgeReceipts(count: min(distinctCount, receiptCount)).map { Data($0).base64EncodedString() }
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var chunk = Data()
        for number in 0..<receiptCount {
            chunk.append(Data("{\"user_id\":\"\(number)\",\"receipt\":\"\(lines[number % lines.count])\"}\n".utf8))
            if chunk.count > 4 << 20 {
                try file.write(contentsOf: chunk)
                chunk.removeAll(keepingCapacity: true)
            }
        }
        try file.write(contentsOf: chunk)
    }
}
