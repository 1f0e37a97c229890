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

    /// The rows are locked in one order, so that two programs do not wait for each other.
    private static let lockOpen = Statement(
        """
        SELECT notification_uuid, closed_at FROM consumption_requests
        WHERE notification_uuid = ANY($1::bytea[]) AND outcome IS NULL ORDER BY notification_uuid FOR UPDATE
        """)
    private static let readNow = Statement("SELECT \(now)")
    private static let mark = Statement(
        "UPDATE consumption_requests SET closed_at = $2::int8 WHERE notification_uuid = ANY($1::bytea[]) AND outcome IS NULL"
    )
    private static let endClaim = Statement(
        """
        UPDATE consumption_requests
        SET closed_at = CASE WHEN notification_uuid = ANY($3::bytea[]) THEN least(closed_at, \(now)) END
        WHERE notification_uuid = ANY($1::bytea[]) AND outcome IS NULL AND closed_at = $2::int8
        """)
    private static let countUnknown = counting(
        """
        closed_at <> \(ConsumptionClaim.counted)
            AND (closed_at <= \(now) OR closed_at > \(now) + \(ConsumptionClaim.maximumMilliseconds))
        """)
    private static let countMissed = counting("closed_at IS NULL")

    private static func counting(_ condition: String) -> Statement {
        Statement(
            """
            UPDATE consumption_requests SET closed_at = \(ConsumptionClaim.counted)
            WHERE outcome IS NULL AND requested_at > $1::int8 AND requested_at <= $2::int8 AND \(condition)
            """)
    }

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

    public func claimConsumptionTasks(
        _ notificationUUIDs: [String], for milliseconds: Int64, renewing claim: ConsumptionClaim?
    ) async throws -> ConsumptionClaim? {
        try ConsumptionClaim.check(milliseconds: milliseconds)
        return try await perform { session in
            try session.transaction {
                let rows = try session.run(Self.lockOpen, [.texts(notificationUUIDs)])
                let requests = try (0..<rows.count).map { row in
                    ConsumptionClaim.Request(
                        notificationUUID: try rows.text(row, 0),
                        mark: rows.isNull(row, 1) ? nil : try rows.integer(row, 1, as: Int64.self))
                }
                // After the rows are locked: another program may have had them until now.
                let now = try session.run(Self.readNow).integer(0, 0, as: Int64.self)
                guard let granted = ConsumptionClaim(requests, at: now, for: milliseconds, renewing: claim)
                else { return nil }
                _ = try session.run(Self.mark, [.texts(granted.notificationUUIDs), .int8(granted.end)])
                return granted
            }
        }
    }

    public func endClaim(_ claim: ConsumptionClaim, maybeAnswered: Bool) async throws {
        let staying = maybeAnswered ? claim.notificationUUIDs : claim.maybeAnswered
        try await perform { session in
            _ = try session.run(
                Self.endClaim, [.texts(claim.notificationUUIDs), .int8(claim.end), .texts(staying)])
        }
    }

    public func countMissedConsumptionTasks(
        requestedAfter start: Int64, upTo end: Int64
    ) async throws -> MissedConsumptionTasks {
        try await perform { session in
            try session.transaction {
                let dates: [Parameter] = [.int8(start), .int8(end)]
                let unknown = try session.run(Self.countUnknown, dates).affected
                return MissedConsumptionTasks(
                    missed: try session.run(Self.countMissed, dates).affected, unknown: unknown)
            }
        }
    }
}
