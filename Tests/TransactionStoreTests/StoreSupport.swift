import AppStoreModels
import GRDB
import ProductCatalog
import Purchases
import Testing
import TransactionStore
import TransactionStoreConformance

typealias Samples = StoreSamples

/// The code of the error that a call throws; nil if it throws none. Every error of a store is a `TransactionStoreError`.
func code(_ body: () async throws -> Void) async -> TransactionStoreError.Code? {
    do {
        try await body()
        return nil
    } catch {
        let error = error as? TransactionStoreError
        #expect(error != nil, "every error is a TransactionStoreError")
        return error?.code
    }
}

/// SQLite's query plan for a statement, one line per step.
@inline(never)
func queryPlan(of sql: String, _ arguments: StatementArguments = [], in path: String) throws -> [String] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { db in
        try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: arguments).map { $0["detail"] as String }
    }
}

extension FactSupport {
    @inline(never)
    static func recorded(_ json: String) throws -> RecordedMapping {
        ReceiptMapper().map(try RecordedReply(json: Array(json.utf8)))
    }

    /// The facts of one transaction, resolved as a customer shows them.
    @inline(never)
    static func join(_ facts: TransactionFact...) throws -> StoredTransaction? {
        var results: [StoredTransaction] = []
        for order in StoreConformance.permutations(facts) {
            var model = ModelStore()
            for fact in order { model.apply(Samples.set(fact)) }
            let identity = Samples.original(facts.first?.storedOriginalTransactionId ?? "")
            if let joined = try model.customer([identity], in: Samples.scope)?.transactions.first {
                results.append(joined)
            }
        }
        return results.first
    }
}

/// A catalog of all apps with one non-renewing subscription, `week`.
func catalogsWithWeek() throws -> TermCatalogs {
    let source = CatalogSource(file: "catalog.yaml", line: 1, element: "products.week")
    var entry = CatalogEntry(subject: .productId("week"), source: source)
    entry.type = .nonRenewingSubscription
    entry.duration = SubscriptionPeriod(value: 7, unit: .day)
    return TermCatalogs(other: try ProductCatalog(entries: [entry]))
}

/// Checks that a customer with damaged rows does not keep the terms of others from their entries.
/// - Parameters:
///   - store: an empty store.
///   - damage: damages transaction 1.
func checkDamagedTerms(_ store: any CompleteTransactionStore, damage: () async throws -> Void) async throws {
    let catalogs = try catalogsWithWeek()
    func look(on day: Int64) async throws -> [Int] {
        let date = Samples.june + day * Samples.day
        let found = try await store.recordTermEnds(by: date, limit: 10, catalogs: catalogs)
        return [found.purchases, found.entries, found.unreadable]
    }
    for id in ["1", "2", "3"] {
        let week = Samples.fact(id, product: "week", source: .notificationV2) { $0.type = .nonRenewingSubscription }
        _ = try await store.apply([Samples.set(week)])
    }
    #expect(try await look(on: 1) == [3, 0, 0])
    try await damage()
    #expect(try await look(on: 7) == [3, 2, 1])
    #expect(try await look(on: 7) == [0, 0, 0])
    // It is tried again after a day.
    #expect(try await look(on: 8) == [1, 0, 1])
}
