import Purchases
import TransactionStore

/// Opens the consumption tasks of notifications, within the transaction that stores the notifications.
struct ConsumptionTaskWriter {
    let session: PostgreSQLSession

    private static let insert = Statement(
        """
        INSERT INTO consumption_requests
            (notification_uuid, scope, original_transaction_id, transaction_id, reason, requested_at)
        SELECT given.uuid, s.id, given.original, given.id, nullif(given.reason, ''::bytea), given.date
        FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::int8[])
            AS given (uuid, environment, bundle_id, original, id, reason, date)
        JOIN scopes AS s ON s.environment = given.environment AND s.bundle_id = given.bundle_id
        ON CONFLICT (notification_uuid) DO NOTHING
        """)

    func open(_ tasks: [ConsumptionTask]) throws {
        try session.run(
            Self.insert,
            [
                .texts(tasks.map(\.notificationUUID)), .texts(tasks.map(\.scope.environment.rawValue)),
                .texts(tasks.map(\.scope.bundleId)), .texts(tasks.map(\.originalTransactionId)),
                .texts(tasks.map(\.transactionId)), .texts(tasks.map { $0.reason ?? "" }),
                .int8s(tasks.map(\.requestedDate)),
            ])
    }
}
