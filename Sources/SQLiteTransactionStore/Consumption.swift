import GRDB
import Purchases
public import TransactionStore

/// Opens the consumption tasks of notifications, within the transaction that stores the notifications.
struct ConsumptionTaskWriter {
    private let insert: SQLStatement

    init(_ db: Database) throws {
        insert = try SQLStatement(
            db,
            """
            INSERT INTO consumption_requests
                (notification_uuid, scope_id, original_transaction_id, transaction_id, reason, requested_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (notification_uuid) DO NOTHING
            """)
    }

    func open(_ task: ConsumptionTask, _ scopeId: Int64) throws {
        try insert.run(
            task.notificationUUID, scopeId, task.originalTransactionId, task.transactionId, task.reason,
            task.requestedDate)
    }
}

extension SQLiteTransactionStore: ConsumptionTasks {
    public func openConsumptionTasks(after task: ConsumptionTask?, limit: Int) async throws -> [ConsumptionTask] {
        try await read { db in
            let find = try SQLStatement(
                db,
                """
                SELECT c.notification_uuid, s.environment, s.bundle_id, c.original_transaction_id, c.transaction_id,
                    c.reason, c.requested_at,
                    (SELECT MIN(l.position) FROM ledger l
                     WHERE l.scope_id = c.scope_id AND l.transaction_id = c.transaction_id
                         AND l.event = \(LedgerEntry.Event.purchased.rawValue))
                FROM consumption_requests c CROSS JOIN scopes s ON s.id = c.scope_id
                WHERE c.outcome IS NULL AND (c.requested_at, c.notification_uuid) > (?1, ?2)
                ORDER BY c.requested_at, c.notification_uuid LIMIT ?3
                """)
            return try find.rows(
                task?.requestedDate ?? .min, task?.notificationUUID ?? "", Int64(ConsumptionTask.tasks(limit))
            ) {
                // NULL reads as an empty text or as 0, and neither is a valid value.
                let (reason, position) = ($0.text(5), $0.integer(7))
                return ConsumptionTask(
                    notificationUUID: $0.text(0), scope: $0.scope(1), originalTransactionId: $0.text(3),
                    transactionId: $0.text(4), reason: reason.isEmpty ? nil : reason, requestedDate: $0.integer(6),
                    purchasedPosition: position == 0 ? nil : position)
            }
        }
    }

    public func closeConsumptionTasks(
        _ notificationUUIDs: [String], as outcome: ConsumptionTask.Outcome
    ) async throws -> Int {
        try await write { db in
            let close = try SQLStatement(
                db,
                """
                UPDATE consumption_requests SET outcome = ?2, closed_at = \(Self.now)
                WHERE notification_uuid = ?1 AND outcome IS NULL
                """)
            var closed = 0
            for uuid in notificationUUIDs {
                closed += try close.run(uuid, outcome.rawValue)
            }
            return closed
        }
    }
}
