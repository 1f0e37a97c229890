import Foundation
import SQLiteTransactionStore

// Prints one JSON object per line: name, value, unit, and, if there is a reference, the reference and the ratio to
// it. Results vary with the load of the machine: quote ratios, and numbers of one run together.
//
//     legacy-receipts-benchmark [--receipts N]                    verification and migration
//     legacy-receipts-benchmark rows --to DIR [--rows N] [--customers N]  a table for migrate --into, see BENCHMARKS.md
//     legacy-receipts-benchmark csv [--from DIR]                  such a table into SQLite and PostgreSQL, see TableBenchmark
//     legacy-receipts-benchmark store [--store-transactions N]    SQLite: bulk load and look-ups
//     legacy-receipts-benchmark postgres                          PostgreSQL, see PostgreSQLBenchmark
//     legacy-receipts-benchmark jws                               verifying a signed transaction
//     legacy-receipts-benchmark server                            requests per second and latency
//     legacy-receipts-benchmark customers                         the same for customers that are new to the store
//     legacy-receipts-benchmark endpoint                          one request after the other, without sockets
//     legacy-receipts-benchmark notifications [--notifications N] notifications per core and minute, SQLite

func usage(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(2)
}

func verificationAndMigration(_ arguments: [String]) async throws {
    var receiptCount = 100_000
    if let index = arguments.firstIndex(of: "--receipts") {
        guard index + 1 < arguments.count, let count = Int(arguments[index + 1]), count > 0 else {
            usage("--receipts takes a positive number")
        }
        receiptCount = count
    }
    try VerificationBenchmark().run()
    // Before the very large receipts, because the peak memory is that of the process.
    try await MigrationBenchmark(receiptCount: receiptCount).run()
    try LinearityBenchmark().run()
}

func server() async throws {
    let folder = try temporaryFolder("server-benchmark")
    defer { try? FileManager.default.removeItem(at: folder) }
    var benchmark = ServerBenchmark()
    benchmark.stores = [
        ("SQLite", { try SQLiteTransactionStore.open(path: folder.appendingPathComponent("store.sqlite").path) })
    ]
    try await benchmark.run()
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "load": try LoadGenerator.main(Array(arguments.dropFirst()))
case "rows": try StoredRows(arguments: arguments).run()
case "csv": try await TableBenchmark(arguments: arguments).run()
case "csv-step": try await TableBenchmark.step(Array(arguments.dropFirst()))
case "store": try await StoreBenchmark(arguments: arguments).run()
case "postgres":
    guard let benchmark = PostgreSQLBenchmark() else { usage("LEGACY_RECEIPTS_POSTGRES is not set") }
    try await benchmark.run()
case "jws": try await SignedDataBenchmark().run()
case "server": try await server()
case "customers": try await NewCustomerBenchmark().run()
case "endpoint": try await EndpointBenchmark().run()
case "notifications": try await NotificationBenchmark(arguments: arguments).run()
default: try await verificationAndMigration(arguments)
}
