import GRDB
import Purchases
import TransactionStore

extension SharedSession {
    private struct DueTerm {
        let original: String
        let transactionId: String
        /// 0 if no customer has the purchase.
        let customerId: Int64
    }

    func look(
        at look: TermLook, _ dates: LookDates, limit: Int, _ catalogs: TermCatalogs, _ result: inout RecordedEndings
    ) throws {
        let due = try dueTerms(look.scopeId, dates, Int64(limit))
        for (_, terms) in Dictionary(grouping: due, by: \.customerId).sorted(by: { $0.key < $1.key }) {
            try recordEnds(of: terms, look, at: dates, catalogs, &result)
        }
    }

    /// Looks at terms of one customer.
    private func recordEnds(
        of terms: [DueTerm], _ look: TermLook, at dates: LookDates, _ catalogs: TermCatalogs,
        _ result: inout RecordedEndings
    ) throws {
        var next: [String: Int64] = [:]
        do {
            if let customer = try customer(of: terms, look) {
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

    private func customer(of terms: [DueTerm], _ look: TermLook) throws -> Customer? {
        guard let original = terms.first?.original else { return nil }
        var assembler = CustomerAssembler(scope: look.scope)
        let kind = Int64(CustomerIdentity.Kind.originalTransactionId.rawValue)
        try SQLiteTransactionStore.readAll(of: kind, original, look.scopeId, into: &assembler, db, onlyPurchases: true)
        return assembler.customer()
    }

    private func dueTerms(
        _ scopeId: Int64, _ dates: LookDates, _ limit: Int64
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
