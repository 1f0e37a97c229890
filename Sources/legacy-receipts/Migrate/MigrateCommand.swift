import AppStoreModels
import AppStoreServer
import ArgumentParser
import Foundation
import LegacyReceipts
import Migration
import TransactionStore

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Turn stored receipts into modern transactions.",
        discussion: """
            Reads app receipts, iOS 6 receipts, recorded verifyReceipt replies, notifications of both versions, and \
            StoreKit 2 data (signed as JWS, decoded, or in answers of the App Store Server API). The input is files, \
            folders, databases or standard input, also compressed with gzip, bzip2 or zstd. The store contains each \
            transaction once, with your user ids. It also contains each record that cannot be migrated, with the reason \
            and its original bytes. The output folder then contains:

              purchases.sqlite  the store, for serve, export, enrich, customer
              summary.json      the counts, and the handling of each column and
                                member
              report.html       a page with the numbers of the store

            With --into, you choose the store, for example a PostgreSQL database, and --summary and --html name the other \
            files. A record may contain any number of documents; all of them are read.

            Run the same command again after an interruption: it continues where it stopped.

            With --stream, migrate is a filter: it stores nothing and writes the result of each record alone, one JSON \
            line per result.

            EXIT STATUS:
              0  every record was migrated
              1  some records or documents were quarantined, or look like documents
                 and were not read; or no record has a column that an option names
              2  usage, input or output error
              130, 143  interrupted by SIGINT (Ctrl-C) or SIGTERM

            EXAMPLES:
              legacy-receipts migrate receipts/ --output migrated
              legacy-receipts migrate dump.csv --limit 1000 --output sample
              legacy-receipts migrate dump.csv --column receipt_data \\
                --catalog products.yaml --user-column account_id --carry country
              legacy-receipts migrate dump.ndjson.gz \\
                --environment Production --bundle-id com.example.app
              legacy-receipts migrate sqlite:app.db --query 'SELECT * FROM receipts' \\
                --key id --into postgres://localhost/purchases
              legacy-receipts migrate --retry --max-size 20000000
              zcat dump.ndjson.gz | legacy-receipts migrate - --stream
            """)

    @Argument(
        help: .value(
            "input",
            """
            Files, folders, patterns such as '2019-*.csv.gz', or - for standard input; or one database, with --query: \
            sqlite:PATH or postgres://…
            """),
        completion: .file())
    var inputs: [String] = []

    @Option(
        name: .shortAndLong,
        help: .value(
            "dir", "The folder for the store, purchases.sqlite, and its summary and report (default: migrated)."),
        completion: .directory)
    var output: String?

    @Option(help: .value("url", "Merge the records in this store, and write no folder: sqlite:PATH or postgres://…"))
    var into: String?

    @Option(
        help: "The format of the input: auto, ndjson, csv, json, lines (one receipt per line) or file (one per file).")
    var inputFormat: InputFormat = .auto

    @Option(
        help: .value(
            "name",
            "The CSV column or JSON member with the receipt. Repeatable: all named ones are read, and no others."))
    var column: [String] = []

    @Flag(
        help:
            "The first records of NDJSON or JSON may lack a column or member that an option names; do not stop because of it."
    )
    var columnsAppearLater = false

    @Option(
        help: .value(
            "name",
            "How tables escape: csv (RFC 4180), mysql (backslashes; INTO OUTFILE, mysqldump --tab) or postgresql (COPY)."
        ))
    var tableDialect: TableOptions.Dialect?

    @Option(
        help: .value("character", "What separates the fields of tables: one character, or tab (default: detected)."),
        transform: FormatArguments.delimiter)
    var delimiter: Unicode.Scalar?

    @Option(
        help: .value("character", "The quote around fields of tables: one character (default: a double quote)."),
        transform: FormatArguments.quote)
    var quote: Unicode.Scalar?

    @Flag(
        help:
            "The tables have no header; name the columns by number in --column, --user-column, --carry and so on, from 1."
    )
    var noHeader = false

    @Option(
        help: .value(
            "sql", "The query whose rows are the records, if the input is a database. The database is only read."))
    var query: String?

    @Option(
        help: .value(
            "column", "With --query: a column that identifies a row. The next run continues after the last one."))
    var key: String?

    @Option(
        file: "A product catalog: our YAML or JSON, a .storekit file, an App Store Connect metadata.xml. Repeatable.")
    var catalog: [String] = []

    @Option(help: .value("n", "Batches of records processed at once (default: the number of cores)."))
    var jobs: Int?

    @Option(
        help: .value("name", "Only Production, Sandbox or Xcode; records of others are quarantined. Repeatable."),
        completion: .list(["Production", "Sandbox", "Xcode"]), transform: FormatArguments.environment)
    var environment: [Environment] = []

    @Option(
        name: .customLong("bundle-id"),
        help: .value("id", "Only this app; records of others are quarantined. Repeatable."))
    var bundleIds: [String] = []

    @Flag(
        help:
            "Quarantine recorded replies, rows and notifications, which are not signed, unless they contain a receipt.")
    var signedOnly = false

    @Option(name: .customLong("max-size"), help: .value("bytes", "The largest receipt, in bytes without base64."))
    var maximumSize = DecodingLimits.defaultMaximumSize

    @Option(help: .value("n", "Read only the first records."))
    var limit: Int?

    @Option(
        name: .customLong("expect-records"),
        help: .value("n", "Fail if there are more or fewer records, for example because a pipe was cut off."))
    var expectedRecords: Int?

    @Flag(
        help: """
            Be a filter: write a line per result to standard output, and keep nothing. Each line names its output; a line \
            with the output "records" ends a record.
            """)
    var stream = false

    @Option(file: "With --into or --stream: a file for the counts, as JSON.", completion: .file(extensions: ["json"]))
    var summary: String?

    @Option(
        help: .value(
            "name",
            """
            The column or member with your id of the user (default: found by its name, such as user_id). 'users.*' names the \
            keys of the object users, '*' those of the record.
            """))
    var userColumn: String?

    @Option(help: .value("name", "A column or member to keep with the user. Repeatable."))
    var carry: [String] = []

    @Option(help: documentColumn(.bundleId))
    var bundleIdColumn: String?

    @Option(help: documentColumn(.environment))
    var environmentColumn: String?

    @Option(help: documentColumn(.appAccountToken))
    var accountTokenColumn: String?

    @Option(help: documentColumn(.recordedAt))
    var recordedAtColumn: String?

    @Option(
        help: .value(
            "id", "The app of unsigned documents that do not state it, such as bare rows. Excludes no records."),
        transform: FormatArguments.defaultBundleId)
    var defaultBundleId: String?

    @Option(
        help: .value(
            "name",
            "Production or Sandbox: the environment of unsigned documents that do not state it. Excludes no records."),
        completion: .list(["Production", "Sandbox"]), transform: FormatArguments.defaultEnvironment)
    var defaultEnvironment: Environment?

    @Option(
        file: "With --into: a page with the numbers of the store, as report writes it.",
        completion: .file(extensions: ["html"]))
    var html: String?

    @Flag(
        help:
            "Migrate the quarantined records of the store again, with the receipts inside migrated replies that were not verified."
    )
    var retry = false

    @Flag(help: "Read everything again, because an input has changed.")
    var startOver = false

    @Flag(help: "No progress on standard error.")
    var quiet = false

    @OptionGroup(title: "Trust")
    var trust: TrustOptions

    private static func documentColumn(_ role: DocumentColumns.Role) -> ArgumentHelp {
        .value(
            "name",
            "The column or member with the \(role.fact) of documents that state none (default: found by its name).")
    }

    func validate() throws {
        if let jobs, !(1...1024).contains(jobs) { throw ValidationError("--jobs takes a number from 1 to 1024.") }
        guard (1...InputLimits.maximumSizeOfOption).contains(maximumSize) else {
            throw ValidationError(
                "--max-size takes a number of bytes from 1 to \(InputLimits.maximumSizeOfOption).")
        }
        guard inputs.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Standard input (-) can be read only once.")
        }
        guard [stream, into != nil, output != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give one of --output, --into and --stream.")
        }
        if stream {
            guard userColumn == nil, carry.isEmpty, !retry, !startOver, html == nil else {
                throw ValidationError(
                    "--stream stores nothing: remove --user-column, --carry, --retry, --start-over and --html.")
            }
        }
        if into == nil, !stream {
            guard summary == nil, html == nil else {
                throw ValidationError("The output folder has a summary and a report: remove --summary and --html.")
            }
        }
        guard inputs.isEmpty == retry else {
            throw ValidationError(
                retry ? "--retry takes no inputs." : "Name the inputs to read, or - for standard input.")
        }
        let databases = inputs.filter(StoreOpener.isDatabase)
        guard databases.isEmpty == (query == nil), query == nil || inputs.count == 1 else {
            throw ValidationError(
                query == nil
                    ? "A database needs --query, the SQL whose rows are the records."
                    : "--query needs one input, a database: sqlite:PATH or postgres://….")
        }
        guard key == nil || query != nil else { throw ValidationError("--key needs --query.") }
        let describesTable = tableDialect != nil || delimiter != nil || quote != nil || noHeader
        guard query == nil || (inputFormat == .auto && !describesTable) else {
            throw ValidationError(
                "The rows of --query have columns: leave out --input-format, --table-dialect, --delimiter, --quote and --no-header."
            )
        }
        guard quote == nil || quote != delimiter else {
            throw ValidationError("--quote and --delimiter name the same character.")
        }
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
        if let expectedRecords, expectedRecords < 0 {
            throw ValidationError("--expect-records takes a number from 0.")
        }
        if let limit, let expectedRecords, expectedRecords > limit {
            throw ValidationError("--expect-records is larger than --limit.")
        }
        for path in inputs + [output, summary, html].compactMap(\.self) where path.isEmpty {
            throw ValidationError("A path is empty.")
        }
    }

    /// Where a migration into a store writes.
    private struct Destination {
        /// The folder of everything; nil if there is none.
        let folder: String?
        let store: String
        let summary: String?
        let report: String?

        /// The paths that the migration writes.
        var paths: [String] {
            let file = store.hasPrefix("sqlite:") ? String(store.dropFirst("sqlite:".count)) : nil
            return [folder, file, summary, report].compactMap(\.self)
        }
    }

    /// The engine of the store. The folder has a SQLite file.
    var engine: MigrationPlan.StoreEngine {
        guard case .postgreSQL? = into.flatMap({ try? StoreURL($0) }) else { return .sqlite }
        return .postgreSQL
    }

    static let defaultOutput = "migrated"

    private var destination: Destination {
        if let into { return Destination(folder: nil, store: into, summary: summary, report: html) }
        let folder = output ?? Self.defaultOutput
        return Destination(
            folder: folder, store: Self.store(in: folder), summary: "\(folder)/summary.json",
            report: "\(folder)/report.html")
    }

    static func store(in folder: String) -> String { "sqlite:\(folder)/purchases.sqlite" }

    func run() async throws {
        let options = try migrationOptions()
        for problem in options.unreadInputs(inputs) {
            Terminal.error("\(problem) It is quarantined, and the others are read.")
        }
        if stream { return try await migrateStream(options) }
        let destination = destination
        for path in destination.paths { try options.check(path, isOutside: retry ? [] : inputs) }
        if retry { try StoreOpener.requireExisting(destination.store) }
        let interruption = Interruption()
        // A signal must not end the process after the folder or the store was created.
        try await interruption.listening {
            let newStore = NewStore(destination.store, in: destination.folder)
            if let folder = destination.folder { try OutputFile.makeFolder(folder) }
            try await migrate(to: destination, newStore, options, interruption)
        }
    }

    /// The counts go to standard error, since standard output has the results.
    private func migrateStream(_ options: MigrationOptions) async throws {
        let summary = try await Interruption.running { [inputs] in
            try await MigrationStream(options: options).run(inputs: inputs) { try Terminal.output($0) }
        }
        if let path = self.summary { try OutputFile.write(summary.json(), to: path) }
        if !quiet {
            Terminal.error(SummaryText.streamed(summary) + limitText(summary))
        }
        let missing = missingText(summary, isStored: false)
        if let missing { Terminal.error(missing) }
        if !summary.isClean || missing != nil { throw ExitStatus.someQuarantined }
    }

    /// - Parameters:
    ///   - destination: where to write.
    ///   - newStore: the parts of the store that this run creates.
    ///   - options: how the records are read.
    ///   - interruption: ends the run.
    private func migrate(
        to destination: Destination, _ newStore: NewStore, _ options: MigrationOptions,
        _ interruption: Interruption
    ) async throws {
        let migration = StoreMigration(options: storeOptions(options))
        if query != nil, key == nil, !quiet {
            Terminal.error(
                "Without --key, each run reads the query from its first row. Receipts that the store has are not verified again."
            )
        }
        let reporter = ProgressReporter(isQuiet: quiet) { options.size(of: inputs) }
        let summary: StoreMigrationSummary
        do {
            let (opened, url) = try StoreOpener.opened(destination.store)
            defer { reporter.finish() }
            do {
                summary = try await interruption.run { [inputs, retry] in
                    retry
                        ? try await migration.retry(opened, progress: { reporter.report($0) })
                        : try await migration.run(inputs: inputs, into: opened, progress: { reporter.report($0) })
                }
                reporter.finish()
                if let path = destination.summary { try OutputFile.write(summary.json(), to: path) }
                try Terminal.output(SummaryText.text(summary, store: url) + limitText(summary.records))
                if !retry, let text = missingText(summary.records, isStored: true) { Terminal.error(text) }
                if let html = destination.report {
                    let date = ServerClock.system.now()
                    let report = try await interruption.run { [catalog] in
                        try await ReportPage(
                            of: opened, at: url, catalog: options.catalog, catalogFiles: catalog, date: date)
                    }
                    try report.write(to: html)
                    try Terminal.output("The numbers of the store are in \(Printable.text(html)).")
                }
                try await opened.close()
            } catch {
                await newStore.closeAndRemoveIfEmpty(opened)
                throw error
            }
        } catch {
            try interruption.endIfInterrupted("Interrupted after \(reporter.done) records. \(resumption)")
            guard let error = error as? MigrationError else { throw error }
            throw CommandFailure(error.message + advice(for: error))
        }
        if !summary.records.isClean || (!retry && missingText(summary.records, isStored: true) != nil) {
            throw ExitStatus.someQuarantined
        }
    }

    private func advice(for error: MigrationError) -> String {
        switch error.code {
        case .inputChanged: " To read everything again, add --start-over; stored data is kept."
        // An engine's own message ends without a full stop.
        case .store: "\(error.message.hasSuffix(".") ? "" : ".") Repair it. \(resumption)"
        default: ""
        }
    }

    private var resumption: String {
        query != nil && key == nil
            ? "Run the same command to read the query again; with --key, a run continues where the last one stopped."
            : "Run the same command to continue where it stopped."
    }

    private func limitText(_ summary: MigrationSummary) -> String {
        guard let limit, summary.recordsRead == limit else { return "" }
        return "\nRecords after the first \(limit) were not read (--limit)."
    }

    private var documentColumns: DocumentColumns {
        let names: [DocumentColumns.Role: String?] = [
            .bundleId: bundleIdColumn, .environment: environmentColumn, .appAccountToken: accountTokenColumn,
            .recordedAt: recordedAtColumn,
        ]
        return DocumentColumns(names.compactMapValues { $0.map(columnName) })
    }

    /// A mistyped name must not go unnoticed: the users, or a part of the receipts, would be missing.
    /// - Parameters:
    ///   - summary: the counts of all records.
    ///   - isStored: whether a store has the records now.
    func missingText(_ summary: MigrationSummary, isStored: Bool) -> String? {
        let names = [userColumn].compactMap(\.self) + carry + documentColumns.names.values.sorted()
        // With a single column, only quarantined records show that it is missing: bare documents need no column.
        let isMissing = summary.quarantinedByReason[InputProblem.Code.missingColumn.rawValue] != nil
        let receipts = column.count > 1 || isMissing ? column : []
        // The other columns of a record without its receipt were not counted.
        let others = isMissing && summary.migrated == 0 ? [] : names
        let missing = summary.missing(receiptColumns: receipts.map(columnName), others.map(columnName))
        guard !missing.isEmpty else { return nil }
        let advice =
            if !isStored {
                "run again with the right one"
            } else if isMissing, Set(missing).isSubset(of: receipts.map(columnName)) {
                // The quarantine would keep the records if they were read again.
                "run migrate --retry with the right one"
            } else {
                "run again with the right one and --start-over"
            }
        return """
            No record has \(missing.map { "the column or member \(Printable.text($0))" }.joined(separator: ", or ")). If a \
            name is wrong, \(advice).
            """
    }

    /// With the current time.
    func storeOptions(_ options: MigrationOptions) -> StoreMigration.Options {
        StoreMigration.Options(
            migration: options, userColumn: userColumn.map(columnName), carriedColumns: Set(carry.map(columnName)),
            startsOver: startOver, date: ServerClock.system.now())
    }

    func columnName(_ text: String) -> String { FormatArguments.columnName(text, hasHeader: !noHeader) }

    func migrationOptions() throws -> MigrationOptions {
        var limits = DecodingLimits.standard
        limits.maximumSize = maximumSize
        var options = MigrationOptions(
            trust: try trust.policy(), limits: limits, catalog: try CatalogArguments.catalog(catalog),
            recordFormat: inputFormat, receiptColumns: column.map(columnName), documentColumns: documentColumns,
            documentDefaults: DocumentDefaults(bundleId: defaultBundleId, environment: defaultEnvironment),
            table: TableOptions(dialect: tableDialect, delimiter: delimiter, hasHeader: !noHeader, quote: quote),
            environments: environment.isEmpty ? nil : Set(environment),
            bundleIds: bundleIds.isEmpty ? nil : Set(bundleIds), acceptsRecorded: !signedOnly,
            jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount,
            query: query.map { RowQuery(sql: $0, key: key) }, maximumRecords: limit,
            expectedRecords: expectedRecords)
        options.columnsAppearLater = columnsAppearLater
        return options
    }
}
