public import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: DeliveryLedger {
    private static let readLedger = reading(
        "SELECT * FROM ledger WHERE position > $1::int8 ORDER BY position LIMIT $2::int4")
    private static let readEntriesOfPurchases = reading(
        """
        SELECT e.* FROM (
            SELECT DISTINCT t.purchase, t.transaction_id, i.scope
            FROM scopes AS given
            JOIN identities AS i ON i.scope = given.id AND i.kind = 1 AND i.value = ANY ($3::bytea[])
            JOIN transactions AS t ON t.purchase = i.id
            WHERE given.environment = $1::bytea AND given.bundle_id = $2::bytea
        ) AS known
        JOIN ledger AS e
            ON e.transaction_id = known.transaction_id AND e.scope = known.scope AND e.purchase = known.purchase
        """)

    /// Reads entries with the facts of their transactions, in the order of the positions.
    /// - Parameter entries: a query of rows of the ledger.
    private static func reading(_ entries: String) -> Statement {
        Statement(
            """
            SELECT l.position, l.event, s.environment, s.bundle_id, l.transaction_id,
                t.kind, t.source, t.signed_date, t.payload, t.legacy, l.purchase,
                EXISTS (
                    SELECT FROM ledger AS u
                    WHERE u.transaction_id = l.transaction_id AND u.scope = l.scope AND u.event IN (2, 3))::int4,
                coalesce(l.seat_claim_id, ''::bytea), l.recorded_at,
                \(LedgerEntry.Event.sqlOfEventBefore(scope: "scope"))::int2, coalesce(l.earlier_before, ''::bytea)
            FROM (\(entries)) AS l
            JOIN scopes AS s ON s.id = l.scope
            JOIN transactions AS t ON t.purchase = l.purchase AND t.transaction_id = l.transaction_id
            ORDER BY l.position
            """)
    }

    public func changes(after position: Int64, limit: Int) async throws -> [LedgerEntry] {
        let limit = Int32(LedgerLimits.entries(limit))
        return try await perform { session in
            let rows = try session.run(Self.readLedger, [.int8(position), .int4(limit)])
            let entries = try Self.entries(rows, session)
            // Checked after the entries are read, because they can be removed during the read.
            try LedgerLimits.check(readFrom: position, removed: session.removedPosition())
            return entries
        }
    }

    public func entries(
        ofPurchases originalTransactionIds: [String], in scope: StoreScope
    ) async throws -> [LedgerEntry] {
        try await perform { session in
            let rows = try session.run(
                Self.readEntriesOfPurchases,
                [.text(scope.environment.rawValue), .text(scope.bundleId), .texts(originalTransactionIds)])
            // Of removed entries, the last state of each transaction stays, for the entries after it.
            let entries = try Self.entries(rows, session)
            let removed = try session.removedPosition()
            return entries.filter { $0.position > removed }
        }
    }

    private static func entries(_ rows: ResultRows, _ session: PostgreSQLSession) throws -> [LedgerEntry] {
        var entries: [LedgerEntry] = []
        // The entries of one purchase often follow each other.
        var last: (purchase: Int64, transactions: [StoredTransaction])?
        var start = 0
        while start < rows.count {
            let position = try rows.integer(start, 0, as: Int64.self)
            let scope = try rows.scope(start, 2)
            var assembler = CustomerAssembler(scope: scope)
            var end = start
            while end < rows.count, try rows.integer(end, 0, as: Int64.self) == position {
                try StoredFacts.add(end, of: rows, from: 5, to: &assembler)
                end += 1
            }
            let id = try rows.text(start, 4)
            var transaction = assembler.joinedTransactions().first
            // The transaction's own facts may not state the revocation or the upgrade. Then only the customer's other
            // transactions show it.
            if try rows.integer(start, 11, as: Int32.self) != 0 || transaction?.mayBeChangedByOthers == true {
                let purchase = try rows.integer(start, 10, as: Int64.self)
                if last?.purchase != purchase {
                    let all = try StoredFacts.subscriptions([purchase], session, in: scope).first ?? []
                    last = (purchase, all)
                }
                transaction = last?.transactions.first { $0.payload.transactionId == id } ?? transaction
            }
            guard let event = LedgerEntry.Event(rawValue: Int64(try rows.integer(start, 1, as: Int16.self))),
                let transaction
            else { throw TransactionStoreError(.corrupt, "the ledger has an entry that cannot be read") }
            entries.append(
                LedgerEntry(
                    position: position, event: event,
                    eventBefore: .init(rawValue: Int64(try rows.integer(start, 14, as: Int16.self))), scope: scope,
                    transactionId: id, transaction: transaction,
                    seatClaimId: event == .seatUnclaimed ? try rows.text(start, 12) : nil,
                    earlierPurchasesBefore: EarlierPurchases.decode(try rows.bytes(start, 15)),
                    recordedDate: try rows.integer(start, 13)))
            start = end
        }
        return entries
    }

    /// The database server's clock, in milliseconds since 1970.
    static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
}

extension PostgreSQLTransactionStore: CustomerDirectory {
    private static let findScope = Statement(
        "SELECT id FROM scopes WHERE environment = $1::bytea AND bundle_id = $2::bytea")
    private static let listIdentities = Statement(
        """
        SELECT kind, value, customer FROM identities
        WHERE scope = $1::int4 AND (kind, value) > ($2::int4::int2, $3::bytea)
        ORDER BY kind, value LIMIT $4::int4
        """)
    private static let leastIdentities = Statement(
        """
        SELECT DISTINCT ON (i.customer) i.customer, i.kind, i.value
        FROM unnest($2::int8[]) AS given (customer) JOIN identities AS i ON i.customer = given.customer
        WHERE i.scope = $1::int4
        ORDER BY i.customer, i.kind, i.value
        """)

    public func customers(
        in scope: StoreScope, after identity: CustomerIdentity?, limit: Int
    ) async throws -> [Customer] {
        try await perform { session in
            let found = try session.run(Self.findScope, [.text(scope.environment.rawValue), .text(scope.bundleId)])
            guard found.count > 0 else { return [] }
            let scopeId = try found.integer(0, 0, as: Int32.self)
            var page = CustomerPage(limit: limit)
            var last = identity
            while !page.isFull {
                let identities = try Self.identities(after: last, scopeId, session)
                guard !identities.isEmpty else { break }
                for identity in identities where !page.isFull {
                    last = identity.identity
                    guard identity.isLeast else { continue }
                    let query = CustomerReader.Query(identities: [identity.identity], scope: scope)
                    for answer in try CustomerReader.answers(to: [query], session) {
                        if let customer = try answer.get() { page.add(customer) }
                    }
                }
            }
            return page.customers
        }
    }

    private static func findReference(_ identities: String) -> Statement {
        Statement(
            """
            SELECT DISTINCT s.environment, s.bundle_id, i.kind, i.value
            FROM (\(identities)) AS i JOIN scopes AS s ON s.id = i.scope
            ORDER BY s.environment, s.bundle_id, i.kind, i.value LIMIT $2::int4
            """)
    }

    /// The original transaction ids of the transactions that satisfy a condition.
    private static func purchases(_ condition: String) -> String {
        """
        SELECT p.scope, p.kind, p.value FROM transactions JOIN identities AS p ON p.id = purchase WHERE \(condition)
        """
    }

    private static let findTransactionId = findReference(purchases("transaction_id = $1::bytea"))
    private static let findWebOrderLineItemId = findReference(
        purchases("\(Schema.hasWebOrderLineItemId) AND \(Schema.webOrderLineItemId) = $1::bytea"))
    private static let findUserId = findReference(
        "SELECT scope, kind, value FROM user_claims WHERE user_id = $1::bytea")

    public func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] {
        let (statement, id) =
            switch reference {
            case .transactionId(let id): (Self.findTransactionId, Array(id.utf8))
            case .webOrderLineItemId(let id): (Self.findWebOrderLineItemId, StoredWebOrderLineItemId.written(id))
            case .userId(let id): (Self.findUserId, Array(id.utf8))
            }
        return try await perform { session in
            let rows = try session.run(
                statement, [.bytes(id), .int4(Int32(CustomerReference.identities(limit)))])
            return try (0..<rows.count).map { row in
                ScopedIdentity(scope: try rows.scope(row, 0), identity: try Self.identity(rows, row, from: 2))
            }
        }
    }

    private struct ListedIdentity {
        let identity: CustomerIdentity
        /// Whether this is the first identity of its customer.
        let isLeast: Bool
    }

    private static func identities(
        after last: CustomerIdentity?, _ scopeId: Int32, _ session: PostgreSQLSession
    ) throws -> [ListedIdentity] {
        let rows = try session.run(
            listIdentities,
            [
                .int4(scopeId), .int4(Int32(last?.kind.rawValue ?? 0)), .text(last?.value ?? ""),
                .int4(Int32(CustomerPage.identitiesAtOnce)),
            ])
        let customers = try (0..<rows.count).map { try rows.integer($0, 2, as: Int64.self) }
        let least = try session.run(leastIdentities, [.int4(scopeId), .int8s(Set(customers).sorted())])
        var first: [Int64: CustomerIdentity] = [:]
        for row in 0..<least.count {
            first[try least.integer(row, 0)] = try Self.identity(least, row, from: 1)
        }
        return try (0..<rows.count).map { row in
            let identity = try Self.identity(rows, row, from: 0)
            return ListedIdentity(identity: identity, isLeast: first[customers[row]] == identity)
        }
    }

    private static func identity(_ rows: ResultRows, _ row: Int, from column: Int) throws -> CustomerIdentity {
        try CustomerIdentity(
            storedKind: Int64(rows.integer(row, column, as: Int16.self)), rows.text(row, column + 1))
    }
}
