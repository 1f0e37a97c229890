package import Purchases

/// Reads the tables of a store other than customers and quarantine, in one snapshot and without writing to the store. A
/// merge needs the snapshot: it may count a receipt or a notification as known only if it also reads its facts.
///
/// Use an instance on one thread at a time. Its methods wait for the disk or the server.
package protocol StoreSnapshot: AnyObject {
    /// Begins to read a table. Remaining rows of the previous table are discarded.
    /// - Throws: ``TransactionStoreError``.
    func begin(_ table: StoredTable) throws(TransactionStoreError)

    /// The next row; nil at the end.
    /// - Throws: ``TransactionStoreError``.
    func next() throws(TransactionStoreError) -> StoredTableRow?
}

/// A table of a ``StoreSnapshot``. The comments list the columns, which are the same for all engines.
package enum StoredTable: CaseIterable, Sendable {
    /// Environment, bundle id, kind of identity, identity, user id, carried columns.
    case userClaims
    /// Environment, bundle id, key, form, identities (``StoredIdentities``).
    case verifiedReceipts
    /// Environment, bundle id, UUID, type, subtype or null, date, body.
    case notifications
    /// Environment, bundle id, transaction id, date.
    case unknownTransactions
    /// Environment, bundle id, secret, hash.
    case leftHashes

    /// The number of columns.
    package var columnCount: Int {
        switch self {
        case .userClaims: 6
        case .verifiedReceipts: 5
        case .notifications: 7
        case .unknownTransactions, .leftHashes: 4
        }
    }

    /// The statement that reads the columns.
    /// - Parameters:
    ///   - prefix: what precedes the name of each table: a schema and a dot, or nothing.
    ///   - join: the join of the engine that reads the table row by row.
    ///   - scopeColumn: the column with the id of the scope.
    ///   - typeColumn: the column with the type of a notification.
    package func statement(
        prefix: String = "", join: String, scopeColumn: String, typeColumn: String
    ) -> String {
        let table: String
        let columns: String
        switch self {
        case .userClaims: (table, columns) = ("user_claims", "t.kind, t.value, t.user_id, t.carried")
        case .verifiedReceipts: (table, columns) = ("verified_receipts", "t.key, t.form, t.identities")
        case .notifications:
            table = "notifications"
            columns = "t.notification_uuid, t.\(typeColumn), t.subtype, t.signed_date, t.body"
        case .unknownTransactions:
            return "SELECT environment, bundle_id, transaction_id, answered_at FROM \(prefix)unknown_transactions"
        case .leftHashes: (table, columns) = ("left_hashes", "t.secret, t.hash")
        }
        return """
            SELECT s.environment, s.bundle_id, \(columns)
            FROM \(prefix)\(table) AS t \(join) \(prefix)scopes AS s ON s.id = t.\(scopeColumn)
            """
    }

    /// The error for a store with an older schema, which must be migrated before it is read.
    package static let olderSchema = TransactionStoreError(
        .invalidArgument,
        "The store has an older schema, and a merge does not write to it. Bring it up to date with 'store check' first."
    )
}

/// A row of a ``StoredTable``: the bytes of its values, numbers as text, nil for null.
package struct StoredTableRow: Hashable, Sendable {
    private let columns: [[UInt8]?]

    /// - Throws: ``TransactionStoreError`` `corrupt` if the number of columns is not that of the table.
    package init(_ columns: [[UInt8]?], of table: StoredTable) throws(TransactionStoreError) {
        guard columns.count == table.columnCount else {
            throw TransactionStoreError(.corrupt, "A row of the store has the wrong number of columns.")
        }
        self.columns = columns
    }

    private func bytes(_ column: Int) -> [UInt8] { columns[column] ?? [] }
    private func text(_ column: Int) -> String { String(decoding: bytes(column), as: UTF8.self) }

    private func integer(_ column: Int) throws -> Int64 {
        guard let number = Int64(text(column)) else {
            throw TransactionStoreError(.corrupt, "A row of the store has text in place of a number.")
        }
        return number
    }

    private var scope: StoreScope { StoreScope(environment: .init(rawValue: text(0)), bundleId: text(1)) }

    /// The row of ``StoredTable/userClaims``.
    /// - Throws: ``TransactionStoreError`` `corrupt`.
    package func userClaim() throws -> UserClaim {
        try UserClaim(scope: scope, kind: integer(2), value: text(3), userId: text(4), carried: text(5))
    }

    /// The row of ``StoredTable/verifiedReceipts``.
    /// - Throws: ``TransactionStoreError`` `corrupt`.
    package func verifiedReceipt() throws -> VerifiedReceipt {
        try VerifiedReceipt(key: bytes(2), scope: scope, form: integer(3), identities: bytes(4))
    }

    /// The row of ``StoredTable/unknownTransactions``.
    /// - Throws: ``TransactionStoreError`` `corrupt`.
    package func unknownTransaction() throws -> UnknownTransaction {
        UnknownTransaction(scope: scope, transactionId: text(2), answeredDate: try integer(3))
    }

    /// The row of ``StoredTable/leftHashes``.
    package func leftHash() -> LeftHash { LeftHash(scope: scope, secret: bytes(2), hash: bytes(3)) }

    /// The row of ``StoredTable/notifications``, as a set that contains only the notification.
    /// - Throws: ``TransactionStoreError`` `corrupt`.
    package func notification() throws -> FactSet {
        FactSet(
            scope: scope,
            notification: ProcessedNotification(
                notificationUUID: text(2), notificationType: text(3), subtype: columns[4] == nil ? nil : text(4),
                signedDate: try integer(5), body: bytes(6)))
    }
}
