import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: ConsumptionTasks {
    private static let listOpen = Statement(
        """
        SELECT c.notification_uuid, s.environment, s.bundle_id, c.original_transaction_id, c.transaction_id,
            coalesce(c.reason, ''::bytea), c.requested_at,
            coalesce((
                SELECT min(l.position) FROM ledger AS l
                WHERE l.transaction_id = c.transaction_id AND l.scope = c.scope
                    AND l.event = \(LedgerEntry.Event.purchased.rawValue)), 0)
        FROM consumption_requests AS c JOIN scopes AS s ON s.id = c.scope
        WHERE c.outcome IS NULL AND (c.requested_at, c.notification_uuid) > ($1::int8, $2::bytea)
        ORDER BY c.requested_at, c.notification_uuid LIMIT $3::int4
        """)
    private static let close = Statement(
        """
        UPDATE consumption_requests SET outcome = $2::int4::int2, closed_at = \(now)
        WHERE notification_uuid = ANY($1::bytea[]) AND outcome IS NULL
        """)

    public func openConsumptionTasks(after task: ConsumptionTask?, limit: Int) async throws -> [ConsumptionTask] {
        try await perform { session in
            let rows = try session.run(
                Self.listOpen,
                [
                    .int8(task?.requestedDate ?? .min), .text(task?.notificationUUID ?? ""),
                    .int4(Int32(ConsumptionTask.tasks(limit))),
                ])
            return try (0..<rows.count).map { row in
                // NULL reads as an empty text or as 0, and neither is a valid value.
                let reason = try rows.text(row, 5)
                let position = try rows.integer(row, 7, as: Int64.self)
                return ConsumptionTask(
                    notificationUUID: try rows.text(row, 0), scope: try rows.scope(row, 1),
                    originalTransactionId: try rows.text(row, 3), transactionId: try rows.text(row, 4),
                    reason: reason.isEmpty ? nil : reason, requestedDate: try rows.integer(row, 6),
                    purchasedPosition: position == 0 ? nil : position)
            }
        }
    }

    public func closeConsumptionTasks(
        _ notificationUUIDs: [String], as outcome: ConsumptionTask.Outcome
    ) async throws -> Int {
        try await perform { session in
            try session.run(
                Self.close, [.texts(notificationUUIDs), .int4(Int32(truncatingIfNeeded: outcome.rawValue))]
            ).affected
        }
    }
}
