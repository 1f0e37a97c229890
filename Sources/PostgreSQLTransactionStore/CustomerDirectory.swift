public import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore {
    /// The database server's clock, in milliseconds since 1970.
    static let now = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
}

extension PostgreSQLTransactionStore: CustomerDirectory {
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

    /// The next customers of a scope, ordered by their smallest identities. Each customer is read whole, so a page of
    /// customers with long histories takes more time.
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
        try await perform { session in
            guard let scopeId = try ScopeIds(session).known(scope) else { return [] }
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

    /// The identities to look up for a reference, in all apps and environments, ordered. Empty if nothing has the
    /// reference.
    ///
    /// - Parameters:
    ///   - reference: compared byte by byte.
    ///   - limit: 1 to 1,000. Other values are clamped to this range.
    /// - Throws: `TransactionStoreError`.
    public func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] {
        let (statement, id) =
            switch reference {
            case .transactionId(let id): (Self.findTransactionId, Array(id.utf8))
            case .webOrderLineItemId(let id): (Self.findWebOrderLineItemId, StoredWebOrderLineItemId.written(id))
            case .userId(let id): (Self.findUserId, Array(id.utf8))
            }
        return try await perform { session in
            let rows = try session.run(statement, .bytes(id), .int4(Int32(CustomerReference.identities(limit))))
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
            listIdentities, .int4(scopeId), .int4(Int32(last?.kind.rawValue ?? 0)), .text(last?.value ?? ""),
            .int4(Int32(CustomerPage.identitiesAtOnce)))
        let customers = try (0..<rows.count).map { try rows.integer($0, 2, as: Int64.self) }
        let least = try session.run(leastIdentities, .int4(scopeId), .int8s(Set(customers).sorted()))
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
