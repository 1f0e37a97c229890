import GRDB
import Purchases
public import TransactionStore

extension SQLiteTransactionStore: UnknownTransactions {
    /// Stores answers in one transaction, all or none. Of several answers about one id in one scope, the newest is
    /// kept.
    /// - Throws: `TransactionStoreError`.
    public func remember(_ transactions: [UnknownTransaction]) async throws {
        let transactions = transactions.filter(\.isMeaningful)
        try await write { db in
            let hashes = LeftHashTable(db: db)
            let erased = try ErasedIdentities(in: transactions, secrets: hashes.secrets(), known: hashes.known)
            let keep = try db.statement(StoreTable.unknownTransactions.insert)
            for transaction in erased.remaining(of: transactions) {
                try keep.run(
                    transaction.scope.environment.rawValue, transaction.scope.bundleId, transaction.transactionId,
                    transaction.answeredDate)
            }
        }
    }
}
