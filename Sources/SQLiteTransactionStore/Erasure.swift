import GRDB
public import Purchases
public import TransactionStore

extension SQLiteTransactionStore: CustomerEraser {
    /// See `CustomerEraser`. The bytes of the rows are overwritten in the file, and the log is emptied. If a reader
    /// still needs the log, later writes overwrite it instead. Values that were replaced before the erasure can remain
    /// in free pages; a copy made by ``backUp(from:to:)`` contains no free pages.
    public func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows {
        let erased = try await write { db in
            // The setting cannot affect another call: one call at a time uses the writing connection.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            defer { try? db.execute(sql: "PRAGMA secure_delete = OFF") }
            return try Self.erase(identities, in: scope, quarantined, leavingHashes: leavingHashes, db)
        }
        try await emptyLog()
        return erased
    }

    public func rowsToErase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows {
        try await write { db in
            var rows = ErasedRows()
            try db.inSavepoint {
                rows = try Self.erase(identities, in: scope, quarantined, leavingHashes: leavingHashes, db)
                return .rollback
            }
            return rows
        }
    }

    private static func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, _ quarantined: [[UInt8]], leavingHashes: Bool,
        _ db: Database
    ) throws -> ErasedRows {
        var erased = ErasedRows()
        let asked = identities.filter(\.isMeaningful)
        let leaves = leavingHashes && !asked.isEmpty
        let known = try scopeId(scope, db)
        if let scopeId = try known ?? (leaves ? FactWriter(db).scopeId(scope) : nil) {
            erased = try Erasure(db: db, scope: scope, scopeId: scopeId).run(asked, leavingHashes: leaves)
        } else {
            // The store has no document of the app, but may know what the App Store does not.
            let ids = asked.filter { $0.kind == .originalTransactionId }.map(\.value)
            erased.unknownTransactions = try forget(ids, in: scope, db)
        }
        let delete = try SQLStatement(db, "DELETE FROM quarantine WHERE key = ?1")
        for key in quarantined {
            erased.quarantined += Int64(try delete.run(key))
        }
        return erased
    }

    public func removeLeftHashes(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> Int64 {
        try await write { db in
            let table = LeftHashTable(db: db)
            return try table.secrets().reduce(0) {
                try $0 + table.remove(LeftHash.hashes(of: Set(identities), in: scope, secret: $1))
            }
        }
    }
}

/// Removes the rows of customers of one scope, within a transaction.
struct Erasure {
    let db: Database
    let scope: StoreScope
    let scopeId: Int64

    /// Removes the customers with any of these identities.
    func run(_ asked: [CustomerIdentity], leavingHashes: Bool) throws -> ErasedRows {
        let customers = try customers(of: asked)
        let all = try Set(asked).union(customers.flatMap { try identities(of: $0) })
        var erased = try delete(all, customers)
        if leavingHashes {
            let table = LeftHashTable(db: db)
            let secret = try table.secrets().first ?? LeftHash.makeSecret()
            let new = try table.add(LeftHash.hashes(of: all, in: scope, secret: secret), scopeId)
            erased.leftHashes = Int64(new.count)
        }
        return erased
    }

    /// Removes what is about identities that were erased in another store. A customer with a purchase that is not erased
    /// keeps it.
    func remove(_ erased: Set<CustomerIdentity>) throws {
        var (gone, named) = (Set<Int64>(), erased)
        for customer in try customers(of: erased) {
            let all = try identities(of: customer)
            if all.contains(where: { $0.kind == .originalTransactionId && !erased.contains($0) }) {
                try removeDocuments(of: customer, naming: erased.intersection(all))
            } else {
                gone.insert(customer)
                named.formUnion(all)
            }
        }
        _ = try delete(named, gone)
    }

    /// Removes the ids of purchases, the receipts that may contain them, and app transactions.
    private func removeDocuments(of customer: Int64, naming erased: Set<CustomerIdentity>) throws {
        let purchases = erased.filter { $0.kind == .originalTransactionId }
        if !purchases.isEmpty {
            _ = try delete(from: "receipts", customer)
            // They can name an erased purchase.
            let clear = try SQLStatement(
                db,
                """
                UPDATE ledger SET earlier_before = NULL
                WHERE earlier_before IS NOT NULL AND scope_id = ?1 AND transaction_id IN (
                    SELECT t.transaction_id FROM identities i CROSS JOIN transactions t
                    WHERE i.customer_id = ?2 AND i.kind = 1 AND t.scope_id = ?1 AND t.original_transaction_id = i.value)
                """)
            try clear.run(scopeId, customer)
        }
        let list = try SQLStatement(db, "SELECT kind, payload FROM app_transactions WHERE customer_id = ?1")
        let mentioned = MentionedIdentities(erased.filter { $0.kind == .appTransactionId })
        var kinds: [Int64] = []
        try list.forEachRow(customer) {
            if mentioned.areNamed(in: Array($0.bytes(1))) { kinds.append($0.integer(0)) }
        }
        let deleteApp = try SQLStatement(db, "DELETE FROM app_transactions WHERE customer_id = ?1 AND kind = ?2")
        for kind in kinds { try deleteApp.run(customer, kind) }
        let deleteIdentity = try SQLStatement(
            db, "DELETE FROM identities WHERE scope_id = ?1 AND kind = ?2 AND value = ?3")
        for identity in purchases { try deleteIdentity.run(scopeId, Int64(identity.kind.rawValue), identity.value) }
    }

    /// Removes the rows of purchases with these identities, the rows that name one of them, and customers.
    private func delete(_ all: Set<CustomerIdentity>, _ customers: Set<Int64>) throws -> ErasedRows {
        var erased = ErasedRows()
        let originals = all.filter { $0.kind == .originalTransactionId }.map(\.value)
        try keepPositions(of: originals)
        let ofPurchase = "WHERE scope_id = ?1 AND original_transaction_id = ?2"
        // Before the transactions, whose ids select the rows.
        erased.ledgerEntries = try delete(
            """
            DELETE FROM ledger \(ofPurchase)
                AND transaction_id IN (SELECT transaction_id FROM transactions \(ofPurchase))
            """, originals)
        erased.unknownTransactions = try delete(
            """
            DELETE FROM unknown_transactions
            WHERE (environment, bundle_id) = (SELECT environment, bundle_id FROM scopes WHERE id = ?1)
                AND transaction_id IN (SELECT ?2 UNION SELECT transaction_id FROM transactions \(ofPurchase))
            """, originals)
        erased.transactions = try delete("DELETE FROM transactions \(ofPurchase)", originals)
        erased.renewalInfos = try delete("DELETE FROM renewal_infos \(ofPurchase)", originals)
        _ = try delete("DELETE FROM term_bases \(ofPurchase)", originals)
        _ = try delete("DELETE FROM ledger_endings \(ofPurchase)", originals)
        erased.consumptionTasks = try delete("DELETE FROM consumption_requests \(ofPurchase)", originals)
        for customer in customers {
            erased.appTransactions += try delete(from: "app_transactions", customer)
            erased.receipts += try delete(from: "receipts", customer)
            erased.identities += try delete(from: "identities", customer)
        }
        erased.userClaims = try deleteClaims(all)
        erased.verifiedReceipts = try delete(from: "verified_receipts", where: "identities") {
            try !all.isDisjoint(with: StoredIdentities.decode($0))
        }
        let mentioned = MentionedIdentities(all)
        erased.notifications = try delete(from: "notifications", where: "body") { mentioned.areNamed(in: Array($0)) }
        return erased
    }

    private func customers(of asked: some Sequence<CustomerIdentity>) throws -> Set<Int64> {
        let find = try SQLStatement(
            db, "SELECT customer_id FROM identities WHERE scope_id = ?1 AND kind = ?2 AND value = ?3")
        var found: Set<Int64> = []
        for identity in asked {
            if let customer = try find.integer(scopeId, Int64(identity.kind.rawValue), identity.value) {
                found.insert(customer)
            }
        }
        return found
    }

    private func identities(of customer: Int64) throws -> [CustomerIdentity] {
        let list = try SQLStatement(db, "SELECT kind, value FROM identities WHERE customer_id = ?1")
        return try list.rows(customer) { try CustomerIdentity(storedKind: $0.integer(0), $0.text(1)) }
    }

    /// SQLite gives a new row the number after the last row. Before the last ledger entry is deleted, an entry without
    /// a scope is added behind it, so that its position is not given out again. No reader gets such an entry.
    private func keepPositions(of originals: [String]) throws {
        let last = try SQLStatement(
            db,
            """
            SELECT position FROM ledger
            WHERE position = (SELECT MAX(position) FROM ledger) AND scope_id = ?1 AND original_transaction_id = ?2
            """)
        let keep = try SQLStatement(
            db,
            """
            INSERT INTO ledger (position, scope_id, transaction_id, number, event, original_transaction_id, recorded_at)
            SELECT ?1 + 1, 0, CAST(?1 + 1 AS TEXT), 0, 1, '', \(SQLiteTransactionStore.now)
            """)
        for original in originals {
            guard let position = try last.integer(scopeId, original) else { continue }
            try keep.run(position)
            return
        }
    }

    private func delete(_ sql: String, _ originals: [String]) throws -> Int64 {
        let delete = try SQLStatement(db, sql)
        return try originals.reduce(0) { $0 + Int64(try delete.run(scopeId, $1)) }
    }

    private func delete(from table: StaticString, _ customer: Int64) throws -> Int64 {
        return Int64(try SQLStatement(db, "DELETE FROM \(table) WHERE customer_id = ?1").run(customer))
    }

    private func deleteClaims(_ identities: Set<CustomerIdentity>) throws -> Int64 {
        let delete = try SQLStatement(db, "DELETE FROM user_claims WHERE scope_id = ?1 AND kind = ?2 AND value = ?3")
        return try identities.reduce(0) {
            $0 + Int64(try delete.run(scopeId, Int64($1.kind.rawValue), $1.value))
        }
    }

    /// Deletes the rows of the scope whose bytes in a column name an erased identity.
    private func delete(
        from table: StaticString, where column: StaticString, _ isNamed: (UnsafeBufferPointer<UInt8>) throws -> Bool
    ) throws -> Int64 {
        let list = try SQLStatement(db, "SELECT rowid, \(column) FROM \(table) WHERE scope_id = ?1")
        var rows: [Int64] = []
        try list.forEachRow(scopeId) {
            if try isNamed($0.bytes(1)) { rows.append($0.integer(0)) }
        }
        let delete = try SQLStatement(db, "DELETE FROM \(table) WHERE rowid = ?1")
        for row in rows { try delete.run(row) }
        return Int64(rows.count)
    }
}
