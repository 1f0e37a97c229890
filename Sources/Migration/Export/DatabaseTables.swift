internal import PostgreSQLTransactionStore
internal import SQLiteTransactionStore
internal import TransactionStore

/// Writes the tables into a database. All rows go into temporary tables. One transaction at the end changes the rows
/// that differ, so other programs see either the previous export or this one.
final class DatabaseTables: TableOutput {
    /// A row of a table, with its position among the rows of the export.
    struct Row: Sendable {
        let place: Int64
        let values: [ColumnValue?]
    }

    private let database: any TableDatabase
    private let merges: [TableMerge]
    private var pending: [String: [Row]] = [:]
    private var rowCount: Int64 = 0

    /// - Throws: ``MigrationError`` for a file that cannot be opened, and for an invalid server address.
    init(_ address: StoreURL) throws {
        do {
            switch address {
            case .sqlite(let path): database = try SQLiteTableFile(path: path)
            case .postgreSQL(let url): database = try PostgreSQLTableDatabase(url: url)
            }
        } catch let error as TransactionStoreError {
            throw Self.failure(error, "\(address)")
        }
        let dialect = database.dialect
        merges = ExportedTables.outlines.map { TableMerge(table: $0, dialect: dialect) }
    }

    /// Checks the existing tables, and creates the temporary ones.
    func begin() async throws {
        try await withSession { [name = database.name, merges] session in
            _ = try Self.states(merges, session, name)
            for merge in merges { _ = try session.run(merge.createStaged) }
        }
    }

    var noRows: DatabaseRows { DatabaseRows() }

    func write(_ rows: DatabaseRows) {
        for (table, values) in rows.rows {
            pending[table, default: []].append(Row(place: rowCount, values: values))
            rowCount += 1
        }
    }

    func flush() async throws {
        let rows = pending
        pending.removeAll(keepingCapacity: true)
        guard !rows.isEmpty else { return }
        try await withSession { [merges] session in
            // Otherwise SQLite would commit each row.
            try session.transaction {
                for merge in merges {
                    if let rows = rows[merge.table.name] { try session.append(rows, to: merge) }
                }
            }
        }
    }

    /// Makes the tables equal to the written rows, completely or not at all.
    func finish() async throws -> [DatabaseExportSummary.Table] {
        try await withSession { [name = database.name, dialect = database.dialect, merges] session in
            for merge in merges {
                for sql in merge.prepareStaged { _ = try session.run(sql) }
            }
            return try session.transaction {
                if dialect == .postgreSQL {
                    // Another export into this schema waits here.
                    _ = try session.run(
                        "SELECT pg_advisory_xact_lock(hashtext('legacy-receipts export ' || current_schema()))")
                }
                for (merge, state) in zip(merges, try Self.states(merges, session, name)) {
                    switch state {
                    case .current: break
                    case .missing: _ = try session.run(TableScripts.create(merge.table, dialect))
                    case .earlier(let table, let hasNumericDates):
                        if hasNumericDates { _ = try session.run(PostgreSQLDates(table).conversion) }
                        for sql in merge.addColumns(to: table) { _ = try session.run(sql) }
                    }
                }
                return try merges.map { try Self.run($0, session) }
            }
        }
    }

    func close() async { await database.close() }

    private static func run(_ merge: TableMerge, _ session: any TableSession) throws -> DatabaseExportSummary.Table {
        let removed = try session.run(merge.remove)
        let changed = try merge.change.map { try session.run($0) } ?? 0
        let written = try session.run(merge.write)
        return DatabaseExportSummary.Table(
            name: merge.table.name, rows: try count(of: merge.table.name, session), written: written, changed: changed,
            removed: removed)
    }

    private static func count(of table: String, _ session: any TableSession) throws -> Int {
        try session.texts("SELECT CAST(count(*) AS TEXT) FROM \(table)").first.flatMap { Int($0) } ?? 0
    }

    /// How the database has a table.
    private enum State {
        case missing, current
        /// As earlier versions made it: without some columns, or in PostgreSQL with dates as numbers of milliseconds.
        case earlier(TableOutline, hasNumericDates: Bool)
    }

    /// The states of the tables.
    /// - Throws: ``MigrationError`` if the database is a store, has a table of the same name with other columns, or has a
    ///   view that keeps PostgreSQL from converting the dates of a table.
    private static func states(
        _ merges: [TableMerge], _ session: any TableSession, _ name: String
    ) throws -> [State] {
        guard try !session.isStore() else {
            throw MigrationError(
                .outputConflict, path: name,
                "\(name) is a store. Choose another file, or with ?schema=NAME another schema.")
        }
        return try merges.map { merge -> State in
            let table = merge.table
            let found = try session.columns(of: table.name).sorted()
            // Added columns are the last ones in an upgraded table, so compare the columns in any order.
            func isAs(_ other: TableOutline) -> Bool { found == merge.description(of: other).sorted() }
            if found.isEmpty { return .missing }
            if isAs(table) { return .current }
            if isAs(table.withoutAdded) { return .earlier(table.withoutAdded, hasNumericDates: false) }
            guard let earlier = [table, table.withoutAdded].first(where: { isAs($0.withNumericDates) }) else {
                throw MigrationError(
                    .outputConflict, path: name,
                    """
                    \(name) has a table \(table.name) with other columns or another primary key. Nothing was written. \
                    Rename the table, remove it, or choose another \(merge.dialect == .sqlite ? "file" : "schema").
                    """)
            }
            let views = try session.texts(PostgreSQLDates(earlier).views)
            guard views.isEmpty else {
                throw MigrationError(
                    .outputConflict, path: name,
                    """
                    \(name) has a table \(table.name) of an earlier version, with dates as numbers of milliseconds. \
                    PostgreSQL cannot convert the dates that a view uses. Nothing was written. Drop the views, export, and \
                    create them again: \(views.joined(separator: ", ")).
                    """)
            }
            return .earlier(earlier, hasNumericDates: true)
        }
    }

    /// - Throws: ``MigrationError`` in place of `TransactionStoreError`, which names errors of the store that is read.
    private func withSession<Value: Sendable>(
        _ body: @escaping @Sendable (any TableSession) throws -> Value
    ) async throws -> Value {
        do {
            return try await database.withSession(body)
        } catch let error as TransactionStoreError {
            throw Self.failure(error, database.name)
        }
    }

    private static func failure(_ error: TransactionStoreError, _ name: String) -> MigrationError {
        MigrationError(.output, path: name, "The tables cannot be written to \(name): \(error.message)")
    }
}

/// The values of rows for a database.
struct DatabaseRows: TableRows {
    private(set) var rows: [(table: String, values: [ColumnValue?])] = []

    mutating func add(_ rows: [TableRow], of table: TableOutline) {
        for row in rows { self.rows.append((table.name, row.values)) }
    }
}
