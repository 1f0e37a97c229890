import AppStoreModels
import Purchases
import TransactionStore

/// Makes a ``MigrationPlan``: reads the first records of each source with the reader and the migrator of ``Migration`` and
/// ``StoreMigration``, and writes nothing.
public struct MigrationPlanner: Sendable {
    private let options: StoreMigration.Options
    private let engine: MigrationPlan.StoreEngine?
    private let sample: Int
    private let countLimit: Duration

    /// - Parameters:
    ///   - options: the options of the migration.
    ///   - engine: the engine of the store that ``StoreMigration`` would fill; nil for the lines of ``MigrationStream``.
    ///   - sample: the number of records to read from each source; a folder is one source. At least 1 is read.
    ///   - countLimit: how long a database may count the rows of a query.
    public init(
        options: StoreMigration.Options, engine: MigrationPlan.StoreEngine?, sample: Int = 1_000,
        countLimit: Duration = .seconds(5)
    ) {
        self.options = options
        self.engine = engine
        self.sample = max(1, sample)
        self.countLimit = countLimit
    }

    /// Reads the sample.
    ///
    /// - Parameter inputs: paths of files and folders, and `-` for standard input, whose bytes are consumed.
    /// - Throws: ``MigrationError``, like the migration.
    public func plan(inputs: [String]) throws(MigrationError) -> MigrationPlan {
        let options = self.options.migration
        let sources = try options.sources(inputs)
        let filing = engine.map { _ in RecordMigrator.Filing(self.options, date: self.options.date) }
        let migrator = try RecordMigrator(options, filing: filing)
        var work = Work(migrator: migrator, options: options, sizes: engine.map(StoreSizes.init))
        var plan = MigrationPlan()
        plan.engine = engine
        plan.jobs = options.jobs
        plan.limit = options.maximumRecords
        for (input, source) in zip(inputs, sources) {
            let rest = options.maximumRecords.map { max(0, $0 - work.summary.recordsRead) } ?? Int.max
            plan.sources.append(
                try read(
                    input, source.arguments, isOneOfSeveral: sources.count > 1, maximum: min(sample, rest), into: &work)
            )
        }
        if work.summary.recordsRead == 0, let error = work.columnNotFound {
            throw MigrationError(.input, path: error.input, error.message)
        }
        plan.summary = work.summary
        plan.quarantine = work.reasons.map { code, reason -> MigrationPlan.Quarantine in
            var reason = reason
            reason.records = work.summary.quarantinedByReason[code] ?? 0
            reason.documents = work.summary.documentsQuarantinedByReason[code] ?? 0
            return reason
        }.sorted { ($1.records + $1.documents, $0.reason) < ($0.records + $0.documents, $1.reason) }
        plan.seconds = work.duration / .seconds(1)
        plan.outputBytes = work.outputBytes
        return plan
    }

    private func read(
        _ name: String, _ arguments: [InputArgument], isOneOfSeveral: Bool, maximum: Int, into work: inout Work
    ) throws(MigrationError) -> MigrationPlan.Source {
        var input = options.input
        // One more record shows whether the sample is all.
        input.maximumRecords = maximum == .max ? nil : maximum + 1
        let source = RecordSource(arguments, options: input)
        source.isOneOfSeveral = isOneOfSeveral
        var counts = MigrationSummary()
        var used = UsedColumns()
        var read = 0
        let outputBytes = work.outputBytes
        while maximum > 0,
            let batch = try work.measured({ () throws(MigrationError) in try source.nextBatchUnlessCanceled() })
        {
            let count = min(batch.count, maximum - read)
            guard count > 0 else { break }
            counts.add(work.migrate(batch, first: count, &used))
            read += count
        }
        let statistics = source.statistics
        counts.finish(statistics)
        work.columnNotFound = work.columnNotFound ?? source.columnNotFound
        work.summary.add(counts)
        let isWhole = maximum > 0 && statistics.records <= maximum
        let isAtLimit = options.migration.maximumRecords.map { work.summary.recordsRead >= $0 } == true
        let query = Self.query(of: arguments)
        let bytes = Self.size(of: arguments)
        var records: Int?
        if isWhole {
            records = read
        } else if let query {
            // The rows after the limit do not matter.
            records = isAtLimit ? nil : QueryStream.count(query, within: countLimit).map { max($0, statistics.records) }
        } else if let bytes, statistics.compressedInputs == 0, statistics.bytes > 0 {
            records = Int(exactly: (Double(statistics.records) * Double(bytes) / Double(statistics.bytes)).rounded())
        }
        return MigrationPlan.Source(
            name: query?.database.name ?? name, isQuery: query != nil, sampledRecords: read, isWhole: isWhole,
            bytes: bytes, records: records, outputBytes: work.outputBytes - outputBytes,
            columns: columns(counts.members, used),
            isOneValue: read == 1 || statistics.dividedInputs > 0)
    }

    // MARK: Columns

    private func columns(_ members: [String: [String: Int]], _ used: UsedColumns) -> [MigrationPlan.Column] {
        let kept = options.carriedColumns
        return members.sorted { $0.key < $1.key }.map { path, fates in
            // Columns of tables can have full stops in their names.
            let name = path.split(separator: ".").last.map(String.init) ?? path
            let isCarried = [MemberFate.carriedAlong, .carriedAsBase64].contains { fates[$0.rawValue] != nil }
            let isUser = isCarried && (used.users.contains(path) || used.users.contains(name))
            return MigrationPlan.Column(
                path: path, fates: fates, isUser: isUser,
                isKept: isCarried && (kept.contains(path) || kept.contains(name)),
                role: isCarried && !isUser ? used.roles[path] ?? used.roles[name] : nil,
                cause: cause(path, name, fates, isUser: isUser))
        }
    }

    private func cause(
        _ path: String, _ name: String, _ fates: [String: Int], isUser: Bool
    ) -> MigrationPlan.Column.Cause? {
        if isUser { return options.userColumn == nil ? .name : .option }
        guard fates.keys.contains(where: { MemberFate(rawValue: $0)?.isRead == true }) else { return nil }
        if options.migration.receiptColumns.contains(path) { return .option }
        let isKnown =
            [path, name].contains { ColumnNames.meaning(of: $0)?.isPayload == true }
            || WireVocabulary.notification.contains(name) || WireVocabulary.row.contains(name)
            || WireVocabulary.unity.contains(name)
        return isKnown ? .name : .content
    }

    // MARK: Sizes

    private static func query(of arguments: [InputArgument]) -> DatabaseQuery? {
        guard case .query(let query)? = arguments.first else { return nil }
        return query
    }

    /// The bytes of all files; nil if a size is unknown.
    static func size(of arguments: [InputArgument]) -> Int? {
        var total = 0
        for argument in arguments {
            guard let path = argument.path, let size = size(of: path) else { return nil }
            total += size
        }
        return total
    }

    /// The bytes of a file, or of all files of a folder; nil if unknown.
    private static func size(of path: String) -> Int? {
        guard let status = try? SystemCalls.status(path) else { return nil }
        switch status.kind {
        case .file: return status.size
        case .other: return nil
        case .folder:
            guard var walk = try? FolderWalk(root: path) else { return nil }
            var total = 0
            while let entry = walk.next() {
                guard case .file(let path) = entry, let file = try? SystemCalls.status(path) else { continue }
                total += file.size
            }
            return total
        }
    }
}

extension MemberFate {
    /// Whether a document was read from the column.
    public var isRead: Bool {
        switch self {
        case .readAsReceipt, .readAsReply, .readAsRows, .readAsNotification, .readAsJWS, .readAsStoreKit2JSON,
            .readAsTransactionId:
            true
        case .otherStore, .carriedAlong, .carriedAsBase64, .leftOut, .ignored, .empty, .notRecognized,
            .looksLikeDocument:
            false
        }
    }
}

/// The columns that the migration uses, by name.
private struct UsedColumns {
    var users: Set<String> = []
    var roles: [String: DocumentColumns.Role] = [:]
}

/// The results of all sources so far.
private struct Work {
    let migrator: RecordMigrator
    let options: MigrationOptions
    /// The rows of the store; nil if the migration would write lines.
    var sizes: StoreSizes?
    var summary = MigrationSummary()
    /// The first record or document of each reason, not counted yet.
    var reasons: [String: MigrationPlan.Quarantine] = [:]
    var duration = Duration.zero
    var lineBytes = 0
    var columnNotFound: InputError?

    var outputBytes: Int { sizes?.bytes ?? lineBytes }

    mutating func measured<Result>(
        _ body: () throws(MigrationError) -> Result
    ) throws(MigrationError) -> Result {
        let start = ContinuousClock.now
        defer { duration += ContinuousClock.now - start }
        return try body()
    }

    /// Migrates the first records of a batch.
    mutating func migrate(_ batch: InputBatch, first count: Int, _ used: inout UsedColumns) -> MigrationSummary {
        var output = BatchOutput()
        var lines = JSONWriter()
        for index in 0..<count {
            let start = ContinuousClock.now
            let record = batch.record(index)
            var quarantine = JSONWriter()
            if sizes == nil {
                MigrationStream.migrate(record, migrator, &output, to: &lines) { quarantine = $0 }
            } else {
                migrator.migrate(record, into: &output)
                swap(&quarantine, &output.quarantine)
            }
            duration += ContinuousClock.now - start
            let documents = record.payload.documents.map(\.carried)
            for columns in documents.isEmpty ? [[]] : documents {
                let columns = record.carried + columns
                if let users = migrator.filing?.users, let column = users.userColumn(columns), !users.isUnread(columns)
                {
                    used.users.insert(column.name)
                }
                for role in DocumentColumns.Role.allCases {
                    if let column = options.documentColumns.column(role, columns) { used.roles[column.name] = role }
                }
            }
            if !quarantine.bytes.isEmpty { keepExamples(quarantine.bytes, record) }
        }
        lineBytes += lines.bytes.count
        let additions = migrator.filing?.verified.new(in: output.additions) ?? output.additions
        sizes?.add(additions)
        return output.counts.total()
    }

    private mutating func keepExamples(_ lines: [UInt8], _ record: InputRecord) {
        for line in lines.split(separator: 0x0A) {
            sizes?.add(quarantined: QuarantinedRecord(line: Array(line)))
            guard let object = (try? JSONValue.parse(line))?.object, let code = object["reason"]?.string,
                reasons[code] == nil
            else { continue }
            reasons[code] = MigrationPlan.Quarantine(
                reason: code, message: object["message"]?.string ?? "", place: record.place.description,
                sha256: object["source"]?["sha256"]?.string ?? "")
        }
    }
}
