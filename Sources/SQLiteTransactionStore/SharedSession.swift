import AppStoreModels
import GRDB
package import TransactionStore

/// Runs the statements that all SQL engines share.
struct SharedSession: SQLSession {
    let db: Database

    var dialect: SQLDialect { Self.dialect }
    private static let dialect = SQLDialect(
        now: SQLiteTransactionStore.now, lastPosition: "max(position) FROM ledger", scope: "scope_id",
        purchase: ["scope_id", "original_transaction_id"], customer: "customer_id", join: "CROSS JOIN",
        // A transaction that writes has the whole file.
        locking: "", rowNumber: "rowid",
        isOfPurchases: { "scope_id = \($0) AND original_transaction_id \(oneOf: $1)" })

    /// A transaction that writes has the whole file.
    func lockLedger() {}

    @discardableResult
    func run(_ text: SQLText) throws -> SQLResult {
        let (sql, values) = text.written { number, value in
            if case .oneOf = value { "IN (SELECT value FROM json_each(?\(number)))" } else { "?\(number)" }
        }
        let statement = try db.statement(sql)
        for (place, value) in zip(Int32(1)..., values) {
            switch value {
            case .integer(let number): try statement.bind(place, number)
            case .text(let text): try statement.bind(place, text)
            case .bytes(let bytes): try statement.bind(place, bytes)
            case .oneOf(let texts):
                let json = JSONValue.array(texts.map { .string($0) }).json
                try statement.bind(place, String(decoding: json, as: UTF8.self))
            }
        }
        return SQLResult(rows: try statement.rows { ResultRow($0.values) }, changed: db.changesCount)
    }
}

extension SQLiteTransactionStore: SQLStore {
    package func reading<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await read { try body(SharedSession(db: $0)) }
    }

    package func writing<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await write { try body(SharedSession(db: $0)) }
    }
}
