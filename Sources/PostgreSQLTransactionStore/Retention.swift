public import TransactionStore

extension PostgreSQLTransactionStore: StoreRetention {
    private static let removeNotifications = Statement(
        """
        WITH page AS MATERIALIZED (
            SELECT notification_uuid, signed_date FROM notifications
            WHERE notification_uuid > $1::bytea ORDER BY notification_uuid LIMIT $3::int4
        ), gone AS (
            DELETE FROM notifications AS old USING page
            WHERE old.notification_uuid = page.notification_uuid AND page.signed_date < $2::int8 RETURNING 1
        )
        SELECT (SELECT count(*) FROM gone), notification_uuid FROM page ORDER BY notification_uuid DESC LIMIT 1
        """)
    /// Removes the receipts of all forms.
    private static let removeReceipts = Statement(
        """
        WITH page AS MATERIALIZED (
            SELECT DISTINCT customer FROM receipts WHERE customer > $1::int8 ORDER BY customer LIMIT $3::int4
        ), gone AS (
            DELETE FROM receipts AS old USING page
            WHERE old.customer = page.customer AND old.signed_date < $2::int8 RETURNING 1
        )
        SELECT (SELECT count(*) FROM gone), customer FROM page ORDER BY customer DESC LIMIT 1
        """)
    /// The number of rows for one statement. A statement has a time limit.
    private static let rowsAtOnce: Int32 = 2_000

    public func removeNotifications(signedBefore date: Int64) async throws -> Int64 {
        try await remove(Self.removeNotifications, before: date, from: .bytes([])) { .bytes(try $0.bytes(0, 1)) }
    }

    public func removeReceipts(signedBefore date: Int64) async throws -> Int64 {
        try await remove(Self.removeReceipts, before: date, from: .int8(.min)) { .int8(try $0.integer(0, 1)) }
    }

    /// Runs a statement for one page of rows after the other. If a page takes too long, as on a slow disk or with large
    /// receipts, the pages become smaller.
    private func remove(
        _ statement: Statement, before date: Int64, from first: Parameter,
        next: @escaping @Sendable (ResultRows) throws -> Parameter
    ) async throws -> Int64 {
        var (last, count, size) = (first, Int64(0), Self.rowsAtOnce)
        while true {
            let (after, limit) = (last, size)
            do {
                let page = try await perform { session -> (count: Int64, last: Parameter)? in
                    let rows = try session.run(statement, [after, .int8(date), .int4(limit)])
                    return rows.count == 0 ? nil : (try rows.integer(0, 0), try next(rows))
                }
                guard let page else { return count }
                count += page.count
                last = page.last
            } catch let error as TransactionStoreError where error.code == .busy && size > 1 {
                size = max(1, size / 4)
            }
        }
    }
}
