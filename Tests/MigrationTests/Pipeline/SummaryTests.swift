import Foundation
import LegacyReceipts
import Migration
import Testing

/// The numbers of a migration.
struct SummaryTests {
    /// A file of hostile rows must not make a summary as large as itself.
    @Test("Products beyond the limit are counted together, and none is lost")
    func theSummaryNamesABoundedNumberOfProducts() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "summary-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let input = folder.appending(path: "rows.json")
        let limit = MigrationSummary.maximumProducts
        let rows = (0..<(limit + 3)).map {
            #"{"product_id":"product.\#($0)","transaction_id":"53\#(1_000_000 + $0)","purchase_date_ms":"1690848000000"}"#
        }
        try Data("[\(rows.joined(separator: ","))]".utf8).write(to: input)
        let output = folder.appending(path: "output").path
        let summary = try await streamRecords(MigrationOptions(trust: .apple), inputs: [input.path], to: output)
        #expect(summary.transactions == limit + 3)
        #expect(summary.transactionsByProduct.count == limit + 1)
        #expect(summary.transactionsByProduct["(other)"] == 3)
        #expect(summary.transactionsByProduct.values.reduce(0, +) == limit + 3)
    }
}
