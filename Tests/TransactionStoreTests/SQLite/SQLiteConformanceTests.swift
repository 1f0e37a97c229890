import Foundation
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

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
    func conforms(_ rule: StoreRule) async throws { try await rule.check(.sqlite) }
}
