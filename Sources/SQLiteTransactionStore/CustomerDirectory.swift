import GRDB
public import Purchases
public import TransactionStore

extension SQLiteTransactionStore {
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

    /// The next customers of a scope, ordered by their smallest identities. Each customer is read whole, so a page of
    /// customers with long histories takes more time. A running write does not block it.
    ///
    /// - Parameters:
    ///   - scope: the app and the environment.
    ///   - identity: `identities.first` of the last customer of the previous page; nil to start at the beginning.
    ///   - limit: 1 to 1,000. Other values are clamped to this range.
    /// - Returns: an empty page at the end.
    /// - Throws: `TransactionStoreError`.
    public func customers(
        in scope: StoreScope, after identity: CustomerIdentity?, limit: Int
    ) async throws -> [Customer] {
        try await read { db in
            guard let scopeId = try Self.scopeId(scope, db) else { return [] }
            var page = CustomerPage(limit: limit)
            var last = (kind: Int64(identity?.kind.rawValue ?? 0), value: identity?.value ?? "")
            let list = try db.statement(
                """
                SELECT kind, value, customer_id FROM identities
                WHERE scope_id = ?1 AND (kind, value) > (?2, ?3) ORDER BY kind, value LIMIT ?4
                """)
            let least = try db.statement(Self.leastIdentity)
            while !page.isFull {
                let identities = try list.rows(
                    scopeId, last.kind, last.value, Int64(CustomerPage.identitiesAtOnce)
                ) { (kind: $0.integer(0), value: $0.text(1), customer: $0.integer(2)) }
                if identities.isEmpty { break }
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

    /// The identities to look up for a reference, in all apps and environments, ordered. Empty if nothing has the
    /// reference.
    ///
    /// - Parameters:
    ///   - reference: compared byte by byte. Every kind of reference has an index.
    ///   - limit: 1 to 1,000. Other values are clamped to this range.
    /// - Throws: `TransactionStoreError`.
    public func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] {
        try await read { db in
            let find = try db.statement(Self.findReference(reference))
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
}
