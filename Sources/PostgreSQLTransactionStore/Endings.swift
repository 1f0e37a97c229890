import TransactionStore

/// Keeps when to look at purchases (`LedgerEndings`), within the transaction that writes their facts, under the lock of
/// ``LedgerWriter``.
struct EndingWriter {
    let session: PostgreSQLSession

    private static let findHistory = Statement(
        "SELECT (SELECT began_at FROM ledger_looks), \(PostgreSQLTransactionStore.now)")
    /// As `LedgerEndings.merged`.
    private static let keep = Statement(
        """
        INSERT INTO ledger_endings AS known (purchase, due_at)
        SELECT given.purchase, min(given.due_at) FROM unnest($1::int8[], $2::int8[]) AS given (purchase, due_at)
        GROUP BY given.purchase ORDER BY given.purchase
        ON CONFLICT (purchase) DO UPDATE SET due_at =
            CASE known.due_at WHEN \(LedgerEndings.whenChanged) THEN 0 ELSE least(known.due_at, excluded.due_at) END
        """)

    /// - Parameters:
    ///   - batch: the written facts.
    ///   - numbers: for each identity, its database id.
    func keep(_ batch: FactBatch, _ numbers: [Int64]) throws {
        guard (batch.transactions + batch.renewalInfos).contains(where: { $0.lookDate != nil }) else { return }
        let found = try session.run(Self.findHistory)
        let began: Int64? = found.isNull(0, 0) ? nil : try found.integer(0, 0)
        let dates = LedgerEndings.dates(
            periods: batch.transactions.map { ($0.owner, $0.lookDate) },
            retries: batch.renewalInfos.map { ($0.owner, $0.lookDate) },
            after: LedgerEndings.history(before: began, now: try found.integer(0, 1)))
        guard !dates.isEmpty else { return }
        let kept = dates.map { (purchase: numbers[$0.key], date: $0.value) }
        try session.run(Self.keep, [.int8s(kept.map { $0.purchase }), .int8s(kept.map { $0.date })])
    }
}

extension PostgreSQLSession {
    /// Leaves out purchases that are being erased.
    private static let takeDue = Statement(
        """
        SELECT due.purchase, i.scope, i.value FROM (
            SELECT purchase FROM ledger_endings WHERE due_at <= $1::int8 ORDER BY due_at LIMIT $2::int4
            FOR UPDATE SKIP LOCKED
        ) AS due LEFT JOIN identities AS i ON i.id = due.purchase
        """)
    private static let lookAgain = Statement(
        """
        UPDATE ledger_endings AS known SET due_at = given.due_at
        FROM unnest($1::int8[], $2::int8[]) AS given (purchase, due_at) WHERE known.purchase = given.purchase
        """)
    private static let lookNoMore = Statement("DELETE FROM ledger_endings WHERE purchase = ANY ($1::int8[])")

    func lockLedger() throws { try LedgerWriter(session: self).lock() }

    func look(at dates: LookDates, limit: Int) throws -> RecordedEndings {
        let due = try run(Self.takeDue, [.int8(dates.date), .int4(Int32(limit))])
        var purchases: [RenewalWriter.Purchase] = []
        var ended: [Int64] = []
        var next: [(purchase: Int64, date: Int64)] = []
        for row in 0..<due.count {
            let id = try due.integer(row, 0, as: Int64.self)
            if due.isNull(row, 1) {
                ended.append(id)
            } else {
                purchases.append(
                    .init(id: id, scope: try due.integer(row, 1), original: try due.text(row, 2)))
            }
        }
        var result = RecordedEndings()
        result.purchases = due.count
        for (purchase, found) in zip(
            purchases, try RenewalWriter(session: self).recordEndings(of: purchases, at: dates))
        {
            if found == nil { result.unreadable += 1 }
            result.entries += found?.entries.count ?? 0
            if let date = found == nil ? LedgerEndings.oneDay(after: dates.date) : found?.nextDate {
                next.append((purchase: purchase.id, date: date))
            } else {
                ended.append(purchase.id)
            }
        }
        try run(Self.lookAgain, [.int8s(next.map { $0.purchase }), .int8s(next.map { $0.date })])
        try run(Self.lookNoMore, [.int8s(ended)])
        return result
    }
}
