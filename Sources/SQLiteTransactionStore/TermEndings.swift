import GRDB
public import Purchases
public import TransactionStore

extension SQLiteTransactionStore {
    /// An app and environment with a catalog, and the last look at its terms.
    private struct TermLook {
        let scopeId: Int64
        let scope: StoreScope
        let last: LookDates?
    }

    private struct DueTerm {
        let original: String
        let transactionId: String
        /// 0 if no customer has the purchase.
        let customerId: Int64
    }

    public func recordTermEnds(
        by date: Int64, limit: Int, catalogs: TermCatalogs
    ) async throws -> RecordedEndings {
        // Read first, because no writer waits for a reader.
        let isDue = try await read { db in
            try Self.termLooks(catalogs, db).contains { look in
                let next = LookDates(after: look.last, asked: date)
                return try look.last == nil || !Self.dueTerms(look.scopeId, next, 1, db).isEmpty
            }
        }
        guard isDue else { return RecordedEndings() }
        return try await write { db in
            var result = RecordedEndings()
            let keep = try SQLStatement(
                db, "INSERT OR REPLACE INTO term_looks (scope_id, began_at, looked_at) VALUES (?1, ?2, ?3)")
            for look in try Self.termLooks(catalogs, db) {
                let dates = LookDates(after: look.last, asked: date)
                try keep.run(look.scopeId, dates.beginning, dates.date)
                let left = Int64(LedgerEndings.purchases(limit) - result.purchases)
                let due = try Self.dueTerms(look.scopeId, dates, left, db)
                for (_, terms) in Dictionary(grouping: due, by: \.customerId).sorted(by: { $0.key < $1.key }) {
                    try Self.recordEnds(of: terms, look, at: dates, catalogs, &result, db)
                }
            }
            return result
        }
    }

    /// Looks at terms of one customer.
    private static func recordEnds(
        of terms: [DueTerm], _ look: TermLook, at dates: LookDates, _ catalogs: TermCatalogs,
        _ result: inout RecordedEndings, _ db: Database
    ) throws {
        var next: [String: Int64] = [:]
        do {
            if let customer = try customer(of: terms, look, db) {
                let originals = Dictionary(
                    terms.map { ($0.transactionId, $0.original) }, uniquingKeysWith: { first, _ in first })
                let ended = try RenewalWriter(db).recordTermEnds(
                    originals, in: customer, catalogs, at: dates, look.scopeId)
                next = ended.nextDates
                result.entries += ended.entries.count
            }
        } catch let error as TransactionStoreError where error.code == .corrupt {
            for term in terms { next[term.transactionId] = LedgerEndings.oneDay(after: dates.date) }
            result.unreadable += terms.count
        }
        result.purchases += terms.count
        let keep = try SQLStatement(
            db,
            """
            UPDATE term_bases SET due_at = ?4
            WHERE scope_id = ?1 AND original_transaction_id = ?2 AND transaction_id = ?3
            """)
        for term in terms {
            let date = next[term.transactionId] ?? LedgerEndings.whenChanged
            try keep.run(look.scopeId, term.original, term.transactionId, date)
        }
    }

    private static func customer(of terms: [DueTerm], _ look: TermLook, _ db: Database) throws -> Customer? {
        guard let original = terms.first?.original else { return nil }
        var assembler = CustomerAssembler(scope: look.scope)
        let kind = Int64(CustomerIdentity.Kind.originalTransactionId.rawValue)
        try readAll(of: kind, original, look.scopeId, into: &assembler, db, onlyPurchases: true)
        return assembler.customer()
    }

    private static func termLooks(_ catalogs: TermCatalogs, _ db: Database) throws -> [TermLook] {
        let find = try SQLStatement(
            db,
            """
            SELECT s.id, s.environment, s.bundle_id, l.scope_id, l.began_at, l.looked_at
            FROM scopes s LEFT JOIN term_looks l ON l.scope_id = s.id ORDER BY s.id
            """)
        let looks = try find.rows { row in
            TermLook(
                scopeId: row.integer(0),
                scope: row.scope(1),
                last: row.integer(3) == 0 ? nil : LookDates(beginning: row.integer(4), date: row.integer(5)))
        }
        return looks.filter { catalogs.contains($0.scope) }
    }

    private static func dueTerms(
        _ scopeId: Int64, _ dates: LookDates, _ limit: Int64, _ db: Database
    ) throws -> [DueTerm] {
        let find = try SQLStatement(
            db,
            """
            SELECT t.original_transaction_id, t.transaction_id, i.customer_id
            FROM term_bases t INDEXED BY term_bases_due LEFT JOIN identities i
                ON i.scope_id = t.scope_id AND i.kind = 1 AND i.value = t.original_transaction_id
            WHERE t.scope_id = ?1 AND t.due_at <= ?2 ORDER BY t.due_at LIMIT ?3
            """)
        return try find.rows(scopeId, dates.date, limit) {
            DueTerm(original: $0.text(0), transactionId: $0.text(1), customerId: $0.integer(2))
        }
    }
}
