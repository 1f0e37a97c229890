package import TransactionStore

/// A snapshot of a store's schema, in a read-only transaction.
package final class PostgreSQLStoreSnapshot: StoreSnapshot {
    private let query: PostgreSQLQuery
    /// The name of the schema, quoted for SQL.
    private let schema: String
    private var table = StoredTable.userClaims

    /// - Throws: `TransactionStoreError`: `unavailable` if the server cannot be reached or the schema contains no
    ///   store; `newerSchema`; `invalidArgument` for an older schema, which a read-only transaction cannot migrate, and
    ///   for a schema whose upgrade has not decoded all receipts.
    package init(url: String) throws(TransactionStoreError) {
        query = try PostgreSQLQuery(url: url)
        let named = try PostgreSQLAddress(url).schema
        schema = Schema.quotedIdentifier(named ?? PostgreSQLTransactionStore.Options().schema)
        let table = "\(schema).schema_migrations"
        guard try value("SELECT to_regclass($1)::text", Array(table.utf8)) != nil else {
            throw TransactionStoreError(.unavailable, "The schema \(schema) contains no store.")
        }
        let version = try value("SELECT coalesce(max(version), 0) FROM \(table)").flatMap { Int32($0) } ?? 0
        guard version <= Schema.version else {
            throw TransactionStoreError(.newerSchema, "The store was written by a newer version of this program.")
        }
        guard version == Schema.version, try value("SELECT customer FROM \(schema).app_transaction_fill") == nil else {
            throw StoredTable.olderSchema
        }
    }

    /// The first column of the first row.
    private func value(_ sql: String, _ parameter: [UInt8]? = nil) throws(TransactionStoreError) -> String? {
        _ = try query.begin(sql, parameter)
        var value: String?
        _ = try query.next { value = $0.map { String(decoding: $0, as: UTF8.self) } }
        return value
    }

    package func begin(_ table: StoredTable) throws(TransactionStoreError) {
        self.table = table
        _ = try query.begin(
            table.statement(prefix: "\(schema).", join: "JOIN", scopeColumn: "scope", typeColumn: "type"))
    }

    package func next() throws(TransactionStoreError) -> StoredTableRow? {
        var columns: [[UInt8]?] = []
        columns.reserveCapacity(table.columnCount)
        guard try query.next({ columns.append($0.map(Array.init)) }) else { return nil }
        return try StoredTableRow(columns, of: table)
    }
}
