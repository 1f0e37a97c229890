import AppStoreModels
import GRDB
import Purchases
import TransactionStore

/// Appends the entries of `RenewalEntries`, after all other entries of a set and within the same transaction, and those of
/// `EndedEntries` and `EndedTerms`.
struct RenewalWriter {
    private let findRenewalInfo: SQLStatement
    private let findSubscription: SQLStatement
    private let findEvents: SQLStatement
    private let append: SQLStatement

    init(_ db: Database) throws {
        findRenewalInfo = try SQLStatement(db, SQLiteTransactionStore.findSignedRenewalInfo)
        findSubscription = try SQLStatement(db, SQLiteTransactionStore.findSubscription)
        findEvents = try SQLStatement(
            db,
            """
            SELECT l.transaction_id, l.event
            FROM (
                SELECT DISTINCT transaction_id FROM transactions WHERE scope_id = ?1 AND original_transaction_id = ?2
            ) t CROSS JOIN ledger l ON l.scope_id = ?1 AND l.transaction_id = t.transaction_id
            ORDER BY l.transaction_id, l.number
            """)
        append = try SQLStatement(db, SQLiteTransactionStore.appendEvent)
    }

    /// - Parameters:
    ///   - original: the original transaction id.
    ///   - event: the event of the set's notification, if it is about this purchase.
    ///   - scopeId: the database id of the app and environment.
    func record(_ original: String, _ event: NotifiedEvent?, _ scopeId: Int64) throws {
        let purchase = try SQLiteTransactionStore.renewedPurchase(
            original, scopeId, findRenewalInfo, findSubscription)
        guard purchase != nil || event != nil else { return }
        let due = RenewalEntries(
            of: original, in: purchase, notified: event.map { [$0] } ?? [], history: try history(original, scopeId))
        try append(due.entries, original, scopeId)
    }

    /// Appends the entries that are due because time has passed.
    func recordEndings(_ original: String, at dates: LookDates, _ scopeId: Int64) throws -> EndedEntries? {
        let purchase = try SQLiteTransactionStore.renewedPurchase(
            original, scopeId, findRenewalInfo, findSubscription, needsRenewalInfo: false)
        guard let purchase else { return nil }
        let ended = EndedEntries(of: original, in: purchase, at: dates, history: try history(original, scopeId))
        try append(ended.entries, original, scopeId)
        return ended
    }

    /// Appends the entries of terms of one customer that have ended.
    /// - Parameters:
    ///   - originals: for each transaction whose date has come, the id that it is stored under.
    ///   - customer: the customer with the transactions.
    ///   - catalogs: the catalogs that give the terms.
    ///   - dates: the dates of the look.
    ///   - scopeId: the database id of the app and environment.
    func recordTermEnds(
        _ originals: [String: String], in customer: Customer, _ catalogs: TermCatalogs, at dates: LookDates,
        _ scopeId: Int64
    ) throws -> EndedTerms {
        var known: [String: [LedgerEntry.Event]] = [:]
        for original in Set(originals.values) {
            known.merge(try history(original, scopeId)) { first, _ in first }
        }
        let ended = EndedTerms(
            of: Array(originals.keys), in: customer, catalogs: catalogs, at: dates, history: known)
        for entry in ended.entries {
            try append([entry], originals[entry.transactionId] ?? entry.transactionId, scopeId)
        }
        return ended
    }

    private func history(_ original: String, _ scopeId: Int64) throws -> [String: [LedgerEntry.Event]] {
        var history: [String: [LedgerEntry.Event]] = [:]
        try findEvents.forEachRow(scopeId, original) { row in
            guard let event = LedgerEntry.Event(rawValue: row.integer(1)) else { return }
            history[row.text(0), default: []].append(event)
        }
        return history
    }

    private func append(_ entries: [RenewalEntries.Entry], _ original: String, _ scopeId: Int64) throws {
        for entry in entries { try append.run(scopeId, entry.transactionId, entry.event.rawValue, original) }
    }
}

extension SQLiteTransactionStore {
    /// Appends an event of a transaction that has entries: the scope, the transaction, the event, the original id.
    static let appendEvent = """
        INSERT INTO ledger (scope_id, transaction_id, number, event, original_transaction_id, recorded_at)
        SELECT ?1, ?2, MAX(number) + 1, ?3, ?4, \(now)
        FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 GROUP BY transaction_id
        """
}
