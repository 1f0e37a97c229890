import GRDB
import Purchases
public import TransactionStore

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

extension SQLiteTransactionStore: PurchaseEndings {
    private struct Due {
        let scopeId: Int64
        let original: String
    }

    public func recordEndings(by date: Int64, limit: Int) async throws -> RecordedEndings {
        // Read first, because no writer waits for a reader.
        let isDue = try await read { db in
            let last = try Self.lastLook(db)
            return try last == nil || !Self.due(LookDates(after: last, asked: date).date, 1, db).isEmpty
        }
        guard isDue else { return RecordedEndings() }
        return try await write { db in
            let dates = LookDates(after: try Self.lastLook(db), asked: date)
            try Self.keep(dates, db)
            let due = try Self.due(dates.date, Int64(LedgerEndings.purchases(limit)), db)
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
                try Self.lookAgain(at: next, purchase, db)
            }
            result.purchases = due.count
            return result
        }
    }

    private static func lastLook(_ db: Database) throws -> LookDates? {
        var last: LookDates?
        try SQLStatement(db, "SELECT began_at, looked_at FROM ledger_looks").forEachRow {
            last = LookDates(beginning: $0.integer(0), date: $0.integer(1))
        }
        return last
    }

    private static func keep(_ dates: LookDates, _ db: Database) throws {
        let keep = try SQLStatement(
            db, "INSERT OR REPLACE INTO ledger_looks (id, began_at, looked_at) VALUES (1, ?1, ?2)")
        try keep.run(dates.beginning, dates.date)
    }

    private static func due(_ date: Int64, _ limit: Int64, _ db: Database) throws -> [Due] {
        let find = try SQLStatement(
            db,
            """
            SELECT scope_id, original_transaction_id FROM ledger_endings INDEXED BY ledger_endings_due
            WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2
            """)
        return try find.rows(date, limit) { Due(scopeId: $0.integer(0), original: $0.text(1)) }
    }

    private static func lookAgain(at next: Int64?, _ purchase: Due, _ db: Database) throws {
        let ofPurchase = "WHERE scope_id = ?1 AND original_transaction_id = ?2"
        let change = try SQLStatement(
            db,
            next == nil
                ? "DELETE FROM ledger_endings \(ofPurchase)" : "UPDATE ledger_endings SET due_at = ?3 \(ofPurchase)")
        guard let next else {
            try change.run(purchase.scopeId, purchase.original)
            return
        }
        try change.run(purchase.scopeId, purchase.original, next)
    }
}
