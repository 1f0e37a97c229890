import Purchases
public import TransactionStore

extension PostgreSQLTransactionStore: RequestBudgets {
    /// Locks the row, which it adds if it is missing, and reads the server's clock after the wait for the lock.
    private static let lockBudget = Statement(
        """
        INSERT INTO request_budgets AS known (environment, bundle_id, endpoint, full_at)
        VALUES ($1::bytea, $2::bytea, $3::bytea, 0)
        ON CONFLICT (environment, bundle_id, endpoint) DO UPDATE SET full_at = known.full_at
        RETURNING full_at, (extract(epoch FROM clock_timestamp()) * 1000000)::int8
        """)
    private static let keepBudget = Statement(
        """
        UPDATE request_budgets SET full_at = $4::int8
        WHERE environment = $1::bytea AND bundle_id = $2::bytea AND endpoint = $3::bytea
        """)

    public func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits {
        try budget.check()
        let scope = budget.scope
        let key: [Parameter] = [.text(scope.environment.rawValue), .text(scope.bundleId), .text(budget.endpoint)]
        return try await perform { session in
            try session.transaction {
                let row = try session.run(Self.lockBudget, key)
                var bucket = RequestBucket(fullAt: try row.integer(0, 0))
                let permits = bucket.take(count, of: budget, now: try row.integer(0, 1))
                if bucket.hasChanged { try session.run(Self.keepBudget, key + [.int8(bucket.fullAt)]) }
                return permits
            }
        }
    }
}
