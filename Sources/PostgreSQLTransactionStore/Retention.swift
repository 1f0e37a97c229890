public import TransactionStore

extension PostgreSQLTransactionStore: StoreRetention {
    /// A table of dated documents. A page has whole keys: the receipts of a customer, which have several forms, are on one page.
    private struct Documents: Sendable {
        /// Removes the documents of a page that are older than a date.
        let remove: Statement
        /// Finds the newest date of a page.
        let findNewest: Statement
        /// The key before all others.
        let first: Parameter
        /// Reads the last key of a page.
        let next: @Sendable (ResultRows) throws -> Parameter

        init(
            _ table: String, by key: String, _ type: String, after first: Parameter,
            next: @escaping @Sendable (ResultRows) throws -> Parameter
        ) {
            remove = Statement(
                """
                WITH page AS MATERIALIZED (
                    SELECT DISTINCT \(key) FROM \(table) WHERE \(key) > $1::\(type) ORDER BY \(key) LIMIT $2::int4
                ), gone AS (
                    DELETE FROM \(table) AS old USING page
                    WHERE old.\(key) = page.\(key) AND old.signed_date < $3::int8 RETURNING 1
                )
                SELECT (SELECT count(*) FROM gone), \(key) FROM page ORDER BY \(key) DESC LIMIT 1
                """)
            findNewest = Statement(
                """
                WITH page AS MATERIALIZED (
                    SELECT \(key), max(signed_date) AS signed_date FROM \(table)
                    WHERE \(key) > $1::\(type) GROUP BY \(key) ORDER BY \(key) LIMIT $2::int4
                )
                SELECT (SELECT max(signed_date) FROM page), \(key) FROM page ORDER BY \(key) DESC LIMIT 1
                """)
            self.first = first
            self.next = next
        }
    }

    private static let notifications = Documents(
        "notifications", by: "notification_uuid", "bytea", after: .bytes([]), next: { .bytes(try $0.bytes(0, 1)) })
    private static let receipts = Documents(
        "receipts", by: "customer", "int8", after: .int8(.min), next: { .int8(try $0.integer(0, 1)) })
    /// The number of keys for one statement. A statement has a time limit.
    private static let rowsAtOnce: Int32 = 2_000

    /// Removes the notifications that were signed before a date, one statement for each page of 2,000 keys. Pages that
    /// take too long become smaller.
    /// - Parameter date: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: the number of removed notifications.
    /// - Throws: `TransactionStoreError`. What was removed before the error stays removed.
    public func removeNotifications(signedBefore date: Int64) async throws -> Int64 {
        try await remove(Self.notifications, signedBefore: date)
    }

    /// Removes the receipts that were created before a date, one statement for each page of 2,000 keys. Pages that take
    /// too long become smaller.
    /// - Parameter date: milliseconds since 1970-01-01T00:00:00Z.
    /// - Returns: the number of removed receipts.
    /// - Throws: `TransactionStoreError`. What was removed before the error stays removed.
    public func removeReceipts(signedBefore date: Int64) async throws -> Int64 {
        try await remove(Self.receipts, signedBefore: date)
    }

    private func remove(_ documents: Documents, signedBefore date: Int64) async throws -> Int64 {
        var count: Int64 = 0
        try await forEachPage(of: documents, documents.remove, [.int8(date)]) {
            count += $0
            return true
        }
        return count
    }

    /// The newest date at which a stored notification was signed or a stored receipt was created; nil if there is
    /// neither.
    /// - Parameter date: a date that is new enough. The search ends when it finds this date or a later one, even if
    ///   another one is newer.
    /// - Returns: milliseconds since 1970-01-01T00:00:00Z, like `date`.
    /// - Throws: `TransactionStoreError`.
    public func newestSignedDate(orFrom date: Int64) async throws -> Int64? {
        var newest: Int64?
        for documents in [Self.notifications, Self.receipts] where newest ?? .min < date {
            try await forEachPage(of: documents, documents.findNewest) {
                newest = max(newest ?? $0, $0)
                return $0 < date
            }
        }
        return newest
    }

    /// Runs a statement for one page of rows after the other. If a page takes too long, as on a slow disk or with large
    /// receipts, the pages become smaller.
    /// - Parameters:
    ///   - documents: the table.
    ///   - statement: its parameters are the key after which the page begins, the size of the page, and then `more`.
    ///   - more: further parameters of the statement.
    ///   - body: gets the number that the statement returns for a page, and returns whether to continue.
    private func forEachPage(
        of documents: Documents, _ statement: Statement, _ more: [Parameter] = [], _ body: (Int64) -> Bool
    ) async throws {
        var (last, size) = (documents.first, Self.rowsAtOnce)
        while true {
            let (after, limit) = (last, size)
            do {
                let page = try await perform { session -> (number: Int64, last: Parameter)? in
                    let rows = try session.run(statement, [after, .int4(limit)] + more)
                    return rows.count == 0 ? nil : (try rows.integer(0, 0), try documents.next(rows))
                }
                guard let page, body(page.number) else { return }
                last = page.last
            } catch let error as TransactionStoreError where error.code == .busy && size > 1 {
                size = max(1, size / 4)
            }
        }
    }
}
