import GRDB
import Purchases
public import TransactionStore

extension SQLiteTransactionStore: RequestBudgets {
    public func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits {
        try budget.check()
        return try await write { db in
            let (environment, bundleId) = (budget.scope.environment.rawValue, budget.scope.bundleId)
            let find = try SQLStatement(
                db, "SELECT full_at FROM request_budgets WHERE environment = ?1 AND bundle_id = ?2 AND endpoint = ?3")
            var bucket = RequestBucket(fullAt: try find.integer(environment, bundleId, budget.endpoint) ?? 0)
            // SQLite's clock counts milliseconds.
            let now = (try SQLStatement(db, "SELECT \(Self.now)").integer() ?? 0) * 1_000
            let permits = bucket.take(count, of: budget, now: now)
            guard bucket.hasChanged else { return permits }
            let keep = try SQLStatement(
                db,
                """
                INSERT INTO request_budgets (environment, bundle_id, endpoint, full_at) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (environment, bundle_id, endpoint) DO UPDATE SET full_at = excluded.full_at
                """)
            try keep.run(environment, bundleId, budget.endpoint, bucket.fullAt)
            return permits
        }
    }
}
