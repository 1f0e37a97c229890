public import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: CustomerEraser {
    /// See `CustomerEraser`. Writers of the scope wait until it is done. The server frees the space of the rows when it
    /// vacuums the tables (PostgreSQL manual, "Routine Vacuuming"). Its write-ahead log contains them for as long as it
    /// is configured to keep it.
    public func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows {
        try await perform { session in
            let scopeId = try Self.scopeId(scope, identities, leavingHashes, session)
            return try session.transaction {
                try Self.erase(identities, scope, scopeId, quarantined, leavingHashes, session)
            }
        }
    }

    /// The current result of an erasure with the same arguments. It runs the erasure in a savepoint and rolls it back,
    /// so it waits for writers like an erasure does.
    /// - Throws: `TransactionStoreError`.
    public func rowsToErase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows {
        try await perform { session in
            try session.transaction {
                try session.execute("SAVEPOINT erasure")
                // A scope that is inserted is taken back with everything else.
                let scopeId = try Self.scopeId(scope, identities, leavingHashes, session)
                let rows = try Self.erase(identities, scope, scopeId, quarantined, leavingHashes, session)
                try session.execute("ROLLBACK TO SAVEPOINT erasure")
                return rows
            }
        }
    }

    private static let lockScope = Statement("SELECT pg_advisory_xact_lock($1::int4, $2::int4)::text")

    /// The id of an app and environment. Only a hash needs one that the store does not have: otherwise it is 0, which no
    /// document has.
    private static func scopeId(
        _ scope: StoreScope, _ identities: [CustomerIdentity], _ leavingHashes: Bool, _ session: PostgreSQLSession
    ) throws -> Int32 {
        let ids = ScopeIds(session)
        guard leavingHashes, identities.contains(where: { $0.isMeaningful }) else { return try ids.known(scope) ?? 0 }
        return try ids.find([scope])[0]
    }

    private static func erase(
        _ identities: [CustomerIdentity], _ scope: StoreScope, _ scopeId: Int32, _ quarantined: [[UInt8]],
        _ leavingHashes: Bool, _ session: PostgreSQLSession
    ) throws -> ErasedRows {
        // Writers share this lock. Taken exclusively, it keeps them from adding to a customer that is being removed.
        // Number 0 is the lock of the schema.
        if scopeId > 0 { try session.run(lockScope, .int4(session.lockClass), .int4(scopeId)) }
        return try SQLErasure(session: session, scope: scope, scopeId: Int64(scopeId))
            .run(identities, quarantined, leavingHashesIn: leavingHashes ? LeftHashTable(session: session) : nil)
    }

    /// Removes the hashes that erasures left of these identities. Documents about the identities are stored again.
    /// - Returns: the number of removed hashes.
    /// - Throws: `TransactionStoreError`.
    public func removeLeftHashes(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> Int64 {
        try await perform { session in
            try session.transaction { try LeftHashTable(session: session).remove(of: identities, in: scope) }
        }
    }
}
