import Purchases
import TransactionStore

/// The rows of purchases, whose key is the database id of the original transaction id.
extension PostgreSQLSession {
    private static let findTransactions = Statement(
        """
        SELECT given.place::int4, t.kind, t.source, t.signed_date, t.payload, t.legacy
        FROM unnest($1::int8[]) WITH ORDINALITY AS given (purchase, place)
        JOIN transactions AS t ON t.purchase = given.purchase
        """)

    func addTransactions(of purchases: [SQLPurchase], to assemblers: inout [Int: CustomerAssembler]) throws {
        let rows = try run(Self.findTransactions, .int8s(purchases.map(\.id)))
        for (row, place) in try rows.places(among: purchases.count) {
            let head = try rows.head(row, 1)
            try rows.withBytes(row, 4) { payload in
                try rows.withBytes(row, 5) { legacy in
                    try assemblers[place, default: CustomerAssembler(scope: .placeholder)]
                        .addTransaction(head, payload: payload, legacy: legacy)
                }
            }
        }
    }

    private static let findRenewalInfos = Statement(
        """
        SELECT given.place::int4, r.kind, r.source, r.signed_date, r.payload
        FROM unnest($1::int8[]) WITH ORDINALITY AS given (purchase, place)
        JOIN renewal_infos AS r ON r.purchase = given.purchase AND r.kind = \(FactKind.signedTransaction.rawValue)
        """)

    func addRenewalInfos(of purchases: [SQLPurchase], to assemblers: inout [Int: CustomerAssembler]) throws {
        let rows = try run(Self.findRenewalInfos, .int8s(purchases.map(\.id)))
        for (row, place) in try rows.places(among: purchases.count) {
            let head = try rows.head(row, 1)
            try rows.withBytes(row, 4) {
                try assemblers[place, default: CustomerAssembler(scope: .placeholder)].addRenewalInfo(head, payload: $0)
            }
        }
    }

    func customers(
        with purchases: [SQLPurchase], in scope: StoreScope
    ) throws -> [Result<Customer?, TransactionStoreError>] {
        let queries = purchases.map {
            CustomerReader.Query(identities: [CustomerIdentity(.originalTransactionId, $0.original)], scope: scope)
        }
        return try CustomerReader.answers(to: queries, self, onlyPurchases: true)
    }

    // MARK: The ledger

    /// Scopes have the numbers from 1, and the schema has 0.
    private static let ledgerLock: Int32 = -1
    private static let lockLedger = Statement("SELECT pg_advisory_xact_lock($1::int4, $2::int4)::text")

    /// Takes one advisory lock per schema, until the commit. PostgreSQL releases locks after the commit is visible, so positions
    /// become visible in order and a reader skips none. The next writer's statements see everything committed before, so of
    /// two writers of one transaction id the second sees the facts of both.
    func lockLedger() throws { try run(Self.lockLedger, .int4(lockClass), .int4(Self.ledgerLock)) }

    /// The limits keep the order of the joins, also in a plan that the server made before the tables had rows.
    private static let findSharing = Statement(
        """
        SELECT given.place::int4
        FROM unnest($1::int8[]) WITH ORDINALITY AS given (purchase, place)
        CROSS JOIN LATERAL (
            SELECT FROM transactions AS t
            CROSS JOIN LATERAL (
                SELECT FROM transactions AS o
                WHERE o.transaction_id = t.transaction_id AND o.purchase <> t.purchase
                    AND (t.kind IN (\(FactKind.sqlOfSigned)) OR o.kind IN (\(FactKind.sqlOfSigned)))
                LIMIT 1
            ) AS other
            WHERE t.purchase = given.purchase LIMIT 1
        ) AS shared
        """)

    func sharing(_ purchases: [SQLPurchase]) throws -> [Int] {
        guard !purchases.isEmpty else { return [] }
        let rows = try run(Self.findSharing, .int8s(purchases.map(\.id)))
        return try rows.places(among: purchases.count).map(\.place)
    }

    /// The same id in another app or environment is another transaction. The server hashes the ids after `NOT IN`.
    private static let findStating = Statement(
        """
        SELECT given.id, o.purchase, o.is_signed,
            (SELECT i.value FROM identities AS i WHERE i.id = o.purchase AND i.scope = $3::int4)
        FROM (
            SELECT DISTINCT t.transaction_id AS id
            FROM unnest($1::int8[]) AS each (purchase) JOIN transactions AS t ON t.purchase = each.purchase
            WHERE t.transaction_id NOT IN (SELECT unnest($2::bytea[]))
        ) AS given
        CROSS JOIN LATERAL (
            SELECT purchase, bool_or(kind IN (\(FactKind.sqlOfSigned)))::int4 AS is_signed
            FROM transactions WHERE transaction_id = given.id GROUP BY purchase
        ) AS o
        """)

    func stating(
        transactionsOf purchases: [SQLPurchase], except known: Set<String>
    ) throws -> [(transactionId: String, purchase: SQLPurchase, isSigned: Bool)] {
        guard let scopeId = purchases.first?.scopeId else { return [] }
        let rows = try run(
            Self.findStating, .int8s(purchases.map(\.id)), .texts(Array(known)),
            .int4(Int32(truncatingIfNeeded: scopeId)))
        var found: [(transactionId: String, purchase: SQLPurchase, isSigned: Bool)] = []
        for row in 0..<rows.count where !rows.isNull(row, 3) {
            let purchase = SQLPurchase(
                scopeId: scopeId, original: try rows.text(row, 3), id: try rows.integer(row, 1))
            found.append((try rows.text(row, 0), purchase, try rows.integer(row, 2, as: Int32.self) != 0))
        }
        return found
    }

    private static let findDependent = Statement(
        """
        SELECT given.place::int4
        FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS given (purchase, product, place)
        WHERE EXISTS (
            SELECT FROM transactions AS t
            WHERE t.purchase = given.purchase AND (position(given.product IN t.payload) = 0 OR \(Table.revokes("t"))))
        """)

    func dependent(_ purchases: [(purchase: SQLPurchase, product: [UInt8])]) throws -> [Int] {
        guard !purchases.isEmpty else { return [] }
        let rows = try run(
            Self.findDependent, .int8s(purchases.map { $0.purchase.id }), .byteStrings(purchases.map { $0.product }))
        return try rows.places(among: purchases.count).map(\.place)
    }

    private static let findNotified = Statement(
        """
        SELECT given.place::int4
        FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS given (purchase, id, place)
        JOIN transactions AS t
            ON t.purchase = given.purchase AND t.transaction_id = given.id AND t.kind = \(FactKind.notified.rawValue)
        """)

    func notified(_ transactions: [SQLTransaction]) throws -> [Int] {
        guard !transactions.isEmpty else { return [] }
        let rows = try run(Self.findNotified, .int8s(transactions.map(\.purchase.id)), .texts(transactions.map(\.id)))
        return try rows.places(among: transactions.count).map(\.place)
    }

    private static let findHistories = Statement(
        """
        SELECT given.place::int4, last.number, last.event::int8, last.purchased
        FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY AS given (scope, id, place)
        CROSS JOIN LATERAL (
            SELECT max(number)::int8 AS number,
                (array_agg(event ORDER BY number DESC) FILTER (WHERE event <= 4))[1] AS event,
                bool_or(event = 1)::int4 AS purchased
            FROM ledger WHERE transaction_id = given.id AND scope = given.scope
        ) AS last
        WHERE last.event IS NOT NULL
        """)

    func histories(of transactions: [SQLTransaction]) throws -> [Int: LedgerHistory] {
        guard !transactions.isEmpty else { return [:] }
        let rows = try run(
            Self.findHistories, .int4s(transactions.map(\.purchase.scope)), .texts(transactions.map(\.id)))
        var histories: [Int: LedgerHistory] = [:]
        for (row, place) in try rows.places(among: transactions.count) {
            histories[place] = try LedgerHistory(
                number: rows.integer(row, 1), event: rows.integer(row, 2),
                wasPurchased: rows.integer(row, 3, as: Int32.self) != 0)
        }
        return histories
    }

    private static let appendNumberedEntries = Statement(
        """
        INSERT INTO ledger (purchase, scope, number, event, transaction_id)
        SELECT purchase, scope, number, event, id
        FROM unnest($1::int8[], $2::int4[], $3::int4[], $4::int2[], $5::bytea[])
            WITH ORDINALITY AS given (purchase, scope, number, event, id, place)
        ORDER BY place
        ON CONFLICT (transaction_id, scope, number) DO NOTHING
        """)

    func appendNumbered(_ entries: [SQLNumberedEntry]) throws -> [Int] {
        guard !entries.isEmpty else { return [] }
        let appended = try run(
            Self.appendNumberedEntries, .int8s(entries.map { $0.transaction.purchase.id }),
            .int4s(entries.map { $0.transaction.purchase.scope }), .int4s(entries.map { Int32(clamping: $0.number) }),
            .int2s(entries.map { Int16(truncatingIfNeeded: $0.event.rawValue) }),
            .texts(entries.map { $0.transaction.id })
        ).affected
        return appended == entries.count ? [] : Array(entries.indices)
    }

    private static let findEvents = Statement(
        """
        SELECT given.place::int4, l.transaction_id, l.event
        FROM unnest($1::int8[], $2::int4[]) WITH ORDINALITY AS given (purchase, scope, place)
        CROSS JOIN LATERAL (
            SELECT DISTINCT t.transaction_id FROM transactions AS t WHERE t.purchase = given.purchase
        ) AS known
        JOIN ledger AS l ON l.transaction_id = known.transaction_id AND l.scope = given.scope
        ORDER BY given.place, l.transaction_id, l.number
        """)

    func events(of purchases: [SQLPurchase]) throws -> [Int: [String: [LedgerEntry.Event]]] {
        let rows = try run(Self.findEvents, .int8s(purchases.map(\.id)), .int4s(purchases.map(\.scope)))
        var events: [Int: [String: [LedgerEntry.Event]]] = [:]
        for (row, place) in try rows.places(among: purchases.count) {
            guard let event = LedgerEntry.Event(rawValue: Int64(try rows.integer(row, 2, as: Int16.self))) else {
                continue
            }
            events[place, default: [:]][try rows.text(row, 1), default: []].append(event)
        }
        return events
    }

    private static let appendEntries = Statement(
        """
        INSERT INTO ledger (purchase, scope, number, event, transaction_id, seat_claim_id, earlier_before)
        SELECT given.purchase, given.scope,
            (last.number + row_number() OVER (PARTITION BY given.scope, given.id ORDER BY given.place))::int4,
            given.event, given.id, nullif(given.claim, ''::bytea), nullif(given.earlier, ''::bytea)
        FROM unnest($1::int8[], $2::int4[], $3::int2[], $4::bytea[], $5::bytea[], $6::bytea[])
            WITH ORDINALITY AS given (purchase, scope, event, id, claim, earlier, place)
        CROSS JOIN LATERAL (
            SELECT max(number) AS number FROM ledger WHERE transaction_id = given.id AND scope = given.scope
        ) AS last
        WHERE last.number IS NOT NULL
            AND NOT EXISTS (SELECT FROM ledger AS k WHERE k.scope = given.scope AND k.seat_claim_id = given.claim)
        ORDER BY given.place
        """)

    /// Runs under the lock of the ledger. No two entries have the same seat claim.
    func append(_ entries: [SQLEntry]) throws {
        guard !entries.isEmpty else { return }
        try run(
            Self.appendEntries, .int8s(entries.map(\.purchase.id)), .int4s(entries.map(\.purchase.scope)),
            .int2s(entries.map { Int16(truncatingIfNeeded: $0.event.rawValue) }), .texts(entries.map(\.transactionId)),
            .texts(entries.map { $0.seatClaimId ?? "" }), .byteStrings(entries.map { $0.earlierPurchases ?? [] }))
    }

    // MARK: Looks at purchases

    /// The rule of `LedgerEndings.merged` in SQL.
    private static let keepLookDate = Statement(
        """
        INSERT INTO ledger_endings AS known (purchase, due_at)
        SELECT given.purchase, min(given.due_at) FROM unnest($1::int8[], $2::int8[]) AS given (purchase, due_at)
        GROUP BY given.purchase ORDER BY given.purchase
        ON CONFLICT (purchase) DO UPDATE SET due_at =
            CASE known.due_at WHEN \(LedgerEndings.whenChanged) THEN 0 ELSE least(known.due_at, excluded.due_at) END
        """)

    /// Keeps when to look at the purchases of a batch, under the lock of the ledger.
    /// - Parameters:
    ///   - batch: the written facts.
    ///   - numbers: for each identity, its database id.
    func keepLookDates(_ batch: FactBatch, _ numbers: [Int64]) throws {
        guard (batch.transactions + batch.renewalInfos).contains(where: { $0.lookDate != nil }) else { return }
        let dates = LedgerEndings.dates(
            periods: batch.transactions.map { ($0.owner, $0.lookDate) },
            retries: batch.renewalInfos.map { ($0.owner, $0.lookDate) }, after: try lookHistory())
        guard !dates.isEmpty else { return }
        let kept = dates.map { (purchase: numbers[$0.key], date: $0.value) }
        try run(Self.keepLookDate, .int8s(kept.map { $0.purchase }), .int8s(kept.map { $0.date }))
    }

    /// Leaves out purchases that are being erased. Of one that was erased, nothing but its date is left.
    private static let takeDuePurchases = Statement(
        """
        SELECT due.purchase, coalesce(i.scope, 0), coalesce(i.value, ''::bytea) FROM (
            SELECT purchase FROM ledger_endings WHERE due_at <= $1::int8 ORDER BY due_at LIMIT $2::int4
            FOR UPDATE SKIP LOCKED
        ) AS due LEFT JOIN identities AS i ON i.id = due.purchase
        """)

    func duePurchases(by date: Int64, limit: Int) throws -> [SQLPurchase] {
        let due = try run(Self.takeDuePurchases, .int8(date), .int4(Int32(limit)))
        return try (0..<due.count).map { row in
            SQLPurchase(
                scopeId: Int64(try due.integer(row, 1, as: Int32.self)), original: try due.text(row, 2),
                id: try due.integer(row, 0))
        }
    }

    private static let lookAgain = Statement(
        """
        UPDATE ledger_endings AS known SET due_at = given.due_at
        FROM unnest($1::int8[], $2::int8[]) AS given (purchase, due_at) WHERE known.purchase = given.purchase
        """)
    private static let lookNoMore = Statement("DELETE FROM ledger_endings WHERE purchase = ANY ($1::int8[])")

    func setLookDates(_ dates: [(purchase: SQLPurchase, date: Int64?)]) throws {
        let next = dates.compactMap { each in each.date.map { (purchase: each.purchase.id, date: $0) } }
        try run(Self.lookAgain, .int8s(next.map { $0.purchase }), .int8s(next.map { $0.date }))
        try run(Self.lookNoMore, .int8s(dates.filter { $0.date == nil }.map { $0.purchase.id }))
    }

    // MARK: Terms

    private static let findPurchasesWithTerms = Statement(
        """
        SELECT i.id, i.customer, i.scope, i.value
        FROM unnest($1::int8[]) AS given (customer) JOIN identities AS i ON i.customer = given.customer
        WHERE i.kind = 1 AND EXISTS (SELECT FROM term_bases AS t WHERE t.purchase = i.id)
        """)

    func purchasesWithTerms(of customers: [Int64]) throws -> [SQLOwnedPurchase] {
        let rows = try run(Self.findPurchasesWithTerms, .int8s(customers))
        return try (0..<rows.count).map { try rows.ownedPurchase($0) }
    }

    private static let findOwners = Statement(
        """
        SELECT given.place::int4, known.customer
        FROM unnest($1::int8[]) WITH ORDINALITY AS given (id, place)
        CROSS JOIN LATERAL (SELECT i.customer FROM identities AS i WHERE i.id = given.id LIMIT 1) AS known
        """)

    func owners(of purchases: [SQLPurchase]) throws -> [Int: Int64] {
        let rows = try run(Self.findOwners, .int8s(purchases.map(\.id)))
        var owners: [Int: Int64] = [:]
        for (row, place) in try rows.places(among: purchases.count) { owners[place] = try rows.integer(row, 1) }
        return owners
    }

    private static let findBases = Statement(
        """
        SELECT given.place::int4, t.transaction_id, t.basis
        FROM unnest($1::int8[]) WITH ORDINALITY AS given (purchase, place)
        JOIN term_bases AS t ON t.purchase = given.purchase
        """)

    func bases(of purchases: [SQLPurchase]) throws -> [Int: [String: Int64]] {
        let rows = try run(Self.findBases, .int8s(purchases.map(\.id)))
        var bases: [Int: [String: Int64]] = [:]
        for (row, place) in try rows.places(among: purchases.count) {
            bases[place, default: [:]][try rows.text(row, 1)] = try rows.integer(row, 2)
        }
        return bases
    }

    private static let deleteTerms = Statement(
        """
        DELETE FROM term_bases AS old USING unnest($1::int8[], $2::bytea[]) AS given (purchase, id)
        WHERE old.purchase = given.purchase AND old.transaction_id = given.id
        """)
    private static let insertTerms = Statement(
        """
        INSERT INTO term_bases (purchase, transaction_id, basis, scope)
        SELECT purchase, id, basis, scope
        FROM unnest($1::int8[], $2::bytea[], $3::int8[], $4::int4[]) AS given (purchase, id, basis, scope)
        """)
    private static let insertTermsWithoutScopes = Statement(
        """
        INSERT INTO term_bases (purchase, transaction_id, basis)
        SELECT purchase, id, basis FROM unnest($1::int8[], $2::bytea[], $3::int8[]) AS given (purchase, id, basis)
        """)

    func replace(_ outdated: [SQLTransaction], with new: [(term: SQLTransaction, basis: Int64)]) throws {
        try replace(outdated, with: new, hasScopes: true)
    }

    /// - Parameter hasScopes: false for a table of a schema before 11, which has no scopes.
    func replace(_ outdated: [SQLTransaction], with new: [(term: SQLTransaction, basis: Int64)], hasScopes: Bool) throws
    {
        if !outdated.isEmpty {
            try run(Self.deleteTerms, .int8s(outdated.map(\.purchase.id)), .texts(outdated.map(\.id)))
        }
        guard !new.isEmpty else { return }
        let rows: [Parameter] = [
            .int8s(new.map { $0.term.purchase.id }), .texts(new.map { $0.term.id }),
            .int8s(new.map { $0.basis }),
        ]
        if hasScopes {
            try run(Self.insertTerms, rows + [.int4s(new.map { $0.term.purchase.scope })])
        } else {
            try run(Self.insertTermsWithoutScopes, rows)
        }
    }

    /// Leaves out purchases that are being erased. Of one that was erased, nothing but its date is left.
    private static let takeDueTerms = Statement(
        """
        SELECT due.purchase, coalesce(i.customer, 0), $1::int4, coalesce(i.value, ''::bytea), due.transaction_id FROM (
            SELECT purchase, transaction_id FROM term_bases WHERE scope = $1::int4 AND due_at <= $2::int8
            ORDER BY due_at LIMIT $3::int4 FOR UPDATE SKIP LOCKED
        ) AS due LEFT JOIN identities AS i ON i.id = due.purchase
        """)

    func dueTerms(in scopeId: Int64, by date: Int64, limit: Int) throws -> [(term: SQLTransaction, customer: Int64)] {
        let rows = try run(
            Self.takeDueTerms, .int4(Int32(truncatingIfNeeded: scopeId)), .int8(date), .int4(Int32(limit)))
        return try (0..<rows.count).map { row -> (term: SQLTransaction, customer: Int64) in
            let owned = try rows.ownedPurchase(row)
            return (SQLTransaction(try rows.text(row, 4), of: owned.purchase), owned.customer)
        }
    }

    private static let lookAtTermsAgain = Statement(
        """
        UPDATE term_bases AS known SET due_at = given.due_at
        FROM unnest($1::int8[], $2::bytea[], $3::int8[]) AS given (purchase, id, due_at)
        WHERE known.purchase = given.purchase AND known.transaction_id = given.id
        """)

    func setLookDates(_ dates: [(term: SQLTransaction, date: Int64)]) throws {
        try run(
            Self.lookAtTermsAgain, .int8s(dates.map { $0.term.purchase.id }), .texts(dates.map { $0.term.id }),
            .int8s(dates.map { $0.date }))
    }
}

extension SQLPurchase {
    /// The database id of the app and environment.
    var scope: Int32 { Int32(truncatingIfNeeded: scopeId) }
}

extension ResultRows {
    /// The id of a purchase, its customer, its scope and its original transaction id in four columns.
    func ownedPurchase(_ row: Int) throws -> SQLOwnedPurchase {
        let purchase = SQLPurchase(
            scopeId: Int64(try integer(row, 2, as: Int32.self)), original: try text(row, 3),
            id: try integer(row, 0))
        return SQLOwnedPurchase(purchase, of: try integer(row, 1))
    }
}
