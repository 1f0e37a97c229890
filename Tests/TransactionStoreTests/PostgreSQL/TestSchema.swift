import Foundation
import PostgreSQLTransactionStore
import TestDatabase
import Testing
import TransactionStore
import TransactionStoreConformance

extension PostgreSQLServer {
    static let isMissing: Comment =
        "LEGACY_RECEIPTS_POSTGRES is not set: run the tests by 'tools/postgres.sh run swift test'"

    /// A schema of its own, so that tests can run side by side.
    func makeSchema() -> TestSchema {
        TestSchema(server: self, name: "test_" + UUID().uuidString.lowercased().filter { $0 != "-" })
    }
}

struct TestSchema: Sendable {
    let server: PostgreSQLServer
    let name: String

    func options() -> PostgreSQLTransactionStore.Options {
        var options = PostgreSQLTransactionStore.Options.longTimeouts
        options.schema = name
        options.maximumConnections = 4
        return options
    }

    func open() async throws -> PostgreSQLTransactionStore {
        try await PostgreSQLTransactionStore.open(url: server.url, options: options())
    }

    /// Turns the current schema into an older one, 1 to 13. Data that only newer schemas have is lost.
    func downgrade(to version: Int) throws {
        let newer = [
            "DROP TABLE ledger, ledger_consumers; DROP SEQUENCE ledger_positions;",
            "DROP TABLE term_bases; ALTER TABLE IF EXISTS ledger DROP COLUMN seat_claim_id;",
            "DROP TABLE user_claims, verified_receipts, quarantine, migration_checkpoints;",
            "ALTER TABLE IF EXISTS ledger_consumers DROP COLUMN holder, DROP COLUMN leased_until;",
            "ALTER TABLE IF EXISTS ledger DROP COLUMN recorded_at; DROP TABLE ledger_removal;",
            """
            DROP INDEX identities_id, transactions_transaction_id, transactions_web_order_line_item_id;
            DROP INDEX IF EXISTS user_claims_user_id;
            """,
            "DROP TABLE consumption_requests;",
            "DROP TABLE unknown_transactions, request_budgets, left_hashes;",
            "DROP TABLE ledger_endings, ledger_looks;",
            "DROP TABLE term_looks; ALTER TABLE IF EXISTS term_bases DROP COLUMN scope, DROP COLUMN due_at;",
            "ALTER TABLE app_transactions DROP COLUMN legacy;",
            """
            DROP TRIGGER remove_legacy ON app_transactions; DROP FUNCTION remove_legacy();
            DROP TABLE app_transaction_fill;
            """,
            """
            DROP FUNCTION remove_document() CASCADE; ALTER TABLE transactions DROP COLUMN document;
            ALTER TABLE transactions DROP CONSTRAINT notified_kind;
            DELETE FROM transactions AS r USING transactions AS n
            WHERE r.kind = 3 AND n.kind = 5 AND r.purchase = n.purchase AND r.transaction_id = n.transaction_id;
            UPDATE transactions SET kind = 3 WHERE kind = 5;
            ALTER TABLE renewal_infos DROP COLUMN document; ALTER TABLE app_transactions DROP COLUMN document;
            ALTER TABLE IF EXISTS ledger DROP COLUMN earlier_before;
            """,
        ]
        try server.sql(
            """
            SET client_min_messages TO error; SET search_path TO \(name); \(newer.dropFirst(version - 1).joined(separator: " "))
            DELETE FROM schema_migrations WHERE version > \(version)
            """)
    }

    func remove() throws { try server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(name) CASCADE") }

    /// Runs `body` with the schema and removes it.
    static func with<Value>(_ body: (TestSchema) async throws -> Value) async throws -> Value {
        let schema = try #require(PostgreSQLServer.shared).makeSchema()
        do {
            let value = try await body(schema)
            try schema.remove()
            return value
        } catch {
            try? schema.remove()
            throw error
        }
    }
}

extension PostgreSQLTransactionStore.Options {
    /// All tests share the cores: only what never ends is too slow.
    static let longTimeouts = PostgreSQLTransactionStore.Options(
        statementTimeout: 120, lockTimeout: 120, connectionTimeout: 120)
}

extension StoreEngine {
    static let postgreSQL = StoreEngine(name: "PostgreSQL") {
        let schema = try #require(PostgreSQLServer.shared).makeSchema()
        return StorePlace(open: { try await schema.open() }, remove: { try schema.remove() })
    }
}

/// The code of the error that `body` throws; nil if it throws none.
func storeErrorCode(_ body: () async throws -> Void) async -> TransactionStoreError.Code? {
    do {
        try await body()
        return nil
    } catch let error as TransactionStoreError {
        return error.code
    } catch {
        Issue.record("not a store error: \(error)")
        return nil
    }
}
