import AppStoreModels
import Foundation
import ReceiptForge
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore

/// `legacy-receipts notifications backfill` as a process, against a server on this machine.
@Suite(.timeLimit(.minutes(10))) struct BackfillCommandTests {
    private struct Outcome {
        let status: Int32
        let output: String
        let error: String
    }

    private static func run(_ folder: TemporaryFolder, _ url: String, _ more: [String] = []) async throws -> Outcome {
        try folder.write("key.p8", BackfillTests.key)
        try Data(TestSignedDataAuthority.standard.rootCertificate).write(
            to: URL(fileURLWithPath: folder.path + "/root.der"))
        let arguments = [
            "notifications", "backfill", "--store", "sqlite:\(folder.path)/store.sqlite", "--bundle-id",
            Signed.bundleId, "--apple-id", "\(Signed.appleId)", "--issuer-id", "57246542-96fe-1a63-e053-0824d011072a",
            "--key-id", "2X9R4HXF34", "--private-key", folder.path + "/key.p8", "--server-url", url, "--trust-root",
            folder.path + "/root.der",
        ]
        let ended = try await ChildProcess.run(
            Bundle.main.bundleURL.appending(path: "legacy-receipts").path, arguments + more)
        return Outcome(status: ended.status, output: ended.output, error: ended.errors)
    }

    @Test func historyIsInTheStoreAfterwards() async throws {
        let history = try BackfillTests.history(3)
        let server = try await BackfillTests.server(history.map(\.jws))
        let folder = try TemporaryFolder()
        let first = try await Self.run(folder, server.url, ["--only-failures", "--since", "2026-01-31"])
        #expect(first.status == 0, "\(first.error)")
        #expect(first.output.contains("history: 3; new: 3 (") && first.output.contains("known: 0, not taken in: 0"))
        let second = try await Self.run(folder, server.url)
        #expect(second.status == 0 && second.output.contains("new: 0 (0 facts), known: 3"))
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        for (_, uuid) in history { #expect(try await store.hasProcessed(notificationUUID: uuid)) }
        try await store.close()
        try await server.stop()
    }

    @Test func exitCodesSayWhatHappened() async throws {
        let good = try BackfillTests.history(1).map(\.jws)
        let folder = try TemporaryFolder()
        let partly = try await BackfillTests.server(good + ["a.b.c"])
        let refused = try await Self.run(folder, partly.url)
        #expect(refused.status == 1 && refused.output.contains("not taken in: 1, notGenuine: 1"))
        #expect(refused.error.contains("was not stored (notGenuine)"))
        try await partly.stop()
        let closed = try await BackfillTests.server(good, failing: (0, "", 401))
        let unauthorized = try await Self.run(folder, closed.url)
        #expect(unauthorized.status == 2 && unauthorized.error.contains("unauthorized"))
        #expect(!unauthorized.error.contains("PRIVATE KEY"))
        for wrong in [["--since", "yesterday"], ["--since", "2999-01-01"], ["--environment", "xcode"]] {
            #expect(try await Self.run(folder, closed.url, wrong).status == 2)
        }
        try await closed.stop()
    }
}
