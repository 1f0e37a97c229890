package import Purchases

/// Removes the rows of customers of one app and environment, within a transaction that keeps out the writers of these
/// customers.
package struct SQLErasure {
    private let session: any SQLSession
    private let scope: StoreScope
    private let scopeId: Int64
    private var dialect: SQLDialect { session.dialect }

    package init(session: any SQLSession, scope: StoreScope, scopeId: Int64) {
        self.session = session
        self.scope = scope
        self.scopeId = scopeId
    }

    /// Removes the customers with any of these identities, and quarantined records.
    /// - Parameters:
    ///   - identities: the identities of the customers.
    ///   - quarantined: the keys of the quarantined records.
    ///   - hashes: where a hash of each identity stays; nil for none.
    package func run(
        _ identities: [CustomerIdentity], _ quarantined: [[UInt8]], leavingHashesIn hashes: (any LeftHashRows)?
    ) throws -> ErasedRows {
        let asked = Set(identities.filter(\.isMeaningful))
        let owners = try owners(of: asked)
        let all = owners.values.reduce(asked) { $0.union($1) }
        var erased = try delete(all, of: owners.keys.sorted())
        for key in quarantined { erased.quarantined += try delete("quarantine WHERE key = \(key)") }
        if let hashes {
            let secret = try hashes.secrets().first ?? LeftHash.makeSecret()
            let new = try hashes.add(LeftHash.hashes(of: all, in: scope, secret: secret), scopeId)
            erased.leftHashes = Int64(new.count)
        }
        return erased
    }

    /// Removes what is about identities that were erased in another store. A customer with a purchase that is not erased
    /// keeps it.
    fileprivate func remove(_ erased: Set<CustomerIdentity>) throws {
        var (gone, named) = ([Int64](), erased)
        var kept: [Int64: Set<CustomerIdentity>] = [:]
        for (customer, all) in try owners(of: erased) {
            if all.contains(where: { $0.kind == .originalTransactionId && !erased.contains($0) }) {
                kept[customer] = all
            } else {
                gone.append(customer)
                named.formUnion(all)
            }
        }
        _ = try delete(named, of: gone.sorted())
        for (customer, all) in kept { try removeDocuments(of: customer, all, naming: erased.intersection(all)) }
    }

    /// Removes the ids of purchases, the receipts that may contain them, and app transactions.
    private func removeDocuments(
        of customer: Int64, _ all: Set<CustomerIdentity>, naming erased: Set<CustomerIdentity>
    ) throws {
        let purchases = erased.filter { $0.kind == .originalTransactionId }
        if !purchases.isEmpty {
            _ = try delete("receipts WHERE \(sql: dialect.customer) = \(customer)")
            for part in originals(all) {
                // They can name an erased purchase.
                try session.run(
                    "UPDATE ledger SET earlier_before = NULL WHERE earlier_before IS NOT NULL AND \(entries(of: part))")
                // Without an erased purchase before it, a term ends earlier.
                try session.run("UPDATE term_bases SET due_at = 0 WHERE \(rows(of: part))")
            }
        }
        let mentioned = MentionedIdentities(erased.filter { $0.kind == .appTransactionId })
        let apps = try session.run(
            "SELECT kind, payload FROM app_transactions WHERE \(sql: dialect.customer) = \(customer)")
        for row in apps.rows where try mentioned.areNamed(in: row.bytes(1)) {
            let kind = try row.integer(0)
            _ = try delete("app_transactions WHERE \(sql: dialect.customer) = \(customer) AND kind = \(kind)")
        }
        for those in conditions(for: purchases) { _ = try delete("identities WHERE \(those)") }
    }

    /// The customers with any of these identities, and all identities of these customers.
    private func owners(of asked: Set<CustomerIdentity>) throws -> [Int64: Set<CustomerIdentity>] {
        var owners: [Int64: Set<CustomerIdentity>] = [:]
        let column = dialect.customer
        for those in conditions(for: asked) {
            let found = try session.rows("SELECT DISTINCT \(sql: column) FROM identities WHERE \(those)") {
                try $0.integer(0)
            }
            for customer in found where owners[customer] == nil {
                let all: SQLText = "SELECT kind, value FROM identities WHERE \(sql: column) = \(customer)"
                owners[customer] = Set(try session.rows(all) { try $0.identity(0) })
            }
        }
        return owners
    }

    /// Removes the rows of purchases with these identities, the rows that name one of them, and customers.
    private func delete(_ all: Set<CustomerIdentity>, of customers: [Int64]) throws -> ErasedRows {
        var erased = ErasedRows()
        let purchases = originals(all)
        // Before the entries: a look that holds the row of a purchase is about to append some, and one that does not leaves
        // the purchase out.
        for part in purchases {
            try keepTerms(of: part, erasing: all)
            for table in ["ledger_endings", "term_bases"] {
                _ = try delete("\(sql: table) WHERE \(rows(of: part))")
            }
        }
        let unknown: SQLText = """
            unknown_transactions WHERE environment = \(scope.environment.rawValue) AND bundle_id = \(scope.bundleId)
                AND transaction_id
            """
        for part in purchases {
            // Before the transactions, whose ids select the rows.
            try keepEntries(of: part, erasing: all)
            erased.ledgerEntries += try delete("ledger WHERE \(rows(of: part)) AND \(entries(of: part))")
            erased.unknownTransactions += try delete("\(unknown) IN (\(transactionIds(of: part)))")
            erased.unknownTransactions += try delete("\(unknown) \(oneOf: part)")
            erased.transactions += try delete("transactions WHERE \(rows(of: part))")
            erased.renewalInfos += try delete("renewal_infos WHERE \(rows(of: part))")
            erased.consumptionTasks += try delete(
                """
                consumption_requests
                WHERE \(sql: dialect.scope) = \(scopeId) AND original_transaction_id \(oneOf: part)
                """)
        }
        for customer in customers {
            let ofCustomer: SQLText = "WHERE \(sql: dialect.customer) = \(customer)"
            erased.appTransactions += try delete("app_transactions \(ofCustomer)")
            erased.receipts += try delete("receipts \(ofCustomer)")
            erased.identities += try delete("identities \(ofCustomer)")
        }
        for those in conditions(for: all) { erased.userClaims += try delete("user_claims WHERE \(those)") }
        erased.verifiedReceipts = try delete(from: "verified_receipts", by: "key", where: "identities") {
            try !all.isDisjoint(with: StoredIdentities.decode($0))
        }
        let mentioned = MentionedIdentities(all)
        erased.notifications = try delete(from: "notifications", by: "notification_uuid", where: "body") {
            mentioned.areNamed(in: $0)
        }
        return erased
    }

    /// Moves the entries about a transaction that a signed document states under an original id which is not erased too: they then
    /// belong to that purchase. Without its first entry, the other purchase would get it, and those after it, once more.
    private func keepEntries(of part: [String], erasing all: Set<CustomerIdentity>) throws {
        let ofPart: SQLText = "\(rows(of: part)) AND \(entries(of: part))"
        let purchases = try session.rows(
            "SELECT DISTINCT \(sql: dialect.scope), \(sql: dialect.purchaseInScope) FROM ledger WHERE \(ofPart)"
        ) { try $0.purchase(0) }
        for (id, key) in try heirs(of: purchases, erasing: all) {
            // Earlier purchases may name the erased one.
            try session.run(
                """
                UPDATE ledger SET \(sql: dialect.purchaseInScope) = \(key), earlier_before = NULL
                WHERE transaction_id = \(id) AND \(ofPart)
                """)
        }
    }

    /// Moves the terms of such transactions, which are looked at again: without the erased documents, a term can end earlier.
    private func keepTerms(of part: [String], erasing all: Set<CustomerIdentity>) throws {
        let (scope, key) = (dialect.scope, dialect.purchaseInScope)
        let purchases = try session.rows(
            "SELECT DISTINCT \(sql: scope), \(sql: key) FROM term_bases WHERE \(rows(of: part))"
        ) { try $0.purchase(0) }
        for (id, heir) in try heirs(of: purchases, erasing: all) {
            // A store from an older version can have the term under several purchases.
            try session.run(
                """
                UPDATE term_bases SET \(sql: key) = \(heir), due_at = 0
                WHERE transaction_id = \(id) AND \(rows(of: part))
                    AND \(sql: key) = (
                        SELECT MIN(\(sql: key)) FROM term_bases WHERE transaction_id = \(id) AND \(rows(of: part)))
                    AND NOT EXISTS (
                        SELECT 1 FROM term_bases
                        WHERE \(sql: scope) = \(scopeId) AND \(sql: key) = \(heir) AND transaction_id = \(id))
                """)
        }
    }

    /// For each transaction of these purchases that a signed document states under an original id which is not erased too,
    /// `SQLDialect.purchaseInScope` of that purchase.
    private func heirs(
        of purchases: [SQLPurchase], erasing all: Set<CustomerIdentity>
    ) throws -> [String: SQLText.Value] {
        let sharing = try session.sharing(purchases).map { purchases[$0] }
        guard !sharing.isEmpty else { return [:] }
        var heirs: [String: SQLPurchase] = [:]
        for (id, purchase, isSigned) in try session.stating(transactionsOf: sharing, except: []) where isSigned {
            let identity = CustomerIdentity(.originalTransactionId, purchase.original)
            guard !all.contains(identity) else { continue }
            // The same in every run.
            if let known = heirs[id], (known.id, known.original) <= (purchase.id, purchase.original) { continue }
            heirs[id] = purchase
        }
        return heirs.mapValues { $0.id == 0 ? .text($0.original) : .integer($0.id) }
    }

    private func delete(_ rows: SQLText) throws -> Int64 { Int64(try session.run("DELETE FROM \(rows)").changed) }

    /// How many rows are read at a time.
    private static let pageSize: Int64 = 500

    /// Deletes the rows of the app and environment whose bytes in a column satisfy a condition. Reads all rows in pages, in the
    /// order of a key that has an index.
    private func delete(
        from table: String, by key: String, where column: String, _ isMeant: ([UInt8]) throws -> Bool
    ) throws -> Int64 {
        let key = dialect.rowNumber ?? key
        var last: SQLText.Value = dialect.rowNumber == nil ? .bytes([]) : .integer(.min)
        var meant: [SQLText.Value] = []
        while true {
            let page = try session.run(
                """
                SELECT \(sql: key), CASE WHEN \(sql: dialect.scope) = \(scopeId) THEN \(sql: column) END
                FROM \(sql: table) WHERE \(sql: key) > \(last) ORDER BY \(sql: key) LIMIT \(Self.pageSize)
                """)
            guard let end = page.rows.last else { break }
            for row in page.rows where !row.isNull(1) {
                if try isMeant(row.bytes(1)) { meant.append(try row.value(0)) }
            }
            last = try end.value(0)
        }
        return try meant.reduce(0) { try $0 + delete("\(sql: table) WHERE \(sql: key) = \($1)") }
    }

    // MARK: Conditions

    /// The original transaction ids, in parts for one statement each. With one statement per id, a customer with thousands of
    /// purchases would keep other writers waiting for thousands of answers of a server.
    private func originals(_ identities: Set<CustomerIdentity>) -> [[String]] {
        inParts(identities.filter { $0.kind == .originalTransactionId }.map(\.value))
    }

    /// The conditions for the rows of a table with identities, for one statement each.
    private func conditions(for identities: Set<CustomerIdentity>) -> [SQLText] {
        var conditions: [SQLText] = []
        let kinds = Dictionary(grouping: identities, by: \.kind.rawValue)
        for (kind, identities) in kinds.sorted(by: { $0.key < $1.key }) {
            for part in inParts(identities.map(\.value)) {
                conditions.append(
                    "\(sql: dialect.scope) = \(scopeId) AND kind = \(Int64(kind)) AND value \(oneOf: part)")
            }
        }
        return conditions
    }

    /// The rows of a table with purchases.
    private func rows(of originals: [String]) -> SQLText { dialect.isOfPurchases(scopeId, originals) }

    private func transactionIds(of originals: [String]) -> SQLText {
        "SELECT transaction_id FROM transactions WHERE \(rows(of: originals))"
    }

    /// The ledger entries about the transactions of purchases.
    private func entries(of originals: [String]) -> SQLText {
        "\(sql: dialect.scope) = \(scopeId) AND transaction_id IN (\(transactionIds(of: originals)))"
    }
}

/// The hashes that erasures left (`LeftHash`), within a transaction that keeps out the writers of the apps.
package protocol LeftHashRows {
    /// The secrets of all hashes, each once; empty if there are no hashes. Takes one look at the index per secret.
    func secrets() throws -> [[UInt8]]

    /// Adds hashes and returns those that were missing.
    func add(_ hashes: [LeftHash], _ scopeId: Int64) throws -> [LeftHash]

    /// Removes hashes and returns the number of those that the table had.
    func remove(_ hashes: [LeftHash]) throws -> Int64
}

extension LeftHashRows {
    /// How many identities are read at a time.
    private static var pageSize: Int64 { 10_000 }

    /// Removes the hashes of identities and returns their number.
    package func remove(of identities: [CustomerIdentity], in scope: StoreScope) throws -> Int64 {
        try secrets().reduce(0) {
            try $0 + remove(LeftHash.hashes(of: Set(identities), in: scope, secret: $1))
        }
    }

    /// Adds hashes of another store, and removes what this store has about their identities.
    package func take(
        _ hashes: [LeftHash], _ session: any SQLSession, scopeId: (StoreScope) throws -> Int64
    ) throws {
        for (scope, hashes) in Dictionary(grouping: hashes, by: \.scope) {
            let id = try scopeId(scope)
            let new = Set(try add(hashes, id))
            guard !new.isEmpty else { continue }
            let secrets = Set(new.map(\.secret))
            var erased: Set<CustomerIdentity> = []
            var last: (kind: Int64, value: String) = (0, "")
            while true {
                let page = try session.rows(
                    """
                    SELECT kind, value FROM identities
                    WHERE \(sql: session.dialect.scope) = \(id) AND (kind, value) > (\(last.kind), \(last.value))
                    ORDER BY kind, value LIMIT \(Self.pageSize)
                    """
                ) { try $0.identity(0) }
                guard let end = page.last else { break }
                erased.formUnion(page.filter { new.contains(hashOf: $0, in: scope, secrets: secrets) })
                last = (Int64(end.kind.rawValue), end.value)
            }
            if !erased.isEmpty { try SQLErasure(session: session, scope: scope, scopeId: id).remove(erased) }
        }
    }
}
