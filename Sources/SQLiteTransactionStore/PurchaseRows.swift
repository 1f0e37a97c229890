import GRDB
import Purchases
import TransactionStore

/// The rows of purchases, whose keys begin with the app and environment and the original transaction id.
extension SharedSession {
    private static let findTransactions = """
        SELECT kind, source, signed_date, payload, legacy FROM transactions
        WHERE scope_id = ?1 AND original_transaction_id = ?2
        """

    func addTransactions(of purchases: [SQLPurchase], to assemblers: inout [Int: CustomerAssembler]) throws {
        try forEachRow(Self.findTransactions, of: purchases) { place, row in
            try assemblers[place, default: CustomerAssembler(scope: .placeholder)]
                .addTransaction(row.head(0), payload: row.bytes(3), legacy: row.bytes(4))
        }
    }

    /// Calls `body` for each row of each purchase, with the place of the purchase.
    /// - Parameter sql: has the app and environment and the original transaction id as its parameters.
    private func forEachRow(_ sql: String, of purchases: [SQLPurchase], do body: (Int, SQLRow) throws -> Void) throws {
        let find = try db.statement(sql)
        for (place, purchase) in purchases.enumerated() {
            try find.forEachRow(purchase.scopeId, purchase.original) { try body(place, $0) }
        }
    }

    private static let findRenewalInfos = """
        SELECT kind, source, signed_date, payload FROM renewal_infos
        WHERE scope_id = ?1 AND original_transaction_id = ?2 AND kind = \(FactKind.signedTransaction.rawValue)
        """

    func addRenewalInfos(of purchases: [SQLPurchase], to assemblers: inout [Int: CustomerAssembler]) throws {
        try forEachRow(Self.findRenewalInfos, of: purchases) { place, row in
            try assemblers[place, default: CustomerAssembler(scope: .placeholder)]
                .addRenewalInfo(row.head(0), payload: row.bytes(3))
        }
    }

    func customers(
        with purchases: [SQLPurchase], in scope: StoreScope
    ) throws -> [Result<Customer?, TransactionStoreError>] {
        let kind = Int64(CustomerIdentity.Kind.originalTransactionId.rawValue)
        return try purchases.map { purchase -> Result<Customer?, TransactionStoreError> in
            var assembler = CustomerAssembler(scope: scope)
            do {
                try SQLiteTransactionStore.readAll(
                    of: kind, purchase.original, purchase.scopeId, into: &assembler, db, onlyPurchases: true)
                return .success(assembler.customer())
            } catch let error as TransactionStoreError {
                return .failure(error)
            }
        }
    }

    // MARK: The ledger

    /// The index of transaction ids finds few rows. Without statistics, SQLite could read all purchases of the app instead.
    private static let findSharing = """
        SELECT 1 FROM transactions t CROSS JOIN transactions o INDEXED BY transactions_by_id
        WHERE t.scope_id = ?1 AND t.original_transaction_id = ?2
            AND o.transaction_id = t.transaction_id AND o.scope_id = ?1 AND o.original_transaction_id <> ?2
            AND (t.kind IN (\(FactKind.sqlOfSigned)) OR o.kind IN (\(FactKind.sqlOfSigned)))
        LIMIT 1
        """

    func sharing(_ purchases: [SQLPurchase]) throws -> [Int] {
        let find = try db.statement(Self.findSharing)
        return try purchases.indices.filter { place in
            try find.integer(purchases[place].scopeId, purchases[place].original) != nil
        }
    }

    private static let findTransactionIds = """
        SELECT DISTINCT transaction_id FROM transactions WHERE scope_id = ?1 AND original_transaction_id = ?2
        """
    private static let findStating = """
        SELECT original_transaction_id, MAX(kind IN (\(FactKind.sqlOfSigned)))
        FROM transactions INDEXED BY transactions_by_id
        WHERE transaction_id = ?1 AND scope_id = ?2 GROUP BY original_transaction_id
        """

    func stating(
        transactionsOf purchases: [SQLPurchase], except known: Set<String>
    ) throws -> [(transactionId: String, purchase: SQLPurchase, isSigned: Bool)] {
        let findIds = try db.statement(Self.findTransactionIds)
        let findStating = try db.statement(Self.findStating)
        var seen = known
        var found: [(transactionId: String, purchase: SQLPurchase, isSigned: Bool)] = []
        for purchase in purchases {
            let ids = try findIds.rows(purchase.scopeId, purchase.original) { $0.text(0) }
            for id in ids where seen.insert(id).inserted {
                try findStating.forEachRow(id, purchase.scopeId) {
                    let other = SQLPurchase(scopeId: purchase.scopeId, original: $0.text(0))
                    found.append((id, other, $0.integer(1) != 0))
                }
            }
        }
        return found
    }

    /// Each payload contains its product.
    private static let findDependent = """
        SELECT 1 FROM transactions
        WHERE scope_id = ?1 AND original_transaction_id = ?2
            AND (instr(payload, ?3) = 0 OR \(FactWriter.revokes("transactions")))
        LIMIT 1
        """

    func dependent(_ purchases: [(purchase: SQLPurchase, product: [UInt8])]) throws -> [Int] {
        let find = try db.statement(Self.findDependent)
        return try purchases.indices.filter { place in
            let (purchase, product) = purchases[place]
            return try find.integer(purchase.scopeId, purchase.original, product) != nil
        }
    }

    private static let findNotified = """
        SELECT 1 FROM transactions
        WHERE scope_id = ?1 AND original_transaction_id = ?2 AND transaction_id = ?3
            AND kind = \(FactKind.notified.rawValue)
        """

    func notified(_ transactions: [SQLTransaction]) throws -> [Int] {
        let find = try db.statement(Self.findNotified)
        return try transactions.indices.filter { place in
            let purchase = transactions[place].purchase
            return try find.integer(purchase.scopeId, purchase.original, transactions[place].id) != nil
        }
    }

    func histories(of transactions: [SQLTransaction]) throws -> [Int: LedgerHistory] {
        let find = try db.statement(
            "SELECT number, event FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 ORDER BY number")
        var histories: [Int: LedgerHistory] = [:]
        for (place, transaction) in transactions.enumerated() {
            var (number, state, wasPurchased): (Int64, Int64?, Bool) = (0, nil, false)
            try find.forEachRow(transaction.purchase.scopeId, transaction.id) { row in
                let event = row.integer(1)
                number = row.integer(0)
                if event <= LedgerEntry.Event.reinstated.rawValue { state = event }
                if event == LedgerEntry.Event.purchased.rawValue { wasPurchased = true }
            }
            if let state {
                histories[place] = try LedgerHistory(number: number, event: state, wasPurchased: wasPurchased)
            }
        }
        return histories
    }

    private static let appendNumberedEntry = """
        INSERT INTO ledger (scope_id, transaction_id, number, event, original_transaction_id, recorded_at)
        VALUES (?1, ?2, ?3, ?4, ?5, \(SQLiteTransactionStore.now))
        ON CONFLICT (scope_id, transaction_id, number) DO NOTHING
        """

    func appendNumbered(_ entries: [SQLNumberedEntry]) throws -> [Int] {
        let append = try db.statement(Self.appendNumberedEntry)
        return try entries.indices.filter { place in
            let (transaction, number, event) = entries[place]
            let purchase = transaction.purchase
            return try append.run(purchase.scopeId, transaction.id, number, event.rawValue, purchase.original) == 0
        }
    }

    private static let findEvents = """
        SELECT l.transaction_id, l.event
        FROM (
            SELECT DISTINCT transaction_id FROM transactions WHERE scope_id = ?1 AND original_transaction_id = ?2
        ) t CROSS JOIN ledger l ON l.scope_id = ?1 AND l.transaction_id = t.transaction_id
        ORDER BY l.transaction_id, l.number
        """

    func events(of purchases: [SQLPurchase]) throws -> [Int: [String: [LedgerEntry.Event]]] {
        var events: [Int: [String: [LedgerEntry.Event]]] = [:]
        try forEachRow(Self.findEvents, of: purchases) { place, row in
            guard let event = LedgerEntry.Event(rawValue: row.integer(1)) else { return }
            events[place, default: [:]][row.text(0), default: []].append(event)
        }
        return events
    }

    private static let appendEntry = """
        INSERT INTO ledger
            (scope_id, transaction_id, number, event, original_transaction_id, seat_claim_id, earlier_before, recorded_at)
        SELECT ?1, ?2, MAX(number) + 1, ?3, ?4, ?5, ?6, \(SQLiteTransactionStore.now)
        FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 GROUP BY transaction_id
        ON CONFLICT (scope_id, seat_claim_id) WHERE seat_claim_id IS NOT NULL DO NOTHING
        """

    func append(_ entries: [SQLEntry]) throws {
        // Not prepared without entries: the ledger of an older schema, which an upgrade reads, has fewer columns.
        guard !entries.isEmpty else { return }
        let append = try db.statement(Self.appendEntry)
        for entry in entries {
            try append.run(
                entry.purchase.scopeId, entry.transactionId, entry.event.rawValue, entry.purchase.original,
                entry.seatClaimId, entry.earlierPurchases)
        }
    }

    // MARK: Looks at purchases

    /// The rule of `LedgerEndings.merged` in SQL.
    private static let keepLookDate = """
        INSERT INTO ledger_endings (scope_id, original_transaction_id, due_at) VALUES (?1, ?2, ?3)
        ON CONFLICT (scope_id, original_transaction_id) DO UPDATE
        SET due_at = CASE due_at WHEN \(LedgerEndings.whenChanged) THEN 0 ELSE MIN(due_at, excluded.due_at) END
        """

    /// Keeps when to look at the purchases of a set.
    /// - Parameter history: dates up to this one are not kept.
    func keepLookDates(_ set: FactSet, _ scopeId: Int64, after history: Int64) throws {
        let keep = try db.statement(Self.keepLookDate)
        for (original, date) in LedgerEndings.dates(in: set, after: history) { try keep.run(scopeId, original, date) }
    }

    func duePurchases(by date: Int64, limit: Int) throws -> [SQLPurchase] {
        let find = try db.statement(
            """
            SELECT scope_id, original_transaction_id FROM ledger_endings INDEXED BY ledger_endings_due
            WHERE due_at <= ?1 ORDER BY due_at LIMIT ?2
            """)
        return try find.rows(date, Int64(limit)) { SQLPurchase(scopeId: $0.integer(0), original: $0.text(1)) }
    }

    func setLookDates(_ dates: [(purchase: SQLPurchase, date: Int64?)]) throws {
        for (purchase, date) in dates {
            let ofPurchase: SQLText =
                "scope_id = \(purchase.scopeId) AND original_transaction_id = \(purchase.original)"
            if let date {
                try run("UPDATE ledger_endings SET due_at = \(date) WHERE \(ofPurchase)")
            } else {
                try run("DELETE FROM ledger_endings WHERE \(ofPurchase)")
            }
        }
    }

    // MARK: Terms

    func purchasesWithTerms(of customers: [Int64]) throws -> [SQLOwnedPurchase] {
        let find = try db.statement(
            """
            SELECT DISTINCT t.scope_id, t.original_transaction_id
            FROM identities i CROSS JOIN term_bases t ON t.scope_id = i.scope_id AND t.original_transaction_id = i.value
            WHERE EXISTS (SELECT 1 FROM term_bases) AND i.customer_id = ?1 AND i.kind = 1
            """)
        return try customers.flatMap { customer in
            try find.rows(customer) {
                SQLOwnedPurchase(SQLPurchase(scopeId: $0.integer(0), original: $0.text(1)), of: customer)
            }
        }
    }

    func owners(of purchases: [SQLPurchase]) throws -> [Int: Int64] {
        var owners: [Int: Int64] = [:]
        let sql = "SELECT customer_id FROM identities WHERE scope_id = ?1 AND kind = 1 AND value = ?2"
        try forEachRow(sql, of: purchases) { place, row in owners[place] = row.integer(0) }
        return owners
    }

    func bases(of purchases: [SQLPurchase]) throws -> [Int: [String: Int64]] {
        var bases: [Int: [String: Int64]] = [:]
        let sql = "SELECT transaction_id, basis FROM term_bases WHERE scope_id = ?1 AND original_transaction_id = ?2"
        try forEachRow(sql, of: purchases) { place, row in
            bases[place, default: [:]][row.text(0)] = row.integer(1)
        }
        return bases
    }

    func replace(_ outdated: [SQLTransaction], with new: [(term: SQLTransaction, basis: Int64)]) throws {
        let delete = try db.statement(
            """
            DELETE FROM term_bases WHERE scope_id = ?1 AND original_transaction_id = ?2 AND transaction_id = ?3
            """)
        for term in outdated { try delete.run(term.purchase.scopeId, term.purchase.original, term.id) }
        let insert = try db.statement(
            """
            INSERT INTO term_bases (scope_id, original_transaction_id, transaction_id, basis) VALUES (?1, ?2, ?3, ?4)
            """)
        for (term, basis) in new {
            try insert.run(term.purchase.scopeId, term.purchase.original, term.id, basis)
        }
    }

    func dueTerms(in scopeId: Int64, by date: Int64, limit: Int) throws -> [(term: SQLTransaction, customer: Int64)] {
        let find = try db.statement(
            """
            SELECT t.original_transaction_id, t.transaction_id, i.customer_id
            FROM term_bases t INDEXED BY term_bases_due LEFT JOIN identities i
                ON i.scope_id = t.scope_id AND i.kind = 1 AND i.value = t.original_transaction_id
            WHERE t.scope_id = ?1 AND t.due_at <= ?2 ORDER BY t.due_at LIMIT ?3
            """)
        return try find.rows(scopeId, date, Int64(limit)) { row -> (term: SQLTransaction, customer: Int64) in
            let purchase = SQLPurchase(scopeId: scopeId, original: row.text(0))
            return (SQLTransaction(row.text(1), of: purchase), row.integer(2))
        }
    }

    func setLookDates(_ dates: [(term: SQLTransaction, date: Int64)]) throws {
        let keep = try db.statement(
            """
            UPDATE term_bases SET due_at = ?4
            WHERE scope_id = ?1 AND original_transaction_id = ?2 AND transaction_id = ?3
            """)
        for (term, date) in dates {
            try keep.run(term.purchase.scopeId, term.purchase.original, term.id, date)
        }
    }

    // MARK: The upgrade

    /// Creates the ledger of a store of schema 1, purchase by purchase in the order in which they were first stored. It has no
    /// dates yet.
    func fillLedger() throws {
        // The index of version 7, for `sharing`.
        try db.execute(sql: "CREATE INDEX transactions_by_id ON transactions (transaction_id)")
        let all = try db.statement(
            """
            SELECT scope_id, original_transaction_id FROM transactions
            GROUP BY scope_id, original_transaction_id ORDER BY MIN(rowid)
            """)
        let insert = try db.statement(
            """
            INSERT INTO ledger (scope_id, transaction_id, number, event, original_transaction_id)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        try all.forEachRow {
            let purchase = SQLPurchase(scopeId: $0.integer(0), original: $0.text(1))
            for (transaction, number, event) in try dueEntries(of: [purchase]) {
                let original = transaction.purchase.original
                try insert.run(purchase.scopeId, transaction.id, number, event.rawValue, original)
            }
        }
        try db.execute(sql: "DROP INDEX transactions_by_id")
    }

    /// Fills the table of bases in a store of an older schema. It appends no entries, because earlier moves are
    /// unknown.
    func fillTerms() throws {
        let all = try db.statement(
            """
            SELECT DISTINCT i.customer_id, t.scope_id, t.original_transaction_id
            FROM transactions t
            CROSS JOIN identities i ON i.scope_id = t.scope_id AND i.kind = 1 AND i.value = t.original_transaction_id
            WHERE instr(t.payload, CAST('\(StoredTerms.typeMember)' AS BLOB)) > 0
            """)
        let purchases = try all.rows {
            SQLOwnedPurchase(SQLPurchase(scopeId: $0.integer(1), original: $0.text(2)), of: $0.integer(0))
        }
        for ofCustomer in Dictionary(grouping: purchases, by: \.customer).values {
            let moves = try termMoves(by: Set(ofCustomer))
            try replace(moves.outdated, with: moves.new)
        }
    }
}
