import GRDB
import TransactionStore

/// Appends the event of a notification to the ledger, if the ledger has an entry for the transaction.
struct NotifiedEventWriter {
    private let append: SQLStatement

    init(_ db: Database) throws {
        append = try SQLStatement(
            db,
            """
            INSERT INTO ledger (scope_id, transaction_id, number, event, original_transaction_id, recorded_at)
            SELECT ?1, ?2, MAX(number) + 1, ?3, ?4, \(SQLiteTransactionStore.now)
            FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 GROUP BY transaction_id
            """)
    }

    func record(_ event: NotifiedEvent, _ scopeId: Int64) throws {
        try append.bind(1, scopeId)
        try append.bind(2, event.transactionId)
        try append.bind(3, event.event.rawValue)
        try append.bind(4, event.originalTransactionId)
        try append.run()
    }
}
