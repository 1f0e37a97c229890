import PostgreSQLTransactionStore
import SQLiteTransactionStore
import TransactionStore

/// A database that an export writes into.
protocol TableDatabase: Sendable {
    /// The name in messages, without the user and the password.
    var name: String { get }
    var dialect: SQLDialect { get }

    /// Runs `body` with the only connection. Temporary tables exist until it is closed.
    /// - Throws: `TransactionStoreError` for errors of the database, and what `body` throws.
    func withSession<Value: Sendable>(_ body: @escaping @Sendable (any TableSession) throws -> Value) async throws
        -> Value

    func close() async
}

/// The connection to a database during a call of `withSession`.
protocol TableSession {
    /// Runs SQL without parameters.
    /// - Returns: the number of rows that an INSERT, UPDATE or DELETE changed.
    func run(_ sql: String) throws -> Int

    /// The texts in the first column of a query.
    func texts(_ sql: String) throws -> [String]

    /// Whether the file or the schema is a store, or another file of this package.
    func isStore() throws -> Bool

    /// The columns of a table, as `name type position`, where the position in the primary key begins with 1
    /// and is 0 for other columns. Empty if the table does not exist.
    func columns(of table: String) throws -> [String]

    /// Appends rows with their positions to the temporary table of a merge.
    func append(_ rows: [DatabaseTables.Row], to merge: TableMerge) throws

    func transaction<Value>(_ body: () throws -> Value) throws -> Value
}

extension SQLiteTableFile: TableDatabase {
    var name: String { "\(StoreURL.sqlite(path: path))" }
    var dialect: SQLDialect { .sqlite }

    func withSession<Value: Sendable>(
        _ body: @escaping @Sendable (any TableSession) throws -> Value
    ) async throws -> Value { try await perform { try body($0) } }
}

extension SQLiteTableSession: TableSession {
    func columns(of table: String) throws -> [String] {
        try texts("SELECT lower(name || ' ' || type) || ' ' || pk FROM pragma_table_info('\(table)')")
    }

    func append(_ rows: [DatabaseTables.Row], to merge: TableMerge) throws {
        let places = Array(repeating: "?", count: merge.table.columns.count + 1).joined(separator: ", ")
        try run(
            "INSERT INTO \(merge.staged) VALUES (\(places))",
            rows.map { row in [.integer(row.place)] + row.values.map(Self.value) })
    }

    private static func value(_ value: ColumnValue?) -> SQLiteValue {
        switch value {
        case nil: .null
        case .text(let text)?: .text(text.withoutNUL)
        case .integer(let number)?: .integer(number)
        case .boolean(let flag)?: .integer(flag ? 1 : 0)
        case .json(let json)?: .text(String(decoding: json, as: UTF8.self))
        }
    }
}

extension PostgreSQLTableDatabase: TableDatabase {
    var name: String { description }
    var dialect: SQLDialect { .postgreSQL }

    func withSession<Value: Sendable>(
        _ body: @escaping @Sendable (any TableSession) throws -> Value
    ) async throws -> Value { try await perform { try body($0) } }
}

extension PostgreSQLTableSession: TableSession {
    /// Rows are sent after this many bytes.
    private static let pieceSize = 4 << 20

    func columns(of table: String) throws -> [String] {
        try texts(
            """
            SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' '
                || coalesce(array_position(i.indkey::int2[], a.attnum) + 1, 0)
            FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
            LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
            WHERE c.relname = '\(table)' AND c.relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND a.attnum > 0 AND NOT a.attisdropped
            ORDER BY a.attnum
            """)
    }

    func append(_ rows: [DatabaseTables.Row], to merge: TableMerge) throws {
        let sql = "COPY \(merge.staged) FROM STDIN (FORMAT binary)"
        let kinds = merge.table.columns.map(\.kind)
        let dates = PostgreSQLDates(merge.table)
        var copy = CopyRows(columns: merge.table.columns.count + 1)
        for row in rows {
            if copy.byteCount >= Self.pieceSize {
                try self.copy(sql, copy)
                copy = CopyRows(columns: merge.table.columns.count + 1)
            }
            copy.beginRow()
            copy.integer(row.place)
            for (kind, value) in zip(kinds, dates.keepingAll(row.values)) {
                switch value {
                case nil: copy.null()
                case .text(let text)?: copy.text(text.withoutNUL)
                case .integer(let number)?: if kind == .date { copy.timestamp(number) } else { copy.integer(number) }
                case .boolean(let flag)?: copy.boolean(flag)
                case .json(let json)?: copy.json(json)
                }
            }
        }
        try self.copy(sql, copy)
    }
}

extension String {
    /// The text with U+FFFD in place of U+0000. PostgreSQL's `text` cannot contain U+0000, and SQLite's functions treat
    /// it as the end of the text (SQLite, "NUL Characters In Strings").
    fileprivate var withoutNUL: String {
        guard utf8.contains(0) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 }))
    }
}
