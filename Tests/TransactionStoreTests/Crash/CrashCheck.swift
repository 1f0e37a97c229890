import Foundation
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

/// Loads a store with a process that is killed again and again, and checks after each kill that everything it reported is
/// there, once.
struct CrashCheck {
    /// The address for `legacy-receipts-store-loader`.
    let url: String
    /// The schema of PostgreSQL, if it is not the standard one.
    var schema: String?
    let open: @Sendable () async throws -> any CompleteTransactionStore

    private static let loader: String = {
        #if os(Linux)
            let products = Bundle.main.bundleURL
        #else
            let products = Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent()
        #endif
        return products.appending(path: "legacy-receipts-store-loader").path
    }()

    private final class Anchor {}

    /// Whether the loader was built beside the tests.
    static var isPossible: Bool { FileManager.default.isExecutableFile(atPath: loader) }

    /// How many batches one process loads at most, which takes it about as long as the longest pause.
    private static let batchesPerProcess = 40

    /// Returns how many batches the store holds at the end.
    @discardableResult
    func run(rounds: Int) async throws -> Int {
        var generator = SystemRandomNumberGenerator()
        var present = 0
        for round in 0..<rounds {
            let pause = UInt64.random(in: 0...150, using: &generator)
            let reported = try await loadAndKill(from: present + 1, after: pause, waitingForFirst: round % 4 != 0)
            let store = try await open()
            present = try await check(store, from: present, reported: max(reported, present))
            if round == rounds - 1 {
                // No later batch adds an entry that is missing, so the last round shows what any of them lost.
                let entries = try await LedgerAudit.check(store).count
                #expect(entries == Int(try await store.counts().transactions), "facts and entries are written together")
            }
            try await store.close()
        }
        return present
    }

    /// Starts the loader and kills it; the last batch that it reported, 0 if none.
    private func loadAndKill(from batch: Int, after milliseconds: UInt64, waitingForFirst: Bool) async throws -> Int {
        let folder = try TemporaryFolder()
        let output = URL(filePath: try folder.write("out", ""))
        let errors = try folder.write("err", "")
        let process = try ChildProcess(
            Self.loader,
            [url, String(batch), String(batch + Self.batchesPerProcess - 1)] + (schema.map { [$0] } ?? []),
            output: output.path, errors: errors)
        if waitingForFirst {
            try await eventually("a batch is reported") {
                try !process.isRunning || !Data(contentsOf: output).isEmpty
            }
        }
        try await Task.sleep(for: .milliseconds(milliseconds))
        let said = try String(contentsOfFile: errors, encoding: .utf8)
        try #require(process.isRunning, "the loader ended by itself: \(said)")
        process.signal(SIGKILL)
        _ = try await process.end()
        // What follows the last line break was not reported.
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { Int($0) }.max()
            ?? 0
    }

    /// Checks the batches after `from`; how many there are in all. The one after the last report may be there, as a whole.
    private func check(_ store: any CompleteTransactionStore, from: Int, reported: Int) async throws -> Int {
        let next = reported + 1
        let present = try await store.hasProcessed(notificationUUID: "batch-\(next)") ? next : reported
        for batch in (from + 1)..<(next + 1) {
            let isThere = batch <= present
            #expect(try await store.hasProcessed(notificationUUID: "batch-\(batch)") == isThere)
            for place in 0..<20 {
                let original = batch * 1000 + place * 10
                let customer = try await store.customer(original: String(original))
                #expect(customer?.transactions.count == (isThere ? 3 : nil), "batch \(batch), reported \(reported)")
                #expect(customer?.renewalInfos.count == (isThere ? 1 : nil))
                #expect(customer?.newestAppReceipt?.bytes == (isThere ? Array("receipt of \(original)".utf8) : nil))
            }
        }
        let counts = try await store.counts()
        let expected = StoreCounts(
            transactions: Int64(present * 60 + (present > 0 ? 1 : 0)), renewalInfos: Int64(present * 20),
            appTransactions: 0, customers: Int64(present * 20 + (present > 0 ? 1 : 0)), receipts: Int64(present * 20),
            notifications: Int64(present))
        #expect(counts == expected)
        let shared = try await store.customer(original: "1")
        #expect(shared?.transactions.map(\.payload.productId) == (present > 0 ? ["batch-\(present)"] : nil))
        return present
    }
}
