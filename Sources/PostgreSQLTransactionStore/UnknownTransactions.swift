public import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: UnknownTransactions {
    private static let find = Statement(
        """
        SELECT u.transaction_id, u.answered_at FROM unnest($3::bytea[]) AS given (id)
        JOIN unknown_transactions AS u
            ON u.environment = $1::bytea AND u.bundle_id = $2::bytea AND u.transaction_id = given.id
        """)
    private static let forget = Statement(
        """
        DELETE FROM unknown_transactions AS u USING unnest($3::bytea[]) AS given (id)
        WHERE u.environment = $1::bytea AND u.bundle_id = $2::bytea AND u.transaction_id = given.id
        """)

    /// How many ids one statement contains.
    private static let idsAtOnce = 4_096

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

    public func unknownTransactions(_ ids: [String], in scope: StoreScope) async throws -> [UnknownTransaction] {
        try await perform { session in
            var found: [UnknownTransaction] = []
            for part in Self.parts(ids, scope) {
                let rows = try session.run(Self.find, part)
                for row in 0..<rows.count {
                    found.append(
                        UnknownTransaction(
                            scope: scope, transactionId: try rows.text(row, 0), answeredDate: try rows.integer(row, 1)))
                }
            }
            return found
        }
    }

    public func forgetUnknownTransactions(_ ids: [String], in scope: StoreScope) async throws {
        try await perform { session in
            for part in Self.parts(ids, scope) { try session.run(Self.forget, part) }
        }
    }

    /// The parameters of statements about ids: each id once, not too many in one statement.
    private static func parts(_ ids: [String], _ scope: StoreScope) -> [[Parameter]] {
        let ids = Set(ids).map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        return stride(from: 0, to: ids.count, by: idsAtOnce).map { start in
            [
                .text(scope.environment.rawValue), .text(scope.bundleId),
                .byteStrings(Array(ids[start..<min(start + idsAtOnce, ids.count)])),
            ]
        }
    }
}
