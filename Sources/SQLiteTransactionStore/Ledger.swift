import GRDB
public import Purchases
public import TransactionStore

extension SQLiteTransactionStore: DeliveryLedger {
    private struct Row {
        let position: Int64
        let event: Int64
        let scope: StoreScope
        let scopeId: Int64
        let original: String
        let id: String
        /// Whether the ledger ever recorded a revocation or an upgrade. The transaction's own facts may not state it.
        let mayDepend: Bool
        let seatClaimId: String
        let recordedDate: Int64
        /// The raw value of the event that decided the state before the entry; 0 if there is none.
        let eventBefore: Int64
        /// `EarlierPurchases` of the entry.
        let earlierBefore: [UInt8]
    }

    public func changes(after position: Int64, limit: Int) async throws -> [LedgerEntry] {
        try await read { db in
            try LedgerLimits.check(readFrom: position, removed: SharedSession(db: db).removedPosition())
            return try Self.entries(
                db,
                from: """
                    ledger l CROSS JOIN scopes s ON s.id = l.scope_id
                    WHERE l.position > ?1 ORDER BY l.position LIMIT ?2
                    """
            ) {
                try $0.set(position, Int64(LedgerLimits.entries(limit)))
            }
        }
    }

    public func entries(
        ofPurchases originalTransactionIds: [String], in scope: StoreScope
    ) async throws -> [LedgerEntry] {
        try await read { db in
            var entries: [LedgerEntry] = []
            for original in Set(originalTransactionIds) {
                entries += try Self.entries(
                    db,
                    from: """
                        scopes s CROSS JOIN ledger l ON l.scope_id = s.id
                        WHERE s.environment = ?1 AND s.bundle_id = ?2 AND l.original_transaction_id = ?3
                            AND l.transaction_id IN (
                                SELECT t.transaction_id FROM transactions t
                                WHERE t.scope_id = s.id AND t.original_transaction_id = ?3)
                        """
                ) {
                    try $0.set(scope.environment.rawValue, scope.bundleId, original)
                }
            }
            // Of removed entries, the last state of each transaction stays, for the entries after it.
            let removed = try SharedSession(db: db).removedPosition()
            return entries.filter { $0.position > removed }.sorted { $0.position < $1.position }
        }
    }

    /// - Parameter tables: the ledger as `l` and the scopes as `s`, with a condition and an order.
    private static func entries(
        _ db: Database, from tables: String, bind: (SQLStatement) throws -> Void
    ) throws -> [LedgerEntry] {
        let find = try SQLStatement(db, Self.findTransaction)
        let findSubscription = try SQLStatement(db, Self.findSubscription)
        // The entries of one purchase often follow each other.
        var last: (scopeId: Int64, original: String, transactions: [StoredTransaction])?
        func transaction(_ row: Row) throws -> StoredTransaction? {
            if !row.mayDepend,
                let own = try Self.transaction(row.id, row.original, row.scopeId, in: row.scope, find),
                !own.mayBeChangedByOthers
            {
                return own
            }
            if last?.scopeId != row.scopeId || last?.original != row.original {
                let all = try Self.subscription(row.original, row.scopeId, in: row.scope, findSubscription)
                last = (row.scopeId, row.original, all)
            }
            return last?.transactions.first { $0.payload.transactionId == row.id }
        }
        return try rows(db, from: tables, bind: bind).map { row in
            guard let event = LedgerEntry.Event(rawValue: row.event), let transaction = try transaction(row)
            else {
                throw TransactionStoreError(.corrupt, "The ledger has an entry for a transaction that is missing.")
            }
            return LedgerEntry(
                position: row.position, event: event, eventBefore: .init(rawValue: row.eventBefore), scope: row.scope,
                transactionId: row.id, transaction: transaction,
                seatClaimId: event == .seatUnclaimed ? row.seatClaimId : nil,
                earlierPurchasesBefore: EarlierPurchases.decode(row.earlierBefore), recordedDate: row.recordedDate)
        }
    }

    private static func rows(
        _ db: Database, from tables: String, bind: (SQLStatement) throws -> Void
    ) throws -> [Row] {
        let list = try SQLStatement(
            db,
            """
            SELECT l.position, l.event, s.environment, s.bundle_id, l.scope_id, l.original_transaction_id,
                l.transaction_id,
                EXISTS (
                    SELECT 1 FROM ledger u
                    WHERE u.scope_id = l.scope_id AND u.transaction_id = l.transaction_id AND u.event IN (2, 3)),
                l.seat_claim_id, l.recorded_at,
                \(LedgerEntry.Event.sqlOfEventBefore(scope: "scope_id")), l.earlier_before
            FROM \(tables)
            """)
        try bind(list)
        return try list.rows {
            Row(
                position: $0.integer(0), event: $0.integer(1), scope: $0.scope(2), scopeId: $0.integer(4),
                original: $0.text(5), id: $0.text(6), mayDepend: $0.integer(7) != 0,
                seatClaimId: $0.text(8), recordedDate: $0.integer(9), eventBefore: $0.integer(10),
                earlierBefore: Array($0.bytes(11)))
        }
    }

    /// The time in milliseconds since 1970. It stays the same during one step of a statement (SQLite, "Date And Time
    /// Functions").
    static let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
}

extension SQLiteTransactionStore: CustomerDirectory {
    /// Names the index, because SQLite would otherwise read all identities of the app to avoid sorting a few.
    /// The order is the whole index: with a scope that SQLite knows to be constant, it would sort all identities of the
    /// customer, each time.
    package static let leastIdentity = """
        SELECT kind, value FROM identities INDEXED BY identities_by_customer
        WHERE customer_id = ?1 AND +scope_id = ?2 ORDER BY kind, scope_id, value
        """

    public func customers(
        in scope: StoreScope, after identity: CustomerIdentity?, limit: Int
    ) async throws -> [Customer] {
        try await read { db in
            guard let scopeId = try Self.scopeId(scope, db) else { return [] }
            var page = CustomerPage(limit: limit)
            var last = (kind: Int64(identity?.kind.rawValue ?? 0), value: identity?.value ?? "")
            let least = try SQLStatement(db, Self.leastIdentity)
            while !page.isFull {
                let identities = try Self.identities(after: last, scopeId, db)
                guard let end = identities.last else { break }
                last = (end.kind, end.value)
                for identity in identities where !page.isFull {
                    last = (identity.kind, identity.value)
                    try least.set(identity.customer, scopeId)
                    guard try least.isFirst(identity.kind, identity.value) else { continue }
                    var assembler = CustomerAssembler(scope: scope)
                    try Self.readAll(of: identity.kind, identity.value, scopeId, into: &assembler, db)
                    if let customer = assembler.customer() { page.add(customer) }
                }
            }
            return page.customers
        }
    }

    public func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] {
        try await read { db in
            let find = try SQLStatement(db, Self.findReference(reference))
            switch reference {
            case .transactionId(let id): try find.bind(1, id)
            case .webOrderLineItemId(let id): try find.bind(1, StoredWebOrderLineItemId.written(id))
            case .userId(let id): try find.bind(1, Array(id.utf8))
            }
            try find.bind(2, Int64(CustomerReference.identities(limit)))
            return try find.rows {
                ScopedIdentity(
                    scope: $0.scope(0), identity: try CustomerIdentity(storedKind: $0.integer(2), $0.text(3)))
            }
        }
    }

    package static func findReference(_ reference: CustomerReference) -> String {
        // The indices are named, because the statistics of a small table would still select a scan after it has grown.
        let purchases = """
            SELECT scope_id, \(CustomerIdentity.Kind.originalTransactionId.rawValue) AS kind,
                original_transaction_id AS value
            FROM transactions INDEXED BY
            """
        let identities =
            switch reference {
            case .transactionId: "\(purchases) transactions_by_id WHERE transaction_id = ?1"
            case .webOrderLineItemId:
                """
                \(purchases) transactions_by_web_order_line_item_id
                WHERE \(SQLiteSchema.hasWebOrderLineItemId) AND \(SQLiteSchema.webOrderLineItemId) = ?1
                """
            case .userId:
                "SELECT scope_id, kind, value FROM user_claims INDEXED BY user_claims_by_user WHERE user_id = ?1"
            }
        return """
            SELECT DISTINCT s.environment, s.bundle_id, i.kind, i.value
            FROM (\(identities)) AS i CROSS JOIN scopes s ON s.id = i.scope_id
            ORDER BY s.environment, s.bundle_id, i.kind, i.value LIMIT ?2
            """
    }

    private struct KnownIdentity {
        let kind: Int64
        let value: String
        let customer: Int64
    }

    private static func identities(
        after last: (kind: Int64, value: String), _ scopeId: Int64, _ db: Database
    ) throws -> [KnownIdentity] {
        let find = try SQLStatement(
            db,
            """
            SELECT kind, value, customer_id FROM identities
            WHERE scope_id = ?1 AND (kind, value) > (?2, ?3) ORDER BY kind, value LIMIT ?4
            """)
        return try find.rows(scopeId, last.kind, last.value, Int64(CustomerPage.identitiesAtOnce)) {
            KnownIdentity(kind: $0.integer(0), value: $0.text(1), customer: $0.integer(2))
        }
    }
}
