import Foundation
import SQLiteTransactionStore
import Testing
import TransactionStore

/// A folder that is gone with its owner.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("transaction-store-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

extension StoreEngine {
    static let sqlite = StoreEngine(name: "SQLite") {
        let folder = try TemporaryFolder()
        return StorePlace(
            open: { try SQLiteTransactionStore.open(path: folder.file("store.sqlite")) },
            remove: { _ = folder })
    }
}

@Suite("SQLite keeps the rules of every engine")
struct SQLiteConformanceTests {
    @Test(arguments: StoreConformance.rules)
    func conforms(_ rule: StoreRule) async throws { try await rule.run(on: .sqlite) }
}
