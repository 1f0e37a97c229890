import AppStoreModels
import Foundation
import GRDB
import GRDBSQLite
import Purchases
import SQLiteTransactionStore
import TransactionStore
import TransactionStoreConformance

/// The SQLite store: bulk load compared with plain prepared INSERTs of the same rows, and the look-up of a customer with
/// 200 transactions among many.
///
/// `transactionCount` is the number of stored transactions at the look-ups; 10,000,000 need about 10 GB of disk and
/// several minutes.
struct StoreBenchmark {
    var transactionCount = 500_000
    var lookups = 3_000
    private let transactionsPerCustomer = 200
    private let transactionsPerCall = 20_000
    private let scope = StoreScope(environment: .production, bundleId: "com.example.app")

    init(transactionCount: Int = 500_000) { self.transactionCount = transactionCount }

    /// Reads `--store-transactions N` from the arguments of the benchmark.
    init(arguments: [String]) throws {
        guard let index = arguments.firstIndex(of: "--store-transactions") else { return }
        guard index + 1 < arguments.count, let count = Int(arguments[index + 1]), count >= 20_000 else {
            throw Refusal(description: "--store-transactions takes a number of at least 20000")
        }
        transactionCount = count
    }

    struct Refusal: Error, CustomStringConvertible { let description: String }

    func run() async throws {
        let folder = try temporaryFolder("store-benchmark")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("store.sqlite").path
        try await measureLoad(min(transactionCount, 200_000), perCustomer: 10, source: .receipt, in: folder)
        try await measureLoad(min(transactionCount, 200_000), perCustomer: 200, source: .signedTransaction, in: folder)
        try await measureLookups(path)
    }

    // MARK: Bulk load

    /// The best of three alternating rounds for each side, because other programs on the machine slow both down.
    private func measureLoad(_ count: Int, perCustomer: Int, source: FactSource, in folder: URL) async throws {
        var (own, plain) = (Double.infinity, Double.infinity)
        for round in 0..<3 {
            let path = folder.appendingPathComponent("load-\(perCustomer)-\(round).sqlite").path
            let store = try SQLiteTransactionStore.open(path: path)
            own = min(own, try await load(store, count, perCustomer: perCustomer, source: source))
            try await store.close()
            let copy = folder.appendingPathComponent("plain-\(perCustomer)-\(round).sqlite").path
            plain = min(plain, try PlainLoad(from: path, to: copy).run(rowsPerTransaction: transactionsPerCall).seconds)
        }
        Figure(
            name: "store \(count) transactions, \(perCustomer) per customer", value: Double(count) / own,
            unit: "transactions/s", reference: "prepared INSERTs of the same rows (\(Int(Double(count) / plain))/s)",
            ratio: plain / own
        ).report()
    }

    /// The seconds that the store took, without the time to create the facts.
    private func load(
        _ store: SQLiteTransactionStore, _ count: Int, perCustomer: Int, source: FactSource
    ) async throws -> Double {
        var nanoseconds: UInt64 = 0
        for start in stride(from: 0, to: count, by: transactionsPerCall) {
            let customers = min(transactionsPerCall, count - start) / perCustomer
            let sets = (0..<customers).map { set(start / perCustomer + $0, perCustomer, source) }
            let begin = DispatchTime.now().uptimeNanoseconds
            _ = try await store.apply(sets)
            nanoseconds += DispatchTime.now().uptimeNanoseconds - begin
        }
        return Double(nanoseconds) / 1e9
    }

    /// Ids are spread over the whole range, so no index is filled in order.
    private func original(_ customer: Int) -> Int64 {
        100_000_000_000_000 + Int64((UInt64(customer) &* 0x9E37_79B9_7F4A_7C15) >> 20) * 1000
    }

    private func set(_ customer: Int, _ count: Int, _ source: FactSource) -> FactSet {
        let original = original(customer)
        let june: Int64 = 1_590_969_600_000
        let facts = (0..<count).map { place -> TransactionFact in
            var legacy: LegacyTransactionFields?
            if source == .receipt {
                legacy = LegacyTransactionFields()
                legacy?.isTrialPeriod = false
                legacy?.isInIntroOfferPeriod = false
                legacy?.inAppOwnershipType = .purchased
            }
            return StoreSamples.fact(
                String(original + Int64(place)), original: String(original),
                product: "com.example.app.subscription.monthly", source: source, at: june + Int64(place),
                legacy: legacy
            ) { payload in
                payload.webOrderLineItemId = String(original + Int64(place) + 500)
                payload.purchaseDate = june + Int64(place) * 2_592_000_000
                payload.originalPurchaseDate = june
                payload.expiresDate = june + Int64(place + 1) * 2_592_000_000
                payload.quantity = 1
                payload.type = .autoRenewableSubscription
                payload.inAppOwnershipType = .purchased
                guard source != .receipt else { return }
                payload.subscriptionGroupIdentifier = "20512345"
                payload.signedDate = june + Int64(place) * 2_592_000_000
                payload.storefront = "USA"
                payload.storefrontId = "143441"
                payload.transactionReason = place == 0 ? .purchase : .renewal
                payload.currency = "USD"
                payload.price = 9990
                payload.appTransactionId = String(original + 999)
            }
        }
        let bytes = Array(repeating: UInt8(truncatingIfNeeded: customer), count: 6_000)
        return StoreSamples.set(facts, scope: scope, receipt: StoreSamples.receipt(bytes, at: june))
    }

    // MARK: Look-up

    private func measureLookups(_ path: String) async throws {
        let store = try SQLiteTransactionStore.open(path: path)
        let seconds = try await load(
            store, transactionCount, perCustomer: transactionsPerCustomer, source: .signedTransaction)
        Figure(
            name: "load to \(transactionCount) transactions", value: Double(transactionCount) / seconds,
            unit: "transactions/s"
        ).report()
        // After a load, the system's cache contains a part of the file that depends on the machine. The second measurement
        // has the whole file in the cache, as on a server with enough memory.
        try await measureLookups(store, "as loaded")
        try Self.readThrough(path)
        try await measureLookups(store, "file in memory")
        try await store.close()
    }

    private static func readThrough(_ path: String) throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        while let chunk = try file.read(upToCount: 1 << 22), !chunk.isEmpty {}
        try file.close()
    }

    private func measureLookups(_ store: SQLiteTransactionStore, _ condition: String) async throws {
        let customers = transactionCount / transactionsPerCustomer
        var times: [Double] = []
        var fromDisk = 0
        var processor = 0.0
        for lookup in 0..<lookups {
            let customer = Int((UInt64(lookup) &* 0x9E37_79B9_7F4A_7C15) >> 11) % customers
            let identity = CustomerIdentity(.originalTransactionId, String(original(customer)))
            let (bytes, seconds) = (Clock.bytesFromDisk(), Clock.processorSeconds())
            let begin = DispatchTime.now().uptimeNanoseconds
            let found = try await store.customer([identity], in: scope)
            times.append(Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e6)
            processor += Clock.processorSeconds() - seconds
            if Clock.bytesFromDisk() > bytes { fromDisk += 1 }
            guard found?.transactions.count == transactionsPerCustomer else {
                throw Refusal(description: "a customer is not complete")
            }
        }
        let milliseconds = processor * 1000 / Double(lookups)
        Figure(name: "look-up, processor time, \(condition)", value: milliseconds, unit: "ms").report()
        let share = Double(fromDisk) * 100 / Double(lookups)
        Figure(name: "look-ups that read from the disk, \(condition)", value: share, unit: "%").report()
        times.sort()
        for (name, place) in [("p50", 0.5), ("p99", 0.99)] {
            let value = times[Int(Double(times.count - 1) * place)]
            let what = "look-up of \(transactionsPerCustomer) of \(transactionCount) transactions"
            Figure(
                name: "\(what), \(name), \(condition)", value: value, unit: "ms",
                reference: name == "p99" ? "2 ms" : nil, ratio: name == "p99" ? value / 2 : nil
            ).report()
        }
    }
}

/// SQLite's fastest way to insert many rows: prepared INSERTs without conditions in large transactions, into the same
/// tables with the same indexes and the same durability. The rows exist already.
struct PlainLoad {
    let from: String
    let to: String

    /// Without the tables of GRDB and SQLite, and the one whose row every new store has.
    private static let isOfStore = "name NOT LIKE '%grdb%' AND name NOT LIKE 'sqlite%' AND name <> 'readiness'"

    /// The seconds for inserting, without the time to read the rows from the store, and the number of rows in each table.
    func run(rowsPerTransaction: Int) throws -> (seconds: Double, rows: [String: Int]) {
        let source = try DatabaseQueue(path: from)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = 16384; PRAGMA cache_size = -65536") }
        let target = try DatabasePool(path: to, configuration: configuration)
        let (schema, tables) = try source.read { db in
            let ofStore = "FROM sqlite_master WHERE sql IS NOT NULL AND \(Self.isOfStore)"
            return (
                try String.fetchAll(db, sql: "SELECT sql \(ofStore)"),
                try String.fetchAll(db, sql: "SELECT name \(ofStore) AND type = 'table'")
            )
        }
        try target.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000")
            for sql in schema { try db.execute(sql: sql) }
        }
        var nanoseconds: UInt64 = 0
        var counts: [String: Int] = [:]
        for table in tables {
            try source.read { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM \(table)")
                while true {
                    let rows = try cursor.take(rowsPerTransaction)
                    if rows.isEmpty { return }
                    counts[table, default: 0] += rows.count
                    let begin = DispatchTime.now().uptimeNanoseconds
                    try target.write { try Self.insert(rows, into: table, $0) }
                    nanoseconds += DispatchTime.now().uptimeNanoseconds - begin
                }
            }
        }
        try target.close()
        try source.close()
        return (Double(nanoseconds) / 1e9, counts)
    }

    /// With the C functions, so only SQLite itself is measured.
    private static func insert(_ rows: [[DatabaseValue]], into table: String, _ db: Database) throws {
        let places = Array(repeating: "?", count: rows.first?.count ?? 0).joined(separator: ",")
        let statement = try db.cachedStatement(sql: "INSERT INTO \(table) VALUES (\(places))").sqliteStatement
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for row in rows {
            for (index, value) in row.enumerated() {
                let place = Int32(index + 1)
                switch value.storage {
                case .null: sqlite3_bind_null(statement, place)
                case .int64(let integer): sqlite3_bind_int64(statement, place, integer)
                case .double(let double): sqlite3_bind_double(statement, place, double)
                case .string(let text): sqlite3_bind_text(statement, place, text, -1, transient)
                case .blob(let data):
                    data.withUnsafeBytes { bytes in
                        _ =
                            bytes.isEmpty
                            ? sqlite3_bind_zeroblob(statement, place, 0)
                            : sqlite3_bind_blob(statement, place, bytes.baseAddress, Int32(bytes.count), transient)
                    }
                }
            }
            guard sqlite3_step(statement) == SQLITE_DONE else {
                throw StoreBenchmark.Refusal(description: "a row could not be inserted")
            }
            sqlite3_reset(statement)
        }
    }
}

extension RowCursor {
    /// The values of the next rows.
    fileprivate func take(_ count: Int) throws -> [[DatabaseValue]] {
        var rows: [[DatabaseValue]] = []
        while rows.count < count, let row = try next() { rows.append(Array(row.databaseValues)) }
        return rows
    }
}
