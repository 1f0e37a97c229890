import Foundation
import PostgreSQLTransactionStore
import TestDatabase
import TestSupport
import Testing
import TransactionStore

@Suite(
    "PostgreSQL keeps what a killed program wrote",
    .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLCrashTests {
    @Test(.enabled(if: CrashCheck.isPossible, "legacy-receipts-store-loader is not built"))
    func nothingCommittedIsLostAndNothingIsDoubled() async throws {
        try await TestSchema.with { schema in
            let check = CrashCheck(
                url: schema.server.url + "&application_name=\(schema.name)", schema: schema.name,
                open: {
                    // The server finishes the last statement of the killed program; only then is the outcome final.
                    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(schema.name)'"
                    try await eventually("the sessions are gone") { try schema.server.sql(sessions) == "0" }
                    return try await schema.open()
                })
            let batches = try await check.run(rounds: 30)
            #expect(batches > 30)
        }
    }
}
