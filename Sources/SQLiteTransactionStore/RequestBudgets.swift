import GRDB
import Purchases
public import TransactionStore

extension SQLiteTransactionStore: RequestBudgets {
    public func takePermits(_ count: Int, of budget: RequestBudget) async throws -> RequestPermits {
        try budget.check()
        return try await write { db in
            func statement(_ sql: String) throws -> SQLStatement {
                let statement = try SQLStatement(db, sql)
                try statement.bind(1, budget.scope.environment.rawValue)
                try statement.bind(2, budget.scope.bundleId)
                try statement.bind(3, budget.endpoint)
                return statement
            }
            let find = try statement(
                "SELECT full_at FROM request_budgets WHERE environment = ?1 AND bundle_id = ?2 AND endpoint = ?3")
            var bucket = RequestBucket(fullAt: try find.integer() ?? 0)
            // SQLite's clock counts milliseconds.
            let now = (try SQLStatement(db, "SELECT \(Self.now)").integer() ?? 0) * 1_000
            let permits = bucket.take(count, of: budget, now: now)
            guard bucket.hasChanged else { return permits }
            let keep = try statement(
                """
                INSERT INTO request_budgets (environment, bundle_id, endpoint, full_at) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (environment, bundle_id, endpoint) DO UPDATE SET full_at = excluded.full_at
                """)
            try keep.bind(4, bucket.fullAt)
            try keep.run()
            return permits
        }
    }
}
