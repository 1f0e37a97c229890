import GRDB
import Purchases
import TransactionStore

/// Keeps when to look at purchases (`LedgerEndings`), within the transaction that writes their facts.
struct EndingWriter {
    private let keep: SQLStatement
    /// Dates up to this one are not kept.
    private let history: Int64

    init(_ db: Database) throws {
        let began = try SQLStatement(db, "SELECT began_at FROM ledger_looks").integer()
        let now = try SQLStatement(db, "SELECT \(SQLiteTransactionStore.now)").integer() ?? 0
        history = LedgerEndings.history(before: began, now: now)
        // As `LedgerEndings.merged`.
        keep = try SQLStatement(
            db,
            """
            INSERT INTO ledger_endings (scope_id, original_transaction_id, due_at) VALUES (?1, ?2, ?3)
            ON CONFLICT (scope_id, original_transaction_id) DO UPDATE
            SET due_at = CASE due_at WHEN \(LedgerEndings.whenChanged) THEN 0 ELSE MIN(due_at, excluded.due_at) END
            """)
    }

    func keep(_ set: FactSet, _ scopeId: Int64) throws {
        for (original, date) in LedgerEndings.dates(in: set, after: history) {
            try keep.run(scopeId, original, date)
        }
    }
}

extension SharedSession {
    private struct Due {
        let scopeId: Int64
        let original: String
    }

    func look(at dates: LookDates, limit: Int) throws -> RecordedEndings {
        let find = try SQLStatement(
            db,
            """
            SELECT scope_id, original_transaction_id FROM ledger_endings INDEXED BY ledger_endings_due
            WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2
            """)
        let due = try find.rows(dates.date, Int64(limit)) { Due(scopeId: $0.integer(0), original: $0.text(1)) }
        let writer = try RenewalWriter(db)
        var result = RecordedEndings()
        for purchase in due {
            var next: Int64?
            do {
                let ended = try writer.recordEndings(purchase.original, at: dates, purchase.scopeId)
                next = ended?.nextDate
                result.entries += ended?.entries.count ?? 0
            } catch let error as TransactionStoreError where error.code == .corrupt {
                next = LedgerEndings.oneDay(after: dates.date)
                result.unreadable += 1
            }
            let ofPurchase: SQLText =
                "scope_id = \(purchase.scopeId) AND original_transaction_id = \(purchase.original)"
            if let next {
                try run("UPDATE ledger_endings SET due_at = \(next) WHERE \(ofPurchase)")
            } else {
                try run("DELETE FROM ledger_endings WHERE \(ofPurchase)")
            }
        }
        result.purchases = due.count
        return result
    }
}
