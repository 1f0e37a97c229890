import GRDB
import Purchases
public import TransactionStore

extension SQLiteTransactionStore: UnknownTransactions {
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
}
