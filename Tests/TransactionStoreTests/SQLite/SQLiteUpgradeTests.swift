import AppStoreModels
import Foundation
import GRDB
import LegacyReceipts
import ProductCatalog
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("SQLite: files of older programs")
struct SQLiteUpgradeTests {
    /// As version 1 made them; the statements are repeated here, so that a change to released ones is noticed.
    private static let schema1 = """
        CREATE TABLE scopes (
            id INTEGER PRIMARY KEY,
            environment TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            UNIQUE (environment, bundle_id)
        );
        CREATE TABLE identities (
            scope_id INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            value TEXT NOT NULL,
            customer_id INTEGER NOT NULL,
            PRIMARY KEY (scope_id, kind, value)
        ) WITHOUT ROWID;
        CREATE INDEX identities_by_customer ON identities (customer_id, kind);
        CREATE TABLE transactions (
            scope_id INTEGER NOT NULL,
            original_transaction_id TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            kind INTEGER NOT NULL,
            source INTEGER NOT NULL,
            signed_date INTEGER NOT NULL,
            payload BLOB NOT NULL,
            legacy BLOB NOT NULL,
            UNIQUE (scope_id, original_transaction_id, transaction_id, kind)
        );
        CREATE TABLE renewal_infos (
            scope_id INTEGER NOT NULL,
            original_transaction_id TEXT NOT NULL,
            kind INTEGER NOT NULL,
            source INTEGER NOT NULL,
            signed_date INTEGER NOT NULL,
            payload BLOB NOT NULL,
            UNIQUE (scope_id, original_transaction_id, kind)
        );
        CREATE TABLE app_transactions (
            customer_id INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            source INTEGER NOT NULL,
            signed_date INTEGER NOT NULL,
            payload BLOB NOT NULL,
            UNIQUE (customer_id, kind)
        );
        CREATE TABLE receipts (
            customer_id INTEGER NOT NULL,
            form INTEGER NOT NULL,
            signed_date INTEGER NOT NULL,
            bytes BLOB NOT NULL,
            UNIQUE (customer_id, form)
        );
        CREATE TABLE notifications (
            notification_uuid TEXT NOT NULL UNIQUE,
            scope_id INTEGER NOT NULL,
            notification_type TEXT NOT NULL,
            subtype TEXT,
            signed_date INTEGER NOT NULL,
            body BLOB NOT NULL
        );
        CREATE TABLE readiness (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            checks INTEGER NOT NULL
        );
        INSERT INTO readiness VALUES (1, 0);

        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('1');
        PRAGMA application_id = 1280463955;
        """

    /// As version 2 upgraded a file of version 1.
    private static let schema2 = """
        CREATE TABLE ledger (
            position INTEGER PRIMARY KEY,
            scope_id INTEGER NOT NULL,
            transaction_id TEXT NOT NULL,
            number INTEGER NOT NULL,
            event INTEGER NOT NULL,
            original_transaction_id TEXT NOT NULL,
            UNIQUE (scope_id, transaction_id, number)
        );
        CREATE TABLE ledger_consumers (
            name TEXT PRIMARY KEY,
            position INTEGER NOT NULL
        ) WITHOUT ROWID;
        INSERT INTO ledger VALUES (1, 1, '1', 0, 1, '1'), (2, 1, '2', 0, 2, '1'), (3, 1, '4', 0, 3, '4');
        INSERT INTO ledger_consumers VALUES ('shop', 2);
        INSERT INTO grdb_migrations VALUES ('2');
        """

    /// As version 3 upgraded a file of version 2.
    private static let schema3 = """
        CREATE TABLE term_bases (
            scope_id INTEGER NOT NULL,
            original_transaction_id TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            basis INTEGER NOT NULL,
            PRIMARY KEY (scope_id, original_transaction_id, transaction_id)
        ) WITHOUT ROWID;
        ALTER TABLE ledger ADD COLUMN seat_claim_id TEXT;
        CREATE UNIQUE INDEX ledger_seats ON ledger (scope_id, seat_claim_id) WHERE seat_claim_id IS NOT NULL;
        INSERT INTO grdb_migrations VALUES ('3');
        """

    /// As version 4 upgraded a file of version 3.
    private static let schema4 = """
        CREATE TABLE user_claims (
            scope_id INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            value TEXT NOT NULL,
            key BLOB NOT NULL,
            user_id BLOB NOT NULL,
            carried BLOB NOT NULL,
            UNIQUE (scope_id, kind, value, key)
        );
        CREATE TABLE verified_receipts (
            key BLOB NOT NULL UNIQUE,
            scope_id INTEGER NOT NULL,
            form INTEGER NOT NULL,
            identities BLOB NOT NULL
        );
        CREATE TABLE quarantine (
            key BLOB NOT NULL UNIQUE,
            line BLOB NOT NULL
        );
        CREATE TABLE migration_checkpoints (
            migration TEXT NOT NULL UNIQUE,
            records INTEGER NOT NULL,
            digest BLOB NOT NULL,
            state BLOB NOT NULL
        );
        INSERT INTO grdb_migrations VALUES ('4');
        """

    /// As version 5 upgraded a file of version 4.
    private static let schema5 = """
        ALTER TABLE ledger_consumers ADD COLUMN holder TEXT;
        ALTER TABLE ledger_consumers ADD COLUMN leased_until INTEGER;
        INSERT INTO grdb_migrations VALUES ('5');
        """

    /// As version 6 upgraded a file of version 5.
    private static let schema6 = """
        ALTER TABLE ledger ADD COLUMN recorded_at INTEGER NOT NULL DEFAULT 1790000000000;
        CREATE TABLE ledger_removal (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            position INTEGER NOT NULL
        );
        INSERT INTO ledger_removal VALUES (1, 0);
        INSERT INTO grdb_migrations VALUES ('6');
        """

    /// As version 7 upgraded a file of version 6.
    private static let schema7 = """
        CREATE INDEX transactions_by_id ON transactions (transaction_id);
        CREATE INDEX transactions_by_web_order_line_item_id ON transactions (
            substr(payload, instr(payload, X'227765624f726465724c696e654974656d4964223a22') + 22,
                instr(substr(payload, instr(payload, X'227765624f726465724c696e654974656d4964223a22') + 22), X'22') - 1))
        WHERE instr(payload, X'227765624f726465724c696e654974656d4964223a22') > 0;
        CREATE INDEX user_claims_by_user ON user_claims (user_id);
        INSERT INTO grdb_migrations VALUES ('7');
        """

    /// As version 8 upgraded a file of version 7.
    private static let schema8 = """
        CREATE TABLE consumption_requests (
            notification_uuid TEXT PRIMARY KEY,
            scope_id INTEGER NOT NULL,
            original_transaction_id TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            reason TEXT,
            requested_at INTEGER NOT NULL,
            outcome INTEGER,
            closed_at INTEGER
        ) WITHOUT ROWID;
        CREATE INDEX consumption_requests_open ON consumption_requests (requested_at, notification_uuid)
        WHERE outcome IS NULL;
        CREATE INDEX consumption_requests_by_purchase ON consumption_requests (scope_id, original_transaction_id);
        INSERT INTO grdb_migrations VALUES ('8');
        """

    /// As version 9 upgraded a file of version 8.
    private static let schema9 = """
        CREATE TABLE unknown_transactions (
            environment TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            answered_at INTEGER NOT NULL,
            PRIMARY KEY (environment, bundle_id, transaction_id)
        ) WITHOUT ROWID;
        CREATE TABLE request_budgets (
            environment TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            full_at INTEGER NOT NULL,
            PRIMARY KEY (environment, bundle_id, endpoint)
        ) WITHOUT ROWID;
        CREATE TABLE left_hashes (
            secret BLOB NOT NULL,
            hash BLOB NOT NULL,
            scope_id INTEGER NOT NULL,
            PRIMARY KEY (secret, hash)
        ) WITHOUT ROWID;
        INSERT INTO grdb_migrations VALUES ('9');
        """

    /// As version 10 upgraded a file of version 9.
    private static let schema10 = """
        CREATE TABLE ledger_endings (
            scope_id INTEGER NOT NULL,
            original_transaction_id TEXT NOT NULL,
            due_at INTEGER NOT NULL,
            PRIMARY KEY (scope_id, original_transaction_id)
        ) WITHOUT ROWID;
        CREATE TABLE ledger_looks (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            began_at INTEGER NOT NULL,
            looked_at INTEGER NOT NULL
        );
        CREATE INDEX ledger_endings_due ON ledger_endings (due_at);
        INSERT INTO grdb_migrations VALUES ('10');
        """

    /// As version 11 upgraded a file of version 10.
    private static let schema11 = """
        ALTER TABLE term_bases ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX term_bases_due ON term_bases (scope_id, due_at);
        CREATE TABLE term_looks (
            scope_id INTEGER PRIMARY KEY,
            began_at INTEGER NOT NULL,
            looked_at INTEGER NOT NULL
        );
        INSERT INTO grdb_migrations VALUES ('11');
        """

    /// As version 12 upgraded a file of version 11.
    private static let schema12 = """
        ALTER TABLE app_transactions ADD COLUMN legacy BLOB NOT NULL DEFAULT X'';
        INSERT INTO grdb_migrations VALUES ('12');
        """

    /// What upgraded a file of version 1, in order.
    private static let upgrades = [
        schema2, schema3, schema4, schema5, schema6, schema7, schema8, schema9, schema10, schema11, schema12,
    ]

    private static let contents = """
        INSERT INTO scopes VALUES (1, 'Production', 'com.example.app');
        INSERT INTO identities VALUES (1, 1, '1', 1), (1, 1, '3', 2), (1, 1, '4', 3);
        INSERT INTO transactions
            (scope_id, original_transaction_id, transaction_id, kind, source, signed_date, payload, legacy)
        VALUES
            (1, '1', '1', 1, 1, 1000, CAST('{"originalTransactionId":"1","transactionId":"1"}' AS BLOB), x''),
            (1, '1', '2', 1, 1, 1000, CAST('{"originalTransactionId":"1","transactionId":"2"}' AS BLOB), x''),
            (1, '3', '3', 3, 5, 1000, CAST('{"originalTransactionId":"3","transactionId":"3"}' AS BLOB), x''),
            (1, '1', '2', 2, 4, 2000,
                CAST('{"originalTransactionId":"1","transactionId":"2","revocationDate":1500}' AS BLOB), x''),
            (1, '4', '4', 2, 3, 2000,
                CAST('{"originalTransactionId":"4","transactionId":"4","isUpgraded":true}' AS BLOB), x'');
        """

    /// Three non-renewing subscriptions of one customer.
    private static let seasons = """
        INSERT INTO identities VALUES (1, 1, '10', 4), (1, 1, '11', 4), (1, 1, '12', 4);
        """
        + (10...12).map { id in
            """
            INSERT INTO transactions
                (scope_id, original_transaction_id, transaction_id, kind, source, signed_date, payload, legacy)
            VALUES (1, '\(id)', '\(id)', 2, 4, 2000, CAST(
                '{"originalTransactionId":"\(id)","transactionId":"\(id)","purchaseDate":\(22 - id),'
                || '"type":"Non-Renewing Subscription"}' AS BLOB), x'');
            """
        }.joined()

    private func makeFile(_ path: String, and more: String = "") async throws {
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: Self.schema1 + Self.contents + more) }
        try queue.close()
    }

    @Test("A file of schema 1 is upgraded: its content is in the ledger, once and in its current state")
    func schema1() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await makeFile(path)
        let store = try SQLiteTransactionStore.open(path: path)
        let entries = try await LedgerAudit.check(store)
        #expect(LedgerAudit.text(entries) == "1 purchased, 2 revoked, 4 upgraded")
        #expect(try await store.customer(original: "1")?.transactions.count == 2)
        _ = try await store.apply([StoreSamples.set(StoreSamples.fact("1", at: .max), StoreSamples.fact("3"))])
        let rest = try await store.changes(after: entries.last?.position ?? 0, limit: 10)
        #expect(LedgerAudit.text(rest) == "3 purchased")
        try await store.close()
        let again = try SQLiteTransactionStore.open(path: path)
        #expect(try await again.text == "1 purchased, 2 revoked, 4 upgraded, 3 purchased")
        try await again.close()
    }

    @Test("An upgraded file of schema 1 has the state of a transaction by the documents under both of its original ids")
    func transactionUnderTwoOriginalIds() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await makeFile(
            path,
            and: """
                INSERT INTO transactions
                    (scope_id, original_transaction_id, transaction_id, kind, source, signed_date, payload, legacy)
                VALUES (1, '4', '1', 2, 4, 3000,
                    CAST('{"originalTransactionId":"4","transactionId":"1","revocationDate":1500}' AS BLOB), x'');
                """)
        let store = try SQLiteTransactionStore.open(path: path)
        let entries = try await LedgerAudit.check(store).filter { $0.transactionId == "1" }
        #expect(LedgerAudit.text(entries) == "1 revoked")
        try await store.close()
    }

    @Test("An upgraded file contains the basis of terms: a refund moves later terms, and the upgrade adds no entry")
    func terms() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await makeFile(path, and: Self.seasons)
        let store = try SQLiteTransactionStore.open(path: path)
        let entries = try await LedgerAudit.check(store)
        #expect(
            LedgerAudit.text(entries)
                == "1 purchased, 2 revoked, 4 upgraded, 10 purchased, 11 purchased, 12 purchased")
        // Each is looked at once, by a program with a catalog.
        let catalogs = TermCatalogs(other: ProductCatalog())
        #expect(try await store.recordTermEnds(by: StoreSamples.june, limit: 10, catalogs: catalogs).purchases == 3)
        #expect(try await store.recordTermEnds(by: StoreSamples.june, limit: 10, catalogs: catalogs).purchases == 0)
        let refund = StoreSamples.fact("11", source: .notificationV2) {
            $0.type = .nonRenewingSubscription
            $0.purchaseDate = 11
            $0.revocationDate = 20
        }
        _ = try await store.apply([StoreSamples.set(refund)])
        let rest = try await store.changes(after: entries.last?.position ?? 0, limit: 10)
        // 12 was bought before, 10 after it.
        #expect(LedgerAudit.text(rest) == "11 revoked, 10 termMoved")
        #expect(rest.last?.earlierPurchasesBefore == ["12", "11"])
        try await store.close()
    }

    @Test(
        "A file of schema 1 to 12 is upgraded: it keeps what it holds, and takes everything that newer ones have",
        arguments: 1...12)
    func migration(version: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await makeFile(path, and: Self.upgrades.prefix(version - 1).joined())
        var store = try SQLiteTransactionStore.open(path: path)
        #expect(try await store.text == "1 purchased, 2 revoked, 4 upgraded")
        #expect(try await store.acknowledgedPosition(of: "shop") == (version == 1 ? 0 : 2))
        // Entries of before the upgrade have its time.
        let recorded = try await store.changes(after: 0, limit: 1).first?.recordedDate ?? 0
        let upgraded = version < 6 ? Int64(Date().timeIntervalSince1970 * 1_000) : 1_790_000_000_000
        #expect(abs(recorded - upgraded) < 3_600_000)
        #expect(try await store.lease("shop", to: "a", for: 60_000).isGranted)
        #expect(try await store.lease("shop", to: "b", for: 60_000).holder == "a")
        #expect(try await store.acknowledgedPosition(of: "shop") == (version == 1 ? 0 : 2))
        #expect(try await store.quarantine(after: nil, limit: 10).isEmpty)
        let step = MigrationStep(
            facts: [StoreSamples.set(StoreSamples.fact("5"))],
            users: [
                UserClaim(scope: StoreSamples.scope, identity: StoreSamples.original("1"), userId: "\u{0}é"),
                UserClaim(scope: StoreSamples.scope, identity: StoreSamples.original("5"), userId: "5"),
            ],
            quarantined: [QuarantinedRecord(line: Array("line".utf8))])
        #expect(try await store.apply(step).changed == 1)
        try await store.close()
        store = try SQLiteTransactionStore.open(path: path)
        let identities = ["1", "5"].map { StoreSamples.original($0) }
        #expect(try await store.users(of: identities, in: StoreSamples.scope) == step.users)
        #expect(try await store.quarantine(after: nil, limit: 10) == step.quarantined)
        #expect(try await store.text == "1 purchased, 2 revoked, 4 upgraded, 5 purchased")
        _ = try await store.apply([StoreSamples.consumptionRequest("a", of: "5")])
        #expect(try await store.openConsumptionTasks(after: nil, limit: 10).map(\.transactionId) == ["5"])
        let unknown = UnknownTransaction(scope: StoreSamples.scope, transactionId: "9", answeredDate: 1)
        try await store.remember([unknown])
        #expect(try await store.unknownTransactions(["9"], in: StoreSamples.scope) == [unknown])
        let budget = RequestBudget(scope: StoreSamples.scope, endpoint: "e", interval: 1_000_000, burst: 2)
        #expect(try await store.takePermits(5, of: budget).count == 2)
        let erased = try await store.erase(
            [StoreSamples.original("5")], in: StoreSamples.scope, quarantined: [], leavingHashes: true)
        #expect(erased.userClaims == 1 && erased.leftHashes == 1)
        #expect(try await store.apply([StoreSamples.set(StoreSamples.fact("5"))]).erased == 1)
        #expect(try await store.recordAllEndings(by: StoreSamples.june) == RecordedEndings())
        try await store.close()
    }

    @Test(
        "An upgraded file has received cancellations as a kind of their own, beside which later documents are kept",
        arguments: [true, false])
    func notified(isFirstVersion: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let rows = """
            INSERT INTO identities VALUES (1, 1, '5', 5), (1, 1, '6', 6);
            INSERT INTO transactions
                (scope_id, original_transaction_id, transaction_id, kind, source, signed_date, payload, legacy)
            VALUES
                (1, '5', '5', 1, 1, 1000, CAST('{"originalTransactionId":"5","transactionId":"5"}' AS BLOB), x''),
                (1, '5', '5', 3, 6, 2000, CAST('{"originalTransactionId":"5","transactionId":"5"}' AS BLOB),
                    CAST('{"cancellationDate":1500}' AS BLOB)),
                (1, '6', '6', 3, 6, 2000, CAST('{"originalTransactionId":"6","transactionId":"6"}' AS BLOB), x'');
            """
        try await makeFile(path, and: (isFirstVersion ? "" : Self.upgrades.joined()) + rows)
        let store = try SQLiteTransactionStore.open(path: path)
        if isFirstVersion { #expect(try await store.text == "1 purchased, 2 revoked, 4 upgraded, 5 revoked") }
        let row = StoreSamples.fact("5", source: .recordedReply, at: 3000) { $0.subscriptionGroupIdentifier = "g" }
        #expect(try await store.apply([StoreSamples.set(row)]).changed == 1)
        let transaction = try #require(try await store.customer(original: "5")?.transactions.first)
        #expect(transaction.payload.subscriptionGroupIdentifier == "g")
        #expect(transaction.payload.revocationDate == 1500)
        try await store.close()
        let queue = try DatabaseQueue(path: path)
        let kinds = try await queue.read { db in
            try Int.fetchAll(
                db,
                sql: """
                    SELECT kind FROM transactions WHERE original_transaction_id IN ('5', '6')
                    ORDER BY original_transaction_id, kind
                    """)
        }
        #expect(kinds == [1, 3, 5, 3])
        try queue.close()
    }

    @Test("An upgraded file knows the hashes of the JWS that it has, and no others until the documents come again")
    func documents() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let (jws, receipt) = (Fingerprint(of: [1]), Fingerprint(of: [2]))
        // A row of a program of version 12: the hash is a member of the payload.
        let payload = "{\"originalTransactionId\":\"20\",\"transactionId\":\"20\",\"signingInputSHA256\":\"\(jws)\"}"
        try await makeFile(
            path,
            and: Self.upgrades.joined() + """
                INSERT INTO identities VALUES (1, 1, '20', 20);
                INSERT INTO transactions
                    (scope_id, original_transaction_id, transaction_id, kind, source, signed_date, payload, legacy)
                VALUES (1, '20', '20', 2, 3, 2000, CAST('\(payload)' AS BLOB), x'');
                """)
        let store = try SQLiteTransactionStore.open(path: path)
        let transaction = try #require(try await store.customer(original: "20")?.transactions.first)
        #expect(transaction.origins.map(\.document) == [jws])
        #expect(transaction.payload.unknownMembers.isEmpty)
        #expect(try await store.customer(original: "3")?.transactions.first?.origins.map(\.document) == [nil])
        let stated = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "3"
            $0.transactionId = "3"
        }
        let again = StoreSamples.set(
            TransactionFact(
                payload: stated, legacy: nil,
                origin: FactOrigin(source: .recordedReply, signedDate: 1000, document: receipt)))
        #expect(try await [store.apply([again]).changed, store.apply([again]).changed] == [1, 0])
        #expect(try await store.customer(original: "3")?.transactions.first?.origins.map(\.document) == [receipt])
        try await store.close()
    }

    @Test("An upgraded file knows when what it holds ends, and does not look at what ended long ago")
    func endings() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        func subscription(_ id: String, until day: Int64) -> String {
            """
            INSERT INTO identities VALUES (1, 1, '\(id)', \(id));
            INSERT INTO transactions
                (scope_id, original_transaction_id, transaction_id, kind, source, signed_date, payload, legacy)
            VALUES (1, '\(id)', '\(id)', 2, 4, 2000, CAST(
                '{"expiresDate":\(now + day * StoreSamples.day),"originalTransactionId":"\(id)","productId":"monthly",'
                || '"purchaseDate":\(now - 1_100 * StoreSamples.day),"transactionId":"\(id)"}' AS BLOB), x'');
            """
        }
        try await makeFile(path, and: subscription("20", until: 1) + subscription("21", until: -1_000))
        let store = try SQLiteTransactionStore.open(path: path)
        #expect(try await store.recordAllEndings(by: now) == RecordedEndings())
        #expect(try await store.recordAllEndings(by: now + 2 * StoreSamples.day).entries == 1)
        #expect(try await store.text.hasSuffix("21 purchased, 20 endedByTime"))
        try await store.close()
    }

    @Test("An upgraded file has the type of its receipts, and the volume purchases")
    func receiptTypes() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await makeFile(path, and: Self.upgrades.dropLast().joined())
        let set = try VolumePurchase.set()
        let row = FactRow(try #require(set.appTransaction))
        let receipt = try #require(set.receipt)
        let identity = try #require(set.identities.first)
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(
                sql: "INSERT INTO identities VALUES (1, ?, ?, 101)",
                arguments: [identity.kind.rawValue, identity.value])
            // More than a page of customers. The row of the last one is not from the receipt that it has.
            for customer in 1...250 {
                let payload = customer == 250 ? Array("{}".utf8) : row.payload
                try db.execute(
                    sql: """
                        INSERT INTO app_transactions (customer_id, kind, source, signed_date, payload)
                        VALUES (?, 1, 1, ?, ?)
                        """, arguments: [customer, row.signedDate, Data(payload)])
                try db.execute(
                    sql: "INSERT INTO receipts VALUES (?, 1, ?, ?)",
                    arguments: [customer, receipt.signedDate, Data(receipt.bytes)])
            }
        }
        try queue.close()
        let store = try SQLiteTransactionStore.open(path: path)
        let customer = try await store.customer([identity], in: StoreSamples.scope)
        #expect(customer?.appTransaction?.legacy == VolumePurchase.legacy)
        // When the receipt comes again, only its hash is added.
        #expect(try await [store.apply([set]).changed, store.apply([set]).changed] == [1, 0])
        try await store.close()
        let upgraded = try DatabaseQueue(path: path)
        let filled = try await upgraded.read { db in
            try Int.fetchOne(
                db, sql: "SELECT COUNT(*) FROM app_transactions WHERE legacy = ?", arguments: [Data(row.legacy)])
        }
        #expect(filled == 249)
        try upgraded.close()
    }

    @Test("A file of schema 1 is upgraded: its content is found by transaction id and web order line item id")
    func references() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let web = "UPDATE transactions SET payload = CAST('{\"webOrderLineItemId\":\"77\"}' AS BLOB)"
        try await makeFile(path, and: web + " WHERE transaction_id = '2' AND kind = 1;")
        let store = try SQLiteTransactionStore.open(path: path)
        let purchase = ScopedIdentity(scope: StoreSamples.scope, identity: StoreSamples.original("1"))
        for reference in [CustomerReference.transactionId("2"), .webOrderLineItemId("77")] {
            #expect(try await store.identities(of: reference, limit: 10) == [purchase])
        }
        try await store.close()
    }

    @Test("Each reference of a customer is found by an index")
    func indexes() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await makeFile(path)
        let store = try SQLiteTransactionStore.open(path: path)
        for reference in [CustomerReference.transactionId("2"), .webOrderLineItemId("77"), .userId("u")] {
            let plan = try queryPlan(of: SQLiteTransactionStore.findReference(reference), [1, 1], in: path)
            #expect(plan.contains { $0.contains("SEARCH") && $0.contains("INDEX") })
            #expect(!plan.contains { $0.contains("SCAN transactions") || $0.contains("SCAN user_claims") }, "\(plan)")
        }
        try await store.close()
    }

    @Test("Several programs that open a file of schema 1 at once upgrade it once")
    func together() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await makeFile(path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let store = try SQLiteTransactionStore.open(path: path)
                    #expect(try await store.text == "1 purchased, 2 revoked, 4 upgraded")
                    try await store.close()
                }
            }
            try await group.waitForAll()
        }
    }
}
