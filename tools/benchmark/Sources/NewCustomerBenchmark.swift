import Foundation
import PostgreSQLTransactionStore
import ReceiptForge
import SQLiteTransactionStore
import TransactionStore

/// Requests per second of customers that are new to the store. Each receipt comes once and is verified, looked up and
/// written before its answer. Then the latency at half of that rate.
///
/// PostgreSQL is measured if `LEGACY_RECEIPTS_POSTGRES` is set: `LEGACY_RECEIPTS_POSTGRES_FSYNC=on tools/postgres.sh
/// run …`.
struct NewCustomerBenchmark {
    /// Receipts at full load, and as many at half load.
    var count = 20_000
    var connections = 64

    func run() async throws {
        let folder = try temporaryFolder("customers")
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try (0..<2).map { part in
            let path = folder.appendingPathComponent("bodies-\(part)")
            let lines = try forgeReceipts(count: count, from: Int64(part * count)).map {
                "{\"receipt-data\":\"\(Data($0).base64EncodedString())\"}"
            }
            try Data(lines.joined(separator: "\n").utf8).write(to: path)
            return path.path
        }
        func spool(_ name: String) throws -> SQLiteFactSpool {
            try SQLiteFactSpool.open(
                path: folder.appendingPathComponent("\(name)-spool.sqlite").path, maximumBytes: 1 << 30)
        }
        let sqlite = try SQLiteTransactionStore.open(path: folder.appendingPathComponent("store.sqlite").path)
        try await measure("SQLite", sqlite, spool("sqlite"), files)
        guard let url = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_POSTGRES"] else { return }
        let options = PostgreSQLTransactionStore.Options(schema: "customers_\(getpid())")
        let postgreSQL = try await PostgreSQLTransactionStore.open(url: url, options: options)
        try await measure("PostgreSQL", postgreSQL, spool("postgresql"), files)
    }

    private func measure(
        _ name: String, _ store: any TransactionStore, _ spool: SQLiteFactSpool, _ files: [String]
    ) async throws {
        try await ServerBenchmark().withServer(store: store, spool: spool, isRemembering: true) { port in
            let full = try await load(port, rate: 0, files[0])
            let rate = Double(full.requests) / full.seconds
            Figure(name: "new customers per second, \(name)", value: rate, unit: "1/s").report()
            let half = try await load(port, rate: rate / 2, files[1])
            for (share, value) in [("p50", half.p50), ("p99", half.p99)] {
                Figure(name: "\(share) at half load, new customers, \(name)", value: value, unit: "ms").report()
            }
            // Receipts that the store did not accept in time come from the spool.
            var stored = try await store.counts().customers
            let deadline = Date().addingTimeInterval(120)
            while stored < 2 * count, Date() < deadline {
                try await Task.sleep(for: .milliseconds(200))
                stored = try await store.counts().customers
            }
            Figure(name: "new customers stored, \(name)", value: Double(stored), unit: "customers").report()
        }
        try await spool.close()
        try await store.close()
    }

    private func load(_ port: Int, rate: Double, _ file: String) async throws -> LoadGenerator.Result {
        try await LoadGenerator.launch(["\(port)", "\(connections)", "3600", "\(rate)", file, "/verifyReceipt"])
    }
}
