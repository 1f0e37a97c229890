extension SQLStore {
    /// The row of the budget is locked until the permits are stored, so two programs never get the same permit. The
    /// clock of the database counts milliseconds, so shorter intervals become available in steps.
    /// - Throws: ``TransactionStoreError``; `invalidArgument` for an endpoint without a valid name.
    public func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits {
        try budget.check()
        return try await writing { session in
            let (environment, bundleId) = (budget.scope.environment.rawValue, budget.scope.bundleId)
            let ofBudget: SQLText =
                "WHERE environment = \(environment) AND bundle_id = \(bundleId) AND endpoint = \(budget.endpoint)"
            let find: SQLText = "SELECT full_at FROM request_budgets \(ofBudget) \(sql: session.dialect.locking)"
            var fullAt = try session.integer(find)
            if fullAt == nil {
                // Only a row that exists can be locked.
                try session.run(
                    """
                    INSERT INTO request_budgets (environment, bundle_id, endpoint, full_at)
                    VALUES (\(environment), \(bundleId), \(budget.endpoint), 0) ON CONFLICT DO NOTHING
                    """)
                fullAt = try session.integer(find)
            }
            var bucket = RequestBucket(fullAt: fullAt ?? 0)
            // Read after the wait for the row. The clocks of the dialects count milliseconds.
            let now = (try session.integer("SELECT \(sql: session.dialect.now)") ?? 0) * 1_000
            let permits = bucket.take(count, of: budget, now: now)
            if bucket.hasChanged {
                try session.run("UPDATE request_budgets SET full_at = \(bucket.fullAt) \(ofBudget)")
            }
            return permits
        }
    }
}
