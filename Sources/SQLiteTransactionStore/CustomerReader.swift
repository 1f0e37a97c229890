import GRDB
import Purchases
import TransactionStore

extension SQLiteTransactionStore {
    static func scopeId(_ scope: StoreScope, _ db: some StatementSource) throws -> Int64? {
        let find = try db.statement("SELECT id FROM scopes WHERE environment = ?1 AND bundle_id = ?2")
        return try find.integer(scope.environment.rawValue, scope.bundleId)
    }

    /// The customer with any of the identities, read from one snapshot of the store.
    static func customer(
        _ identities: [CustomerIdentity], _ scope: StoreScope, _ connection: LookUpConnection
    ) throws -> Customer? {
        guard let scopeId = try connection.scopeId(scope) else { return nil }
        let asked = identities.filter(\.isMeaningful)
        var assembler = CustomerAssembler(scope: scope)
        func readAll(of identity: CustomerIdentity) throws {
            try Self.readAll(
                of: Int64(identity.kind.rawValue), identity.value, scopeId, into: &assembler, connection)
        }
        if asked.count == 1 {
            // A single statement reads one snapshot of the store.
            try readAll(of: asked[0])
        } else {
            try connection.transaction {
                // An identity belongs to one customer, so the identities of a customer that was found need no further
                // look-up.
                for identity in asked where !assembler.hasIdentity(identity) {
                    if try isKnown(identity, scopeId, connection) { try readAll(of: identity) }
                }
            }
        }
        return assembler.customer()
    }

    /// A cheap check, because a receipt may contain thousands of purchases that are not in the store.
    private static func isKnown(
        _ identity: CustomerIdentity, _ scopeId: Int64, _ connection: LookUpConnection
    ) throws -> Bool {
        let find = try connection.statement("SELECT 1 FROM identities WHERE scope_id = ?1 AND kind = ?2 AND value = ?3")
        return try find.integer(scopeId, Int64(identity.kind.rawValue), identity.value) != nil
    }

    /// Reads everything about the customer of one identity.
    /// - Parameters:
    ///   - kind: the number of the kind of the identity.
    ///   - value: the value of the identity.
    ///   - scopeId: the database id of the app and environment.
    ///   - assembler: gets the rows.
    ///   - db: runs the statements.
    ///   - onlyPurchases: whether to read only the identities and the transactions, without the large receipts.
    static func readAll(
        of kind: Int64, _ value: String, _ scopeId: Int64, into assembler: inout CustomerAssembler,
        _ db: some StatementSource, onlyPurchases: Bool = false
    ) throws {
        let find = try db.statement(onlyPurchases ? purchases : everything)
        try find.forEachRow(scopeId, kind, value) {
            try assembler.add($0.integer(0), $0.head(1, document: 6), payload: $0.bytes(4), legacy: $0.bytes(5))
        }
    }

    // CROSS JOIN keeps the order of the tables: from the given identity to all identities of the customer, and from
    // these to their rows.
    private static let purchases = """
        SELECT 0, o.kind, NULL, NULL, o.value, NULL, NULL FROM identities asked CROSS JOIN identities o
        WHERE asked.scope_id = ?1 AND asked.kind = ?2 AND asked.value = ?3 AND o.customer_id = asked.customer_id
        UNION ALL
        SELECT 1, t.kind, t.source, t.signed_date, t.payload, t.legacy, t.document
        FROM identities asked CROSS JOIN identities i CROSS JOIN transactions t
        WHERE asked.scope_id = ?1 AND asked.kind = ?2 AND asked.value = ?3 AND i.customer_id = asked.customer_id
            AND i.kind = 1 AND t.scope_id = i.scope_id AND t.original_transaction_id = i.value
        """
    private static let everything = """
        \(purchases)
        UNION ALL
        SELECT 2, r.kind, r.source, r.signed_date, r.payload, NULL, r.document
        FROM identities asked CROSS JOIN identities i CROSS JOIN renewal_infos r
        WHERE asked.scope_id = ?1 AND asked.kind = ?2 AND asked.value = ?3 AND i.customer_id = asked.customer_id
            AND i.kind = 1 AND r.scope_id = i.scope_id AND r.original_transaction_id = i.value
        UNION ALL
        SELECT 3, a.kind, a.source, a.signed_date, a.payload, a.legacy, a.document
        FROM identities asked CROSS JOIN app_transactions a
        WHERE asked.scope_id = ?1 AND asked.kind = ?2 AND asked.value = ?3 AND a.customer_id = asked.customer_id
        UNION ALL
        SELECT 4, r.form, NULL, r.signed_date, r.bytes, NULL, NULL FROM identities asked CROSS JOIN receipts r
        WHERE asked.scope_id = ?1 AND asked.kind = ?2 AND asked.value = ?3 AND r.customer_id = asked.customer_id
        """
}
