package import Purchases

/// An app and environment with a catalog, and the last look at its terms.
package struct TermLook: Sendable {
    package let scopeId: Int64
    package let scope: StoreScope
    fileprivate let last: LookDates?
}

extension SQLStore {
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
