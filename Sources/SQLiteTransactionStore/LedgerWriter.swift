import AppStoreModels
import GRDB
import TransactionStore

/// Appends to the ledger, within the transaction that writes the facts. Only one writes to a file at a time, so that
/// positions are committed in their order.
struct LedgerWriter {
    private let append: SQLStatement
    private let last: SQLStatement
    private let findTransaction: SQLStatement

    /// Of whom a transaction is does not matter for what becomes of it.
    private static let anyScope = StoreScope(environment: .production, bundleId: "")

    init(_ db: Database) throws {
        append = try SQLStatement(
            db,
            """
            INSERT INTO ledger (scope_id, transaction_id, number, event, original_transaction_id)
            VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (scope_id, transaction_id, number) DO NOTHING
            """)
        last = try SQLStatement(
            db,
            """
            SELECT number, event,
                EXISTS (SELECT 1 FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 AND event = 1)
            FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 ORDER BY number DESC LIMIT 1
            """)
        findTransaction = try SQLStatement(db, SQLiteTransactionStore.findTransaction)
    }

    /// Appends the entry that is due after a fact was written, if one is.
    func record(_ fact: borrowing TransactionFact, _ id: String, _ original: String, _ scopeId: Int64) throws {
        // Nearly all facts of a bulk load end here.
        let isPlain = fact.isPlainPurchase
        if isPlain, try append(id, original, scopeId, number: 0, .purchased) { return }
        let history = try history(of: id, scopeId)
        if isPlain, history?.isGranted == true { return }
        // Whatever somebody signed has an entry.
        if history == nil, !fact.origin.source.kind.isSigned { return }
        try record(id, original, scopeId, after: history)
    }

    private func record(_ id: String, _ original: String, _ scopeId: Int64, after history: LedgerHistory?) throws {
        let known = try SQLiteTransactionStore.transaction(id, original, scopeId, in: Self.anyScope, findTransaction)
        guard let known, let due = DueEntry(after: history, for: known) else { return }
        _ = try append(id, original, scopeId, number: due.number, due.event)
    }

    /// Whether there was no entry with the number yet.
    private func append(
        _ id: String, _ original: String, _ scopeId: Int64, number: Int64, _ event: LedgerEntry.Event
    ) throws -> Bool {
        try append.bind(1, scopeId)
        try append.bind(2, id)
        try append.bind(3, number)
        try append.bind(4, event.rawValue)
        try append.bind(5, original)
        return try append.run() > 0
    }

    private func history(of id: String, _ scopeId: Int64) throws -> LedgerHistory? {
        try last.bind(1, scopeId)
        try last.bind(2, id)
        var history: LedgerHistory?
        try last.forEachRow {
            history = try LedgerHistory(number: $0.integer(0), event: $0.integer(1), wasPurchased: $0.integer(2) != 0)
        }
        return history
    }

    /// Records every transaction of a store that had no ledger, in the order in which they were stored.
    func recordAll(_ db: Database) throws {
        let all = try SQLStatement(
            db, "SELECT scope_id, original_transaction_id, transaction_id FROM transactions ORDER BY rowid")
        try all.forEachRow {
            let (scopeId, id) = ($0.integer(0), $0.text(2))
            try record(id, $0.text(1), scopeId, after: history(of: id, scopeId))
        }
    }
}
