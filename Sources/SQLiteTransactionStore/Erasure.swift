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

    /// The current result of an erasure with the same arguments. It runs the erasure in a savepoint and rolls it back,
    /// so it waits for writers like an erasure does.
    /// - Throws: `TransactionStoreError`.
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
        // Only a hash needs a row of an app that the store does not know. No document has scope 0.
        let leaves = leavingHashes && identities.contains { $0.isMeaningful }
        let id = try leaves ? FactWriter(db).scopeId(scope) : Self.scopeId(scope, db) ?? 0
        return try keepingLastPosition(db) {
            try SQLErasure(session: SharedSession(db: db), scope: scope, scopeId: id)
                .run(identities, quarantined, leavingHashesIn: leavingHashes ? LeftHashTable(db: db) : nil)
        }
    }

    /// SQLite gives a new row the number after the last row. If `body` deletes the last ledger entry, an entry without a
    /// scope takes its place, so that its position is not given out again. No reader gets such an entry.
    static func keepingLastPosition<Value>(_ db: Database, _ body: () throws -> Value) throws -> Value {
        let find = try db.statement("SELECT MAX(position) FROM ledger")
        let last = try find.integer() ?? 0
        let value = try body()
        if try find.integer() ?? 0 < last {
            let keep = try db.statement(
                """
                INSERT INTO ledger
                    (position, scope_id, transaction_id, number, event, original_transaction_id, recorded_at)
                VALUES (?1, 0, CAST(?1 AS TEXT), 0, 1, '', \(now))
                """)
            try keep.run(last)
        }
        return value
    }

    /// Removes the hashes that erasures left of these identities. Documents about the identities are stored again.
    /// - Returns: the number of removed hashes.
    /// - Throws: `TransactionStoreError`.
    public func removeLeftHashes(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> Int64 {
        try await write { try LeftHashTable(db: $0).remove(of: identities, in: scope) }
    }
}
