internal import AppStoreModels
public import ProductCatalog
internal import Purchases
public import TransactionStore

/// Writes the purchases of all customers of a store as tables: the command `legacy-receipts export` as a library.
///
/// The resolver of `Purchases` makes every row; an export concludes nothing. Each customer is read once, so the tables agree with
/// each other. Two exports of the same documents with the same date and catalog are equal byte for byte, whatever the engine and
/// the order of the documents. Only one page of customers is in memory.
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
    ///   - catalog: states types, groups, levels and durations that documents do not state.
    ///   - date: the moment of statuses and entitlements, in milliseconds since 1970-01-01T00:00:00Z.
    public init(format: Format = .ndjson, catalog: ProductCatalog? = nil, date: Int64) {
        self.format = format
        self.catalog = catalog
        self.date = date
    }

    /// Writes the tables into a folder. Files that stay as they were are left alone.
    ///
    /// - Parameters:
    ///   - store: the store, which is only read. Customers that change meanwhile are written as they were or as they become.
    ///   - folder: the path of the folder, which is made if it is missing.
    /// - Throws: ``ExportError``, `TransactionStoreError` or `CancellationError`. Then the folder has the files of the export
    ///   before, unless the error came when files took their places; then `export.json` is missing.
    public func run(_ store: any CustomerDirectory & MigrationStore, to folder: String) async throws -> ExportSummary {
        let names = Format.allCases.map { Self.names($0) }
        let folder = try OutputFolder<ExportError>(path: folder)
        if !folder.isMarked(by: Self.manifest), let taken = folder.firstTaken(of: names.flatMap(\.self)) {
            throw ExportError(
                .outputConflict, path: taken, "\(taken) is not the file of an export. Choose another folder.")
        }
        let manifest = try folder.makeFile(Self.manifest)
        let tables = try TableWriters(format, folder)
        for scope in try await store.scopes() {
            var last: CustomerIdentity?
            while true {
                try Task.checkCancellation()
                let page = try await store.customers(in: scope, after: last, limit: 200)
                guard let next = page.last?.identities.first else { break }
                last = next
                try await write(page, of: scope, store, tables)
            }
        }
        var lastRecord: [UInt8]?
        while true {
            try Task.checkCancellation()
            let page = try await store.quarantine(after: lastRecord, limit: 200)
            guard let next = page.last?.key else { break }
            lastRecord = next
            try tables.write(page)
        }
        try tables.finish()
        if format == .csv {
            for (name, script) in zip(TableScripts.names, [TableScripts.sqlite, TableScripts.postgreSQL]) {
                try folder.makeFile(name).write(script(ExportedTables.outlines).utf8)
            }
        }
        var summary = ExportSummary(format: format, date: date, tables: tables.counts)
        try manifest.write(summary.json)
        let current = Set(Self.names(format))
        let changed = try folder.complete(
            last: manifest, removing: names.flatMap(\.self).filter { !current.contains($0) }, keepsUnchanged: true)
        for place in summary.tables.indices {
            summary.tables[place].isChanged = changed.contains(format.file(summary.tables[place].name))
        }
        return summary
    }

    private func write(
        _ page: [Customer], of scope: StoreScope, _ store: any MigrationStore, _ tables: TableWriters
    ) async throws {
        let claims = Dictionary(
            grouping: try await store.users(of: page.flatMap(\.identities), in: scope), by: \.identity)
        for customer in page {
            let users = claims.isEmpty ? [] : customer.identities.flatMap { claims[$0] ?? [] }
            try tables.write(ExportedCustomer(customer, users: users, catalog: catalog, at: date))
        }
    }

    private static let manifest = "export.json"

    /// The files of a format, without `export.json`.
    private static func names(_ format: Format) -> [String] {
        ExportedTables.outlines.map { format.file($0.name) } + (format == .csv ? TableScripts.names : [])
    }
}

/// The tables while they are written.
private struct TableWriters {
    private let transactions: TableWriter<OwnedRow<ExportedTransaction>>
    private let subscriptions: TableWriter<OwnedRow<ExportedTables.Subscription>>
    private let entitlements: TableWriter<OwnedRow<Entitlement>>
    private let terms: TableWriter<OwnedRow<ExportedTerm>>
    private let renewalInfos: TableWriter<OwnedRow<StoredRenewalInfo>>
    private let appTransactions: TableWriter<OwnedRow<StoredAppTransaction>>
    private let customers: TableWriter<OwnedRow<Customer>>
    private let customerIdentities: TableWriter<OwnedRow<CustomerIdentity>>
    private let customerUsers: TableWriter<OwnedRow<ExportedUser>>
    private let conflicts: TableWriter<OwnedRow<ExportedConflict>>
    private let toAskApple: TableWriter<OwnedRow<OpenQuestion>>
    private let quarantine: TableWriter<JSONObject>
    /// The questions are ordered by reason over all customers: one file for each reason, put together at the end.
    private let questions: [OutputFile<ExportError>]

    init(_ format: TableExport.Format, _ folder: OutputFolder<ExportError>) throws(ExportError) {
        transactions = try TableWriter(ExportedTables.transactions, format, in: folder)
        subscriptions = try TableWriter(ExportedTables.subscriptions, format, in: folder)
        entitlements = try TableWriter(ExportedTables.entitlements, format, in: folder)
        terms = try TableWriter(ExportedTables.terms, format, in: folder)
        renewalInfos = try TableWriter(ExportedTables.renewalInfos, format, in: folder)
        appTransactions = try TableWriter(ExportedTables.appTransactions, format, in: folder)
        customers = try TableWriter(ExportedTables.customers, format, in: folder)
        customerIdentities = try TableWriter(ExportedTables.customerIdentities, format, in: folder)
        customerUsers = try TableWriter(ExportedTables.customerUsers, format, in: folder)
        conflicts = try TableWriter(ExportedTables.conflicts, format, in: folder)
        toAskApple = try TableWriter(ExportedTables.toAskApple, format, in: folder)
        quarantine = try TableWriter(ExportedTables.quarantine, format, in: folder)
        var questions: [OutputFile<ExportError>] = []
        for reason in OpenQuestion.Reason.allCases {
            questions.append(try folder.makeSpool("\(ExportedTables.toAskApple.name).\(reason.rawValue)"))
        }
        self.questions = questions
    }

    func write(_ customer: ExportedCustomer) throws(ExportError) {
        try transactions.write(customer.transactions)
        try subscriptions.write(customer.rows(customer.subscriptions))
        try entitlements.write(customer.rows(customer.entitlements))
        try terms.write(customer.termRows)
        try renewalInfos.write(customer.rows(customer.customer.renewalInfos))
        try appTransactions.write(customer.rows(customer.customer.appTransaction.map { [$0] } ?? []))
        try customers.write(customer.rows([customer.customer]))
        try customerIdentities.write(customer.rows(customer.customer.identities))
        try customerUsers.write(customer.rows(customer.users.users))
        try conflicts.write(customer.rows(customer.users.conflicts))
        for row in customer.rows(customer.questions) {
            try toAskApple.write(row, to: questions[row.value.reason.rawValue])
        }
    }

    /// - Throws: ``ExportError``, or `TransactionStoreError` for a line that cannot be read.
    func write(_ records: [QuarantinedRecord]) throws {
        for record in records {
            guard let line = (try? JSONValue.parse(record.line[...]))?.object else {
                throw TransactionStoreError(.corrupt, "The quarantine of the store has a line that cannot be read.")
            }
            try quarantine.write([line])
        }
    }

    func finish() throws(ExportError) { for file in questions { try toAskApple.append(file) } }

    var counts: [ExportSummary.Table] {
        [
            (transactions.name, transactions.rows), (subscriptions.name, subscriptions.rows),
            (entitlements.name, entitlements.rows), (terms.name, terms.rows), (renewalInfos.name, renewalInfos.rows),
            (appTransactions.name, appTransactions.rows), (customers.name, customers.rows),
            (customerIdentities.name, customerIdentities.rows), (customerUsers.name, customerUsers.rows),
            (conflicts.name, conflicts.rows), (toAskApple.name, toAskApple.rows),
            (quarantine.name, quarantine.rows),
        ].map { ExportSummary.Table(name: $0.0, rows: $0.1) }
    }
}

/// What an export has written.
public struct ExportSummary: Hashable, Sendable {
    /// One table.
    public struct Table: Hashable, Sendable {
        public let name: String
        public let rows: Int
        /// Whether the file differs from that of the export before, or is new.
        public internal(set) var isChanged = true
    }

    public let format: TableExport.Format
    /// The moment of statuses and entitlements, in milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    /// In the order of the documentation.
    public internal(set) var tables: [Table]

    /// The content of `export.json`, with a line feed: the format, the date, and the number of rows in each table.
    public var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.member("version", 1)
        writer.member("format", format.rawValue)
        writer.member("at", date)
        writer.key("tables")
        writer.beginObject()
        for table in tables {
            writer.key(table.name)
            writer.integer(table.rows)
        }
        writer.endObject()
        writer.endObject()
        writer.newline()
        return writer.finish()
    }
}

/// Why an export stopped.
public struct ExportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, to branch on.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The folder or a file cannot be made, written or read back. Make room, or correct the permissions.
        case output
        /// The folder has a file with the name of a table that no export wrote. Choose another folder.
        case outputConflict
    }

    /// The reason.
    public let code: Code
    /// The file or folder concerned.
    public let path: String
    /// A sentence for a person.
    public let message: String

    init(_ code: Code, path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// Two errors are equal when their codes are, wherever and in whatever words they were found.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String { message }
}

extension ExportError: OutputFailure {
    static let activity = "export"
    static let consequence = "The export is not complete."

    init(output path: String, _ message: String) { self.init(.output, path: path, message) }
}
