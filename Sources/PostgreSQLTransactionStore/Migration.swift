import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: MigrationStore {
    public func apply(_ step: MigrationStep) async throws -> AppliedFacts {
        try MigrationLimits.check(step)
        return try await writeStep(FactBatch([step.facts]), MigrationBatch(step))
    }

    private static let findVerified = Statement(
        """
        SELECT known.key, s.environment, s.bundle_id, known.form, known.identities
        FROM unnest($1::bytea[]) AS given (key)
        JOIN verified_receipts AS known ON known.key = given.key
        JOIN scopes AS s ON s.id = known.scope
        """)
    /// PostgreSQL knows the size of a line without reading it, so lines beyond the page limit cost nothing.
    private static let listQuarantine = Statement(
        """
        SELECT line FROM (
            SELECT key, line, row_number() OVER (ORDER BY key) AS place,
                sum(octet_length(line)) OVER (ORDER BY key) AS bytes
            FROM (SELECT key, line FROM quarantine WHERE key > $1::bytea ORDER BY key LIMIT $2::int4) AS next
        ) AS page
        WHERE place = 1 OR bytes <= $3::int8
        ORDER BY key
        """)

    /// Until autovacuum has come by, the planner takes the tables for empty, and an export takes three times as long.
    public func migrationEnded() async throws {
        try await perform { session in
            try session.execute(
                """
                ANALYZE scopes, identities, transactions, renewal_infos, app_transactions, receipts, notifications, \
                user_claims, verified_receipts, quarantine, term_bases, ledger_endings
                """)
        }
    }

    /// How many keys or identities one statement looks up.
    private static let keysAtOnce = 4_096

    public func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt] {
        try await perform { session in
            let keys = Array(Set(keys))
            var receipts: [VerifiedReceipt] = []
            for start in stride(from: 0, to: keys.count, by: Self.keysAtOnce) {
                let part = Array(keys[start..<min(start + Self.keysAtOnce, keys.count)])
                let rows = try session.run(Self.findVerified, [.byteStrings(part)])
                for row in 0..<rows.count {
                    receipts.append(
                        try VerifiedReceipt(
                            key: try rows.bytes(row, 0), scope: try rows.scope(row, 1),
                            form: Int64(try rows.integer(row, 3, as: Int16.self)), identities: try rows.bytes(row, 4)))
                }
            }
            return receipts
        }
    }

    public func quarantine(after key: [UInt8]?, limit: Int) async throws -> [QuarantinedRecord] {
        try await perform { session in
            let rows = try session.run(
                Self.listQuarantine,
                [
                    .bytes(key ?? []), .int4(Int32(MigrationLimits.records(limit))),
                    .int8(Int64(MigrationLimits.pageBytes)),
                ])
            return try (0..<rows.count).map { QuarantinedRecord(line: try rows.bytes($0, 0)) }
        }
    }
}
