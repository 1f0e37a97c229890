public import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: CustomerEraser {
    /// See `CustomerEraser`. Writers of the scope wait until it is done. The server frees the space of the rows when it
    /// vacuums the tables (PostgreSQL manual, "Routine Vacuuming"). Its write-ahead log contains them for as long as it
    /// is configured to keep it.
    public func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows {
        try await perform { [schema] session in
            let scopeId = try ScopeIds(session).find([scope])[0]
            return try session.transaction {
                let erasure = Erasure(session: session, scope: scope, scopeId: scopeId)
                return try erasure.run(
                    identities, quarantined, leavingHashes: leavingHashes, lockClass: schema.lockClass)
            }
        }
    }

    public func rowsToErase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows {
        try await perform { [schema] session in
            try session.transaction {
                try session.execute("SAVEPOINT erasure")
                // A missing scope is inserted, and taken back with everything else.
                let scopeId = try ScopeIds(session).find([scope])[0]
                let erasure = Erasure(session: session, scope: scope, scopeId: scopeId)
                let rows = try erasure.run(
                    identities, quarantined, leavingHashes: leavingHashes, lockClass: schema.lockClass)
                try session.execute("ROLLBACK TO SAVEPOINT erasure")
                return rows
            }
        }
    }

    public func removeLeftHashes(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> Int64 {
        try await perform { session in
            try session.transaction {
                let table = LeftHashTable(session: session)
                return try table.secrets().reduce(0) {
                    try $0 + table.remove(LeftHash.hashes(of: Set(identities), in: scope, secret: $1))
                }
            }
        }
    }
}

/// Removes the rows of customers of one scope, within a transaction that holds the lock of the scope exclusively.
struct Erasure {
    let session: PostgreSQLSession
    let scope: StoreScope
    let scopeId: Int32

    private static let lockScope = Statement("SELECT pg_advisory_xact_lock($1::int4, $2::int4)::text")
    private static let findIdentities = Statement(
        """
        WITH members AS MATERIALIZED (
            SELECT DISTINCT known.customer
            FROM unnest($2::int2[], $3::bytea[]) AS given (kind, value)
            JOIN identities AS known
                ON known.scope = $1::int4 AND known.kind = given.kind AND known.value = given.value
        )
        SELECT i.id, i.customer, i.kind, i.value FROM members JOIN identities AS i USING (customer)
        """)
    private static let deleteEntries = Statement(
        """
        DELETE FROM ledger AS l USING (
            SELECT DISTINCT purchase, transaction_id FROM transactions WHERE purchase = ANY ($1::int8[])
        ) AS t
        WHERE l.transaction_id = t.transaction_id AND l.scope = $2::int4 AND l.purchase = t.purchase
        """)
    private static let clearEarlierPurchases = Statement(
        """
        UPDATE ledger AS l SET earlier_before = NULL
        FROM (
            SELECT DISTINCT t.purchase, t.transaction_id
            FROM identities AS i JOIN transactions AS t ON t.purchase = i.id WHERE i.customer = $1::int8 AND i.kind = 1
        ) AS t
        WHERE l.transaction_id = t.transaction_id AND l.scope = $2::int4 AND l.purchase = t.purchase
            AND l.earlier_before IS NOT NULL
        """)
    private static let deleteTransactions = erasing("transactions", by: "purchase")
    private static let deleteRenewalInfos = erasing("renewal_infos", by: "purchase")
    private static let deleteEndings = erasing("ledger_endings", by: "purchase")
    private static let deleteTerms = erasing("term_bases", by: "purchase")
    private static let deleteAppTransactions = erasing("app_transactions", by: "customer")
    private static let deleteReceipts = erasing("receipts", by: "customer")
    private static let deleteIdentities = erasing("identities", by: "customer")
    private static let deleteVerified = erasing("verified_receipts", by: "key", "bytea")
    private static let deleteNotifications = erasing("notifications", by: "notification_uuid", "bytea")
    private static let deleteQuarantined = erasing("quarantine", by: "key", "bytea")
    private static let listAppTransactions = Statement(
        "SELECT kind, payload FROM app_transactions WHERE customer = $1::int8")
    private static let deleteAppTransactionKinds = Statement(
        "DELETE FROM app_transactions WHERE customer = $1::int8 AND kind = ANY ($2::int2[])")
    private static let deletePurchaseIds = Statement(
        """
        DELETE FROM identities AS i USING unnest($2::int2[], $3::bytea[]) AS given (kind, value)
        WHERE i.scope = $1::int4 AND i.kind = given.kind AND i.value = given.value
        """)
    private static let deleteTasks = Statement(
        """
        DELETE FROM consumption_requests AS c USING unnest($2::bytea[]) AS given (id)
        WHERE c.scope = $1::int4 AND c.original_transaction_id = given.id
        """)
    private static let deleteUnknown = Statement(
        """
        DELETE FROM unknown_transactions AS u USING scopes AS s, (
            SELECT id FROM unnest($2::bytea[]) AS known (id)
            UNION SELECT transaction_id FROM transactions WHERE purchase = ANY ($3::int8[])
        ) AS given
        WHERE s.id = $1::int4 AND u.environment = s.environment AND u.bundle_id = s.bundle_id
            AND u.transaction_id = given.id
        """)
    private static let deleteClaims = Statement(
        """
        DELETE FROM user_claims AS u USING unnest($2::int2[], $3::bytea[]) AS given (kind, value)
        WHERE u.scope = $1::int4 AND u.kind = given.kind AND u.value = given.value
        """)
    private static let listVerified = listing("verified_receipts", "key", "identities")
    private static let listNotifications = listing("notifications", "notification_uuid", "body")

    /// How many rows are read at a time.
    private static let pageSize: Int32 = 2_000

    private static func erasing(_ table: String, by column: String, _ type: String = "int8") -> Statement {
        Statement("DELETE FROM \(table) WHERE \(column) = ANY ($1::\(type)[])")
    }

    /// Lists all rows in pages, ordered by a key that has an index.
    private static func listing(_ table: String, _ key: String, _ value: String) -> Statement {
        Statement(
            """
            SELECT \(key), scope, \(value) FROM \(table) WHERE \(key) > $1::bytea ORDER BY \(key) LIMIT $2::int4
            """)
    }

    /// The ids of identities, and of the customers that have them.
    private struct Owners {
        /// By original transaction id.
        var purchases: [CustomerIdentity: Int64] = [:]
        var identities: [Int64: Set<CustomerIdentity>] = [:]
    }

    /// Removes the customers with any of these identities, and quarantined records.
    func run(
        _ identities: [CustomerIdentity], _ quarantined: [[UInt8]], leavingHashes: Bool, lockClass: Int32
    ) throws -> ErasedRows {
        // Writers share this lock. Taken exclusively, it keeps them from adding to a customer that is being removed.
        try session.run(Self.lockScope, [.int4(lockClass), .int4(scopeId)])
        let asked = Set(identities.filter(\.isMeaningful))
        let owners = try owners(of: asked)
        let all = owners.identities.values.reduce(asked) { $0.union($1) }
        var erased = try delete(all, Array(owners.purchases.values), Array(owners.identities.keys))
        erased.quarantined = try delete(Self.deleteQuarantined, [.byteStrings(quarantined)])
        if leavingHashes {
            let table = LeftHashTable(session: session)
            let secret = try table.secrets().first ?? LeftHash.makeSecret()
            erased.leftHashes = Int64(try table.add(LeftHash.hashes(of: all, in: scope, secret: secret), scopeId).count)
        }
        return erased
    }

    /// Removes what is about identities that were erased in another store. A customer with a purchase that is not erased
    /// keeps it.
    func remove(_ erased: Set<CustomerIdentity>) throws {
        let owners = try owners(of: erased)
        var (gone, named) = ([Int64](), erased)
        for (customer, all) in owners.identities.sorted(by: { $0.key < $1.key }) {
            if all.contains(where: { $0.kind == .originalTransactionId && !erased.contains($0) }) {
                try removeDocuments(of: customer, naming: erased.intersection(all))
            } else {
                gone.append(customer)
                named.formUnion(all)
            }
        }
        _ = try delete(named, named.compactMap { owners.purchases[$0] }, gone)
    }

    /// Removes the ids of purchases, the receipts that may contain them, and app transactions.
    private func removeDocuments(of customer: Int64, naming erased: Set<CustomerIdentity>) throws {
        let purchases = erased.filter { $0.kind == .originalTransactionId }.sorted()
        if !purchases.isEmpty {
            _ = try delete(Self.deleteReceipts, [.int8s([customer])])
            // They can name an erased purchase.
            try session.run(Self.clearEarlierPurchases, [.int8(customer), .int4(scopeId)])
        }
        let mentioned = MentionedIdentities(erased.filter { $0.kind == .appTransactionId })
        let rows = try session.run(Self.listAppTransactions, [.int8(customer)])
        let kinds = try (0..<rows.count).filter { mentioned.areNamed(in: try rows.bytes($0, 1)) }
            .map { try rows.integer($0, 0, as: Int16.self) }
        try session.run(Self.deleteAppTransactionKinds, [.int8(customer), .int2s(kinds)])
        try session.run(Self.deletePurchaseIds, [.int4(scopeId)] + Self.parameters(purchases))
    }

    /// The customers with any of these identities, and all identities of these customers.
    private func owners(of asked: Set<CustomerIdentity>) throws -> Owners {
        var owners = Owners()
        let rows = try session.run(Self.findIdentities, [.int4(scopeId)] + Self.parameters(asked.sorted()))
        for row in 0..<rows.count {
            let identity = try CustomerIdentity(
                storedKind: Int64(rows.integer(row, 2, as: Int16.self)), rows.text(row, 3))
            owners.identities[try rows.integer(row, 1), default: []].insert(identity)
            if identity.kind == .originalTransactionId { owners.purchases[identity] = try rows.integer(row, 0) }
        }
        return owners
    }

    /// Removes the rows of purchases, the rows that name one of the identities, and customers.
    private func delete(
        _ all: Set<CustomerIdentity>, _ purchases: [Int64], _ customers: [Int64]
    ) throws -> ErasedRows {
        var erased = ErasedRows()
        let ofPurchases = Parameter.int8s(purchases.sorted())
        let ofCustomers = Parameter.int8s(customers.sorted())
        let originals = Parameter.texts(all.filter { $0.kind == .originalTransactionId }.map(\.value))
        // Before the entries: a look that holds the row of a purchase is about to append some, and one that does not leaves
        // the purchase out.
        _ = try delete(Self.deleteEndings, [ofPurchases])
        _ = try delete(Self.deleteTerms, [ofPurchases])
        // Before the transactions, whose ids select the rows.
        erased.ledgerEntries = try delete(Self.deleteEntries, [ofPurchases, .int4(scopeId)])
        erased.unknownTransactions = try delete(Self.deleteUnknown, [.int4(scopeId), originals, ofPurchases])
        erased.transactions = try delete(Self.deleteTransactions, [ofPurchases])
        erased.renewalInfos = try delete(Self.deleteRenewalInfos, [ofPurchases])
        erased.consumptionTasks = try delete(Self.deleteTasks, [.int4(scopeId), originals])
        erased.appTransactions = try delete(Self.deleteAppTransactions, [ofCustomers])
        erased.receipts = try delete(Self.deleteReceipts, [ofCustomers])
        erased.identities = try delete(Self.deleteIdentities, [ofCustomers])
        erased.userClaims = try delete(Self.deleteClaims, [.int4(scopeId)] + Self.parameters(all.sorted()))
        erased.verifiedReceipts = try delete(Self.deleteVerified, listedBy: Self.listVerified) { identities in
            try !all.isDisjoint(with: StoredIdentities.decode(identities))
        }
        let mentioned = MentionedIdentities(all)
        erased.notifications = try delete(Self.deleteNotifications, listedBy: Self.listNotifications) { body in
            mentioned.areNamed(in: body)
        }
        return erased
    }

    private static func parameters(_ identities: [CustomerIdentity]) -> [Parameter] {
        [
            .int2s(identities.map { Int16(truncatingIfNeeded: $0.kind.rawValue) }),
            .texts(identities.map(\.value)),
        ]
    }

    private func delete(_ statement: Statement, _ parameters: [Parameter]) throws -> Int64 {
        Int64(try session.run(statement, parameters).affected)
    }

    /// Deletes the rows of the scope whose values satisfy a condition.
    private func delete(
        _ statement: Statement, listedBy list: Statement, where isMeant: ([UInt8]) throws -> Bool
    ) throws -> Int64 {
        var keys: [[UInt8]] = []
        var last: [UInt8] = []
        while true {
            let rows = try session.run(list, [.bytes(last), .int4(Self.pageSize)])
            guard rows.count > 0 else { break }
            for row in 0..<rows.count where try rows.integer(row, 1, as: Int32.self) == scopeId {
                if try isMeant(rows.bytes(row, 2)) { keys.append(try rows.bytes(row, 0)) }
            }
            last = try rows.bytes(rows.count - 1, 0)
        }
        return try delete(statement, [.byteStrings(keys)])
    }
}
