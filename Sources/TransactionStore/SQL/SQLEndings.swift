package import Purchases

/// An app and environment with a catalog, and the last look at its terms.
package struct TermLook: Sendable {
    package let scopeId: Int64
    package let scope: StoreScope
    fileprivate let last: LookDates?
}

extension SQLStore {
    /// Locks the ledger only if a purchase is due, or for the first look: other programs that append to the ledger wait
    /// until the end of a look.
    public func recordEndings(by date: Int64, limit: Int) async throws -> RecordedEndings {
        // Read first, because no writer waits for a reader.
        let isDue = try await reading { session in
            guard let last = try session.lastLook() else { return true }
            let next = LookDates(after: last, asked: date).date
            return try session.integer("SELECT 1 FROM ledger_endings WHERE due_at <= \(next) LIMIT 1") != nil
        }
        guard isDue else { return RecordedEndings() }
        return try await writing { session in
            try session.lockLedger()
            let dates = LookDates(after: try session.lastLook(), asked: date)
            try session.run(
                """
                INSERT INTO ledger_looks (id, began_at, looked_at) VALUES (1, \(dates.beginning), \(dates.date))
                ON CONFLICT (id) DO UPDATE SET began_at = excluded.began_at, looked_at = excluded.looked_at
                """)
            return try session.look(at: dates, limit: LedgerEndings.purchases(limit))
        }
    }

    /// Locks the ledger only if a term is due, or for the first look with the catalog of an app. `limit` is for all
    /// apps together.
    public func recordTermEnds(
        by date: Int64, limit: Int, catalogs: TermCatalogs
    ) async throws -> RecordedEndings {
        let isDue = try await reading { session in
            let scope = session.dialect.scope
            return try session.termLooks(catalogs).contains { look in
                guard let last = look.last else { return true }
                let next = LookDates(after: last, asked: date).date
                let due = try session.integer(
                    "SELECT 1 FROM term_bases WHERE \(sql: scope) = \(look.scopeId) AND due_at <= \(next) LIMIT 1")
                return due != nil
            }
        }
        guard isDue else { return RecordedEndings() }
        return try await writing { session in
            let scope = session.dialect.scope
            try session.lockLedger()
            var result = RecordedEndings()
            for look in try session.termLooks(catalogs) {
                let dates = LookDates(after: look.last, asked: date)
                try session.run(
                    """
                    INSERT INTO term_looks (\(sql: scope), began_at, looked_at)
                    VALUES (\(look.scopeId), \(dates.beginning), \(dates.date))
                    ON CONFLICT (\(sql: scope)) DO UPDATE
                    SET began_at = excluded.began_at, looked_at = excluded.looked_at
                    """)
                let left = LedgerEndings.purchases(limit) - result.purchases
                try session.look(at: look, dates, limit: left, catalogs, &result)
            }
            return result
        }
    }
}

extension SQLSession {
    /// Dates up to this one are not kept (`LedgerEndings`).
    package func lookHistory() throws -> Int64 {
        try rows("SELECT (SELECT began_at FROM ledger_looks), \(sql: dialect.now)") {
            LedgerEndings.history(before: $0.isNull(0) ? nil : try $0.integer(0), now: try $0.integer(1))
        }.first ?? .max
    }

    /// Looks at the purchases whose date has come (`EndedEntries`), at most `limit`.
    fileprivate func look(at dates: LookDates, limit: Int) throws -> RecordedEndings {
        let due = try duePurchases(by: dates.date, limit: limit)
        var result = RecordedEndings()
        guard !due.isEmpty else { return result }
        result.purchases = due.count
        var next: [(purchase: SQLPurchase, date: Int64?)] = []
        var entries: [SQLEntry] = []
        // A transaction that documents state under two original ids ends once.
        var appended: [Int64: Set<RenewalEntries.Entry>] = [:]
        for (purchase, ended) in zip(due, try endings(of: due, at: dates)) {
            guard let ended else {
                result.unreadable += 1
                next.append((purchase, LedgerEndings.oneDay(after: dates.date)))
                continue
            }
            next.append((purchase, ended.nextDate))
            for entry in ended.entries where appended[purchase.scopeId, default: []].insert(entry).inserted {
                entries.append(SQLEntry(entry, of: purchase))
            }
        }
        result.entries = entries.count
        try append(entries)
        try setLookDates(next)
        return result
    }

    /// Looks at the terms of an app whose date has come (`EndedTerms`), at most `limit`, those of each customer together.
    fileprivate func look(
        at look: TermLook, _ dates: LookDates, limit: Int, _ catalogs: TermCatalogs, _ result: inout RecordedEndings
    ) throws {
        let due = try dueTerms(in: look.scopeId, by: dates.date, limit: limit)
        result.purchases += due.count
        let customers = Dictionary(grouping: due, by: { $0.customer }).sorted { $0.key < $1.key }
            .map { $0.value.map { $0.term } }
        for start in stride(from: 0, to: customers.count, by: Self.customersAtOnce) {
            let part = Array(customers[start..<min(start + Self.customersAtOnce, customers.count)])
            try recordEnds(of: part, look, dates, catalogs, &result)
        }
    }

    private static var customersAtOnce: Int { 64 }

    private func recordEnds(
        of customers: [[SQLTransaction]], _ look: TermLook, _ dates: LookDates, _ catalogs: TermCatalogs,
        _ result: inout RecordedEndings
    ) throws {
        let purchases = Array(Set(customers.joined().map(\.purchase)))
        let found = try events(of: purchases)
        let histories = Dictionary(uniqueKeysWithValues: purchases.enumerated().map { ($1, found[$0] ?? [:]) })
        var next: [(term: SQLTransaction, date: Int64)] = []
        var entries: [SQLEntry] = []
        var new = SQLNewEvents()
        let answers = try self.customers(with: customers.compactMap { $0.first?.purchase }, in: look.scope)
        for (terms, answer) in zip(customers, answers) {
            switch answer {
            case .success(let customer):
                let owners = Dictionary(
                    terms.map { ($0.id, $0.purchase) }, uniquingKeysWith: { first, _ in first })
                var history: [String: [LedgerEntry.Event]] = [:]
                for purchase in owners.values { history.merge(histories[purchase] ?? [:]) { first, _ in first } }
                history = new.following(history, in: look.scopeId)
                let ended = customer.map {
                    EndedTerms(of: Array(owners.keys), in: $0, catalogs: catalogs, at: dates, history: history)
                }
                let due = (ended?.entries ?? []).compactMap { entry in
                    owners[entry.transactionId].map { SQLEntry(entry, of: $0) }
                }
                new.add(due)
                entries += due
                for term in terms {
                    next.append((term, ended?.nextDates[term.id] ?? LedgerEndings.whenChanged))
                }
            case .failure(let error):
                guard error.code == .corrupt else { throw error }
                result.unreadable += terms.count
                next += terms.map { (term: $0, date: LedgerEndings.oneDay(after: dates.date)) }
            }
        }
        result.entries += entries.count
        try append(entries)
        try setLookDates(next)
    }

    fileprivate func lastLook() throws -> LookDates? {
        try rows("SELECT began_at, looked_at FROM ledger_looks") {
            LookDates(beginning: try $0.integer(0), date: try $0.integer(1))
        }.first
    }

    fileprivate func termLooks(_ catalogs: TermCatalogs) throws -> [TermLook] {
        try rows(
            """
            SELECT s.id, s.environment, s.bundle_id, l.began_at, l.looked_at
            FROM scopes AS s LEFT JOIN term_looks AS l ON l.\(sql: dialect.scope) = s.id ORDER BY s.id
            """
        ) {
            let last = $0.isNull(3) ? nil : LookDates(beginning: try $0.integer(3), date: try $0.integer(4))
            return TermLook(scopeId: try $0.integer(0), scope: try $0.scope(1), last: last)
        }.filter { catalogs.contains($0.scope) }
    }
}
