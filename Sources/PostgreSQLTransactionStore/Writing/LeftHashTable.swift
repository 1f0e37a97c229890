import Purchases
import TransactionStore

/// The hashes that erasures left (`LeftHash`), within a transaction that holds the locks of the scopes.
struct LeftHashTable: LeftHashRows {
    let session: PostgreSQLSession

    private static let listSecrets = Statement(
        """
        WITH RECURSIVE next (secret) AS (
            (SELECT secret FROM left_hashes ORDER BY secret LIMIT 1)
            UNION ALL
            SELECT (SELECT l.secret FROM left_hashes AS l WHERE l.secret > next.secret ORDER BY l.secret LIMIT 1)
            FROM next WHERE next.secret IS NOT NULL
        )
        SELECT secret FROM next WHERE secret IS NOT NULL
        """)
    private static let find = Statement(
        """
        SELECT given.place::int4
        FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS given (secret, hash, place)
        JOIN left_hashes AS known USING (secret, hash)
        """)
    private static let delete = Statement(
        """
        DELETE FROM left_hashes AS l USING unnest($1::bytea[], $2::bytea[]) AS given (secret, hash)
        WHERE l.secret = given.secret AND l.hash = given.hash
        """)

    /// The secrets of all hashes, each once; empty if there are no hashes. Takes one look at the index per secret.
    func secrets() throws -> [[UInt8]] {
        let rows = try session.run(Self.listSecrets)
        return try (0..<rows.count).map { try rows.bytes($0, 0) }
    }

    /// The erased identities in a step, which is made only if there are hashes.
    func erased(in step: () -> MigrationStep) throws -> ErasedIdentities {
        let secrets = try secrets()
        guard !secrets.isEmpty else { return ErasedIdentities() }
        return try ErasedIdentities(in: step(), secrets: secrets, known: known)
    }

    /// The erased ids among transactions that the App Store does not know.
    func erased(in transactions: [UnknownTransaction]) throws -> ErasedIdentities {
        try ErasedIdentities(in: transactions, secrets: secrets(), known: known)
    }

    /// Those of the hashes that the table has.
    private func known(_ hashes: [LeftHash]) throws -> Set<LeftHash> {
        let rows = try session.run(Self.find, Self.parameters(hashes))
        return Set(try rows.places(among: hashes.count).map { hashes[$0.place] })
    }

    /// Adds hashes and returns those that were missing.
    func add(_ hashes: [LeftHash], _ scopeId: Int64) throws -> [LeftHash] {
        guard !hashes.isEmpty else { return [] }
        var rows = RowBuffer(.leftHashes, .columns)
        // In the order of the key, so that two writers wait for each other in one direction only.
        for hash in Set(hashes).sorted(by: { ($0.secret + $0.hash).lexicographicallyPrecedes($1.secret + $1.hash) }) {
            rows.beginRow()
            rows.bytes(hash.secret)
            rows.bytes(hash.hash)
            rows.integer(Int32(truncatingIfNeeded: scopeId))
        }
        let inserted = try rows.insert(session)
        let scopes = Dictionary(hashes.map { ($0.secret + $0.hash, $0) }, uniquingKeysWith: { first, _ in first })
        return try (0..<inserted.count).compactMap { scopes[try inserted.bytes($0, 0) + inserted.bytes($0, 1)] }
    }

    /// Removes hashes and returns the number of those that the table had.
    func remove(_ hashes: [LeftHash]) throws -> Int64 {
        Int64(try session.run(Self.delete, Self.parameters(hashes)).affected)
    }

    private static func parameters(_ hashes: [LeftHash]) -> [Parameter] {
        [.byteStrings(hashes.map(\.secret)), .byteStrings(hashes.map(\.hash))]
    }
}
