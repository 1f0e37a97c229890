import TransactionStore

/// Creates the ledger of a store that has none, and the table of bases. Both work in pages along an index, so that no
/// statement takes long.
enum LedgerFiller {
    /// The number of original transaction ids per page.
    private static let pageSize: Int32 = 500

    /// Lists the purchases after a given one, and whether each fulfills a condition.
    private static func list(_ isMeant: String) -> Statement {
        Statement(
            """
            SELECT i.id, i.customer, i.scope, i.value, (\(isMeant))::int4 FROM identities AS i
            WHERE (i.scope, i.kind, i.value) > ($1::int4, 1::int2, $2::bytea) AND i.kind = 1
            ORDER BY i.scope, i.kind, i.value LIMIT $3::int4
            """)
    }

    private static let listAll = list("true")
    private static let listWithTerms = list(
        """
        EXISTS (
            SELECT FROM transactions AS t
            WHERE t.purchase = i.id AND position('\(StoredTerms.typeMember)'::bytea IN t.payload) > 0)
        """)

    private static func forEachPage(
        of list: Statement, _ session: PostgreSQLSession, _ body: ([SQLOwnedPurchase]) throws -> Void
    ) throws {
        var last: (scope: Int32, value: [UInt8]) = (0, [])
        while true {
            let rows = try session.run(list, .int4(last.scope), .bytes(last.value), .int4(pageSize))
            guard rows.count > 0 else { return }
            let meant = try (0..<rows.count).filter { try rows.integer($0, 4, as: Int32.self) != 0 }
            if !meant.isEmpty { try body(try meant.map { try rows.ownedPurchase($0) }) }
            last = (try rows.integer(rows.count - 1, 2), try rows.bytes(rows.count - 1, 3))
        }
    }

    static func fill(_ session: PostgreSQLSession) throws {
        // The index of version 7, for `sharing`.
        try session.execute("CREATE INDEX transactions_transaction_id ON transactions (transaction_id)")
        try forEachPage(of: listAll, session) { page in
            _ = try session.appendNumbered(try session.dueEntries(of: page.map(\.purchase)))
        }
        try session.execute("DROP INDEX transactions_transaction_id")
    }

    /// Fills the table of bases. It appends no entries, because earlier moves are unknown.
    static func fillTerms(_ session: PostgreSQLSession) throws {
        try forEachPage(of: listWithTerms, session) { page in
            let moves = try session.termMoves(by: Set(page))
            try session.replace(moves.outdated, with: moves.new, hasScopes: false)
        }
    }
}
