internal import AppStoreModels
public import ProductCatalog
public import TransactionStore

/// Writes the purchases of all customers of a store as tables: the command `legacy-receipts export` as a library.
///
/// The resolver of `Purchases` gives every row; an export concludes nothing. Each customer is read once, so the tables
/// agree with each other. Two exports of the same documents with the same date and catalog are equal byte for byte, for
/// every engine and every order of the documents. At most two pages of customers are in memory.
public struct TableExport: Sendable {
    /// The form of the files.
    public enum Format: String, Sendable, CaseIterable {
        /// One JSON object per line; absent values have no member.
        case ndjson
        /// RFC 4180 with a header; absent values are empty. `sqlite.sql` and `postgresql.sql` load the files.
        case csv

        func file(_ table: String) -> String { "\(table).\(rawValue)" }
    }

    private let format: Format
    private let catalog: ProductCatalog?
    private let date: Int64

    /// - Parameters:
    ///   - format: the form of the files.
    ///   - catalog: gives types, groups, levels and durations that documents do not state.
    ///   - date: the moment of statuses and entitlements, in milliseconds since 1970-01-01T00:00:00Z.
    public init(format: Format = .ndjson, catalog: ProductCatalog? = nil, date: Int64) {
        self.format = format
        self.catalog = catalog
        self.date = date
    }

    /// Writes the tables into a folder. Files that stay as they were are left alone. If none changes, `export.json` stays
    /// too, with the date of the first export that gave these tables.
    ///
    /// - Parameters:
    ///   - store: the store, which is only read. Customers that change meanwhile are written as they were or as they become.
    ///   - folder: the path of the folder, which is made if it is missing.
    /// - Throws: ``MigrationError``, `TransactionStoreError` or `CancellationError`. Then the folder has the files of the export
    ///   before, unless the error came when files took their places; then `export.json` is missing.
    public func run(_ store: any CustomerDirectory & MigrationStore, to folder: String) async throws -> ExportSummary {
        let names = Format.allCases.map { Self.names($0) }
        let folder = try OutputFolder(path: folder)
        try folder.check(names.flatMap(\.self), areMarkedBy: Self.manifest)
        let manifest = try folder.makeFile(Self.manifest)
        let tables = try FileTables(format, in: folder)
        try await write(store, to: tables)
        try tables.finish()
        if format == .csv {
            for (name, script) in zip(TableScripts.names, [TableScripts.sqlite, TableScripts.postgreSQL]) {
                try folder.makeFile(name).write(script(ExportedTables.outlines).utf8)
            }
        }
        var summary = ExportSummary(format: format, date: date, tables: tables.counts)
        try manifest.write(summary.json)
        let current = Set(Self.names(format))
        let outdated = names.flatMap(\.self).filter { !current.contains($0) }
        let changed = try folder.complete(last: manifest, removing: outdated) { [summary] in
            summary.describesTables(of: $0)
        }
        for place in summary.tables.indices {
            summary.tables[place].isChanged = changed.contains(format.file(summary.tables[place].name))
        }
        return summary
    }

    /// Writes the tables into a database. The format does not matter.
    ///
    /// All rows go into temporary tables. Then one transaction changes the rows that differ, so after a failure at any
    /// time the tables are those of the previous export.
    ///
    /// - Parameters:
    ///   - store: the store, which is only read, as in ``run(_:to:)``.
    ///   - database: a SQLite file, which is created if it does not exist, or a schema of a PostgreSQL server. It must
    ///     not be a store. Dates are milliseconds since 1970-01-01T00:00:00Z in SQLite, and `timestamptz` in PostgreSQL.
    /// - Throws: ``MigrationError``, `TransactionStoreError` for an error of the store, or `CancellationError`.
    public func run(
        _ store: any CustomerDirectory & MigrationStore, into database: StoreURL
    ) async throws -> DatabaseExportSummary {
        let tables = try DatabaseTables(database)
        do {
            try await tables.begin()
            try await write(store, to: tables)
            let summary = DatabaseExportSummary(date: date, tables: try await tables.finish())
            await tables.close()
            return summary
        } catch {
            await tables.close()
            throw error
        }
    }

    /// Writes all rows of the store.
    private func write<Rows: TableRows>(
        _ store: any CustomerDirectory & MigrationStore, to output: some TableOutput<Rows>
    ) async throws {
        let none = output.noRows
        try await store.forEachPage { customers in
            var rows = none
            for (customer, users) in customers {
                rows.add(ExportedCustomer(customer, users: users, catalog: catalog, at: date))
            }
            return rows
        } body: { page in
            for rows in page { try output.write(rows) }
            try await output.flush()
        }
        try await store.forEachQuarantinePage { page in
            var rows = none
            try rows.add(page)
            try output.write(rows)
            try await output.flush()
        }
    }

    private static let manifest = "export.json"

    /// The files of a format, without `export.json`.
    private static func names(_ format: Format) -> [String] {
        ExportedTables.outlines.map { format.file($0.name) } + (format == .csv ? TableScripts.names : [])
    }
}

extension MigrationStore {
    /// Calls `body` with all quarantined records, in pages.
    func forEachQuarantinePage(_ body: ([QuarantinedRecord]) async throws -> Void) async throws {
        var last: [UInt8]?
        while true {
            try Task.checkCancellation()
            let page = try await quarantine(after: last, limit: 200)
            guard let next = page.last?.key else { return }
            last = next
            try await body(page)
        }
    }
}

extension QuarantinedRecord {
    /// The line as a JSON object.
    /// - Throws: `TransactionStoreError` for a line that cannot be read.
    func object() throws -> JSONObject {
        guard let object = (try? JSONValue.parse(line[...]))?.object else {
            throw TransactionStoreError(
                .corrupt, "The quarantine of the store has an unreadable line. Check the store with 'store check'.")
        }
        return object
    }
}

/// The result of an export into a folder.
public struct ExportSummary: Hashable, Sendable {
    /// One table.
    public struct Table: Hashable, Sendable {
        /// The name of the file without its extension.
        public let name: String
        /// Without the header of a CSV file.
        public let rows: Int
        /// Whether the file is new or differs from that of the previous export.
        public internal(set) var isChanged = true
    }

    /// The form of the files.
    public let format: TableExport.Format
    /// The moment of statuses and entitlements, in milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    /// In the order of the documentation.
    public internal(set) var tables: [Table]

    /// Whether an `export.json` is that of the same tables, of any date.
    func describesTables(of json: [UInt8]) -> Bool {
        guard let date = (try? JSONValue.parse(json[...]))?["at"]?.integer else { return false }
        return ExportSummary(format: format, date: date, tables: tables).json == json
    }

    /// The content of `export.json`, with a line feed: the format, the date, and the number of rows in each table.
    public var json: [UInt8] {
        JSONWriter.object(reservingCapacity: 512, endsLine: true) { writer in
            writer.member("version", 1)
            writer.member("format", format.rawValue)
            writer.member("at", date)
            writer.object("tables") { writer in
                writer.members(tables.map { ($0.name, $0.rows) })
            }
        }
    }
}

/// The result of an export into a database.
public struct DatabaseExportSummary: Hashable, Sendable {
    /// One table.
    public struct Table: Hashable, Sendable {
        /// The name of the table in the database.
        public let name: String
        /// The number of rows in the table.
        public let rows: Int
        /// The number of new rows.
        public let written: Int
        /// The number of rows with changed values. 0 for `customer_users` and `quarantine`, whose rows have no key:
        /// there, a changed row counts as removed and written.
        public let changed: Int
        /// The number of removed rows of the previous export.
        public let removed: Int
    }

    /// The moment of statuses and entitlements, in milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    /// In the order of the documentation.
    public let tables: [Table]

    /// The date and the numbers of each table, with a line feed.
    public var json: [UInt8] {
        JSONWriter.object(reservingCapacity: 1_024, endsLine: true) { writer in
            writer.member("version", 1)
            writer.member("at", date)
            writer.object("tables") { writer in
                for table in tables {
                    writer.key(table.name)
                    writer.object { writer in
                        writer.member("rows", table.rows)
                        writer.member("written", table.written)
                        writer.member("changed", table.changed)
                        writer.member("removed", table.removed)
                    }
                }
            }
        }
    }
}
