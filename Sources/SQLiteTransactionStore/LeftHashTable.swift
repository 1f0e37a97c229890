import GRDB
package import TransactionStore

/// The hashes that erasures left (`LeftHash`), within a transaction.
package struct LeftHashTable: LeftHashRows {
    let db: Database

    package static let listSecrets = """
        WITH RECURSIVE next (secret) AS (
            SELECT MIN(secret) FROM left_hashes
            UNION ALL
            SELECT (SELECT MIN(l.secret) FROM left_hashes l WHERE l.secret > next.secret)
            FROM next WHERE next.secret IS NOT NULL
        )
        SELECT secret FROM next WHERE secret IS NOT NULL
        """

    /// The secrets of all hashes, each once; empty if there are no hashes. Takes one look at the index per secret.
    package func secrets() throws -> [[UInt8]] {
        try db.statement(Self.listSecrets).rows { Array($0.bytes(0)) }
    }

    /// Those of the hashes that the table has.
    func known(_ hashes: [LeftHash]) throws -> Set<LeftHash> {
        let find = try db.statement("SELECT 1 FROM left_hashes WHERE secret = ?1 AND hash = ?2")
        return try Set(hashes.filter { try find.integer($0.secret, $0.hash) != nil })
    }

    /// Adds hashes and returns those that were missing.
    package func add(_ hashes: [LeftHash], _ scopeId: Int64) throws -> [LeftHash] {
        let insert = try db.statement(StoreTable.leftHashes.insert)
        return try hashes.filter { try insert.run($0.secret, $0.hash, scopeId) > 0 }
    }

    /// Removes hashes and returns the number of those that the table had.
    package func remove(_ hashes: [LeftHash]) throws -> Int64 {
        let delete = try db.statement("DELETE FROM left_hashes WHERE secret = ?1 AND hash = ?2")
        return try hashes.reduce(0) { $0 + Int64(try delete.run($1.secret, $1.hash)) }
    }
}
