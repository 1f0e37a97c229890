import Foundation
import LegacyReceipts
import ReceiptForge
import SQLiteTransactionStore
import TransactionStore
import VerifyReceipt

/// The time per request without sockets, one request after the other. The receipts are in the cache.
struct EndpointBenchmark {
    private let count = 50_000

    func run() async throws {
        let folder = try temporaryFolder("endpoint-benchmark")
        defer { try? FileManager.default.removeItem(at: folder) }
        let bodies = try forgeReceipts(count: 200).map {
            Array("{\"receipt-data\":\"\(Data($0).base64EncodedString())\",\"password\":\"secret\"}".utf8)
        }
        let trust = TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])
        try await measure("without a store", bodies, nil, trust)
        let store = try SQLiteTransactionStore.open(path: folder.appendingPathComponent("store.sqlite").path)
        try await measure("SQLite", bodies, store, trust)
        try await store.close()
    }

    private func measure(
        _ name: String, _ bodies: [[UInt8]], _ store: (any TransactionStore)?, _ trust: TrustPolicy
    ) async throws {
        let endpoint = try VerifyReceiptEndpoint(configuration: EndpointConfiguration(trust: trust), store: store)
        // On threads that may wait for the store, as in the server.
        let duration = await withTaskExecutorPreference(BlockingThreads.shared) {
            for body in bodies { _ = await endpoint.reply(to: body, at: .production, now: 1_800_000_000_000) }
            let started = ContinuousClock.now
            for number in 0..<count {
                _ = await endpoint.reply(to: bodies[number % bodies.count], at: .production, now: 1_800_000_000_000)
            }
            return started.duration(to: .now)
        }
        let microseconds = Double(duration.components.seconds) * 1e6 + Double(duration.components.attoseconds) / 1e12
        Figure(name: "reply, \(name)", value: microseconds / Double(count), unit: "µs").report()
    }
}
