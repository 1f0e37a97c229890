extension SQLStore {
    /// One statement reads a page, with the position of the first entry `purchased` of each transaction.
    public func openConsumptionTasks(after task: ConsumptionTask?, limit: Int) async throws -> [ConsumptionTask] {
        let (date, uuid) = (task?.requestedDate ?? .min, task?.notificationUUID ?? "")
        return try await reading { session in
            let (join, scope) = (session.dialect.join, session.dialect.scope)
            return try session.rows(
                """
                SELECT c.notification_uuid, s.environment, s.bundle_id, c.original_transaction_id, c.transaction_id,
                    c.reason, c.requested_at,
                    (SELECT MIN(l.position) FROM ledger AS l
                     WHERE l.\(sql: scope) = c.\(sql: scope) AND l.transaction_id = c.transaction_id
                         AND l.event = \(LedgerEntry.Event.purchased.rawValue))
                FROM consumption_requests AS c \(sql: join) scopes AS s ON s.id = c.\(sql: scope)
                WHERE c.outcome IS NULL AND (c.requested_at, c.notification_uuid) > (\(date), \(uuid))
                ORDER BY c.requested_at, c.notification_uuid LIMIT \(Int64(ConsumptionTask.tasks(limit)))
                """
            ) {
                ConsumptionTask(
                    notificationUUID: try $0.text(0), scope: try $0.scope(1), originalTransactionId: try $0.text(3),
                    transactionId: try $0.text(4), reason: $0.isNull(5) ? nil : try $0.text(5),
                    requestedDate: try $0.integer(6), purchasedPosition: $0.isNull(7) ? nil : try $0.integer(7))
            }
        }
    }

    /// Closes the tasks in one database transaction, in the order of their UUIDs: two writers cannot block each other.
    public func closeConsumptionTasks(
        _ notificationUUIDs: [String], as outcome: ConsumptionTask.Outcome
    ) async throws -> Int {
        try await writing { session in
            try inOrder(notificationUUIDs).reduce(0) { count, uuid in
                let closed = try session.run(
                    """
                    UPDATE consumption_requests
                    SET outcome = \(outcome.rawValue), closed_at = \(sql: session.dialect.now) \(whereOpen(uuid))
                    """)
                return count + closed.changed
            }
        }
    }

    // The column `closed_at` of an open task is its mark (`ConsumptionClaim`).

    /// Reads the marks, decides and writes them in one database transaction, by the clock of the database.
    /// - Throws: ``TransactionStoreError``; `invalidArgument` for a duration outside 1 to
    ///   ``ConsumptionClaim/maximumMilliseconds``.
    public func claimConsumptionTasks(
        _ notificationUUIDs: [String], for milliseconds: Int64, renewing claim: ConsumptionClaim?
    ) async throws -> ConsumptionClaim? {
        try ConsumptionClaim.check(milliseconds: milliseconds)
        return try await writing { session in
            let requests = try inOrder(notificationUUIDs).flatMap { uuid in
                try session.rows(
                    "SELECT closed_at FROM consumption_requests \(whereOpen(uuid)) \(sql: session.dialect.locking)"
                ) {
                    ConsumptionClaim.Request(notificationUUID: uuid, mark: $0.isNull(0) ? nil : try $0.integer(0))
                }
            }
            let now = try session.integer("SELECT \(sql: session.dialect.now)") ?? 0
            guard let granted = ConsumptionClaim(requests, at: now, for: milliseconds, renewing: claim)
            else { return nil }
            for uuid in granted.notificationUUIDs {
                try session.run("UPDATE consumption_requests SET closed_at = \(granted.end) \(whereOpen(uuid))")
            }
            return granted
        }
    }

    /// Changes only open requests that still have the mark of this claim. A request that may have been answered keeps a
    /// mark, which is now at the latest. The others lose it, as if they had never been claimed.
    public func endClaim(_ claim: ConsumptionClaim, maybeAnswered: Bool) async throws {
        try await writing { session in
            let now = session.dialect.now
            for uuid in inOrder(claim.notificationUUIDs) {
                let stays = maybeAnswered || claim.maybeAnswered.contains(uuid)
                let mark = stays ? "CASE WHEN closed_at < \(now) THEN closed_at ELSE \(now) END" : "NULL"
                try session.run(
                    """
                    UPDATE consumption_requests SET closed_at = \(sql: mark)
                    \(whereOpen(uuid)) AND closed_at = \(claim.end)
                    """)
            }
        }
    }

    /// Both times in milliseconds since 1970-01-01T00:00:00Z. It writes only if a request is due, and gives each
    /// counted request the mark ``ConsumptionClaim/counted``.
    public func countMissedConsumptionTasks(
        requestedAfter start: Int64, upTo end: Int64
    ) async throws -> MissedConsumptionTasks {
        let overdue: SQLText = "outcome IS NULL AND requested_at > \(start) AND requested_at <= \(end)"
        let counted = ConsumptionClaim.counted
        // A server counts often, and mostly there is nothing to count: other writers need not wait for that.
        let isDue = try await reading { session in
            try session.integer(
                """
                SELECT 1 FROM consumption_requests
                WHERE \(overdue) AND (closed_at IS NULL OR closed_at <> \(counted)) LIMIT 1
                """) != nil
        }
        guard isDue else { return MissedConsumptionTasks() }
        return try await writing { session in
            let now = session.dialect.now
            let unknown = try session.run(
                """
                UPDATE consumption_requests SET closed_at = \(counted) WHERE \(overdue) AND closed_at <> \(counted)
                    AND (closed_at <= \(sql: now) OR closed_at > \(sql: now) + \(ConsumptionClaim.maximumMilliseconds))
                """
            ).changed
            let missed = try session.run(
                "UPDATE consumption_requests SET closed_at = \(counted) WHERE \(overdue) AND closed_at IS NULL"
            ).changed
            return MissedConsumptionTasks(missed: missed, unknown: unknown)
        }
    }
}

extension SQLSession {
    /// Opens the task of a notification, within the transaction that stores the notification. The store has its app.
    package func open(_ task: ConsumptionTask) throws {
        try run(
            """
            INSERT INTO consumption_requests
                (notification_uuid, \(sql: dialect.scope), original_transaction_id, transaction_id, reason, requested_at)
            SELECT \(task.notificationUUID), id, \(task.originalTransactionId), \(task.transactionId),
                nullif(\(task.reason ?? ""), ''), \(task.requestedDate)
            FROM scopes WHERE environment = \(task.scope.environment.rawValue) AND bundle_id = \(task.scope.bundleId)
            ON CONFLICT (notification_uuid) DO NOTHING
            """)
    }
}

/// The condition for an open task.
private func whereOpen(_ uuid: String) -> SQLText { "WHERE notification_uuid = \(uuid) AND outcome IS NULL" }

/// In one order, so that two writers wait for each other in one direction only.
private func inOrder(_ uuids: [String]) -> [String] { Set(uuids).sorted() }
