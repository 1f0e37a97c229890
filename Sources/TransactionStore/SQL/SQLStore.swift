package import Purchases

/// An engine whose database speaks SQL. The extensions of this protocol contain the methods that need the same statements
/// in each of these databases. An engine adds a session, the methods on the way of each document, and its schema.
package protocol SQLStore: CompleteTransactionStore {
    /// Runs `body`, which only reads.
    func reading<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value

    /// Runs `body` in one database transaction.
    func writing<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value
}

/// A connection to the database of a ``SQLStore``.
package protocol SQLSession: SQLPurchaseRows {
    /// How this database writes what is not the same in all of them.
    var dialect: SQLDialect { get }

    /// Runs one statement.
    @discardableResult
    func run(_ statement: SQLText) throws -> SQLResult

    /// Waits until no other transaction appends to the ledger, and keeps others from it until the end of this one.
    func lockLedger() throws
}

/// The SQL that is not the same in all engines.
package struct SQLDialect: Sendable {
    /// The time in milliseconds since 1970, by the clock of the database.
    package let now: String
    /// The last position that the ledger has used, also if its entry was erased since.
    package let lastPosition: String
    /// The column with the id of an app and environment.
    package let scope: String
    /// The columns with the purchase that a transaction is stored under.
    package let purchase: [String]
    /// The column that identifies a purchase in its app and environment: a database id, or the original transaction id.
    package var purchaseInScope: String { purchase.last ?? "" }
    /// The column with the id of a customer.
    package let customer: String
    /// The join that reads its left table row by row.
    package let join: String
    /// The end of a statement that keeps the rows that it found from other writers, until the end of the transaction.
    package let locking: String

    /// The column with the number of a row, in the order in which the rows are stored; nil if there is none.
    package let rowNumber: String?
    /// The condition for the rows of purchases: by the id of their app and environment, and their original transaction ids.
    package let isOfPurchases: @Sendable (Int64, [String]) -> SQLText

    package init(
        now: String, lastPosition: String, scope: String, purchase: [String], customer: String, join: String,
        locking: String, rowNumber: String?, isOfPurchases: @escaping @Sendable (Int64, [String]) -> SQLText
    ) {
        self.now = now
        self.lastPosition = lastPosition
        self.scope = scope
        self.purchase = purchase
        self.customer = customer
        self.join = join
        self.locking = locking
        self.rowNumber = rowNumber
        self.isOfPurchases = isOfPurchases
    }
}

/// A statement. An interpolated number, text or byte array is a parameter, so it can contain any value. `\(sql:)` inserts SQL, and
/// `\(oneOf:)` a condition for the value before it.
package struct SQLText: Sendable, ExpressibleByStringInterpolation {
    package enum Value: Hashable, Sendable {
        case integer(Int64)
        case text(String)
        case bytes([UInt8])
        /// The condition that a value is one of these texts. They are printable ASCII.
        case oneOf([String])
    }

    fileprivate enum Part: Sendable {
        case sql(String)
        case value(Value)
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { parts.append(.sql(literal)) }

        package mutating func appendInterpolation(_ value: Int64) { parts.append(.value(.integer(value))) }

        package mutating func appendInterpolation(_ value: String) { parts.append(.value(.text(value))) }

        package mutating func appendInterpolation(_ value: [UInt8]) { parts.append(.value(.bytes(value))) }

        package mutating func appendInterpolation(oneOf texts: [String]) { parts.append(.value(.oneOf(texts))) }

        package mutating func appendInterpolation(_ value: Value) { parts.append(.value(value)) }

        package mutating func appendInterpolation(_ text: SQLText) { parts += text.parts }

        package mutating func appendInterpolation(sql: String) { parts.append(.sql(sql)) }
    }

    fileprivate let parts: [Part]

    package init(stringLiteral value: String) { parts = [.sql(value)] }

    package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

    /// The text for a database, and the values of its parameters.
    /// - Parameter parameter: the text for a parameter, by its number from 1 and its value.
    package func written(_ parameter: (Int, Value) -> String) -> (sql: String, values: [Value]) {
        var (sql, values) = ("", [Value]())
        for part in parts {
            switch part {
            case .sql(let text): sql += text
            case .value(let value):
                values.append(value)
                sql += parameter(values.count, value)
            }
        }
        return (sql, values)
    }
}

/// The rows of a statement, and the number of rows that it changed.
package struct SQLResult: Sendable {
    package let rows: [ResultRow]
    package let changed: Int

    package init(rows: [ResultRow], changed: Int) {
        self.rows = rows
        self.changed = changed
    }
}

/// A row of a ``SQLResult``: numbers, texts and bytes. A database may have the bytes of a text.
package struct ResultRow: Sendable {
    private let values: [SQLText.Value?]

    /// - Parameter values: nil for NULL.
    package init(_ values: [SQLText.Value?]) { self.values = values }

    private static let unreadable = TransactionStoreError(.corrupt, "A stored value cannot be read.")

    func isNull(_ column: Int) -> Bool { values[column] == nil }

    func value(_ column: Int) throws -> SQLText.Value {
        guard let value = values[column] else { throw Self.unreadable }
        return value
    }

    func integer(_ column: Int) throws -> Int64 {
        guard case .integer(let number)? = values[column] else { throw Self.unreadable }
        return number
    }

    func bytes(_ column: Int) throws -> [UInt8] {
        switch values[column] {
        case .bytes(let bytes)?: return bytes
        case .text(let text)?: return Array(text.utf8)
        default: throw Self.unreadable
        }
    }

    func text(_ column: Int) throws -> String {
        if case .text(let text)? = values[column] { return text }
        guard let text = String(validating: try bytes(column), as: UTF8.self) else { throw Self.unreadable }
        return text
    }

    /// The id of the app and environment, and `SQLDialect.purchaseInScope`, in two columns.
    func purchase(_ column: Int) throws -> SQLPurchase {
        let scopeId = try integer(column)
        if case .integer(let id)? = values[column + 1] { return SQLPurchase(scopeId: scopeId, original: "", id: id) }
        return SQLPurchase(scopeId: scopeId, original: try text(column + 1))
    }

    /// Kind, source, signing date, payload and legacy fields of a transaction in five columns.
    func fact(_ column: Int) throws -> FactRow {
        FactRow(
            kind: try integer(column), source: try integer(column + 1), signedDate: try integer(column + 2),
            payload: try bytes(column + 3), legacy: try bytes(column + 4), revokes: false, document: [])
    }

    /// The kind and the value in two columns.
    func identity(_ column: Int) throws -> CustomerIdentity {
        try CustomerIdentity(storedKind: integer(column), text(column + 1))
    }

    /// The environment and the bundle id in two columns.
    func scope(_ column: Int) throws -> StoreScope {
        StoreScope(environment: .init(rawValue: try text(column)), bundleId: try text(column + 1))
    }
}

extension SQLSession {
    func rows<Row>(_ statement: SQLText, as read: (ResultRow) throws -> Row) throws -> [Row] {
        try run(statement).rows.map(read)
    }

    /// The number in the first column of the first row; nil if there is no row, or no number.
    func integer(_ statement: SQLText) throws -> Int64? {
        guard let row = try run(statement).rows.first, !row.isNull(0) else { return nil }
        return try row.integer(0)
    }
}

extension SQLStore {
    /// Compares byte by byte with `ProcessedNotification.notificationUUID`, which is in lower case.
    public func hasProcessed(notificationUUID: String) async throws -> Bool {
        try await reading {
            try $0.integer("SELECT 1 FROM notifications WHERE notification_uuid = \(notificationUUID)") != nil
        }
    }

    /// Counts all rows, so the time grows with the size of the store.
    public func counts() async throws -> StoreCounts {
        try await reading { session in
            let (purchase, customer) = (session.dialect.purchase.joined(separator: ", "), session.dialect.customer)
            func distinct(_ columns: String, _ table: String) -> String {
                "(SELECT DISTINCT \(columns) FROM \(table)) AS part"
            }
            let tables = [
                distinct("\(purchase), transaction_id", "transactions"), distinct(purchase, "renewal_infos"),
                distinct(customer, "app_transactions"), distinct(customer, "identities"), "receipts", "notifications",
                "left_hashes",
            ]
            // One statement, so that all numbers are of one moment.
            let numbers = tables.map { "(SELECT count(*) FROM \($0))" }.joined(separator: ", ")
            guard let row = try session.run("SELECT \(sql: numbers)").rows.first else {
                throw TransactionStoreError(.engine, "The database counted nothing.")
            }
            return StoreCounts(
                transactions: try row.integer(0), renewalInfos: try row.integer(1),
                appTransactions: try row.integer(2), customers: try row.integer(3), receipts: try row.integer(4),
                notifications: try row.integer(5), leftHashes: try row.integer(6))
        }
    }

    /// Of all apps and environments. The time grows with the number of answers.
    public func unknownTransactionCount() async throws -> Int64 {
        try await reading { try $0.integer("SELECT count(*) FROM unknown_transactions") ?? 0 }
    }

    /// Not paged, because a store has few apps and environments.
    public func scopes() async throws -> [StoreScope] {
        try await reading { session in
            // The databases compare these columns by their bytes.
            try session.rows("SELECT environment, bundle_id FROM scopes ORDER BY environment, bundle_id") {
                try $0.scope(0)
            }
        }
    }

    /// Compares the name byte by byte: hexadecimal digits match only in the same case.
    public func checkpoint(of migration: String) async throws -> MigrationCheckpoint? {
        try await reading { session in
            try session.rows(
                "SELECT migration, records, digest, state FROM migration_checkpoints WHERE migration = \(migration)"
            ) { try MigrationCheckpoint($0) }.first
        }
    }

    /// The size of a page is clamped by ``MigrationLimits/records(_:)``, but not its bytes: a state may be long.
    public func checkpoints(after migration: String?, limit: Int) async throws -> [MigrationCheckpoint] {
        try await reading { session in
            try session.rows(
                """
                SELECT migration, records, digest, state FROM migration_checkpoints
                WHERE migration > \(migration ?? "") ORDER BY migration LIMIT \(Int64(MigrationLimits.records(limit)))
                """
            ) { try MigrationCheckpoint($0) }
        }
    }

    /// A page ends after ``MigrationLimits/pageBytes`` of lines, even if it has fewer than `limit` records.
    public func quarantine(after key: [UInt8]?, limit: Int) async throws -> [QuarantinedRecord] {
        let (key, limit) = (key ?? [], Int64(MigrationLimits.records(limit)))
        return try await reading { session in
            // The databases know the size of a line without reading it, so lines beyond the page cost nothing. It is one
            // statement, because another program may release records meanwhile, and an empty page would be the end.
            let page = try session.rows(
                """
                SELECT q.line FROM (
                    SELECT key, row_number() OVER (ORDER BY key) AS place, sum(size) OVER (ORDER BY key) AS bytes
                    FROM (
                        SELECT key, length(line) AS size FROM quarantine WHERE key > \(key) ORDER BY key LIMIT \(limit)
                    ) AS next
                ) AS page \(sql: session.dialect.join) quarantine AS q ON q.key = page.key
                WHERE page.place = 1 OR page.bytes <= \(Int64(MigrationLimits.pageBytes))
                """
            ) { QuarantinedRecord(line: try $0.bytes(0)) }
            // Not sorted by the database: SQLite would write the lines to a temporary file.
            return page.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        }
    }
}

extension SQLSession {
    /// Keeps a checkpoint of a migration, unless the store has one with more records.
    package func keep(_ checkpoint: MigrationCheckpoint) throws {
        try run(
            """
            INSERT INTO migration_checkpoints AS known (migration, records, digest, state)
            VALUES (\(checkpoint.migration), \(checkpoint.records), \(checkpoint.digest), \(checkpoint.state))
            ON CONFLICT (migration) DO UPDATE
            SET records = excluded.records, digest = excluded.digest, state = excluded.state
            WHERE known.records < excluded.records
            """)
    }
}

extension MigrationCheckpoint {
    fileprivate init(_ row: ResultRow) throws {
        self.init(
            migration: try row.text(0), records: try row.integer(1), digest: try row.bytes(2), state: try row.bytes(3))
    }
}
