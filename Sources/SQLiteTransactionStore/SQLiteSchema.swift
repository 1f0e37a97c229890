import GRDB
import TransactionStore

/// The tables, as numbered migrations. A released migration never changes; each change is a new migration.
///
/// Facts of one kind about one transaction are one row. The key begins with the original transaction id, so the entries
/// of a subscription are adjacent in the index. The table itself is ordered by row number (it is not `WITHOUT ROWID`).
/// Otherwise a page of the index would contain only a few rows of half a kilobyte.
///
/// A customer is a number that identities share. There is no table of customers: the identities lead to everything that
/// belongs to one. Merging two customers moves the identities of the smaller one and changes no transaction.
enum SQLiteSchema {
    /// "LRTS" in ASCII. Distinguishes a store from other SQLite databases (SQLite, PRAGMA application_id).
    static let applicationId: Int32 = 0x4C52_5453

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: version1)
            try db.execute(sql: "PRAGMA application_id = \(applicationId)")
        }
        migrator.registerMigration("2") { db in
            try db.execute(sql: version2)
            try SharedSession(db: db).fillLedger()
        }
        migrator.registerMigration("3") { db in
            try db.execute(sql: version3)
            try SharedSession(db: db).fillTerms()
        }
        migrator.registerMigration("4") { db in try db.execute(sql: version4) }
        migrator.registerMigration("5") { db in try db.execute(sql: version5) }
        migrator.registerMigration("6") { db in
            let now = try db.statement("SELECT \(SQLiteTransactionStore.now)").integer() ?? 0
            try db.execute(sql: version6(now: now))
        }
        migrator.registerMigration("7") { db in try db.execute(sql: version7) }
        migrator.registerMigration("8") { db in try db.execute(sql: version8) }
        migrator.registerMigration("9") { db in
            try db.execute(sql: unknownTransactions)
            try db.execute(sql: requestBudgets)
            try db.execute(sql: leftHashes)
        }
        migrator.registerMigration("10") { db in try db.execute(sql: version10) }
        migrator.registerMigration("11") { db in try db.execute(sql: version11) }
        migrator.registerMigration("12") { db in
            try db.execute(sql: version12)
            try AppTransactionFiller.fill(db)
        }
        migrator.registerMigration("13") { db in
            try db.execute(sql: notified)
            try db.execute(sql: documents)
            try db.execute(sql: earlierPurchases)
        }
        return migrator
    }

    /// Of version 13: the purchases before the former term of an entry `termMoved` (`EarlierPurchases`). Older entries have none.
    private static let earlierPurchases = "ALTER TABLE ledger ADD COLUMN earlier_before BLOB"

    /// Of version 13: the cancellations that servers received in notifications of version 1 become rows of the kind `notified`.
    /// Before, such a row kept later recorded documents out.
    private static let notified = """
        UPDATE transactions SET kind = 5
        WHERE kind = 3 AND source = 6 AND (instr(transactions.payload, CAST('"revocationDate":' AS BLOB)) > 0
            OR instr(transactions.legacy, CAST('"cancellationDate":' AS BLOB)) > 0);
        """

    /// Of version 13: the SHA-256 of the document that states each row (`FactRow.document`), 32 bytes. It is empty in older
    /// rows, whose documents are not known. They are not rewritten.
    private static let documents = ["transactions", "renewal_infos", "app_transactions"].map {
        "ALTER TABLE \($0) ADD COLUMN document BLOB NOT NULL DEFAULT X'';"
    }.joined()

    /// The values of an app transaction without a field in the modern model (`LegacyAppTransactionFields`): JSON, or
    /// empty.
    private static let version12 = "ALTER TABLE app_transactions ADD COLUMN legacy BLOB NOT NULL DEFAULT X''"

    /// When to look at each term (`EndedTerms`), and the dates of the looks at the terms of each app, in milliseconds since
    /// 1970. A term is looked at at once if its basis is new, because only programs with a catalog know its end.
    private static let version11 = """
        ALTER TABLE term_bases ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX term_bases_due ON term_bases (scope_id, due_at);
        CREATE TABLE term_looks (
            scope_id INTEGER PRIMARY KEY,
            began_at INTEGER NOT NULL,
            looked_at INTEGER NOT NULL
        );
        """

    /// When to look at each purchase (`LedgerEndings`), and the dates of the looks (`LookDates`), in milliseconds since
    /// 1970. Known purchases are looked at when a period ends, if it ends later than 90 days ago. The bytes are
    /// `"expiresDate":`, followed by the date of the payload.
    private static let version10 = """
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
        INSERT INTO ledger_endings
        SELECT scope_id, original_transaction_id, MIN(ends_at) FROM (
            SELECT scope_id, original_transaction_id, CAST(
                substr(payload, instr(payload, X'226578706972657344617465223A') + 14, 20) AS INTEGER) AS ends_at
            FROM transactions
            WHERE kind IN (1, 2) AND instr(payload, X'226578706972657344617465223A') > 0
        )
        WHERE ends_at > \(SQLiteTransactionStore.now) - 7776000000
        GROUP BY scope_id, original_transaction_id;
        CREATE INDEX ledger_endings_due ON ledger_endings (due_at);
        """

    /// Of version 9: the transactions that the App Store does not know (`UnknownTransaction`). The date is in
    /// milliseconds since 1970. They have no scope id: a scope is an app that the store has documents of.
    private static let unknownTransactions = """
        CREATE TABLE unknown_transactions (
            environment TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            answered_at INTEGER NOT NULL,
            PRIMARY KEY (environment, bundle_id, transaction_id)
        ) WITHOUT ROWID;
        """

    /// Of version 9: the rate limits that programs share (`RequestBucket`). Dates are in microseconds since 1970.
    private static let requestBudgets = """
        CREATE TABLE request_budgets (
            environment TEXT NOT NULL,
            bundle_id TEXT NOT NULL,
            endpoint TEXT NOT NULL,
            full_at INTEGER NOT NULL,
            PRIMARY KEY (environment, bundle_id, endpoint)
        ) WITHOUT ROWID;
        """

    /// Of version 9: the hashes that erasures left (`LeftHash`). The key also finds each secret without reading all hashes.
    private static let leftHashes = """
        CREATE TABLE left_hashes (
            secret BLOB NOT NULL,
            hash BLOB NOT NULL,
            scope_id INTEGER NOT NULL,
            PRIMARY KEY (secret, hash)
        ) WITHOUT ROWID;
        """

    /// The requests for consumption information (`ConsumptionTask`). A request without an outcome is open, and its `closed_at` is
    /// the mark of `ConsumptionClaim`. Dates are in milliseconds since 1970.
    private static let version8 = """
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
        """

    /// Indices for `CustomerReference`. The payload contains the web order line item id as a JSON member.
    private static let version7 = """
        CREATE INDEX transactions_by_id ON transactions (transaction_id);
        CREATE INDEX transactions_by_web_order_line_item_id ON transactions (\(webOrderLineItemId))
        WHERE \(hasWebOrderLineItemId);
        CREATE INDEX user_claims_by_user ON user_claims (user_id);
        """

    /// Whether the payload of a transaction contains a web order line item id. SQLite uses the partial index only for a
    /// query with exactly this expression.
    static let hasWebOrderLineItemId = "instr(payload, \(webOrderLineItemIdBeginning)) > 0"
    /// The bytes of the id up to the next quotation mark (X'22').
    static let webOrderLineItemId: String = {
        let start = "instr(payload, \(webOrderLineItemIdBeginning)) + \(StoredWebOrderLineItemId.beginning.utf8.count)"
        return "substr(payload, \(start), instr(substr(payload, \(start)), X'22') - 1)"
    }()
    /// Never change this text: a released migration contains it.
    private static let webOrderLineItemIdBeginning =
        "X'" + StoredWebOrderLineItemId.beginning.utf8.map { String($0, radix: 16) }.joined() + "'"

    /// When each ledger entry was written, in milliseconds since 1970, and the position up to which entries were
    /// removed. Existing entries get the time of the migration through the default, without being rewritten.
    private static func version6(now: Int64) -> String {
        """
        ALTER TABLE ledger ADD COLUMN recorded_at INTEGER NOT NULL DEFAULT \(now);
        CREATE TABLE ledger_removal (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            position INTEGER NOT NULL
        );
        INSERT INTO ledger_removal VALUES (1, 0);
        """
    }

    /// The lease of each ledger consumer (`ConsumerLease`): its holder, and its end in milliseconds since 1970.
    private static let version5 = """
        ALTER TABLE ledger_consumers ADD COLUMN holder TEXT;
        ALTER TABLE ledger_consumers ADD COLUMN leased_until INTEGER;
        """

    /// The data of `MigrationStore`. The keys are SHA-256 values. The caller's texts are blobs, because they may
    /// contain any character. A user claim refers to a purchase, so that merging customers moves no claims.
    private static let version4 = """
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
        """

    /// The basis of the term of each granted non-renewing subscription (`TermChanges`), and the seats in the ledger.
    private static let version3 = """
        CREATE TABLE term_bases (
            scope_id INTEGER NOT NULL,
            original_transaction_id TEXT NOT NULL,
            transaction_id TEXT NOT NULL,
            basis INTEGER NOT NULL,
            PRIMARY KEY (scope_id, original_transaction_id, transaction_id)
        ) WITHOUT ROWID;
        ALTER TABLE ledger ADD COLUMN seat_claim_id TEXT;
        CREATE UNIQUE INDEX ledger_seats ON ledger (scope_id, seat_claim_id) WHERE seat_claim_id IS NOT NULL;
        """

    /// The delivery ledger: entries are appended and never changed. The key guarantees that a transaction id is
    /// `purchased` only once; the entries of one transaction are numbered from 0.
    private static let version2 = """
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
        """

    private static let version1 = """
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
        -- One row, rewritten to see whether the file can be written to.
        CREATE TABLE readiness (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            checks INTEGER NOT NULL
        );
        INSERT INTO readiness VALUES (1, 0);
        """
}
