import AppStoreModels
import Synchronization
import TransactionStore

/// The tables, and the migrations from older schema versions.
///
/// Ids and payloads are `bytea`. They come from documents and may contain any character of JSON, including U+0000,
/// which `text` cannot store. To read a payload in psql: `convert_from(payload, 'UTF8')::jsonb`.
struct Schema: Sendable {
    /// One migration. A released migration never changes; each change is a new migration.
    private struct Migration {
        let version: Int32
        let sql: String
        /// The part that SQL alone cannot do. It runs after the SQL.
        var fill: (@Sendable (PostgreSQLSession) throws -> Void)?
    }

    private static let migrations = [
        Migration(version: 1, sql: initial), Migration(version: 2, sql: ledger, fill: LedgerFiller.fill),
        Migration(version: 3, sql: terms, fill: LedgerFiller.fillTerms), Migration(version: 4, sql: stepsOfMigrations),
        Migration(version: 5, sql: leases), Migration(version: 6, sql: removal),
        Migration(version: 7, sql: references), Migration(version: 8, sql: consumptionRequests),
        Migration(version: 9, sql: [unknownTransactions, requestBudgets, leftHashes].joined(separator: ";")),
        Migration(version: 10, sql: endings), Migration(version: 11, sql: termEndings),
        Migration(version: 12, sql: legacyAppFields), Migration(version: 13, sql: legacyAppFill),
        Migration(version: 14, sql: [notified, documents, earlierPurchases].joined(separator: ";")),
    ]

    /// The version that this program reads and writes.
    static var version: Int32 { migrations.last?.version ?? 0 }

    let name: String
    private let quotedName: String
    /// Separates the advisory locks of this schema from others in the database. A collision would only make writers
    /// wait for each other.
    private let lockClass: Int32
    private let timeouts: PostgreSQLTimeouts
    /// What this program has created.
    private let creation = SchemaCreation()

    /// - Throws: `TransactionStoreError` `invalidURL` if PostgreSQL does not allow a schema of that name.
    init(name: String, timeouts: PostgreSQLTimeouts) throws {
        quotedName = try Self.quoted(name)
        self.name = name
        self.timeouts = timeouts
        // FNV-1a, 32 bits.
        let hash = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        lockClass = Int32(bitPattern: hash)
    }

    /// The name, quoted for SQL and for the patterns of `pg_dump`.
    /// - Throws: `TransactionStoreError` `invalidURL` if PostgreSQL does not allow a schema of that name.
    static func quoted(_ name: String) throws -> String {
        guard !name.isEmpty, name.utf8.count <= 63, !name.utf8.contains(0), !name.hasPrefix("pg_") else {
            throw TransactionStoreError(
                .invalidURL, "a schema name has 1 to 63 bytes and does not begin with pg_")
        }
        return quotedIdentifier(name)
    }

    /// A name in SQL (PostgreSQL documentation, 4.1.1).
    static func quotedIdentifier(_ name: String) -> String { name.inQuotes("\"", escapedAs: "\"\"") }

    /// Prepares a new session: settings, and the schema at the version of this program.
    /// - Returns: whether the upgrade left app transactions for ``fill(_:)``, and this session can read that.
    func prepare(_ session: PostgreSQLSession) throws -> Bool {
        try configure(session)
        // The session keeps the lock until it ends, so that no other program removes the tables.
        try session.run(Self.shareUse, .int4(lockClass), .int4(Self.useNumber))
        if try currentVersion(session) != Self.version {
            try session.withAnswerTimeout(timeouts.schema.answer) { try migrate(session) }
        }
        return try unlessRefused(session) { try AppTransactionFiller(session: session).isPending() } ?? false
    }

    /// Fills the app transactions that the upgrade left, as far as the server lets this session do it. If it does not, the
    /// next program that opens the store continues.
    /// - Returns: whether some are left, as far as this session can know.
    @discardableResult
    func fill(_ session: PostgreSQLSession) throws -> Bool {
        try session.withAnswerTimeout(timeouts.schema.answer) {
            let isLeft = try unlessRefused(session) { () -> Bool in
                let filler = AppTransactionFiller(session: session)
                try filler.fill(limits)
                return try filler.isPending()
            }
            return isLeft ?? true
        }
    }

    /// Gives the statements of a transaction as much time as a migration takes.
    private var limits: String {
        """
        SET LOCAL statement_timeout TO \(timeouts.schema.statement);
        SET LOCAL idle_in_transaction_session_timeout TO \(timeouts.schema.statement)
        """
    }

    /// Runs `body`. Returns nil if the server rejected a statement of it: the role may only read, or another program
    /// holds a lock for too long. The store can be used without what `body` does.
    private func unlessRefused<Value>(_ session: PostgreSQLSession, _ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch let failure as PostgreSQLFailure where !failure.isConnectionLost && !session.isLost {
            return nil
        }
    }

    /// The settings of a new session.
    func configure(_ session: PostgreSQLSession) throws {
        try session.checkVersion()
        session.lockClass = lockClass
        // Every statement must use an index, even if the statistics of a new table suggest otherwise. Plans are made
        // once, because planning costs more than running. A bitmap scan would read all rows although a LIMIT needs only
        // a few.
        try session.execute(
            """
            SET search_path TO \(quotedName);
            SET statement_timeout TO \(timeouts.statement);
            SET lock_timeout TO \(timeouts.lock);
            SET idle_in_transaction_session_timeout TO \(timeouts.statement);
            SET plan_cache_mode TO force_generic_plan;
            SET enable_seqscan TO off;
            SET enable_hashjoin TO off;
            SET enable_mergejoin TO off;
            SET enable_bitmapscan TO off;
            SET jit TO off;
            SET legacy_receipts.schema_version TO \(Self.version)
            """)
    }

    /// The version in the database; 0 if there are no tables.
    private func currentVersion(_ session: PostgreSQLSession) throws -> Int32 {
        guard try hasVersions(session) else { return 0 }
        let rows = try session.run(Self.readVersion)
        let version = try rows.integer(0, 0, as: Int32.self)
        guard version <= Self.version else {
            throw TransactionStoreError(
                .newerSchema,
                "the schema has version \(version), this program supports \(Self.version): use a newer program")
        }
        return version
    }

    /// Whether the table of versions is there.
    private func hasVersions(_ session: PostgreSQLSession) throws -> Bool {
        try !session.run(Self.findTable, .text("\(quotedName).schema_migrations")).isNull(0, 0)
    }

    private static let findTable = Statement("SELECT to_regclass($1)::text")
    private static let findSchema = Statement("SELECT to_regnamespace($1)::text")
    private static let readVersion = Statement("SELECT coalesce(max(version), 0)::int4 FROM schema_migrations")
    private static let lockSchema = Statement("SELECT pg_advisory_xact_lock($1::int4, 0)::text")
    /// The number of the advisory lock that every session shares. The scopes, the ledger and `AppTransactionFiller` have other
    /// numbers.
    private static let useNumber: Int32 = -3
    private static let shareUse = Statement("SELECT pg_advisory_lock_shared($1::int4, $2::int4)::text")
    private static let tryLockUse = Statement("SELECT pg_try_advisory_xact_lock($1::int4, $2::int4)::int4")
    private static let pause = Statement("SELECT pg_sleep(0.05)::text")
    private static let addVersion = Statement("INSERT INTO schema_migrations (version) VALUES ($1::int4)")

    /// How often an upgrade is tried.
    private static let maximumUpgrades = 5

    /// Runs all missing migrations, again after a deadlock. A program that is still connected can hold a lock on one table
    /// and wait for another one in the opposite order: a reader of the ledger locks the ledger before the transactions.
    private func migrate(_ session: PostgreSQLSession) throws {
        for _ in 1..<Self.maximumUpgrades {
            do {
                return try runMigrations(session)
            } catch let failure as PostgreSQLFailure where failure.isConflict {
                continue
            }
        }
        try runMigrations(session)
    }

    /// Runs all missing migrations, or none. If several programs start at once, one runs them; the others wait and then
    /// find them done.
    private func runMigrations(_ session: PostgreSQLSession) throws {
        let created = try session.transaction {
            try session.execute(
                """
                \(limits);
                SET LOCAL lock_timeout TO \(timeouts.schema.lock)
                """)
            try session.run(Self.lockSchema, .int4(lockClass))
            let schema = try session.run(Self.findSchema, .text(quotedName))
            // Only if it is missing: a role that may use a schema need not have the right to create one.
            if schema.isNull(0, 0) { try session.execute("CREATE SCHEMA IF NOT EXISTS \(quotedName)") }
            // An empty table of that name can be from another tool.
            let hadVersions = try hasVersions(session)
            try session.execute(
                """
                CREATE TABLE IF NOT EXISTS schema_migrations (
                    version int4 PRIMARY KEY,
                    applied_at timestamptz NOT NULL DEFAULT now()
                )
                """)
            let present = try currentVersion(session)
            for migration in Self.migrations where migration.version > present {
                try session.execute(migration.sql)
                try migration.fill?(session)
                try session.run(Self.addVersion, .int4(migration.version))
            }
            return SchemaCreation.Parts(tables: !hadVersions, schema: schema.isNull(0, 0))
        }
        creation.add(created)
    }

    // MARK: Removal

    /// Whether this program has created the tables.
    var isCreatedHere: Bool { creation.parts.tables }

    /// The tables that have no rows if nothing was stored.
    private static let emptyTables = [
        "scopes", "identities", "transactions", "renewal_infos", "app_transactions", "receipts", "notifications",
        "term_bases", "term_looks", "ledger", "ledger_consumers", "ledger_endings", "ledger_looks", "user_claims",
        "verified_receipts", "quarantine", "consumption_requests", "unknown_transactions", "request_budgets",
        "left_hashes", "app_transaction_fill",
    ]
    private static let otherTables = ["schema_migrations", "readiness", "ledger_removal", "migration_checkpoints"]

    private static let findRows: Statement = {
        // A migration that read no records also has a checkpoint.
        let checkpoints = "EXISTS (SELECT FROM migration_checkpoints WHERE records > 0)"
        let tables = emptyTables.map { "EXISTS (SELECT FROM \($0))" } + [checkpoints]
        return Statement("SELECT (\(tables.joined(separator: " OR ")))::int4")
    }()

    /// The time limit for the end of this program's other sessions, in milliseconds.
    private static let endOfSessions = 5_000

    /// Removes the tables, and the schema if this program has created it too. Does nothing if the tables have any rows.
    /// - Throws: `TransactionStoreError` `busy` if another program uses the tables; `PostgreSQLFailure` if one of an earlier
    ///   version does, or if another program has added something to the schema.
    func removeIfEmpty(_ session: PostgreSQLSession) throws {
        // A large store must not be locked.
        guard try isEmpty(session) else { return }
        try session.transaction {
            try session.execute("SET LOCAL lock_timeout TO \(Self.endOfSessions)")
            // A program that connects after this waits, and creates the tables again.
            try lockUse(session)
            try session.run(Self.lockSchema, .int4(lockClass))
            guard try isEmpty(session) else { return }
            let tables = (Self.emptyTables + Self.otherTables).joined(separator: ", ")
            // Programs of earlier versions do not share the lock of use.
            try session.execute("LOCK TABLE \(tables) IN ACCESS EXCLUSIVE MODE")
            guard try isEmpty(session) else { return }
            try session.execute(
                """
                DROP TABLE \(tables);
                DROP SEQUENCE identity_ids, ledger_positions;
                DROP FUNCTION remove_document(), remove_legacy()
                """)
            if creation.parts.schema { try session.execute("DROP SCHEMA \(quotedName)") }
        }
    }

    /// Waits until no session uses the tables. It asks again and again: behind a request that waits, new sessions of other
    /// programs would wait too.
    private func lockUse(_ session: PostgreSQLSession) throws {
        let key: [Parameter] = [.int4(lockClass), .int4(Self.useNumber)]
        let end = ContinuousClock.now + .milliseconds(Self.endOfSessions)
        while try session.run(Self.tryLockUse, key).integer(0, 0, as: Int32.self) == 0 {
            guard ContinuousClock.now < end else {
                throw TransactionStoreError(.busy, "another program uses the tables")
            }
            try session.run(Self.pause)
        }
    }

    /// Whether the tables are those of this version and have no rows.
    private func isEmpty(_ session: PostgreSQLSession) throws -> Bool {
        guard try currentVersion(session) == Self.version else { return false }
        return try session.run(Self.findRows).integer(0, 0, as: Int32.self) == 0
    }

    /// Facts refer to their purchase, which is the `identities.id` of an original transaction id. Purchases refer to
    /// customers. Merging customers therefore moves a few rows of `identities` and no facts.
    private static let initial = """
        CREATE TABLE scopes (
            id int4 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            environment bytea NOT NULL,
            bundle_id bytea NOT NULL,
            UNIQUE (environment, bundle_id)
        );
        CREATE SEQUENCE identity_ids AS int8;
        CREATE TABLE identities (
            id int8 NOT NULL,
            customer int8 NOT NULL,
            scope int4 NOT NULL,
            kind int2 NOT NULL,
            value bytea NOT NULL,
            PRIMARY KEY (scope, kind, value)
        );
        CREATE INDEX identities_customer ON identities (customer);
        CREATE TABLE transactions (
            purchase int8 NOT NULL,
            signed_date int8 NOT NULL,
            kind int2 NOT NULL,
            source int2 NOT NULL,
            transaction_id bytea NOT NULL,
            payload bytea NOT NULL,
            legacy bytea NOT NULL,
            PRIMARY KEY (purchase, transaction_id, kind)
        );
        CREATE TABLE renewal_infos (
            purchase int8 NOT NULL,
            signed_date int8 NOT NULL,
            kind int2 NOT NULL,
            source int2 NOT NULL,
            payload bytea NOT NULL,
            PRIMARY KEY (purchase, kind)
        );
        CREATE TABLE app_transactions (
            customer int8 NOT NULL,
            signed_date int8 NOT NULL,
            kind int2 NOT NULL,
            source int2 NOT NULL,
            payload bytea NOT NULL,
            PRIMARY KEY (customer, kind)
        );
        CREATE TABLE receipts (
            customer int8 NOT NULL,
            signed_date int8 NOT NULL,
            form int2 NOT NULL,
            octets bytea NOT NULL,
            PRIMARY KEY (customer, form)
        );
        ALTER TABLE receipts ALTER COLUMN octets SET STORAGE EXTERNAL;
        CREATE TABLE notifications (
            notification_uuid bytea PRIMARY KEY,
            scope int4 NOT NULL,
            signed_date int8 NOT NULL,
            type bytea NOT NULL,
            subtype bytea,
            body bytea NOT NULL,
            received_at timestamptz NOT NULL DEFAULT now()
        );
        -- One row, rewritten to see whether the database can be written to.
        CREATE TABLE readiness (
            id int2 PRIMARY KEY CHECK (id = 1),
            checks int4 NOT NULL
        );
        INSERT INTO readiness VALUES (1, 0)
        """

    /// The values of app transactions that the modern model has no field for (`LegacyAppTransactionFields`): JSON, or empty.
    /// Existing rows are not rewritten, so the lock is short. `AppTransactionFiller` fills them after version 13.
    private static let legacyAppFields = "ALTER TABLE app_transactions ADD COLUMN legacy bytea NOT NULL DEFAULT ''"

    /// Of version 14: the purchases before the former term of an entry `termMoved` (`EarlierPurchases`). Older entries have none.
    private static let earlierPurchases = "ALTER TABLE ledger ADD COLUMN earlier_before bytea"

    /// Of version 14: the cancellations that servers received in notifications of version 1 become rows of the kind `notified`.
    /// Before, such a row kept later recorded documents out. This is done before the other changes of the version, because they
    /// keep readers out too: only writers wait meanwhile. The primary key contains the kind, so no rows of other kinds are read.
    ///
    /// An older program that is still connected would write such a row of the kind `recorded`, which later documents replace.
    /// The constraint refuses it. All rows satisfy it after the update, so it need not be checked (`NOT VALID`).
    private static let notified = """
        LOCK TABLE transactions IN SHARE ROW EXCLUSIVE MODE;
        UPDATE transactions SET kind = 5
        WHERE kind = 3 AND source = 6 AND (position('"revocationDate":'::bytea IN transactions.payload) > 0
            OR position('"cancellationDate":'::bytea IN transactions.legacy) > 0);
        ALTER TABLE transactions ADD CONSTRAINT notified_kind
            CHECK (kind <> 3 OR source <> 6 OR NOT (position('"revocationDate":'::bytea IN transactions.payload) > 0
                OR position('"cancellationDate":'::bytea IN transactions.legacy) > 0)) NOT VALID
        """

    /// Of version 14: the SHA-256 of the document that states each row (`FactRow.document`), 32 bytes. It is empty in older
    /// rows, whose documents are not known. They are not rewritten, so the lock is short.
    ///
    /// An older program that is still connected replaces rows without the column. The trigger then removes the hash, because
    /// the earlier document does not state the new values.
    private static let documents =
        """
        CREATE FUNCTION remove_document() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN NEW.document := ''; RETURN NEW; END $$;
        """
        + ["transactions", "renewal_infos", "app_transactions"].map { table in
            """
            ALTER TABLE \(table) ADD COLUMN document bytea NOT NULL DEFAULT '';
            CREATE TRIGGER remove_document BEFORE UPDATE OF payload ON \(table) FOR EACH ROW
                WHEN (coalesce(nullif(current_setting('legacy_receipts.schema_version', true), ''), '0')::int4 < 14)
                EXECUTE FUNCTION remove_document()
            """
        }.joined(separator: ";")

    /// What `AppTransactionFiller` needs. Some databases of version 12 have the table or the trigger already, because
    /// development builds created them with that version.
    ///
    /// An older program that is still connected replaces rows without the column. The trigger then removes the values of the
    /// earlier receipt, so that the next write of a newer program adds those of the receipt. Newer programs state their version.
    private static let legacyAppFill = """
        -- The greatest customer whose app transaction is filled. Without a row, all are.
        CREATE TABLE IF NOT EXISTS app_transaction_fill (
            id int2 PRIMARY KEY CHECK (id = 1),
            customer int8 NOT NULL
        );
        INSERT INTO app_transaction_fill SELECT 1, 0 WHERE EXISTS (SELECT FROM app_transactions)
        ON CONFLICT DO NOTHING;
        CREATE OR REPLACE FUNCTION remove_legacy() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN NEW.legacy := ''; RETURN NEW; END $$;
        DROP TRIGGER IF EXISTS remove_legacy ON app_transactions;
        CREATE TRIGGER remove_legacy BEFORE UPDATE OF payload ON app_transactions FOR EACH ROW
            WHEN (coalesce(current_setting('legacy_receipts.schema_version', true), '') = '')
            EXECUTE FUNCTION remove_legacy()
        """

    /// When to look at each term (`EndedTerms`), and the dates of the looks at the terms of each app, in milliseconds since
    /// 1970. A term is looked at at once if its basis is new, because only programs with a catalog know its end.
    private static let termEndings = """
        ALTER TABLE term_bases ADD COLUMN scope int4, ADD COLUMN due_at int8 NOT NULL DEFAULT 0;
        UPDATE term_bases AS t SET scope = i.scope FROM identities AS i WHERE i.id = t.purchase;
        CREATE INDEX term_bases_due_at ON term_bases (scope, due_at);
        CREATE TABLE term_looks (
            scope int4 PRIMARY KEY,
            began_at int8 NOT NULL,
            looked_at int8 NOT NULL
        )
        """

    /// When to look at each purchase (`LedgerEndings`), and the dates of the looks (`LookDates`), in milliseconds since
    /// 1970. Known purchases are looked at when a period ends that ends later than 90 days ago. The lock keeps writers out
    /// meanwhile.
    private static let endings = """
        LOCK TABLE transactions IN SHARE ROW EXCLUSIVE MODE;
        CREATE TABLE ledger_endings (
            purchase int8 PRIMARY KEY,
            due_at int8 NOT NULL
        );
        CREATE TABLE ledger_looks (
            id int2 PRIMARY KEY CHECK (id = 1),
            began_at int8 NOT NULL,
            looked_at int8 NOT NULL
        );
        INSERT INTO ledger_endings (purchase, due_at)
        SELECT purchase, min(ends_at) FROM (
            SELECT purchase, substring(
                encode(substring(payload FROM position('"expiresDate":'::bytea IN payload) + 14 FOR 18), 'escape')
                FROM '^[0-9]+')::int8 AS ends_at
            FROM transactions
            WHERE kind IN (1, 2) AND position('"expiresDate":'::bytea IN payload) > 0
        ) AS known
        WHERE ends_at > (extract(epoch FROM now()) * 1000)::int8 - 7776000000
        GROUP BY purchase;
        CREATE INDEX ledger_endings_due_at ON ledger_endings (due_at)
        """

    /// Of version 9: the transactions that the App Store does not know (`UnknownTransaction`). The date is in
    /// milliseconds since 1970. They have no scope id: a scope is an app that the store has documents of.
    private static let unknownTransactions = """
        CREATE TABLE unknown_transactions (
            environment bytea NOT NULL,
            bundle_id bytea NOT NULL,
            transaction_id bytea NOT NULL,
            answered_at int8 NOT NULL,
            PRIMARY KEY (environment, bundle_id, transaction_id)
        )
        """

    /// Of version 9: the rate limits that programs share (`RequestBucket`). Dates are in microseconds since 1970. After a
    /// crash of the server the table is empty, and each budget is full. Until then its rows cost no write-ahead log.
    private static let requestBudgets = """
        CREATE UNLOGGED TABLE request_budgets (
            environment bytea NOT NULL,
            bundle_id bytea NOT NULL,
            endpoint bytea NOT NULL,
            full_at int8 NOT NULL,
            PRIMARY KEY (environment, bundle_id, endpoint)
        )
        """

    /// Of version 9: the hashes that erasures left (`LeftHash`). The key also finds each secret without reading all hashes.
    private static let leftHashes = """
        CREATE TABLE left_hashes (
            secret bytea NOT NULL,
            hash bytea NOT NULL,
            scope int4 NOT NULL,
            PRIMARY KEY (secret, hash)
        )
        """

    /// The requests for consumption information (`ConsumptionTask`). A request without an outcome is open, and its `closed_at` is
    /// the mark of `ConsumptionClaim`. Dates are in milliseconds since 1970.
    private static let consumptionRequests = """
        CREATE TABLE consumption_requests (
            notification_uuid bytea PRIMARY KEY,
            scope int4 NOT NULL,
            original_transaction_id bytea NOT NULL,
            transaction_id bytea NOT NULL,
            reason bytea,
            requested_at int8 NOT NULL,
            outcome int2,
            closed_at int8
        );
        CREATE INDEX consumption_requests_open ON consumption_requests (requested_at, notification_uuid)
        WHERE outcome IS NULL;
        CREATE INDEX consumption_requests_purchase ON consumption_requests (scope, original_transaction_id)
        """

    /// Indexes for `CustomerReference`. The payload contains the web order line item id as a JSON member. They are hash
    /// indexes, because user ids may be longer than a B-tree accepts.
    private static let references = """
        CREATE INDEX identities_id ON identities (id);
        CREATE INDEX transactions_transaction_id ON transactions (transaction_id);
        CREATE INDEX transactions_web_order_line_item_id ON transactions USING hash ((\(webOrderLineItemId)))
        WHERE \(hasWebOrderLineItemId);
        CREATE INDEX user_claims_user_id ON user_claims USING hash (user_id)
        """

    /// Whether the payload of a transaction contains a web order line item id. PostgreSQL uses the partial index only
    /// for a query with exactly this expression.
    static let hasWebOrderLineItemId = "position(\(webOrderLineItemIdBeginning) IN payload) > 0"
    /// The bytes of the id up to the next quotation mark. It never fails, so that a damaged payload can be written.
    static let webOrderLineItemId: String = {
        let length = StoredWebOrderLineItemId.beginning.utf8.count
        let rest = "substring(payload FROM position(\(webOrderLineItemIdBeginning) IN payload) + \(length))"
        return "substring(\(rest) FROM 1 FOR greatest(position('\"'::bytea IN \(rest)) - 1, 0))"
    }()
    /// Never change this text: a released migration contains it.
    private static let webOrderLineItemIdBeginning = "'\(StoredWebOrderLineItemId.beginning)'::bytea"

    /// The lease of each ledger consumer (`ConsumerLease`): its holder, and its end in milliseconds since 1970.
    private static let leases = """
        ALTER TABLE ledger_consumers ADD COLUMN holder bytea;
        ALTER TABLE ledger_consumers ADD COLUMN leased_until int8
        """

    /// When each ledger entry was written, in milliseconds since 1970, and the position up to which entries were
    /// removed. Existing entries get the time of the migration, without being rewritten.
    private static let removal = """
        ALTER TABLE ledger ADD COLUMN recorded_at int8 NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::int8;
        CREATE TABLE ledger_removal (
            id int2 PRIMARY KEY CHECK (id = 1),
            position int8 NOT NULL
        );
        INSERT INTO ledger_removal VALUES (1, 0)
        """

    /// The data of `MigrationStore`. The keys are SHA-256 values. A user claim refers to a purchase, so that merging
    /// customers moves no claims.
    private static let stepsOfMigrations = """
        CREATE TABLE user_claims (
            scope int4 NOT NULL,
            kind int2 NOT NULL,
            value bytea NOT NULL,
            key bytea NOT NULL,
            user_id bytea NOT NULL,
            carried bytea NOT NULL,
            PRIMARY KEY (scope, kind, value, key)
        );
        CREATE TABLE verified_receipts (
            key bytea PRIMARY KEY,
            scope int4 NOT NULL,
            form int2 NOT NULL,
            identities bytea NOT NULL
        );
        CREATE TABLE quarantine (
            key bytea PRIMARY KEY,
            line bytea NOT NULL
        );
        ALTER TABLE quarantine ALTER COLUMN line SET STORAGE EXTERNAL;
        CREATE TABLE migration_checkpoints (
            migration bytea PRIMARY KEY,
            records int8 NOT NULL,
            digest bytea NOT NULL,
            state bytea NOT NULL
        )
        """

    /// The basis of the term of each granted non-renewing subscription (`TermChanges`), and the seats in the ledger.
    private static let terms = """
        LOCK TABLE transactions IN SHARE ROW EXCLUSIVE MODE;
        CREATE TABLE term_bases (
            purchase int8 NOT NULL,
            transaction_id bytea NOT NULL,
            basis int8 NOT NULL,
            PRIMARY KEY (purchase, transaction_id)
        );
        ALTER TABLE ledger ADD COLUMN seat_claim_id bytea;
        CREATE UNIQUE INDEX ledger_seats ON ledger (scope, seat_claim_id) WHERE seat_claim_id IS NOT NULL
        """

    /// The delivery ledger: entries are appended and never changed. The key guarantees that a transaction id is
    /// `purchased` only once; the entries of one transaction are numbered from 0. The lock keeps writers out while the
    /// existing purchases are recorded.
    private static let ledger = """
        LOCK TABLE transactions IN SHARE ROW EXCLUSIVE MODE;
        CREATE SEQUENCE ledger_positions AS int8;
        CREATE TABLE ledger (
            position int8 PRIMARY KEY DEFAULT nextval('ledger_positions'),
            purchase int8 NOT NULL,
            scope int4 NOT NULL,
            number int4 NOT NULL,
            event int2 NOT NULL,
            transaction_id bytea NOT NULL,
            UNIQUE (transaction_id, scope, number)
        );
        CREATE TABLE ledger_consumers (
            name bytea PRIMARY KEY,
            position int8 NOT NULL
        )
        """
}

/// What a program has created in a database.
private final class SchemaCreation: Sendable {
    struct Parts: Sendable {
        var tables = false
        var schema = false
    }

    private let made = Mutex(Parts())

    var parts: Parts { made.withLock { $0 } }

    func add(_ parts: Parts) {
        made.withLock { made in
            made.tables = made.tables || parts.tables
            made.schema = made.schema || parts.schema
        }
    }
}
