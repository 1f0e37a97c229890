public import AppStoreModels
package import AppStoreServer
public import LegacyReceipts
public import ProductCatalog

/// The options of a migration.
public struct MigrationOptions: Sendable {
    /// The trust anchors.
    public var trust: TrustPolicy
    /// Bounds on a receipt.
    public var limits: DecodingLimits
    /// The product catalog.
    public var catalog: ProductCatalog?
    /// The format of the inputs.
    public var recordFormat: InputFormat
    /// The CSV columns or JSON members that hold the receipts; detected when empty.
    public var receiptColumns: [String]
    /// The columns that state something about the documents beside them.
    public var documentColumns: DocumentColumns
    /// The app and the environment of documents of which nothing states them. Unlike ``environments`` and ``bundleIds``, this
    /// keeps out no record.
    public var documentDefaults: DocumentDefaults
    /// Whether the first records of NDJSON or JSON may lack a named column. If not, the migration stops, because the name may
    /// be wrong.
    public var columnsAppearLater = false
    /// Options of the tables among the inputs.
    public var table: TableOptions
    /// Only records of these environments are migrated, the others quarantined; nil for all.
    public var environments: Set<Environment>?
    /// Only records of these bundle ids are migrated, the others quarantined; nil for all. A recorded document that names
    /// no bundle id is not held against it.
    public var bundleIds: Set<String>?
    /// Whether unsigned documents (recorded replies, rows, version 1 notifications) are migrated. If not, they are
    /// quarantined, except for their embedded receipts.
    public var acceptsRecorded: Bool
    /// The number of records worked on at once, in batches; 1 or more.
    public var jobs: Int
    /// The rows that are read if the input is a database, `sqlite:PATH` or `postgres://…`; nil if the inputs are files.
    public var query: RowQuery?
    /// Only so many records are read, from the beginning; nil for all.
    public var maximumRecords: Int?
    /// How many records there must be; nil if any number will do. A pipe that was cut off looks complete otherwise.
    public var expectedRecords: Int?
    /// The trust anchors for JWS; nil for the roots of ``trust``, with its setting for Xcode.
    package var signedDataTrust: SignedDataTrust?
    /// Longer records are not read whole, in bytes, unless ``limits`` allow larger receipts.
    package var recordSize = InputLimits.recordSize

    /// Creates options. The defaults migrate all records of files, unsigned documents too, of every app and
    /// environment.
    /// - Parameters:
    ///   - trust: the trust anchors; by default Apple's.
    ///   - limits: bounds on a receipt.
    ///   - catalog: gives types, groups and durations that documents do not state; nil for none.
    ///   - recordFormat: by default, the format of each input is detected.
    ///   - receiptColumns: the columns or members with receipts; detected when empty.
    ///   - documentColumns: the columns that state something about the documents beside them; found by their names by
    ///     default.
    ///   - documentDefaults: the app and the environment of documents of which nothing states them.
    ///   - table: how to read tables; detected by default.
    ///   - environments: records of others are quarantined; nil for all.
    ///   - bundleIds: records of others are quarantined; nil for all.
    ///   - acceptsRecorded: whether unsigned documents are migrated. If not, they are quarantined.
    ///   - jobs: the number of batches worked on at once; 1 or more.
    ///   - query: the rows to read from a database; nil if the inputs are files.
    ///   - maximumRecords: nil to read all records.
    ///   - expectedRecords: another number of records is an error (``MigrationError/Code-swift.enum/recordCount``); nil
    ///     for any number.
    public init(
        trust: TrustPolicy = .apple, limits: DecodingLimits = .standard, catalog: ProductCatalog? = nil,
        recordFormat: InputFormat = .auto, receiptColumns: [String] = [],
        documentColumns: DocumentColumns = DocumentColumns(), documentDefaults: DocumentDefaults = DocumentDefaults(),
        table: TableOptions = TableOptions(),
        environments: Set<Environment>? = nil, bundleIds: Set<String>? = nil, acceptsRecorded: Bool = true,
        jobs: Int = 1, query: RowQuery? = nil, maximumRecords: Int? = nil,
        expectedRecords: Int? = nil
    ) {
        self.trust = trust
        self.limits = limits
        self.catalog = catalog
        self.recordFormat = recordFormat
        self.receiptColumns = receiptColumns
        self.documentColumns = documentColumns
        self.documentDefaults = documentDefaults
        self.table = table
        self.environments = environments
        self.bundleIds = bundleIds
        self.acceptsRecorded = acceptsRecorded
        self.jobs = jobs
        self.query = query
        self.maximumRecords = maximumRecords
        self.expectedRecords = expectedRecords
    }

    /// In bytes. Larger than any memory, and small enough that sums do not overflow.
    private static let maximumRecordSize = 1 << 40

    var input: InputOptions {
        // Base64 with line breaks and other columns takes less than twice the size of the receipt.
        let receipt = min(limits.maximumSize, Self.maximumRecordSize / 2)
        var options = InputOptions(
            format: recordFormat, receiptColumns: receiptColumns, otherColumns: documentColumns.names.values.sorted(),
            table: table,
            maximumRecordSize: max(recordSize, 2 * receipt), maximumRecords: maximumRecords)
        options.columnsAppearLater = columnsAppearLater
        return options
    }

    /// - Throws: ``MigrationError/Code-swift.enum/recordCount`` if there were not ``expectedRecords``.
    func check(records: Int) throws(MigrationError) {
        guard let expectedRecords, records != expectedRecords else { return }
        throw MigrationError(
            .recordCount, path: "",
            "\(expectedRecords) records were expected and \(records) were read. Check whether the input is complete.")
    }

    /// The files to read for one input of the caller.
    struct Source {
        let arguments: [InputArgument]
        /// Why the input cannot be read; nil if it can. An unreadable input is quarantined, and the others are read.
        var error: InputError?
    }

    /// The inputs to read, all of them; see ``sources(_:)``.
    func arguments(_ inputs: [String]) throws(MigrationError) -> [InputArgument] {
        try sources(inputs).flatMap(\.arguments)
    }

    /// Why some of several inputs cannot be read, in sentences. Empty if all can be read, or none.
    package func unreadInputs(_ inputs: [String]) -> [String] {
        ((try? sources(inputs)) ?? []).compactMap { $0.error?.message }
    }

    /// The inputs to read. Checks them first, so that a wrong name or the file of a database fails before hours of work. If other
    /// inputs can be read, an unreadable one is quarantined by its name.
    func sources(_ inputs: [String]) throws(MigrationError) -> [Source] {
        do throws(InputError) {
            if let query {
                guard inputs.count == 1, let database = try SourceDatabase(inputs[0]) else {
                    throw InputError(
                        code: .notFound, input: inputs.first ?? "",
                        message: "A query needs one input, a database: sqlite:PATH or postgres://….")
                }
                return [Source(arguments: [.query(DatabaseQuery(database: database, query: query, position: nil))])]
            }
            var sources: [Source] = []
            for input in inputs { sources.append(try Self.source(input)) }
            if let error = sources.first?.error, sources.allSatisfy({ $0.error != nil }) { throw error }
            return sources
        } catch {
            throw MigrationError(.input, path: error.input, error.message)
        }
    }

    /// The bytes of all files of the inputs; nil if a size is unknown.
    package func size(of inputs: [String]) -> Int? {
        (try? arguments(inputs)).flatMap { MigrationPlanner.size(of: $0) }
    }

    /// An output inside an input folder would be read as input.
    ///
    /// - Parameters:
    ///   - output: the path of a file or folder that the migration writes.
    ///   - inputs: as for a migration.
    /// - Throws: ``MigrationError/Code-swift.enum/outputConflict``, or what a migration of the inputs throws.
    public func check(_ output: String, isOutside inputs: [String]) throws(MigrationError) {
        let outputPath = CanonicalPath.of(output)
        for input in try arguments(inputs).compactMap(\.path) {
            let inputPath = CanonicalPath.of(input)
            if outputPath == inputPath || outputPath.hasPrefix(inputPath.hasSuffix("/") ? inputPath : inputPath + "/") {
                throw MigrationError(
                    .outputConflict, path: output,
                    "The output \(output) lies inside the input \(input) and would be read as input.")
            }
        }
    }

    private static func source(_ input: String) throws(InputError) -> Source {
        if let database = try SourceDatabase(input) {
            throw InputError(
                code: .notFound, input: database.name,
                message: "\(database.name) is a database: state the query whose rows are the records.")
        }
        let argument = InputArgument(input)
        guard case .path(let path) = argument else { return Source(arguments: [argument]) }
        do throws(InputError) {
            // A match that cannot be read is quarantined, as in a folder.
            let paths = try Self.paths(path)
            return Source(arguments: paths.map { .path($0) }, error: paths == [path] ? databaseProblem(path) : nil)
        } catch {
            guard error.code == .notFound || error.systemError != nil else { throw error }
            return Source(arguments: [argument], error: error)
        }
    }

    /// Why the file of a database cannot be read. Nil for all other files, whose problems show when they are read.
    private static func databaseProblem(_ path: String) -> InputError? {
        guard (try? SystemCalls.status(path))?.kind == .file, let file = try? FileStream(path: path, name: path) else {
            return nil
        }
        var head = [UInt8](repeating: 0, count: 16)
        guard let count = try? head.withUnsafeMutableBytes({ try file.read(into: $0) }) else { return nil }
        let advice = head.prefix(count).withUnsafeBufferPointer { FormatDetector.databaseAdvice($0, of: path) }
        return advice.map { InputError(code: .unreadable, input: path, message: $0) }
    }

    /// The path, or the matches of a pattern.
    private static func paths(_ path: String) throws(InputError) -> [String] {
        do throws(InputError) {
            try SystemCalls.checkReadable(path)
            return [path]
        } catch {
            guard error.code == .notFound, PathPattern.isPattern(path) else { throw error }
            return try PathPattern.matches(of: path)
        }
    }
}

/// Why a migration or an export stopped before its end. Problems of single records never stop a migration; they go to
/// quarantine.
public struct MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, to branch on.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// An input cannot be found, opened or read, or its layout is unknown. Correct the path, the permissions, or
        /// the options that name format and column.
        case input
        /// The folder, a file or the database of an export cannot be created, written or read back. Free some space, or correct
        /// the permissions.
        case output
        /// An output of a migration lies inside an input folder, or is an input. Write it elsewhere. Or the folder of an export
        /// has a file with the name of a table that no export wrote. Or the database has a table with the same name and other
        /// columns, or is a store. Choose another folder, file or schema. Or PostgreSQL has a view on dates that an earlier
        /// version wrote as numbers: drop the view.
        case outputConflict
        /// A certificate in the trust policy cannot be read. Give it as X.509 in DER.
        case trust
        /// The store failed. Repair it and run the migration again; it continues where it stopped.
        case store
        /// An input is not the one that the store has read a part of. Give the same input, or start over.
        case inputChanged
        /// There were more or fewer records than expected. Give the whole input, or the right number. If there were fewer, the
        /// store lacks the last step.
        case recordCount
        /// The records read are not the sum of the migrated and the quarantined ones: a bug in this program. Report it, and
        /// do not trust the result.
        case miscounted
        /// The task was cancelled. Run again.
        case interrupted
    }

    /// The reason.
    public let code: Code
    /// The file, folder or database concerned; empty if there is none.
    public let path: String
    /// A sentence for a person.
    public let message: String
    /// `InputError.isAboutContent`
    var isAboutContent = false

    /// An error about the file or folder `path`; empty if there is none.
    public init(_ code: Code, path: String, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// Two errors are equal if their codes are equal. Places and messages are not compared.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String { message }
}
