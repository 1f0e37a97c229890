import TransactionStore

/// Creates the ledger of a store that has none. It works in pages along an index, so that no statement takes long.
enum LedgerFiller {
    /// The number of original transaction ids per page.
    private static let pageSize: Int32 = 500

    private static let page = Statement(
        """
        SELECT i.id, i.scope, i.value FROM identities AS i
        WHERE (i.scope, i.kind, i.value) > ($1::int4, 1::int2, $2::bytea) AND i.kind = 1
        ORDER BY i.scope, i.kind, i.value LIMIT $3::int4
        """)
    private static let insert = Statement(
        """
        INSERT INTO ledger (purchase, scope, number, event, transaction_id)
        SELECT purchase, scope, 0, event, id
        FROM unnest($1::int8[], $2::int4[], $3::int2[], $4::bytea[])
            WITH ORDINALITY AS given (purchase, scope, event, id, place)
        ORDER BY place
        ON CONFLICT (transaction_id, scope, number) DO NOTHING
        """)

    private struct Purchase {
        let id: Int64
        let scope: Int32
    }

    static func fill(_ session: PostgreSQLSession) throws {
        var last: (scope: Int32, value: [UInt8]) = (0, [])
        while true {
            let rows = try session.run(page, [.int4(last.scope), .bytes(last.value), .int4(pageSize)])
            guard rows.count > 0 else { return }
            let purchases = try (0..<rows.count).map {
                Purchase(id: try rows.integer($0, 0), scope: try rows.integer($0, 1))
            }
            try record(purchases, session)
            last = (try rows.integer(rows.count - 1, 1), try rows.bytes(rows.count - 1, 2))
        }
    }

    private static func record(_ purchases: [Purchase], _ session: PostgreSQLSession) throws {
        var (owners, scopes, events, ids): ([Int64], [Int32], [Int16], [[UInt8]]) = ([], [], [], [])
        let subscriptions = try StoredFacts.subscriptions(purchases.map(\.id), session)
        for (purchase, known) in zip(purchases, subscriptions) {
            // The oldest first.
            for transaction in known.reversed() {
                guard let event = transaction.deliveryState, let id = transaction.payload.transactionId else {
                    continue
                }
                owners.append(purchase.id)
                scopes.append(purchase.scope)
                events.append(Int16(truncatingIfNeeded: event.rawValue))
                ids.append(Array(id.utf8))
            }
        }
        try session.run(insert, [.int8s(owners), .int4s(scopes), .int2s(events), .byteStrings(ids)])
    }
}
