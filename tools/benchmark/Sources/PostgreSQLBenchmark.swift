import AppStoreModels
import Foundation
import PostgreSQLTransactionStore
import Purchases
import TransactionStore
import TransactionStoreConformance

/// The PostgreSQL store: bulk load compared with COPY of the same rows into the same tables with the same indexes,
/// and the look-up of a customer with 200 transactions.
///
/// Needs a server that makes commits durable: `LEGACY_RECEIPTS_POSTGRES_FSYNC=on tools/postgres.sh run …`, and psql.
struct PostgreSQLBenchmark {
    private let url: String
    private var psql: PlainCopy { PlainCopy(url: url) }
    var transactionCount: Int
    private let scope = StoreScope(environment: .production, bundleId: "com.example.app")
    private let transactionsPerCall = 20_000
    private static let june: Int64 = 1_590_969_600_000

    /// Nil if `LEGACY_RECEIPTS_POSTGRES` is not set.
    init?(transactionCount: Int = 200_000) {
        guard let url = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_POSTGRES"] else { return nil }
        self.url = url
        self.transactionCount = transactionCount
    }

    fileprivate struct Refusal: Error, CustomStringConvertible { let description: String }

    func run() async throws {
        try await measureLoad(perCustomer: 10, receiptSize: 6_000)
        try await measureLoad(perCustomer: 10, receiptSize: 0)
        try await measureLoad(perCustomer: 200, receiptSize: 0)
    }

    private func measureLoad(perCustomer: Int, receiptSize: Int) async throws {
        let schema = "benchmark_\(getpid())"
        var options = PostgreSQLTransactionStore.Options()
        options.schema = schema
        let store = try await PostgreSQLTransactionStore.open(url: url, options: options)
        let batches = stride(from: 0, to: transactionCount, by: transactionsPerCall).map { start in
            (0..<transactionsPerCall / perCustomer).map { set(start / perCustomer + $0, perCustomer, receiptSize) }
        }
        let own = try await seconds { for sets in batches { _ = try await store.apply(sets) } }
        let again = try await seconds { for sets in batches { _ = try await store.apply(sets) } }
        let plain = try psql.seconds(ofSchema: schema)
        let name =
            "PostgreSQL store, \(perCustomer) transactions and a receipt of \(receiptSize) bytes per customer"
        report(name, own, plain)
        report("\(name), all known already", again, plain)
        if perCustomer == 200 { try await measureLookups(store, transactionCount / perCustomer) }
        try await store.close()
        try psql.sql("DROP SCHEMA \(schema) CASCADE")
    }

    private func report(_ name: String, _ own: Double, _ plain: Double) {
        Figure(
            name: name, value: Double(transactionCount) / own, unit: "transactions/s",
            reference: "COPY of the same rows (\(Int(Double(transactionCount) / plain))/s)", ratio: plain / own
        ).report()
    }

    private func seconds(_ body: () async throws -> Void) async throws -> Double {
        let begin = DispatchTime.now().uptimeNanoseconds
        try await body()
        return Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
    }

    private func set(_ customer: Int, _ count: Int, _ receiptSize: Int) -> FactSet {
        // Ids are spread over the whole range, so no index is filled in order.
        let original = 100_000_000_000_000 + Int64((UInt64(customer) &* 0x9E37_79B9_7F4A_7C15) >> 20) * 1000
        var legacy = LegacyTransactionFields()
        legacy.isTrialPeriod = false
        legacy.isInIntroOfferPeriod = false
        let facts = (0..<count).map { place in
            StoreSamples.fact(
                String(original + Int64(place)), original: String(original),
                product: "com.example.app.subscription.monthly", at: Self.june, legacy: legacy
            ) { payload in
                payload.webOrderLineItemId = String(original + Int64(place) + 500)
                payload.purchaseDate = Self.june + Int64(place) * 2_592_000_000
                payload.originalPurchaseDate = Self.june
                payload.expiresDate = Self.june + Int64(place + 1) * 2_592_000_000
                payload.quantity = 1
                payload.type = .autoRenewableSubscription
                payload.inAppOwnershipType = .purchased
            }
        }
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<receiptSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let receipt = bytes.isEmpty ? nil : StoreSamples.receipt(bytes, at: Self.june)
        return StoreSamples.set(facts, scope: scope, receipt: receipt)
    }

    // MARK: Look-up

    private func measureLookups(_ store: PostgreSQLTransactionStore, _ customers: Int) async throws {
        try psql.sql("VACUUM ANALYZE")
        var times: [Double] = []
        for lookup in 0..<2_000 {
            let customer = Int((UInt64(lookup) &* 0x9E37_79B9_7F4A_7C15) >> 11) % customers
            let identity = set(customer, 1, 0).identities
            let begin = DispatchTime.now().uptimeNanoseconds
            let found = try await store.customer(identity, in: scope)
            times.append(Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e6)
            guard found?.transactions.count == 200 else { throw Refusal(description: "a customer is not complete") }
        }
        times.sort()
        for (name, place) in [("p50", 0.5), ("p99", 0.99)] {
            let value = times[Int(Double(times.count - 1) * place)]
            Figure(
                name: "PostgreSQL look-up of 200 of \(transactionCount) transactions, \(name)", value: value, unit: "ms"
            )
            .report()
        }
    }
}

/// PostgreSQL's fastest way to insert many rows: COPY into empty tables with the same columns and indexes. The rows exist
/// already.
struct PlainCopy {
    let url: String

    private static let tables = [
        "identities", "transactions", "renewal_infos", "app_transactions", "receipts", "ledger", "user_claims",
        "verified_receipts",
    ]

    /// The seconds that psql takes to copy the rows of a store.
    func seconds(ofSchema schema: String) throws -> Double {
        let folder = try temporaryFolder("copy")
        defer { try? FileManager.default.removeItem(at: folder) }
        try sql("CREATE SCHEMA plain")
        var seconds = 0.0
        for table in Self.tables {
            let file = folder.appendingPathComponent(table).path
            try sql("\\copy \(schema).\(table) TO '\(file)' (FORMAT binary)")
            try sql("CREATE TABLE plain.\(table) (LIKE \(schema).\(table) INCLUDING ALL)")
            let begin = DispatchTime.now().uptimeNanoseconds
            try sql("\\copy plain.\(table) FROM '\(file)' (FORMAT binary)")
            seconds += Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
        }
        try sql("DROP SCHEMA plain CASCADE")
        return seconds
    }

    func sql(_ text: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "psql", url, "-Xq", "-v", "ON_ERROR_STOP=1", "-c", "SET client_min_messages TO error", "-c", text,
        ]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw PostgreSQLBenchmark.Refusal(description: "psql failed at \(text)")
        }
    }
}
