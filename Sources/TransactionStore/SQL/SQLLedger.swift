package import Purchases

extension SQLStore {
    /// Skips rows that only keep the position of an erased entry.
    /// - Throws: ``TransactionStoreError``; `entriesRemoved` even if the entries are removed during the read.
    public func changes(after position: Int64, limit: Int) async throws -> [LedgerEntry] {
        let limit = Int64(LedgerLimits.entries(limit))
        return try await reading { session in
            // A row that only keeps a position has no app (scope 0), and takes no place in a page. The sign keeps the database
            // from an index that begins with the scope.
            let entries = try session.entries(
                """
                SELECT * FROM ledger WHERE position > \(position) AND +\(sql: session.dialect.scope) > 0
                ORDER BY position LIMIT \(limit)
                """)
            // Checked after the entries are read, because they can be removed during the read.
            try LedgerLimits.check(readFrom: position, removed: session.removedPosition())
            return entries
        }
    }

    /// Empty for an app and environment that the store does not have. Removed entries are left out, even if the store
    /// keeps their rows for the state of a transaction.
    public func entries(
        ofPurchases originalTransactionIds: [String], in scope: StoreScope
    ) async throws -> [LedgerEntry] {
        try await reading { session in
            let (environment, bundleId) = (scope.environment.rawValue, scope.bundleId)
            let scopeId = try session.integer(
                "SELECT id FROM scopes WHERE environment = \(environment) AND bundle_id = \(bundleId)")
            guard let scopeId else { return [] }
            var entries: [LedgerEntry] = []
            for part in parts(of: originalTransactionIds) {
                let ofPurchases = session.dialect.isOfPurchases(scopeId, part)
                entries += try session.entries(
                    """
                    SELECT * FROM ledger
                    WHERE \(ofPurchases) AND \(sql: session.dialect.scope) = \(scopeId)
                        AND transaction_id IN (SELECT transaction_id FROM transactions WHERE \(ofPurchases))
                    """)
            }
            // Of removed entries, the last state of each transaction stays, for the entries after it.
            let removed = try session.removedPosition()
            return entries.filter { $0.position > removed }.sorted { $0.position < $1.position }
        }
    }

    /// Compares the position with the last one that the ledger has used, even if its entry was erased.
    /// - Throws: ``TransactionStoreError``; `invalidArgument` for an invalid name, a negative position, or one after
    ///   the last entry.
    public func acknowledge(_ position: Int64, by consumer: String) async throws {
        try LedgerLimits.check(consumer: consumer)
        try await writing { session in
            let last = try session.integer("SELECT \(sql: session.dialect.lastPosition)") ?? 0
            try LedgerLimits.check(position: position, last: last)
            try session.run(
                """
                INSERT INTO ledger_consumers AS known (name, position) VALUES (\(consumer), \(position))
                ON CONFLICT (name) DO UPDATE SET position = excluded.position WHERE known.position < excluded.position
                """)
        }
    }

    /// The position of an invalid name is an error, that of an unknown one is 0.
    /// - Throws: ``TransactionStoreError``; `invalidArgument` for an invalid name.
    public func acknowledgedPosition(of consumer: String) async throws -> Int64 {
        try LedgerLimits.check(consumer: consumer)
        return try await reading {
            try $0.integer("SELECT position FROM ledger_consumers WHERE name = \(consumer)") ?? 0
        }
    }

    /// One statement decides, by the clock of the database. A new consumer gets the position 0, so it holds back
    /// ``removeEntries(before:evenUnread:)``.
    /// - Throws: ``TransactionStoreError``; `invalidArgument` for an invalid name or duration.
    public func lease(_ consumer: String, to holder: String, for milliseconds: Int64) async throws -> ConsumerLease {
        try LedgerLimits.check(consumer: consumer)
        try LedgerLimits.check(holder: holder, milliseconds: milliseconds)
        return try await writing { session in
            let now = session.dialect.now
            // The row is locked from here on, so the second statement sees the same lease.
            let taken = try session.run(
                """
                INSERT INTO ledger_consumers AS known (name, position, holder, leased_until)
                VALUES (\(consumer), 0, \(holder), \(sql: now) + \(milliseconds))
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until
                WHERE known.holder IS NULL OR known.holder = excluded.holder OR known.leased_until <= \(sql: now)
                    OR known.leased_until > \(sql: now) + \(LedgerLimits.maximumLeaseMilliseconds)
                """)
            if taken.changed > 0 {
                return ConsumerLease(isGranted: true, holder: holder, remainingMilliseconds: milliseconds)
            }
            let found = try session.rows(
                "SELECT holder, leased_until - \(sql: now) FROM ledger_consumers WHERE name = \(consumer)"
            ) {
                ConsumerLease(isGranted: false, holder: try $0.text(0), remainingMilliseconds: try $0.integer(1))
            }
            guard let lease = found.first else {
                throw TransactionStoreError(.engine, "A consumer with a lease is missing.")
            }
            return lease
        }
    }

    /// Changes nothing if another process has the lease. The consumer and its position stay.
    /// - Throws: ``TransactionStoreError``; `invalidArgument` for an invalid name.
    public func endLease(of consumer: String, by holder: String) async throws {
        try LedgerLimits.check(consumer: consumer)
        try LedgerLimits.check(holder: holder)
        try await writing {
            _ = try $0.run(
                """
                UPDATE ledger_consumers SET holder = NULL, leased_until = NULL
                WHERE name = \(consumer) AND holder = \(holder)
                """)
        }
    }

    /// A holder whose lease has expired, or lasts longer than ``LedgerLimits/maximumLeaseMilliseconds``, is left out.
    public func consumers() async throws -> [LedgerConsumer] { try await reading { try $0.consumers() } }

    /// Entries that only this consumer had not acknowledged can then be removed.
    /// - Throws: ``TransactionStoreError``; `invalidArgument` for an invalid name.
    public func removeConsumer(_ name: String) async throws -> Bool {
        try LedgerLimits.check(consumer: name)
        return try await writing { try $0.run("DELETE FROM ledger_consumers WHERE name = \(name)").changed > 0 }
    }

    /// Not one database transaction: readers first lose the entries, then batches delete the rows, and other writers
    /// work between two batches. After an interruption, the next call deletes the remaining rows.
    public func removeEntries(before date: Int64, evenUnread: Bool) async throws -> LedgerRemoval {
        let (removed, last) = try await reading { session in
            (try session.removedPosition(), try session.integer("SELECT max(position) FROM ledger") ?? 0)
        }
        let asked = try await lastPosition(recordedBefore: date, after: removed, upTo: max(removed, last))
        let removal = try await writing { session in
            let removal = LedgerRemoval(
                asked: asked, removed: removed, consumers: try session.consumers(), evenUnread: evenUnread)
            // Another program may have removed more meanwhile.
            let position = try session.integer(
                """
                UPDATE ledger_removal
                SET position = CASE WHEN position < \(removal.position) THEN \(removal.position) ELSE position END
                RETURNING position
                """)
            return LedgerRemoval(position: position ?? removal.position, behind: removal.behind)
        }
        var start: Int64 = 0
        try await WriteBatches.run {
            let (from, end) = (start, min(start + LedgerLimits.removedAtOnce, removal.position))
            guard from < end else { return false }
            try await writing { try $0.deleteSuperseded(after: from, upTo: end, removed: removal.position) }
            start = end
            return end < removal.position
        }
        return removal
    }

    /// The position up to which all entries were recorded before a date. In steps, because a statement has a time limit.
    private func lastPosition(
        recordedBefore date: Int64, after removed: Int64, upTo last: Int64
    ) async throws -> Int64 {
        var start = removed
        while start < last {
            let (from, end) = (start, start + LedgerLimits.removedAtOnce)
            let later = try await reading {
                try $0.integer(
                    """
                    SELECT position FROM ledger
                    WHERE position > \(from) AND position <= \(end) AND recorded_at >= \(date) ORDER BY position LIMIT 1
                    """)
            }
            if let later { return min(last, later - 1) }
            start = end
        }
        return last
    }
}

extension SQLSession {
    /// Readers no longer get entries up to this position.
    package func removedPosition() throws -> Int64 { try integer("SELECT position FROM ledger_removal") ?? 0 }

    /// The entries in the order of their positions.
    /// - Parameter ledger: the query of their rows.
    fileprivate func entries(_ ledger: SQLText) throws -> [LedgerEntry] {
        let (join, scope) = (dialect.join, dialect.scope)
        let key = dialect.purchaseInScope
        func isOfPurchase(_ table: String) -> String {
            dialect.purchase.map { "\(table).\($0) = l.\($0)" }.joined(separator: " AND ")
        }
        let found = try run(
            """
            SELECT l.position, l.event, s.environment, s.bundle_id, l.transaction_id, l.recorded_at, l.seat_claim_id,
                l.earlier_before, \(sql: LedgerEntry.Event.sqlOfEventBefore(scope: scope)),
                (SELECT count(*) FROM ledger AS u
                 WHERE u.\(sql: scope) = l.\(sql: scope) AND u.transaction_id = l.transaction_id AND u.event IN (2, 3)),
                t.kind, t.source, t.signed_date, t.payload, t.legacy, l.\(sql: scope), l.\(sql: key),
                (SELECT count(*) FROM transactions AS o
                 WHERE o.transaction_id = l.transaction_id AND NOT (\(sql: isOfPurchase("o"))))
            FROM (\(ledger)) AS l \(sql: join) scopes AS s ON s.id = l.\(sql: scope)
            LEFT JOIN transactions AS t ON t.transaction_id = l.transaction_id AND \(sql: isOfPurchase("t"))
            """)
        // The entries of one purchase, or of connected ones, often follow each other.
        var last: (unit: Set<SQLPurchase>, transactions: [String: StoredTransaction]) = ([], [:])
        let rows = try Dictionary(grouping: found.rows) { try $0.integer(0) }
        return try rows.sorted { $0.key < $1.key }.map { position, facts in
            let (row, scope) = (facts[0], try facts[0].scope(2))
            let id = try row.text(4)
            var assembler = CustomerAssembler(scope: scope)
            for row in facts where !row.isNull(10) { try assembler.addTransaction(row.fact(10)) }
            var transaction = assembler.joinedTransactions().first
            // The transaction's own facts may not state the revocation or the upgrade. Then only the customer's other
            // transactions show it. Or documents state the transaction under another original id too.
            if try row.integer(9) > 0 || row.integer(17) > 0 || transaction?.mayBeChangedByOthers == true {
                let purchase = try row.purchase(15)
                if !last.unit.contains(purchase) { last = try transactions(of: purchase, in: scope) }
                transaction = last.transactions[id] ?? transaction
            }
            guard let event = LedgerEntry.Event(rawValue: try row.integer(1)), let transaction else {
                throw TransactionStoreError(.corrupt, "The ledger has an entry for a transaction that is missing.")
            }
            return LedgerEntry(
                position: position, event: event, eventBefore: .init(rawValue: try row.integer(8)), scope: scope,
                transactionId: id, transaction: transaction,
                seatClaimId: event == .seatUnclaimed ? try row.text(6) : nil,
                earlierPurchasesBefore: row.isNull(7) ? nil : EarlierPurchases.decode(try row.bytes(7)),
                recordedDate: try row.integer(5))
        }
    }

    /// A purchase and those connected with it, and their transactions by id.
    private func transactions(
        of purchase: SQLPurchase, in scope: StoreScope
    ) throws -> (unit: Set<SQLPurchase>, transactions: [String: StoredTransaction]) {
        let unit = try connected([purchase])[purchase] ?? [purchase]
        var found: [String: StoredTransaction] = [:]
        for transaction in try transactions(of: [Array(unit)], in: scope)[0] {
            if let id = transaction.payload.transactionId { found[id] = transaction }
        }
        return (unit, found)
    }

    fileprivate func consumers() throws -> [LedgerConsumer] {
        let now = dialect.now
        return try rows(
            """
            SELECT name, position, CASE WHEN leased_until > \(sql: now)
                AND leased_until <= \(sql: now) + \(LedgerLimits.maximumLeaseMilliseconds) THEN holder END
            FROM ledger_consumers ORDER BY name
            """
        ) {
            LedgerConsumer(
                name: try $0.text(0), position: try $0.integer(1), holder: $0.isNull(2) ? nil : try $0.text(2))
        }
    }

    /// Keeps the entries that `LedgerHistory`, `RenewalEntries` and the reader need: `purchased` (1),
    /// `upgraded` (3) and `seatUnclaimed` (6). It keeps the first entry of a transaction, because the writer detects by
    /// number 0 that a transaction has entries, and its last entry. It keeps the last state before the removal, and the
    /// later events about billing, expiry and price increases (7 to 13, 15): they decide the state before the next
    /// entry, and none of them is written again. The last entry of the whole ledger is kept too, so that SQLite does
    /// not use its position again.
    fileprivate func deleteSuperseded(after start: Int64, upTo end: Int64, removed: Int64) throws {
        let later = """
            SELECT 1 FROM ledger AS k
            WHERE k.\(dialect.scope) = l.\(dialect.scope) AND k.transaction_id = l.transaction_id AND k.number > l.number
            """
        try run(
            """
            DELETE FROM ledger AS l
            WHERE l.position > \(start) AND l.position <= \(end) AND l.event NOT IN (1, 3, 6) AND l.number > 0
                AND EXISTS (\(sql: later))
                AND (l.event IN (5, 14) OR EXISTS (\(sql: later) AND k.position <= \(removed) AND k.event <= 4))
            """)
    }
}
