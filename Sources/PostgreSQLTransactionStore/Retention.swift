public import TransactionStore

extension PostgreSQLTransactionStore: StoreRetention {
    private static let removeNotifications = Statement(
        name: "remove_old_notifications",
        sql: """
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
        name: "remove_old_receipts",
        sql: """
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
        var (last, count) = ([UInt8](), Int64(0))
        while true {
            let after = last
            let step = try await perform { session -> (Int64, [UInt8])? in
                let rows = try session.run(
                    Self.removeNotifications, [.bytes(after), .int8(date), .int4(Self.rowsAtOnce)])
                return rows.count == 0 ? nil : (try rows.integer(0, 0), try rows.bytes(0, 1))
            }
            guard let step else { return count }
            count += step.0
            last = step.1
        }
    }

    public func removeReceipts(signedBefore date: Int64) async throws -> Int64 {
        var (last, count) = (Int64.min, Int64(0))
        while true {
            let after = last
            let step = try await perform { session -> (Int64, Int64)? in
                let rows = try session.run(Self.removeReceipts, [.int8(after), .int8(date), .int4(Self.rowsAtOnce)])
                return rows.count == 0 ? nil : (try rows.integer(0, 0), try rows.integer(0, 1))
            }
            guard let step else { return count }
            count += step.0
            last = step.1
        }
    }
}
