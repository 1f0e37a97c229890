import Foundation
package import TransactionStore

/// A snapshot of a store's file, opened read-only.
package final class SQLiteStoreSnapshot: StoreSnapshot {
    private let query: SQLiteQuery
    /// The connection of the query may only read, so it would leave the log of the store and its index.
    private var last: LastConnection?
    private var table = StoredTable.userClaims

    /// - Throws: `TransactionStoreError`: `unavailable` if the file is missing, `corrupt` if it is not a store,
    ///   `newerSchema`, and `invalidArgument` for an older schema, which a read-only connection cannot migrate.
    package init(path: String) throws(TransactionStoreError) {
        guard FileManager.default.fileExists(atPath: path) else {
            throw TransactionStoreError(.unavailable, "The file does not exist.")
        }
        let file = FileIdentity(path)
        query = try SQLiteQuery(path: path)
        guard try column("PRAGMA application_id").first == "\(SQLiteSchema.applicationId)" else {
            throw TransactionStoreError(.corrupt, "The file is not a store.")
        }
        last = LastConnection(path) { FileIdentity(path) == file }
        let present = Set(try column("SELECT identifier FROM grdb_migrations"))
        let known = Set(SQLiteSchema.migrator.migrations)
        guard present.isSubset(of: known) else {
            throw TransactionStoreError(.newerSchema, "The store was written by a newer version of this program.")
        }
        guard present == known else { throw StoredTable.olderSchema }
    }

    deinit {
        query.close()
        last?.close()
    }

    /// The first column of all rows.
    private func column(_ sql: String) throws(TransactionStoreError) -> [String] {
        _ = try query.begin(sql)
        var values: [String] = []
        while try query.next({ values.append(String(decoding: $1, as: UTF8.self)) }) {}
        return values
    }

    package func begin(_ table: StoredTable) throws(TransactionStoreError) {
        self.table = table
        // A cross join keeps the order of the tables.
        _ = try query.begin(
            table.statement(join: "CROSS JOIN", scopeColumn: "scope_id", typeColumn: "notification_type"))
    }

    package func next() throws(TransactionStoreError) -> StoredTableRow? {
        var columns: [[UInt8]?] = []
        columns.reserveCapacity(table.columnCount)
        guard try query.next({ columns.append($0 == .null ? nil : Array($1)) }) else { return nil }
        return try StoredTableRow(columns, of: table)
    }
}
