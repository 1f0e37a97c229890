import GRDB
public import Purchases
public import TransactionStore

extension SQLiteTransactionStore: UnknownTransactions {
    private static let ofTransaction = "WHERE environment = ?1 AND bundle_id = ?2 AND transaction_id = ?3"

    public func remember(_ transactions: [UnknownTransaction]) async throws {
        let transactions = transactions.filter(\.isMeaningful)
        try await write { db in
            let hashes = LeftHashTable(db: db)
            let erased = try ErasedIdentities(in: transactions, secrets: hashes.secrets(), known: hashes.known)
            let keep = try SQLStatement(
                db,
                """
                INSERT INTO unknown_transactions (environment, bundle_id, transaction_id, answered_at)
                VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (environment, bundle_id, transaction_id) DO UPDATE SET answered_at = excluded.answered_at
                WHERE excluded.answered_at > unknown_transactions.answered_at
                """)
            for transaction in erased.remaining(of: transactions) {
                try keep.run(
                    transaction.scope.environment.rawValue, transaction.scope.bundleId, transaction.transactionId,
                    transaction.answeredDate)
            }
        }
    }

    public func unknownTransactions(_ ids: [String], in scope: StoreScope) async throws -> [UnknownTransaction] {
        try await read { db in
            let find = try SQLStatement(db, "SELECT answered_at FROM unknown_transactions \(Self.ofTransaction)")
            return try Set(ids).compactMap { id in
                try find.integer(scope.environment.rawValue, scope.bundleId, id).map {
                    UnknownTransaction(scope: scope, transactionId: id, answeredDate: $0)
                }
            }
        }
    }

    public func forgetUnknownTransactions(_ ids: [String], in scope: StoreScope) async throws {
        try await write { db in
            let delete = try SQLStatement(db, "DELETE FROM unknown_transactions \(Self.ofTransaction)")
            for id in ids { try delete.run(scope.environment.rawValue, scope.bundleId, id) }
        }
    }
}
