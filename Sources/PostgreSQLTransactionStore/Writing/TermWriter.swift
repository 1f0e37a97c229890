import Purchases
import TransactionStore

/// Appends a ledger entry for each term that moved, after the entries of ``LedgerWriter`` and under its lock.
struct TermWriter {
    let session: PostgreSQLSession
    /// False for a table of a schema before 11, which has no scopes.
    var hasScopes = true

    /// An original transaction id, by its database id.
    private struct Purchase: Hashable {
        let id: Int64
        let customer: Int64
        let scope: Int32
    }

    private static let findPurchases = Statement(
        """
        SELECT i.id, i.customer, i.scope
        FROM unnest($1::int8[]) AS given (customer) JOIN identities AS i ON i.customer = given.customer
        WHERE i.kind = 1 AND EXISTS (SELECT FROM term_bases AS t WHERE t.purchase = i.id)
        """)
    private static let findBases = Statement(
        """
        SELECT t.purchase, t.transaction_id, t.basis
        FROM unnest($1::int8[]) AS given (purchase) JOIN term_bases AS t ON t.purchase = given.purchase
        """)
    private static let delete = Statement(
        """
        DELETE FROM term_bases AS old USING unnest($1::int8[], $2::bytea[]) AS given (purchase, id)
        WHERE old.purchase = given.purchase AND old.transaction_id = given.id
        """)
    private static let insert = Statement(
        """
        INSERT INTO term_bases (purchase, transaction_id, basis, scope)
        SELECT purchase, id, basis, scope
        FROM unnest($1::int8[], $2::bytea[], $3::int8[], $4::int4[]) AS given (purchase, id, basis, scope)
        """)
    private static let insertWithoutScopes = Statement(
        """
        INSERT INTO term_bases (purchase, transaction_id, basis)
        SELECT purchase, id, basis FROM unnest($1::int8[], $2::bytea[], $3::int8[]) AS given (purchase, id, basis)
        """)
    private static let append = Statement(
        """
        INSERT INTO ledger (purchase, scope, number, event, transaction_id, earlier_before)
        SELECT given.purchase, given.scope, last.number + 1, \(LedgerEntry.Event.termMoved.rawValue), given.id,
            given.earlier
        FROM unnest($1::int8[], $2::int4[], $3::bytea[], $4::bytea[])
            WITH ORDINALITY AS given (purchase, scope, id, earlier, place)
        CROSS JOIN LATERAL (
            SELECT max(number) AS number FROM ledger WHERE transaction_id = given.id AND scope = given.scope
        ) AS last
        WHERE last.number IS NOT NULL
        ORDER BY given.place
        """)

    /// Appends the entries that are due for the customers of a batch.
    func record(_ batch: FactBatch, _ owners: FactWriter.Owners, _ scopeIds: [Int32]) throws {
        var purchases: Set<Purchase> = []
        for row in batch.transactions where row.mayMoveTerms {
            let identity = batch.identities[row.owner]
            purchases.insert(
                Purchase(
                    id: owners.identities[row.owner], customer: owners.customers[identity.component],
                    scope: scopeIds[identity.scope]))
        }
        let customers = owners.joinedCustomers.union(purchases.map(\.customer))
        guard !customers.isEmpty else { return }
        try record(purchases, of: customers, announces: true)
    }

    /// - Parameters:
    ///   - changed: the purchases with new or newer facts.
    ///   - customers: the database ids of their customers.
    ///   - announces: whether to append entries; if false, only the bases are stored.
    private func record(_ changed: Set<Purchase>, of customers: Set<Int64>, announces: Bool) throws {
        let sorted = changed.union(try purchasesWithTerms(of: customers)).sorted { $0.id < $1.id }
        guard !sorted.isEmpty else { return }
        let known = try bases(of: sorted)
        let subscriptions = try StoredFacts.subscriptions(sorted.map(\.id), session)
        var customers: [Int64: [(purchase: Purchase, transactions: [StoredTransaction])]] = [:]
        for each in zip(sorted, subscriptions) { customers[each.0.customer, default: []].append(each) }
        var new = TermRows()
        var moved = TermRows()
        var outdated = TermRows()
        for customer in customers.keys.sorted() {
            let parts = customers[customer] ?? []
            var transactions: [String: (purchase: Purchase, transaction: StoredTransaction)] = [:]
            for part in parts {
                for transaction in part.transactions {
                    guard let id = transaction.payload.transactionId, transactions[id] == nil else { continue }
                    transactions[id] = (part.purchase, transaction)
                }
            }
            let old = parts.reduce(into: [:]) { old, part in
                old.merge(known[part.purchase.id] ?? [:]) { $1 }
            }
            let changes = TermChanges(of: transactions.values.map(\.transaction), known: old)
            guard changes.bases != old else { continue }
            // The others keep their dates: a customer with thousands of terms would be read again for all of them.
            for part in parts {
                for (id, basis) in known[part.purchase.id] ?? [:] where changes.bases[id] != old[id] {
                    outdated.add(id, part.purchase, basis)
                }
            }
            for (id, basis) in changes.bases where old[id] != basis { new.add(id, transactions[id]?.purchase, basis) }
            for id in changes.moved {
                moved.add(id, transactions[id]?.purchase, 0, earlier: changes.earlierPurchases[id] ?? [])
            }
        }
        guard !new.ids.isEmpty || !outdated.ids.isEmpty else { return }
        try session.run(Self.delete, [.int8s(outdated.purchases), .byteStrings(outdated.ids)])
        let rows: [Parameter] = [.int8s(new.purchases), .byteStrings(new.ids), .int8s(new.bases)]
        if hasScopes {
            try session.run(Self.insert, rows + [.int4s(new.scopes)])
        } else {
            try session.run(Self.insertWithoutScopes, rows)
        }
        guard announces, !moved.ids.isEmpty else { return }
        try session.run(
            Self.append,
            [
                .int8s(moved.purchases), .int4s(moved.scopes), .byteStrings(moved.ids), .byteStrings(moved.earlier),
            ])
    }

    /// The purchases of customers that have terms in the table.
    private func purchasesWithTerms(of customers: Set<Int64>) throws -> [Purchase] {
        let found = try session.run(Self.findPurchases, [.int8s(customers.sorted())])
        return try (0..<found.count).map { row in
            Purchase(
                id: try found.integer(row, 0), customer: try found.integer(row, 1), scope: try found.integer(row, 2))
        }
    }

    /// The bases in the table: by the database id of the purchase, then by transaction id.
    private func bases(of purchases: [Purchase]) throws -> [Int64: [String: Int64]] {
        let found = try session.run(Self.findBases, [.int8s(purchases.map(\.id))])
        var bases: [Int64: [String: Int64]] = [:]
        for row in 0..<found.count {
            bases[try found.integer(row, 0), default: [:]][try found.text(row, 1)] = try found.integer(row, 2)
        }
        return bases
    }

    /// Rows to insert or delete, one array per column.
    private struct TermRows {
        var purchases: [Int64] = []
        var scopes: [Int32] = []
        var ids: [[UInt8]] = []
        var bases: [Int64] = []
        /// `TermChanges.earlierPurchases` of entries.
        var earlier: [[UInt8]] = []

        mutating func add(_ id: String, _ purchase: Purchase?, _ basis: Int64, earlier: [UInt8] = []) {
            guard let purchase else { return }
            purchases.append(purchase.id)
            scopes.append(purchase.scope)
            ids.append(Array(id.utf8))
            bases.append(basis)
            self.earlier.append(earlier)
        }
    }

    // MARK: The upgrade

    /// The number of original transaction ids per page.
    private static let pageSize: Int32 = 500

    private static let page = Statement(
        """
        SELECT i.id, i.customer, i.scope, i.value, EXISTS (
            SELECT FROM transactions AS t
            WHERE t.purchase = i.id AND position('\(StoredTerms.typeMember)'::bytea IN t.payload) > 0)::int4
        FROM identities AS i
        WHERE (i.scope, i.kind, i.value) > ($1::int4, 1::int2, $2::bytea) AND i.kind = 1
        ORDER BY i.scope, i.kind, i.value LIMIT $3::int4
        """)

    /// Fills the table of bases in a store of an older schema. It appends no entries, because earlier moves are
    /// unknown.
    static func fill(_ session: PostgreSQLSession) throws {
        let writer = TermWriter(session: session, hasScopes: false)
        var last: (scope: Int32, value: [UInt8]) = (0, [])
        while true {
            let rows = try session.run(page, [.int4(last.scope), .bytes(last.value), .int4(pageSize)])
            guard rows.count > 0 else { return }
            var purchases: Set<Purchase> = []
            for row in 0..<rows.count where try rows.integer(row, 4, as: Int32.self) != 0 {
                purchases.insert(
                    Purchase(
                        id: try rows.integer(row, 0), customer: try rows.integer(row, 1),
                        scope: try rows.integer(row, 2)))
            }
            if !purchases.isEmpty { try writer.record(purchases, of: Set(purchases.map(\.customer)), announces: false) }
            last = (try rows.integer(rows.count - 1, 2), try rows.bytes(rows.count - 1, 3))
        }
    }
}
