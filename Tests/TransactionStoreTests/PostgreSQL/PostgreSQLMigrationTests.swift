import AppStoreModels
import Foundation
import LegacyReceipts
import PostgreSQLTransactionStore
import Purchases
import TestDatabase
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("PostgreSQL: what migrations keep", .enabled(if: PostgreSQLServer.shared != nil, PostgreSQLServer.isMissing))
struct PostgreSQLMigrationTests {
    private static func step(_ number: Int) -> MigrationStep {
        let identity = Samples.original("\(number)")
        let key = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)
        return MigrationStep(
            facts: [Samples.set(Samples.fact("\(number)"))],
            users: [UserClaim(scope: Samples.scope, identity: identity, userId: "\u{0}\(number)")],
            receipts: [VerifiedReceipt(key: key, scope: Samples.scope, form: .app, identities: [identity])],
            quarantined: [QuarantinedRecord(line: Array("line \(number)".utf8))],
            checkpoint: MigrationCheckpoint(
                migration: String(repeating: "a", count: 64), records: Int64(number), digest: key, state: []))
    }

    @Test(
        "A database of schema 1 to 13 is upgraded: it keeps what it holds, and takes everything that newer ones have",
        arguments: 1...13)
    func upgrade(version: Int) async throws {
        try await TestSchema.with { schema in
            let old = try await schema.open()
            _ = try await old.apply([Samples.set(Samples.fact("1"))])
            try await old.close()
            try schema.downgrade(to: version)
            let new = try await schema.open()
            #expect(try await new.text == "1 purchased")
            let recorded = try await new.changes(after: 0, limit: 1).first?.recordedDate ?? 0
            #expect(abs(recorded - Int64(Date().timeIntervalSince1970 * 1_000)) < 3_600_000)
            #expect(try await new.lease("shop", to: "a", for: 60_000).isGranted)
            #expect(try await new.lease("shop", to: "b", for: 60_000).holder == "a")
            #expect(try await new.quarantine(after: nil, limit: 10).isEmpty)
            let step = Self.step(2)
            _ = try await new.apply(step)
            #expect(try await new.users(of: [Samples.original("2")], in: Samples.scope) == step.users)
            #expect(try await new.quarantine(after: nil, limit: 10) == step.quarantined)
            #expect(try await new.text == "1 purchased, 2 purchased")
            for id in ["1", "2"] {
                let found = try await new.identities(of: .transactionId(id), limit: 1).map(\.identity)
                #expect(found == [Samples.original(id)])
            }
            #expect(try await new.identities(of: .userId("\u{0}2"), limit: 1).count == 1)
            _ = try await new.apply([Samples.consumptionRequest("a", of: "1")])
            #expect(try await new.openConsumptionTasks(after: nil, limit: 10).map(\.transactionId) == ["1"])
            let unknown = UnknownTransaction(scope: Samples.scope, transactionId: "9", answeredDate: 1)
            try await new.remember([unknown])
            #expect(try await new.unknownTransactions(["9"], in: Samples.scope) == [unknown])
            let budget = RequestBudget(scope: Samples.scope, endpoint: "e", interval: 1_000_000, burst: 2)
            #expect(try await new.takePermits(5, of: budget).count == 2)
            let erased = try await new.erase(
                [Samples.original("1")], in: Samples.scope, quarantined: [], leavingHashes: true)
            #expect(erased.transactions == 2 && erased.leftHashes == 1)
            #expect(try await new.apply([Samples.set(Samples.fact("1"))]).erased == 1)
            try await new.close()
            #expect(try schema.server.sql("SELECT max(version) FROM \(schema.name).schema_migrations") == "14")
        }
    }

    @Test("An upgraded database has the type of its receipts, and the volume purchases")
    func receiptTypes() async throws {
        try await TestSchema.with { schema in
            let set = try VolumePurchase.set()
            let old = try await schema.open()
            _ = try await old.apply([set, Samples.set(Samples.fact("1"), app: Samples.app("1"))])
            try await old.close()
            try schema.downgrade(to: 11)
            let new = try await schema.open()
            let customer = try await new.customer(set.identities, in: set.scope)
            #expect(customer?.appTransaction?.legacy == VolumePurchase.legacy)
            #expect(try await new.customer(original: "1")?.appTransaction?.legacy == LegacyAppTransactionFields())
            // When the receipt comes again, only its hash is added.
            #expect(try await [new.apply([set]).changed, new.apply([set]).changed] == [1, 0])
            try await new.close()
        }
    }

    @Test(
        "A database of a version 12 from before the first release is upgraded, with any part of version 13",
        arguments: [
            """
            DROP TRIGGER remove_legacy ON app_transactions; DROP FUNCTION remove_legacy();
            DROP TABLE app_transaction_fill;
            """,
            "DROP TRIGGER remove_legacy ON app_transactions; DROP FUNCTION remove_legacy();",
            "INSERT INTO app_transaction_fill VALUES (1, 0);", "",
        ])
    func earlyVersion12(difference: String) async throws {
        try await TestSchema.with { schema in
            let set = try VolumePurchase.set()
            let old = try await schema.open()
            _ = try await old.apply([set])
            try await old.close()
            try schema.downgrade(to: 13)
            try schema.server.sql(
                """
                SET search_path TO \(schema.name); \(difference)
                UPDATE app_transactions SET legacy = '';
                DELETE FROM schema_migrations WHERE version = 13
                """)
            let url = schema.server.url + "&schema=\(schema.name)"
            let refused = #expect(throws: TransactionStoreError.self) { try PostgreSQLStoreSnapshot(url: url) }
            #expect(refused?.code == .invalidArgument)
            let new = try await schema.open()
            let customer = try await new.customer(set.identities, in: set.scope)
            #expect(customer?.appTransaction?.legacy == VolumePurchase.legacy)
            #expect(try await new.apply([Samples.set(Samples.fact("900"))]).changed == 1)
            try await new.close()
            _ = try PostgreSQLStoreSnapshot(url: url)
            let triggers = """
                SELECT count(*) FROM pg_trigger
                WHERE tgrelid = '\(schema.name).app_transactions'::regclass AND tgname = 'remove_legacy'
                """
            #expect(try schema.server.sql(triggers) == "1")
        }
    }

    @Test(
        "An upgraded database has received cancellations as a kind of their own, beside which later documents are kept",
        arguments: [(1, "1 revoked"), (13, "1 purchased, 1 revoked")])
    func notified(version: Int, ledger: String) async throws {
        try await TestSchema.with { schema in
            var cancelled = LegacyTransactionFields()
            cancelled.cancellationDate = Samples.june
            let old = try await schema.open()
            _ = try await old.apply([Samples.set(Samples.fact("1", at: 1))])
            _ = try await old.apply([
                Samples.set(
                    Samples.fact("1", source: .notificationV1, at: 2, legacy: cancelled),
                    Samples.fact("2", source: .notificationV1, at: 2))
            ])
            try await old.close()
            try schema.downgrade(to: version)
            let kinds =
                "SELECT string_agg(kind::text, ' ' ORDER BY kind) FROM \(schema.name).transactions WHERE source = 6"
            #expect(try schema.server.sql(kinds) == "3 3")
            let new = try await schema.open()
            #expect(try schema.server.sql(kinds) == "3 5")
            let row = Samples.fact("1", source: .recordedReply, at: 3) { $0.subscriptionGroupIdentifier = "g" }
            #expect(try await new.apply([Samples.set(row)]).changed == 1)
            let transactions = try #require(try await new.customer(original: "1")?.transactions)
            let transaction = try #require(transactions.first { $0.payload.transactionId == "1" })
            #expect(transaction.payload.subscriptionGroupIdentifier == "g")
            #expect(transaction.payload.revocationDate == Samples.june)
            #expect(try await new.text == ledger)
            // A program of version 13 that is still connected.
            #expect(throws: (any Error).self) {
                try schema.server.sql(
                    """
                    UPDATE \(schema.name).transactions SET legacy = convert_to('{"cancellationDate":1}', 'UTF8')
                    WHERE kind = 3 AND source = 6
                    """)
            }
            try await new.close()
        }
    }

    @Test("An upgraded database knows no hashes of documents until they come again")
    func documents() async throws {
        try await TestSchema.with { schema in
            let hash = Fingerprint(of: [1])
            let set = FactSupport.answer(hash, signedAt: 1)
            let old = try await schema.open()
            _ = try await old.apply([set])
            try await old.close()
            try schema.downgrade(to: 13)
            let new = try await schema.open()
            #expect(try await new.customer(original: "1")?.transactions.first?.origins.map(\.document) == [nil])
            #expect(try await [new.apply([set]).changed, new.apply([set]).changed] == [3, 0])
            let customer = try #require(try await new.customer(original: "1"))
            #expect(customer.transactions.first?.origins.map(\.document) == [hash])
            #expect(customer.renewalInfos.first?.origins.map(\.document) == [hash])
            #expect(customer.appTransaction?.origins.map(\.document) == [hash])
            try await new.close()
        }
    }

    @Test("Rows of an older program that is still connected have no hash of an earlier document")
    func writtenWithoutHash() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            _ = try await store.apply([FactSupport.answer(Fingerprint(of: [1]), signedAt: 1)])
            for table in ["transactions", "renewal_infos", "app_transactions"] {
                // A program of version 13 states its version.
                try schema.server.sql(
                    """
                    SET search_path TO \(schema.name); SET legacy_receipts.schema_version TO 13;
                    UPDATE \(table) SET signed_date = 2, payload = payload
                    """)
            }
            let customer = try #require(try await store.customer(original: "1"))
            #expect(customer.transactions.first?.origins.map(\.document) == [nil])
            #expect(customer.renewalInfos.first?.origins.map(\.document) == [nil])
            #expect(customer.appTransaction?.origins.map(\.document) == [nil])
            let again = Fingerprint(of: [2])
            _ = try await store.apply([FactSupport.answer(again, signedAt: 3)])
            let newer = try await store.customer(original: "1")
            #expect(newer?.transactions.first?.origins.map(\.document) == [again])
            try await store.close()
        }
    }

    @Test("An upgrade that ends in a deadlock with a reader of the ledger runs again")
    func deadlock() async throws {
        try await TestSchema.with { schema in
            try await schema.open().close()
            try schema.downgrade(to: 13)
            // The reader locks the tables in its own order. The server ends the session that began to wait first.
            let reading = Task {
                try? await schema.server.run(
                    """
                    DO $$ BEGIN
                        LOCK TABLE \(schema.name).ledger IN ACCESS SHARE MODE;
                        WHILE NOT EXISTS (
                            SELECT FROM pg_locks WHERE relation = '\(schema.name).ledger'::regclass AND NOT granted
                        ) LOOP PERFORM pg_sleep(0.01); END LOOP;
                        LOCK TABLE \(schema.name).transactions IN ACCESS SHARE MODE;
                    END $$
                    """)
            }
            try await eventually("the reader has locked the ledger") {
                try schema.server.sql(
                    "SELECT count(*) FROM pg_locks WHERE relation = '\(schema.name).ledger'::regclass") == "1"
            }
            let new = try await schema.open()
            #expect(try schema.server.sql("SELECT max(version) FROM \(schema.name).schema_migrations") == "14")
            #expect(try await new.apply([Samples.set(Samples.fact("1"))]).changed == 1)
            try await new.close()
            _ = await reading.value
        }
    }

    /// A schema of version 11 with customers who have the receipt of a volume purchase, and with a trigger that runs before
    /// each update of an app transaction.
    @inline(never)
    private static func makeOlder(_ schema: TestSchema, volumePurchases ids: [String], trigger: String) async throws {
        let set = try VolumePurchase.set()
        let old = try await schema.open()
        _ = try await old.apply([Samples.set(Samples.fact("1"))])
        _ = try await old.apply(
            ids.map {
                Samples.set(identities: [Samples.original($0)], app: set.appTransaction, receipt: set.receipt)
            })
        try await old.close()
        try schema.downgrade(to: 11)
        try schema.server.sql(
            """
            SET search_path TO \(schema.name);
            CREATE TABLE gate (customer int8);
            CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(trigger) RETURN NEW; END $$;
            CREATE TRIGGER guard BEFORE UPDATE ON app_transactions FOR EACH ROW EXECUTE FUNCTION guard();
            INSERT INTO gate SELECT max(customer) FROM app_transactions
            """)
    }

    private static let rejecting =
        "IF EXISTS (SELECT FROM gate WHERE customer = NEW.customer) THEN RAISE EXCEPTION 'rejected'; END IF;"

    private static func filled(_ schema: TestSchema) throws -> String {
        try schema.server.sql("SELECT count(*) FROM \(schema.name).app_transactions WHERE legacy <> ''")
    }

    @Test("An upgrade that was interrupted while it decoded receipts leaves a usable database, and continues later")
    func interruptedFill() async throws {
        try await TestSchema.with { schema in
            try await Self.makeOlder(
                schema, volumePurchases: (1001...1250).map { "\($0)" }, trigger: Self.rejecting)
            let store = try await schema.open()
            #expect(try schema.server.sql("SELECT max(version) FROM \(schema.name).schema_migrations") == "14")
            #expect(try Self.filled(schema) == "200")
            #expect(try await store.apply([Samples.set(Samples.fact("2"))]).changed == 1)
            try await store.close()
            // A merge would copy the app transactions without the fields.
            let url = schema.server.url + "&schema=\(schema.name)"
            let refused = #expect(throws: TransactionStoreError.self) { try PostgreSQLStoreSnapshot(url: url) }
            #expect(refused?.code == .invalidArgument)
            // It reads nothing again.
            try schema.server.sql(
                """
                SET search_path TO \(schema.name); DELETE FROM gate;
                UPDATE app_transactions SET legacy = '' WHERE customer = (SELECT min(customer) FROM app_transactions)
                """)
            for _ in 1...2 {
                try await schema.open().close()
                #expect(try Self.filled(schema) == "249")
                #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).app_transaction_fill") == "0")
                _ = try PostgreSQLStoreSnapshot(url: url)
            }
        }
    }

    @Test("A database is read and written while an upgrade decodes its receipts")
    func usedWhileFilled() async throws {
        try await TestSchema.with { schema in
            let waiting = "WHILE EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.01); END LOOP;"
            try await Self.makeOlder(schema, volumePurchases: ["1001", "1002"], trigger: waiting)
            var options = schema.options()
            options.fillsInBackground = true
            let server = try await PostgreSQLTransactionStore.open(
                url: schema.server.url + "&application_name=\(schema.name)", options: options)
            try await eventually("the receipts are decoded") {
                try schema.server.sql(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE application_name = '\(schema.name)' AND wait_event = 'PgSleep'
                    """) == "1"
            }
            // A program that would do it itself does not wait either.
            for store in [server, try await schema.open()] {
                let customer = try await store.customer(original: "1001")
                #expect(customer?.appTransaction?.legacy == LegacyAppTransactionFields())
                let set = Samples.set(Samples.fact("2", product: store === server ? "a" : "b"))
                #expect(try await store.apply([set]).changed == 1)
                if store !== server { try await store.close() }
            }
            try schema.server.sql("DELETE FROM \(schema.name).gate")
            try await eventually("the receipts are decoded") { try Self.filled(schema) == "2" }
            try await server.close()
        }
    }

    @Test("An upgrade that the server rejects in the background continues automatically")
    func refusedFill() async throws {
        try await TestSchema.with { schema in
            let counting = Self.rejecting.replacing("RAISE", with: "PERFORM nextval('attempts'); RAISE")
            try await Self.makeOlder(schema, volumePurchases: ["1001"], trigger: counting)
            try schema.server.sql("CREATE SEQUENCE \(schema.name).attempts")
            var options = schema.options()
            options.fillsInBackground = true
            let server = try await PostgreSQLTransactionStore.open(url: schema.server.url, options: options)
            try await eventually("the server has rejected it") {
                try schema.server.sql("SELECT is_called FROM \(schema.name).attempts") == "t"
            }
            try schema.server.sql("DELETE FROM \(schema.name).gate")
            // Without a new connection for calls.
            try await eventually("the receipts are decoded") { try Self.filled(schema) == "1" }
            try await server.close()
        }
    }

    @Test("Rows of an older program that is still connected have no legacy fields of an earlier receipt")
    func writtenByOlderProgram() async throws {
        try await TestSchema.with { schema in
            var single = LegacyAppTransactionFields()
            single.receiptType = "Production"
            func set(_ version: String, at date: Int64, _ legacy: LegacyAppTransactionFields?) -> FactSet {
                Samples.set(
                    identities: [Samples.original("1")], app: Samples.app(version, at: date, legacy: legacy))
            }
            let store = try await schema.open()
            _ = try await store.apply([set("1", at: 1, VolumePurchase.legacy)])
            let payload = FactRow(Samples.app("2", at: 2)).payload
            try schema.server.sql(
                """
                UPDATE \(schema.name).app_transactions
                SET signed_date = 2, payload = convert_to('\(String(decoding: payload, as: UTF8.self))', 'UTF8')
                """)
            #expect(try await store.customer(original: "1")?.appTransaction?.legacy == LegacyAppTransactionFields())
            // A program of this version corrects it, and does not lose it.
            #expect(try await store.apply([set("2", at: 2, single)]).changed == 1)
            #expect(try await store.customer(original: "1")?.appTransaction?.legacy == single)
            #expect(try await store.apply([set("3", at: 3, single)]).changed == 1)
            #expect(try await store.customer(original: "1")?.appTransaction?.legacy == single)
            try await store.close()
        }
    }

    @Test("A customer who is merged during an upgrade has the legacy fields of the receipt")
    func mergedWhileFilled() async throws {
        try await TestSchema.with { schema in
            try await Self.makeOlder(schema, volumePurchases: ["1001"], trigger: Self.rejecting)
            let store = try await schema.open()
            #expect(try Self.filled(schema) == "0")
            // As if the other customer was behind the position. It is the larger one.
            _ = try await store.apply([Samples.set(Samples.fact("1"), Samples.fact("2"))])
            try schema.server.sql(
                """
                SET search_path TO \(schema.name); DELETE FROM gate;
                UPDATE app_transaction_fill SET customer = (SELECT max(customer) - 1 FROM app_transactions)
                """)
            _ = try await store.apply([Samples.set(Samples.fact("1"), Samples.fact("1001"))])
            let customer = try await store.customer(original: "1001")
            #expect(customer?.appTransaction?.legacy == VolumePurchase.legacy)
            try await store.close()
        }
    }

    @Test("An upgraded database has the end dates of its purchases, and does not look at old ones")
    func endings() async throws {
        try await TestSchema.with { schema in
            let now = Int64(Date().timeIntervalSince1970 * 1_000)
            func subscription(_ id: String, until day: Int64) -> TransactionFact {
                Samples.fact(id, at: now) {
                    $0.purchaseDate = now - 1_100 * Samples.day
                    $0.expiresDate = now + day * Samples.day
                }
            }
            let old = try await schema.open()
            _ = try await old.apply([Samples.set(subscription("1", until: 1), subscription("2", until: -1_000))])
            try await old.close()
            try schema.downgrade(to: 9)
            let new = try await schema.open()
            #expect(try await new.recordAllEndings(by: now) == RecordedEndings())
            #expect(try await new.recordAllEndings(by: now + 2 * Samples.day).entries == 1)
            #expect(try await new.text == "1 purchased, 2 purchased, 1 endedByTime")
            try await new.close()
        }
    }

    @Test("An erasure waits for a look at the purchase, and removes its entry too")
    func erasureAndLook() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            _ = try await store.recordEndings(by: Samples.june, limit: 1)
            let end = Samples.june + 7 * Samples.day
            let catalogs = try catalogsWithWeek()
            for round in 1...20 {
                let term = Samples.fact("\(round + 100)", product: "week") { $0.type = .nonRenewingSubscription }
                _ = try await store.apply([Samples.set(Samples.fact("\(round)") { $0.expiresDate = end }, term)])
                async let looked = store.recordAllEndings(by: end, catalogs: catalogs)
                async let erased = store.erase(
                    [Samples.original("\(round)")], in: Samples.scope, quarantined: [], leavingHashes: false)
                _ = try await (looked, erased)
            }
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).ledger") == "0")
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).ledger_endings") == "0")
            #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).term_bases") == "0")
            try await store.close()
        }
    }

    @Test("At the end of a migration, the planner learns how large the tables are")
    func statistics() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            _ = try await store.apply((1...3).map { Samples.set(Samples.fact("\($0)")) })
            try await store.migrationEnded()
            try await store.close()
            let size = "SELECT reltuples FROM pg_class WHERE oid = '\(schema.name).transactions'::regclass"
            #expect(try schema.server.sql(size) == "3")
        }
    }

    @Test("An erasure whose hashes the server rejects removes nothing")
    func rejectedHashes() async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            _ = try await store.apply(Self.step(1))
            try schema.server.sql(
                """
                CREATE FUNCTION \(schema.name).reject() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'rejected'; END $$;
                CREATE TRIGGER reject BEFORE INSERT ON \(schema.name).left_hashes
                    FOR EACH ROW EXECUTE FUNCTION \(schema.name).reject()
                """)
            let code = await storeErrorCode {
                _ = try await store.erase(
                    [Samples.original("1")], in: Samples.scope, quarantined: [], leavingHashes: true)
            }
            #expect(code == .engine)
            #expect(try await store.customer(original: "1")?.transactions.count == 1)
            #expect(try await store.users(of: [Samples.original("1")], in: Samples.scope).count == 1)
            try await store.close()
        }
    }

    @Test(
        "A step that the server rejects leaves nothing, in whichever table it fails",
        arguments: [
            "user_claims", "verified_receipts", "quarantine", "migration_checkpoints", "identities", "transactions",
            "ledger",
        ])
    func rejected(table: String) async throws {
        try await TestSchema.with { schema in
            let store = try await schema.open()
            _ = try await store.apply(Self.step(1))
            try schema.server.sql(
                """
                CREATE FUNCTION \(schema.name).reject() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'rejected'; END $$;
                CREATE TRIGGER reject BEFORE INSERT OR UPDATE ON \(schema.name).\(table)
                    FOR EACH ROW EXECUTE FUNCTION \(schema.name).reject()
                """)
            var step = Self.step(2)
            step.released = Self.step(1).quarantined.map(\.key)
            #expect(await storeErrorCode { _ = try await store.apply(step) } == .engine)
            for table in [
                "user_claims", "verified_receipts", "quarantine", "migration_checkpoints", "identities",
                "transactions", "ledger",
            ] {
                #expect(try schema.server.sql("SELECT count(*) FROM \(schema.name).\(table)") == "1")
            }
            #expect(try await store.quarantine(after: nil, limit: 2) == Self.step(1).quarantined)
            #expect(try await store.checkpoint(of: String(repeating: "a", count: 64))?.records == 1)
            try schema.server.sql("SET client_min_messages TO error; DROP FUNCTION \(schema.name).reject() CASCADE")
            #expect(try await store.apply(step).changed == 1)
            #expect(try await store.quarantine(after: nil, limit: 2) == step.quarantined)
            try await store.close()
        }
    }
}
