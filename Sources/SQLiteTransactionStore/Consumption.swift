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

    public func claimConsumptionTasks(
        _ notificationUUIDs: [String], for milliseconds: Int64, renewing claim: ConsumptionClaim?
    ) async throws -> ConsumptionClaim? {
        try ConsumptionClaim.check(milliseconds: milliseconds)
        return try await write { db in
            let now = try SQLStatement(db, "SELECT \(Self.now)").integer() ?? 0
            let find = try SQLStatement(
                db,
                """
                SELECT closed_at IS NULL, closed_at FROM consumption_requests
                WHERE notification_uuid = ?1 AND outcome IS NULL
                """)
            var requests: [ConsumptionClaim.Request] = []
            for uuid in notificationUUIDs {
                requests += try find.rows(uuid) {
                    ConsumptionClaim.Request(
                        notificationUUID: uuid, mark: $0.integer(0) == 1 ? nil : $0.integer(1))
                }
            }
            guard let granted = ConsumptionClaim(requests, at: now, for: milliseconds, renewing: claim)
            else { return nil }
            let mark = try SQLStatement(
                db, "UPDATE consumption_requests SET closed_at = ?2 WHERE notification_uuid = ?1 AND outcome IS NULL")
            for uuid in granted.notificationUUIDs { try mark.run(uuid, granted.end) }
            return granted
        }
    }

    public func endClaim(_ claim: ConsumptionClaim, maybeAnswered: Bool) async throws {
        try await write { db in
            let end = try SQLStatement(
                db,
                """
                UPDATE consumption_requests SET closed_at = CASE WHEN ?3 = 1 THEN min(closed_at, \(Self.now)) END
                WHERE notification_uuid = ?1 AND outcome IS NULL AND closed_at = ?2
                """)
            for uuid in claim.notificationUUIDs {
                let stays = maybeAnswered || claim.maybeAnswered.contains(uuid)
                try end.run(uuid, claim.end, stays ? Int64(1) : 0)
            }
        }
    }

    public func countMissedConsumptionTasks(
        requestedAfter start: Int64, upTo end: Int64
    ) async throws -> MissedConsumptionTasks {
        let overdue = "outcome IS NULL AND requested_at > ?1 AND requested_at <= ?2"
        // If nothing is due, no writer has to wait.
        let isDue = try await read { db in
            try SQLStatement(
                db,
                """
                SELECT 1 FROM consumption_requests
                WHERE \(overdue) AND closed_at IS NOT \(ConsumptionClaim.counted) LIMIT 1
                """
            ).integer(start, end) != nil
        }
        guard isDue else { return MissedConsumptionTasks() }
        return try await write { db in
            func count(_ condition: String) throws -> Int {
                try SQLStatement(
                    db,
                    """
                    UPDATE consumption_requests SET closed_at = \(ConsumptionClaim.counted)
                    WHERE \(overdue) AND \(condition)
                    """
                ).run(start, end)
            }
            let unknown = try count(
                """
                closed_at <> \(ConsumptionClaim.counted)
                    AND (closed_at <= \(Self.now) OR closed_at > \(Self.now) + \(ConsumptionClaim.maximumMilliseconds))
                """)
            return MissedConsumptionTasks(missed: try count("closed_at IS NULL"), unknown: unknown)
        }
    }
}
