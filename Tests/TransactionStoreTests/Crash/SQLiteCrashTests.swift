import SQLiteTransactionStore
import TestSupport
import Testing

@Suite("SQLite survives being killed")
struct SQLiteCrashTests {
    @Test(.enabled(if: CrashCheck.isPossible, "legacy-receipts-store-loader is not built"))
    func nothingCommittedIsLostAndNothingIsDoubled() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let check = CrashCheck(url: "sqlite:\(path)") { try SQLiteTransactionStore.open(path: path) }
        let batches = try await check.run(rounds: 30)
        #expect(batches > 30)
    }
}
