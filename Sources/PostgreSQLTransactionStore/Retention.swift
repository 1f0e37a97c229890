public import TransactionStore

extension PostgreSQLTransactionStore: StoreRetention {
    private static let removeNotifications = Statement(
        """
        WITH page AS MATERIALIZED (
            SELECT notification_uuid, signed_date FROM notifications
            WHERE notification_uuid > $1::bytea ORDER BY notification_uuid LIMIT $2::int4
        ), gone AS (
            DELETE FROM notifications AS old USING page
            WHERE old.notification_uuid = page.notification_uuid AND page.signed_date < $3::int8 RETURNING 1
        )
        SELECT (SELECT count(*) FROM gone), notification_uuid FROM page ORDER BY notification_uuid DESC LIMIT 1
        """)
    /// Removes the receipts of all forms.
    private static let removeReceipts = Statement(
        """
        WITH page AS MATERIALIZED (
            SELECT DISTINCT customer FROM receipts WHERE customer > $1::int8 ORDER BY customer LIMIT $2::int4
        ), gone AS (
            DELETE FROM receipts AS old USING page
            WHERE old.customer = page.customer AND old.signed_date < $3::int8 RETURNING 1
        )
        SELECT (SELECT count(*) FROM gone), customer FROM page ORDER BY customer DESC LIMIT 1
        """)
    private static let newestNotification = Statement(
        """
        WITH page AS MATERIALIZED (
            SELECT notification_uuid, signed_date FROM notifications
            WHERE notification_uuid > $1::bytea ORDER BY notification_uuid LIMIT $2::int4
        )
        SELECT (SELECT max(signed_date) FROM page), notification_uuid FROM page ORDER BY notification_uuid DESC LIMIT 1
        """)
    /// Of the receipts of all forms.
    private static let newestReceipt = Statement(
        """
        WITH page AS MATERIALIZED (
            SELECT customer, max(signed_date) AS signed_date FROM receipts
            WHERE customer > $1::int8 GROUP BY customer ORDER BY customer LIMIT $2::int4
        )
        SELECT (SELECT max(signed_date) FROM page), customer FROM page ORDER BY customer DESC LIMIT 1
        """)
    /// The number of rows for one statement. A statement has a time limit.
    private static let rowsAtOnce: Int32 = 2_000

    public func removeNotifications(signedBefore date: Int64) async throws -> Int64 {
        var count: Int64 = 0
        try await forEachPage(of: Self.removeNotifications, [.int8(date)], after: .bytes([]), next: Self.lastUUID) {
            count += $0
            return true
        }
        return count
    }

    public func removeReceipts(signedBefore date: Int64) async throws -> Int64 {
        var count: Int64 = 0
        try await forEachPage(of: Self.removeReceipts, [.int8(date)], after: .int8(.min), next: Self.lastCustomer) {
            count += $0
            return true
        }
        return count
    }

    public func newestSignedDate(orFrom date: Int64) async throws -> Int64? {
        var newest: Int64?
        try await forEachPage(of: Self.newestNotification, after: .bytes([]), next: Self.lastUUID) {
            newest = max(newest ?? $0, $0)
            return $0 < date
        }
        guard newest ?? .min < date else { return newest }
        try await forEachPage(of: Self.newestReceipt, after: .int8(.min), next: Self.lastCustomer) {
            newest = max(newest ?? $0, $0)
            return $0 < date
        }
        return newest
    }

    private static func lastUUID(_ rows: ResultRows) throws -> Parameter { .bytes(try rows.bytes(0, 1)) }

    private static func lastCustomer(_ rows: ResultRows) throws -> Parameter { .int8(try rows.integer(0, 1)) }

    /// Runs a statement for one page of rows after the other. If a page takes too long, as on a slow disk or with large
    /// receipts, the pages become smaller.
    /// - Parameters:
    ///   - statement: its parameters are the key after which the page begins, the size of the page, and then `more`.
    ///   - more: further parameters of the statement.
    ///   - first: the key before all others.
    ///   - next: reads the last key of a page.
    ///   - body: gets the number that the statement returns for a page, and returns whether to continue.
    private func forEachPage(
        of statement: Statement, _ more: [Parameter] = [], after first: Parameter,
        next: @escaping @Sendable (ResultRows) throws -> Parameter, _ body: (Int64) -> Bool
    ) async throws {
        var (last, size) = (first, Self.rowsAtOnce)
        while true {
            let (after, limit) = (last, size)
            do {
                let page = try await perform { session -> (number: Int64, last: Parameter)? in
                    let rows = try session.run(statement, [after, .int4(limit)] + more)
                    return rows.count == 0 ? nil : (try rows.integer(0, 0), try next(rows))
                }
                guard let page, body(page.number) else { return }
                last = page.last
            } catch let error as TransactionStoreError where error.code == .busy && size > 1 {
                size = max(1, size / 4)
            }
        }
    }
}
