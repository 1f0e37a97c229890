import TransactionStore

/// Records the transactions of a store that had no ledger, page by page along an index, so that no statement takes long.
enum LedgerFiller {
    /// Original transaction ids at a time.
    private static let pageSize: Int32 = 500

    private static let page = Statement(
        name: "fill_ledger_page",
        sql: """
            SELECT i.id, i.scope, i.value FROM identities AS i
            WHERE (i.scope, i.kind, i.value) > ($1::int4, 1::int2, $2::bytea) AND i.kind = 1
            ORDER BY i.scope, i.kind, i.value LIMIT $3::int4
            """)
    private static let facts = Statement(
        name: "fill_ledger_facts",
        sql: """
            SELECT given.place::int4, t.kind, t.source, t.signed_date, t.payload, t.legacy, t.transaction_id
            FROM unnest($1::int8[]) WITH ORDINALITY AS given (purchase, place)
            JOIN transactions AS t ON t.purchase = given.purchase
            ORDER BY given.place, t.transaction_id
            """)
    private static let insert = Statement(
        name: "fill_ledger",
        sql: """
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
        let rows = try session.run(facts, [.int8s(purchases.map(\.id))])
        var (owners, scopes, events, ids): ([Int64], [Int32], [Int16], [[UInt8]]) = ([], [], [], [])
        var start = 0
        while start < rows.count {
            let place = try rows.integer(start, 0, as: Int32.self)
            let id = try rows.bytes(start, 6)
            var assembler = CustomerAssembler(scope: StoreScope(environment: .production, bundleId: ""))
            var end = start
            while end < rows.count, try rows.integer(end, 0, as: Int32.self) == place, try rows.bytes(end, 6) == id {
                try StoredFacts.add(end, of: rows, from: 1, to: &assembler)
                end += 1
            }
            start = end
            guard let event = assembler.joinedTransactions().first?.deliveryState else { continue }
            let purchase = purchases[Int(place) - 1]
            owners.append(purchase.id)
            scopes.append(purchase.scope)
            events.append(Int16(truncatingIfNeeded: event.rawValue))
            ids.append(id)
        }
        try session.run(insert, [.int8s(owners), .int4s(scopes), .int2s(events), .byteStrings(ids)])
    }
}
