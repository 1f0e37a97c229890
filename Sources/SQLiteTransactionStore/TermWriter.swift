import AppStoreModels
import GRDB
import Purchases
import TransactionStore

/// Appends a ledger entry for each term that moved, after the entries of `LedgerWriter` and within the same
/// transaction.
struct TermWriter {
    private let findOriginals: SQLStatement
    private let findSubscription: SQLStatement
    private let findBases: SQLStatement
    private let delete: SQLStatement
    private let insert: SQLStatement
    private let db: Database

    init(_ db: Database) throws {
        self.db = db
        findOriginals = try SQLStatement(
            db,
            """
            SELECT DISTINCT t.original_transaction_id
            FROM identities i CROSS JOIN term_bases t ON t.scope_id = i.scope_id AND t.original_transaction_id = i.value
            WHERE EXISTS (SELECT 1 FROM term_bases) AND i.customer_id = ?1 AND i.kind = 1
            """)
        findSubscription = try SQLStatement(db, SQLiteTransactionStore.findSubscription)
        findBases = try SQLStatement(
            db,
            "SELECT transaction_id, basis FROM term_bases WHERE scope_id = ?1 AND original_transaction_id = ?2")
        delete = try SQLStatement(
            db,
            """
            DELETE FROM term_bases WHERE scope_id = ?1 AND original_transaction_id = ?2 AND transaction_id = ?3
            """)
        insert = try SQLStatement(
            db,
            """
            INSERT INTO term_bases (scope_id, original_transaction_id, transaction_id, basis) VALUES (?1, ?2, ?3, ?4)
            """)
    }

    /// Appends the entries that are due for a customer.
    /// - Parameters:
    ///   - customerId: the database id of the customer.
    ///   - changed: the original transaction ids of the non-renewing subscriptions with new or newer facts.
    ///   - scopeId: the database id of the app and environment.
    func record(_ customerId: Int64, changed: Set<String>, _ scopeId: Int64) throws {
        var originals = changed
        try findOriginals.forEachRow(customerId) { originals.insert($0.text(0)) }
        guard !originals.isEmpty else { return }
        var known: [String: Int64] = [:]
        var rows: [(original: String, id: String)] = []
        var transactions: [String: (original: String, transaction: StoredTransaction)] = [:]
        for original in originals.sorted() {
            try findBases.forEachRow(scopeId, original) { row in
                rows.append((original: original, id: row.text(0)))
                known[row.text(0)] = row.integer(1)
            }
            for transaction in try SQLiteTransactionStore.subscription(
                original, scopeId, findSubscription)
            {
                guard let id = transaction.payload.transactionId, transactions[id] == nil else { continue }
                transactions[id] = (original, transaction)
            }
        }
        let changes = TermChanges(of: transactions.values.map(\.transaction), known: known)
        guard changes.bases != known else { return }
        // The others keep their dates: a customer with thousands of terms would be read again for all of them.
        for row in rows where changes.bases[row.id] != known[row.id] { try delete.run(scopeId, row.original, row.id) }
        for (id, basis) in changes.bases where known[id] != basis {
            try insert.run(scopeId, transactions[id]?.original ?? id, id, basis)
        }
        guard !changes.moved.isEmpty else { return }
        // Not prepared before: the ledger of a schema before 6 has no dates, and no terms move there.
        let append = try SQLStatement(
            db,
            """
            INSERT INTO ledger
                (scope_id, transaction_id, number, event, original_transaction_id, earlier_before, recorded_at)
            SELECT ?1, ?2, MAX(number) + 1, \(LedgerEntry.Event.termMoved.rawValue), ?3, ?4, \(SQLiteTransactionStore.now)
            FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 GROUP BY transaction_id
            """)
        for id in changes.moved {
            try append.run(scopeId, id, transactions[id]?.original ?? id, changes.earlierPurchases[id])
        }
    }

    /// Fills the table of bases in a store of an older schema. It appends no entries, because earlier moves are
    /// unknown.
    func recordAll(_ db: Database) throws {
        struct Owner: Hashable {
            let customerId: Int64
            let scopeId: Int64
        }
        let all = try SQLStatement(
            db,
            """
            SELECT DISTINCT i.customer_id, t.scope_id, t.original_transaction_id
            FROM transactions t
            CROSS JOIN identities i ON i.scope_id = t.scope_id AND i.kind = 1 AND i.value = t.original_transaction_id
            WHERE instr(t.payload, CAST('\(StoredTerms.typeMember)' AS BLOB)) > 0
            """)
        var originals: [Owner: Set<String>] = [:]
        try all.forEachRow {
            originals[Owner(customerId: $0.integer(0), scopeId: $0.integer(1)), default: []].insert($0.text(2))
        }
        for (owner, changed) in originals { try record(owner.customerId, changed: changed, owner.scopeId) }
    }
}
