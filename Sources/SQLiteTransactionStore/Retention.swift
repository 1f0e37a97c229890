import GRDB
public import TransactionStore

extension SQLiteTransactionStore: StoreRetention {
    public func removeNotifications(signedBefore date: Int64) async throws -> Int64 {
        try await removeRows(of: "notifications", signedBefore: date)
    }

    public func removeReceipts(signedBefore date: Int64) async throws -> Int64 {
        try await removeRows(of: "receipts", signedBefore: date)
    }

    /// Deletes a limited number of rows per transaction, because other writers wait for the end of each. The bytes are
    /// overwritten.
    private func removeRows(of table: String, signedBefore date: Int64) async throws -> Int64 {
        let end = try await read { try SQLStatement($0, "SELECT MAX(rowid) FROM \(table)").integer() ?? 0 }
        var (start, count) = (Int64(0), Int64(0))
        while start < end {
            let range = (start, start + Self.rowsAtOnce)
            count += try await write { db in
                try db.execute(sql: "PRAGMA secure_delete = ON")
                defer { try? db.execute(sql: "PRAGMA secure_delete = OFF") }
                let delete = try SQLStatement(
                    db, "DELETE FROM \(table) WHERE rowid > ?1 AND rowid <= ?2 AND signed_date < ?3")
                return Int64(try delete.run(range.0, range.1, date))
            }
            start = range.1
        }
        return count
    }

    private static let rowsAtOnce: Int64 = 10_000
}
