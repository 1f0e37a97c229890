import TestDatabase
import Testing
import TransactionStoreConformance

@Suite(
    "PostgreSQL keeps the rules of every engine",
    .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLConformanceTests {
    @Test(arguments: StoreConformance.rules)
    func conforms(_ rule: StoreRule) async throws { try await rule.check(.postgreSQL) }
}
