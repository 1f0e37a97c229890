import GRDB
public import TransactionStore

extension SQLiteTransactionStore: StoreRetention {
    /// Removes the notifications that were signed before a date, and overwrites their bytes. Each 1,000 rows are a
    /// transaction; other writers wait for one of them.
    /// - Parameter date: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: the number of removed notifications.
    /// - Throws: `TransactionStoreError`. What was removed before the error stays removed.
    public func removeNotifications(signedBefore date: Int64) async throws -> Int64 {
        try await removeRows(of: "notifications", signedBefore: date)
    }

    /// Removes the receipts that were created before a date, and overwrites their bytes. Each 1,000 rows are a
    /// transaction; other writers wait for one of them.
    /// - Parameter date: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: the number of removed receipts.
    /// - Throws: `TransactionStoreError`. What was removed before the error stays removed.
    public func removeReceipts(signedBefore date: Int64) async throws -> Int64 {
        try await removeRows(of: "receipts", signedBefore: date)
    }

    /// The newest date at which a stored notification was signed or a stored receipt was created; nil if there is
    /// neither.
    /// - Parameter date: a date that is new enough. The search ends when it finds this date or a later one, even if
    ///   another one is newer.
    /// - Returns: milliseconds since 1970-01-01T00:00:00Z, like `date`.
    /// - Throws: `TransactionStoreError`.
    public func newestSignedDate(orFrom date: Int64) async throws -> Int64? {
        var newest: Int64?
        for table in ["notifications", "receipts"] {
            // The rows that were stored last are the newest ones in most cases.
            var end = try await lastRow(of: table)
            while end > 0, newest ?? .min < date {
                let last = end
                let found = try await read { db in
                    let select = try db.statement(
                        """
                        SELECT signed_date FROM \(table) WHERE rowid > ?1 AND rowid <= ?2 ORDER BY signed_date DESC LIMIT 1
                        """)
                    return try select.integer(last - Self.rowsAtOnce, last)
                }
                if let found { newest = max(newest ?? found, found) }
                end -= Self.rowsAtOnce
            }
        }
        return newest
    }

    private func lastRow(of table: String) async throws -> Int64 {
        try await read { try $0.statement("SELECT MAX(rowid) FROM \(table)").integer() ?? 0 }
    }

    /// The bytes are overwritten.
    private func removeRows(of table: String, signedBefore date: Int64) async throws -> Int64 {
        let last = try await lastRow(of: table)
        var (done, removed) = (Int64(0), Int64(0))
        try await WriteBatches.run {
            guard done < last else { return false }
            let (start, end) = (done, min(done + Self.rowsAtOnce, last))
            removed += try await write { db -> Int64 in
                try db.execute(sql: "PRAGMA secure_delete = ON")
                defer { try? db.execute(sql: "PRAGMA secure_delete = OFF") }
                let delete = try db.statement(
                    "DELETE FROM \(table) WHERE rowid > ?1 AND rowid <= ?2 AND signed_date < ?3")
                return Int64(try delete.run(start, end, date))
            }
            done = end
            return done < last
        }
        return removed
    }

    /// Other writers wait for a batch. A thousand receipts can have 100 megabytes.
    private static let rowsAtOnce: Int64 = 1_000
}
