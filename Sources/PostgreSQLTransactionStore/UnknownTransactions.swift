import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: UnknownTransactions {
    /// How many rows one statement contains.
    private static let idsAtOnce = 4_096

    /// Stores answers in one transaction, all or none. Of several answers about one id in one scope, the newest is
    /// kept.
    /// - Throws: `TransactionStoreError`.
    public func remember(_ transactions: [UnknownTransaction]) async throws {
        // One statement cannot write a row twice. The order keeps two writers from waiting for each other in a circle.
        var newest: [ScopedIdentity: UnknownTransaction] = [:]
        for transaction in transactions where transaction.isMeaningful {
            let known = newest[transaction.identity]
            if known.map({ $0.answeredDate < transaction.answeredDate }) ?? true {
                newest[transaction.identity] = transaction
            }
        }
        let all = newest.sorted { $0.key < $1.key }.map(\.value)
        try await perform { session in
            try session.transaction {
                let rows = try LeftHashTable(session: session).erased(in: all).remaining(of: all)
                for start in stride(from: 0, to: rows.count, by: Self.idsAtOnce) {
                    var buffer = RowBuffer(.unknownTransactions, .columns)
                    for row in rows[start..<min(start + Self.idsAtOnce, rows.count)] {
                        buffer.beginRow()
                        buffer.bytes(row.scope.environment.rawValue.utf8)
                        buffer.bytes(row.scope.bundleId.utf8)
                        buffer.bytes(row.transactionId.utf8)
                        buffer.integer(row.answeredDate)
                    }
                    try buffer.send(to: session)
                }
            }
        }
    }
}
