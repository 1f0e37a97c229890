import Foundation
package import TransactionStore

/// A snapshot of a store's file, opened read-only.
package final class SQLiteStoreSnapshot: StoreSnapshot {
    private let query: SQLiteQuery
    private var table = StoredTable.userClaims

    /// - Throws: `TransactionStoreError`: `unavailable` if the file is missing, `corrupt` if it is not a store,
    ///   `newerSchema`, and `invalidArgument` for an older schema, which a read-only connection cannot migrate.
    package init(path: String) throws(TransactionStoreError) {
        guard FileManager.default.fileExists(atPath: path) else {
            throw TransactionStoreError(.unavailable, "There is no file.")
        }
        query = try SQLiteQuery(path: path)
        guard try column("PRAGMA application_id").first == "\(SQLiteSchema.applicationId)" else {
            throw TransactionStoreError(.corrupt, "The file is no store.")
        }
        let present = Set(try column("SELECT identifier FROM grdb_migrations"))
        let known = Set(SQLiteSchema.migrator.migrations)
        guard present.isSubset(of: known) else {
            throw TransactionStoreError(.newerSchema, "The store was written by a newer version of this program.")
        }
        guard present == known else { throw StoredTable.olderSchema }
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
        _ = try query.begin(Self.statement(table))
    }

    package func next() throws(TransactionStoreError) -> StoredTableRow? {
        var columns: [[UInt8]?] = []
        columns.reserveCapacity(table.columnCount)
        guard try query.next({ columns.append($0 == .null ? nil : Array($1)) }) else { return nil }
        return try StoredTableRow(columns, of: table)
    }

    private static func statement(_ table: StoredTable) -> String {
        switch table {
        case .userClaims:
            """
            SELECT s.environment, s.bundle_id, u.kind, u.value, u.user_id, u.carried
            FROM user_claims u CROSS JOIN scopes s ON s.id = u.scope_id
            """
        case .verifiedReceipts:
            """
            SELECT s.environment, s.bundle_id, v.key, v.form, v.identities
            FROM verified_receipts v CROSS JOIN scopes s ON s.id = v.scope_id
            """
        case .notifications:
            """
            SELECT s.environment, s.bundle_id, n.notification_uuid, n.notification_type, n.subtype, n.signed_date, n.body
            FROM notifications n CROSS JOIN scopes s ON s.id = n.scope_id
            """
        case .unknownTransactions:
            """
            SELECT environment, bundle_id, transaction_id, answered_at FROM unknown_transactions
            """
        case .leftHashes:
            """
            SELECT s.environment, s.bundle_id, l.secret, l.hash
            FROM left_hashes l CROSS JOIN scopes s ON s.id = l.scope_id
            """
        }
    }
}
