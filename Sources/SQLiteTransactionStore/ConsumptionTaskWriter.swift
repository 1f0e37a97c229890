import GRDB
import Purchases
import TransactionStore

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
