import Foundation
import Migration
import Synchronization
import TestSupport

/// Runs a ``MigrationStream`` and writes its lines into files of a folder: `transactions.ndjson` and so on, and `summary.json`.
func streamRecords(
    _ options: MigrationOptions, inputs: [String], to folder: String
) async throws -> MigrationSummary {
    let lines = Mutex<[UInt8]>([])
    let summary = try await MigrationStream(options: options).run(inputs: inputs) { bytes in
        lines.withLock { $0 += bytes }
    }
    let url = URL(filePath: folder)
    try StreamedLines.write(lines.withLock { $0 }, to: url)
    try Data(summary.json()).write(to: url.appending(path: "summary.json"))
    return summary
}
