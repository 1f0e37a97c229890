public import AppStoreModels
public import LegacyReceipts
public import ProductCatalog

/// The options of a migration.
public struct MigrationOptions: Sendable {
    /// The format of the inputs.
    public enum RecordFormat: String, Sendable, CaseIterable {
        /// Detected for each input from its contents.
        case auto
        /// One JSON value per line.
        case ndjson
        /// A table with a header row.
        case csv
        /// A JSON document, or an array with one record per element.
        case json
        /// One receipt per line.
        case lines
        /// Each file is one record.
        case file
    }

    /// The form of the transactions that are written; everything else is written as NDJSON.
    public enum OutputFormat: String, Sendable, CaseIterable {
        case ndjson
        case csv
    }

    /// The trust anchors.
    public var trust: TrustPolicy
    /// The limits for a receipt.
    public var limits: DecodingLimits
    /// The product catalog.
    public var catalog: ProductCatalog?
    /// The format of the inputs.
    public var recordFormat: RecordFormat
    /// The CSV column or JSON member with the receipt; nil to detect it.
    public var receiptColumn: String?
    /// The format of tables among the inputs.
    public var table: TableOptions
    /// The form of the transactions that are written.
    public var outputFormat: OutputFormat
    /// The environments to migrate; records of others are quarantined. Nil for all.
    public var environments: Set<Environment>?
    /// The bundle ids to migrate; records of others are quarantined. Nil for all. A recorded document without a bundle
    /// id is migrated.
    public var bundleIds: Set<String>?
    /// Whether unsigned documents (recorded replies, rows, version 1 notifications) are migrated. If not, they are
    /// quarantined, except for their embedded receipts.
    public var acceptsRecorded: Bool
    /// The number of batches of records that are processed at the same time; 1 or more.
    public var jobs: Int
    /// Whether files of an earlier migration in the output folder are replaced.
    public var overwrites: Bool
    /// The query to read if the input is a database, `sqlite:PATH` or `postgres://…`; nil if the inputs are files.
    public var query: RowQuery?
    /// The maximum number of records to read, from the beginning; nil for all.
    public var maximumRecords: Int?
    /// The expected number of records; nil for no check. A pipe that was cut off otherwise looks complete.
    public var expectedRecords: Int?

    public init(
        trust: TrustPolicy = .apple, limits: DecodingLimits = .standard, catalog: ProductCatalog? = nil,
        recordFormat: RecordFormat = .auto, receiptColumn: String? = nil, table: TableOptions = TableOptions(),
        outputFormat: OutputFormat = .ndjson,
        environments: Set<Environment>? = nil, bundleIds: Set<String>? = nil, acceptsRecorded: Bool = true,
        jobs: Int = 1, overwrites: Bool = false, query: RowQuery? = nil, maximumRecords: Int? = nil,
        expectedRecords: Int? = nil
    ) {
        self.trust = trust
        self.limits = limits
        self.catalog = catalog
        self.recordFormat = recordFormat
        self.receiptColumn = receiptColumn
        self.table = table
        self.outputFormat = outputFormat
        self.environments = environments
        self.bundleIds = bundleIds
        self.acceptsRecorded = acceptsRecorded
        self.jobs = jobs
        self.overwrites = overwrites
        self.query = query
        self.maximumRecords = maximumRecords
        self.expectedRecords = expectedRecords
    }
}

extension MigrationOptions {
    /// In bytes. Larger than any memory, and small enough that sums do not overflow.
    private static let maximumRecordSize = 1 << 40

    var input: InputOptions {
        // Base64 with line breaks and other columns takes less than twice the size of the receipt.
        let receipt = min(limits.maximumSize, Self.maximumRecordSize / 2)
        return InputOptions(
            format: InputFormat(rawValue: recordFormat.rawValue) ?? .auto, receiptColumn: receiptColumn, table: table,
            maximumRecordSize: max(InputLimits.recordSize, 2 * receipt), maximumRecords: maximumRecords)
    }

    /// - Throws: ``MigrationError/Code-swift.enum/recordCount`` if there were not ``expectedRecords``.
    func check(records: Int) throws(MigrationError) {
        guard let expectedRecords, records != expectedRecords else { return }
        throw MigrationError(
            .recordCount, path: "",
            "\(expectedRecords) records were expected and \(records) were read. Was the input cut off?")
    }

    /// The inputs to read. Checks them first, so that a wrong name fails before hours of work.
    func arguments(_ inputs: [String]) throws(MigrationError) -> [InputArgument] {
        do throws(InputError) {
            if let query {
                guard inputs.count == 1, let database = try SourceDatabase(inputs[0]) else {
                    throw InputError(
                        code: .notFound, input: inputs.first ?? "",
                        message: "A query needs one input, a database: sqlite:PATH or postgres://….")
                }
                return [.query(DatabaseQuery(database: database, query: query, position: nil))]
            }
            var arguments: [InputArgument] = []
            for input in inputs { arguments += try Self.arguments(input) }
            return arguments
        } catch {
            throw MigrationError(.input, path: error.input, error.message)
        }
    }

    private static func arguments(_ input: String) throws(InputError) -> [InputArgument] {
        if let database = try SourceDatabase(input) {
            throw InputError(
                code: .notFound, input: database.name,
                message: "\(database.name) is a database: state the query whose rows are the records.")
        }
        let argument = InputArgument(input)
        guard case .path(let path) = argument else { return [argument] }
        do throws(InputError) {
            try SystemCalls.checkReadable(path)
            return [argument]
        } catch {
            guard error.code == .notFound, PathPattern.isPattern(path) else { throw error }
            // A match that cannot be read is quarantined, as in a folder.
            return try PathPattern.matches(of: path).map { .path($0) }
        }
    }
}

/// Why a migration stopped before its end. A problem of a single record never stops it; the record is quarantined.
public struct MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason why the migration stopped, to branch on.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// An input cannot be found, opened or read, or its layout is unknown. Correct the path, the permissions, or
        /// the options that name format and column.
        case input
        /// An output file cannot be created or written. Free some space, or correct the permissions.
        case output
        /// The output folder contains files of an earlier migration. Choose another folder, or allow overwriting.
        case outputExists
        /// The output folder is inside an input, or an input is one of the output files. Choose a folder outside the
        /// inputs.
        case outputConflict
        /// A certificate in the trust policy cannot be read. Provide it as X.509 in DER.
        case trust
        /// The receiver of the accepted documents failed, for example a store. Repair it and run the migration again.
        case documents
        /// The store failed. Repair it and run the migration again; it continues where it stopped.
        case store
        /// An input differs from the one that was partly migrated into the store. Use the same input, or start over.
        case inputChanged
        /// There were more or fewer records than expected. Provide the whole input, or correct the number.
        case recordCount
        /// The records read are not the sum of the migrated and the quarantined ones: a bug in this program. Report it, and
        /// do not trust the result.
        case miscounted
        /// The task was canceled. Run again.
        case interrupted
    }

    /// The reason why the migration stopped.
    public let code: Code
    /// The file or folder concerned; empty if there is none.
    public let path: String
    /// A sentence for a person.
    public let message: String

    /// An error about the file or folder `path`; empty if there is none.
    public init(_ code: Code, path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// Two errors are equal if their codes are, whatever their places and messages.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String { message }
}

extension MigrationError: OutputFailure {
    static let activity = "migration"
    static let consequence = "Nothing of this migration is complete."

    init(output path: String, _ message: String) { self.init(.output, path: path, message) }
}
