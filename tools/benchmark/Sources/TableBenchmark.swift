import Foundation
import LegacyReceipts
import Migration
import PostgreSQLTransactionStore
import ReceiptForge
import SQLiteTransactionStore
import TransactionStore

/// A table of receipts in CSV, migrated into a store and exported from it: `migrate --into` and `export`. Then the table again,
/// with the position that the store keeps, and from its beginning, when the store has every receipt. Beside them, the time
/// that the engine alone takes for the rows that the store then has, and the cryptography of each different receipt.
///
/// Options: `--from DIR`, a folder of `legacy-receipts-benchmark rows`; without it, `--rows N` and `--customers N` of a table
/// that is made first. A million rows and their stores need 11 GB in the temporary folder.
///
/// PostgreSQL is measured if `LEGACY_RECEIPTS_POSTGRES` is set: `LEGACY_RECEIPTS_POSTGRES_FSYNC=on tools/postgres.sh
/// run …`, and psql.
struct TableBenchmark {
    /// What one step took.
    private struct Step: Codable, Sendable {
        var seconds: Double
        /// The peak memory of its process.
        var megabytes: Double
        /// The records that it migrated, now or before.
        var records = 0
    }

    private struct Refusal: Error, CustomStringConvertible { let description: String }

    private static let postgreSQL = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_POSTGRES"]
    private let arguments: [String]
    /// The folder of the table; nil to make one.
    private let existing: URL?

    init(arguments: [String]) {
        self.arguments = arguments
        guard let index = arguments.firstIndex(of: "--from") else {
            existing = nil
            return
        }
        guard index + 1 < arguments.count else { usage("--from takes a folder") }
        existing = URL(fileURLWithPath: arguments[index + 1])
    }

    func run() async throws {
        let folder = try temporaryFolder("csv-benchmark")
        defer { try? FileManager.default.removeItem(at: folder) }
        let table = existing ?? folder.appendingPathComponent("table")
        if existing == nil { try StoredRows(arguments: arguments, folder: table).run() }

        let file = folder.appendingPathComponent("store.sqlite").path
        let first = try await measure("SQLite", "sqlite:\(file)", table, in: folder, limit: 60)
        let plain = try PlainLoad(from: file, to: folder.appendingPathComponent("plain.sqlite").path)
            .run(rowsPerTransaction: 20_000)
        let rows = plain.rows.values.reduce(0, +)
        compare(first, "SQLite", plain.seconds, "prepared INSERTs of its \(rows) rows")
        let receipts = plain.rows["verified_receipts"] ?? 0
        let cryptography = try Double(receipts) * Self.microsecondsOfCryptography() / 1e6
        compare(first, "SQLite", cryptography, "cryptography of \(receipts) receipts, one core")

        guard let url = Self.postgreSQL else { return }
        let schema = "csv_\(getpid())"
        let psql = PlainCopy(url: url)
        let second = try await measure("PostgreSQL", schema, table, in: folder, limit: 90)
        compare(second, "PostgreSQL", try psql.seconds(ofSchema: schema), "COPY of its rows")
        compare(second, "PostgreSQL", cryptography, "cryptography of \(receipts) receipts, one core")
        try psql.sql("DROP SCHEMA \(schema) CASCADE")
    }

    /// For a receipt with as many purchases as those of a table have on average.
    private static func microsecondsOfCryptography() throws -> Double {
        let message = try ForgedAppReceipt.bulk(1, purchases: 6).signedData(.g5)
        return try VerificationBenchmark.floor(content: message.content, calls: 2_000)
    }

    // MARK: Steps

    /// - Parameters:
    ///   - name: the name of the store in the output.
    ///   - store: as in ``open(_:)``.
    ///   - table: the table to migrate.
    ///   - folder: the folder for the export.
    ///   - limit: how many seconds the migration and the export may take.
    /// - Returns: the seconds of the migration.
    private func measure(
        _ name: String, _ store: String, _ table: URL, in folder: URL, limit: Double
    ) async throws -> Double {
        func step(_ what: String, _ arguments: [String]) async throws -> Step {
            let step: Step = try await OwnProcess.run(["csv-step"] + arguments)
            Figure(name: "\(name), \(what)", value: step.seconds, unit: "s").report()
            Figure(name: "\(name), \(what), peak memory", value: step.megabytes, unit: "MB").report()
            return step
        }
        let first = try await step("migrate", ["migrate", table.path, store])
        let tables = folder.appendingPathComponent("tables-\(name)").path
        let export = try await step("export", ["export", tables, store])
        report("\(name), migrate and export", first.seconds + export.seconds, limit: limit)
        let rate = Double(first.records) / first.seconds
        Figure(name: "\(name), migrate \(first.records) rows", value: rate, unit: "rows/s").report()
        let again = try await step("migrate, the same command again", ["migrate", table.path, store])
        report("\(name), the same command again", again.seconds, limit: 20)
        let known = try await step("migrate --start-over, all known", ["start-over", table.path, store])
        report("\(name), all known", known.seconds, limit: 20)
        guard again.records == first.records, known.records == first.records else {
            throw Refusal(description: "another run has other records")
        }
        return first.seconds
    }

    private func report(_ name: String, _ seconds: Double, limit: Double) {
        Figure(name: name, value: seconds, unit: "s", reference: "\(Int(limit)) s", ratio: seconds / limit).report()
    }

    private func compare(_ seconds: Double, _ name: String, _ floor: Double, _ what: String) {
        Figure(
            name: "\(name), migrate", value: seconds, unit: "s",
            reference: "\(what) (\(String(format: "%.1f", floor)) s)", ratio: seconds / floor
        ).report()
    }

    /// Runs one step as the child process and prints what it took: its name, a folder and the store.
    static func step(_ arguments: [String]) async throws {
        guard arguments.count == 3 else { usage("csv-step is for the benchmark itself") }
        let begin = DispatchTime.now().uptimeNanoseconds
        let store = try open(arguments[2])
        var records = 0
        if arguments[0] == "export" {
            // 2026-01-01.
            _ = try await TableExport(date: 1_767_225_600_000).run(store, to: arguments[1])
        } else {
            let folder = URL(fileURLWithPath: arguments[1])
            records = try await migrate(folder, into: store, startsOver: arguments[0] == "start-over")
        }
        try await store.close()
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
        let step = Step(seconds: seconds, megabytes: Clock.peakMegabytes(), records: records)
        print(String(decoding: try JSONEncoder().encode(step), as: UTF8.self))
    }

    private static func migrate(
        _ folder: URL, into store: any CompleteTransactionStore, startsOver: Bool
    ) async throws -> Int {
        let root = try String(contentsOf: folder.appendingPathComponent("root.pem"), encoding: .utf8)
        let base64 = root.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("-") }.joined()
        guard let certificate = Data(base64Encoded: base64) else {
            throw Refusal(description: "root.pem is no certificate")
        }
        let options = StoreMigration.Options(
            migration: MigrationOptions(
                trust: TrustPolicy(additionalRoots: [Array(certificate)]),
                jobs: ProcessInfo.processInfo.activeProcessorCount),
            userColumn: "user_id", startsOver: startsOver, date: Int64(Date().timeIntervalSince1970 * 1_000))
        let summary = try await StoreMigration(options: options)
            .run(inputs: [folder.appendingPathComponent("rows.csv").path], into: store)
        guard summary.records.migrated == summary.records.recordsRead else {
            throw Refusal(description: "a genuine receipt was quarantined")
        }
        return summary.records.recordsRead
    }

    /// - Parameter store: `sqlite:PATH`, or the schema of the PostgreSQL server.
    private static func open(_ store: String) throws -> any CompleteTransactionStore {
        let sqlite = "sqlite:"
        if store.hasPrefix(sqlite) {
            return try SQLiteTransactionStore.open(path: String(store.dropFirst(sqlite.count)))
        }
        guard let url = postgreSQL else { throw Refusal(description: "LEGACY_RECEIPTS_POSTGRES is not set") }
        return try PostgreSQLTransactionStore(url: url, options: PostgreSQLTransactionStore.Options(schema: store))
    }
}
