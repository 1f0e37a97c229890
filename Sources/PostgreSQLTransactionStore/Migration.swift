import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: MigrationStore {
    /// Adds one step of a migration in one transaction. Applying a step again changes nothing.
    /// - Throws: `TransactionStoreError`: `invalidArgument` for a step that `MigrationLimits` rejects.
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

    /// The receipts with these keys that a migration has verified, in any order. Unknown keys are left out.
    /// - Throws: `TransactionStoreError`.
    public func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt] {
        try await perform { session in
            let keys = Array(Set(keys))
            var receipts: [VerifiedReceipt] = []
            for start in stride(from: 0, to: keys.count, by: Self.keysAtOnce) {
                let part = Array(keys[start..<min(start + Self.keysAtOnce, keys.count)])
                let rows = try session.run(Self.findVerified, .byteStrings(part))
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
}
