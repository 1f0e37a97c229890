import GRDB
import Purchases
public import TransactionStore

extension SQLiteTransactionStore: MigrationStore {
    /// Adds one step of a migration in one transaction. Applying a step again changes nothing.
    /// - Throws: `TransactionStoreError`: `invalidArgument` for a step that `MigrationLimits` rejects.
    public func apply(_ step: MigrationStep) async throws -> AppliedFacts {
        try MigrationLimits.check(step)
        return try await write { db in
            var result = AppliedFacts()
            let writer = try FactWriter(db)
            if !step.leftHashes.isEmpty {
                try db.execute(sql: "PRAGMA secure_delete = ON")
                defer { try? db.execute(sql: "PRAGMA secure_delete = OFF") }
                try Self.keepingLastPosition(db) {
                    try LeftHashTable(db: db).take(step.leftHashes, SharedSession(db: db), scopeId: writer.scopeId)
                }
            }
            let rest = try writer.erased(in: step).remaining(of: step, &result)
            for set in rest.facts { try writer.store(set, &result) }
            try MigrationWriter(db: db).apply(rest, writer)
            return result
        }
    }

    /// The receipts with these keys that a migration has verified, in any order. Unknown keys are left out.
    /// - Throws: `TransactionStoreError`.
    public func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt] {
        try await read { db in
            let find = try db.statement(
                """
                SELECT s.environment, s.bundle_id, v.form, v.identities
                FROM verified_receipts v CROSS JOIN scopes s ON s.id = v.scope_id WHERE v.key = ?1
                """)
            var receipts: [VerifiedReceipt] = []
            for key in Set(keys) {
                try find.forEachRow(key) {
                    receipts.append(
                        try VerifiedReceipt(
                            key: key, scope: $0.scope(0), form: $0.integer(2), identities: $0.bytes(3)))
                }
            }
            return receipts
        }
    }
}
