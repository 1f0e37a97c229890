internal import AppStoreModels
internal import Crypto
internal import LegacyReceipts
internal import Purchases
public import TransactionStore

/// A migration from records into a store, where the documents about a customer are merged: each transaction once, even
/// if many receipts state it.
///
/// Each record is either migrated or quarantined in the store. The additions of a step of records and the position
/// after it are committed together. After an interruption, the same migration continues after the last step, and the
/// resulting store is the same as without an interruption, including its ledger.
///
/// Only the records decide where a step ends. Time, the number of jobs, the content of the store and earlier
/// interruptions do not, because the ledger announces the changes of each step.
public struct StoreMigration: Sendable {
    /// How records are filed.
    public struct Options: Sendable {
        /// How records are read.
        public var migration: MigrationOptions
        /// The column or member with the caller's id of the user; nil to find it by its name (`user_id`, `app_user_id`,
        /// `customer_id` and so on).
        public var userColumn: String?
        /// Columns or members that are kept beside the user.
        public var carriedColumns: Set<String>
        /// Whether records that were migrated before are migrated again, because an input has changed.
        public var startsOver: Bool
        /// The current time, in milliseconds since 1970-01-01T00:00:00Z. A migration that continues after an interruption
        /// uses the time of its first run.
        public var date: Int64
        /// A step ends at the first batch that gives it this size. Each record counts as 1, and each 2 KiB as 1 more. This
        /// is less than a second of work, and bounds the memory of large records. The first steps are smaller: see
        /// `StoreMigration.Work`. Two steps are in memory: the store writes one while the next one is prepared.
        package var stepSize = 10_000

        var input: InputOptions {
            var input = migration.input
            input.otherColumns += [userColumn].compactMap(\.self) + carriedColumns.sorted()
            return input
        }

        /// Creates options.
        /// - Parameters:
        ///   - migration: how records are read.
        ///   - userColumn: nil to find the column with the user id by its name.
        ///   - carriedColumns: columns or members that are kept beside the user.
        ///   - startsOver: true to read an input again that has changed. Otherwise, such an input is an error
        ///     (``MigrationError/Code-swift.enum/inputChanged``).
        ///   - date: the current time, in milliseconds since 1970-01-01T00:00:00Z.
        public init(
            migration: MigrationOptions = MigrationOptions(), userColumn: String? = nil,
            carriedColumns: Set<String> = [], startsOver: Bool = false, date: Int64
        ) {
            self.migration = migration
            self.userColumn = userColumn
            self.carriedColumns = carriedColumns
            self.startsOver = startsOver
            self.date = date
        }
    }

    /// How far a migration has come.
    public struct Progress: Sendable {
        /// The bytes that were read of the inputs, decompressed.
        public let bytesRead: Int
        /// The records read so far, including those of earlier runs of this migration.
        public let records: Int
        /// Those of ``records`` that were quarantined as a whole.
        public let quarantined: Int
    }

    /// What a store must implement to receive a migration. Every engine does.
    public typealias Store = TransactionStore & MigrationStore

    private let options: Options

    /// - Parameter options: a change of options that affect the result makes another migration, which begins at the
    ///   first record.
    public init(options: Options) { self.options = options }

    /// Migrates files, folders, patterns such as `2019-*.csv`, and, for `-`, standard input, into a store.
    ///
    /// - Parameters:
    ///   - inputs: paths or patterns of files and folders, and `-` for standard input, in the order in which they are read.
    ///   - store: the store. The migration does not close it.
    ///   - progress: called from time to time, not more than once per batch of records.
    /// - Throws: ``MigrationError``. What was committed before stays, and the same call continues after it.
    public func run(
        inputs: [String], into store: any Store, progress: @Sendable (Progress) -> Void = { _ in }
    ) async throws(MigrationError) -> StoreMigrationSummary {
        let arguments = try options.migration.arguments(inputs)
        var work = try await begin(inputs, store)
        var position = MigrationPosition(after: work.checkpoint, work.progress)
        let source = RecordSource(arguments.map { $0.continued(after: position.row) }, options: options.input)
        let resumed = ResumedSource(source, after: position)
        let (migrator, verified) = try migrator(date: work.progress.start?.date ?? options.date)
        let hasKey = options.migration.query?.key != nil
        let pipeline = BatchPipeline<InputBatch>(
            work: { (batch, output) async throws(MigrationError) in
                if !hasKey { output.digests = batch.digests }
                let records = (batch.skipped..<batch.count).map(batch.record)
                try await Self.migrate(records, migrator, verified, store, into: &output)
            }, jobs: options.migration.jobs)
        do {
            try await pipeline.run(resumed.next) {
                (batch, part) async throws(MigrationError) in
                try position.add(part, digests: batch.digests)
                guard part.records > part.skipped else { return }
                // The last batch is committed with the end of the inputs.
                if work.isStepFull { try await work.commit(to: store) }
                work.add(batch, verified, size: part.size, position)
                work.progress.add(unopened: part.unopened)
                progress(work.reported(bytesRead: source.statistics.bytes))
            }
            try position.finish()
        } catch {
            // After an interruption, the next run must end its steps at the same records. So a part of a step is committed
            // only where each run stops. Report the first error.
            if error.isAboutContent { try? await work.commit(to: store) }
            try? await work.finishCommit()
            throw error
        }
        work.finish(source.statistics, position)
        if let expected = options.migration.expectedRecords, work.progress.summary.recordsRead < expected {
            // An input that was cut off can end inside a record, which is in the last step. Without this step, the same call
            // continues when the input is complete.
            try await work.finishCommit()
            try options.migration.check(records: work.progress.summary.recordsRead)
        }
        try await work.commit(to: store)
        try await work.finishCommit()
        if work.applied.changed > 0 { try? await store.migrationEnded() }
        try options.migration.check(records: work.progress.summary.recordsRead)
        return try work.result()
    }

    /// Migrates the quarantined records in a store again, for example with other options, and the receipts inside migrated
    /// replies and notifications that were not verified. Those that are migrated now leave the quarantine.
    ///
    /// - Throws: ``MigrationError``. What was committed before stays.
    public func retry(
        _ store: any Store, progress: @Sendable (Progress) -> Void = { _ in }
    ) async throws(MigrationError) -> StoreMigrationSummary {
        // Not the date of an interrupted retry. Other migrations may have quarantined newer records since.
        let (migrator, verified) = try migrator(date: options.date)
        var work = Work(migration: nil, stepSize: options.stepSize)
        work.counted = try await counted(Self.retryName, store, addsRuns: true)
        work.progress.start = MigrationProgress.Start(
            migration: Self.retryName, number: 1, inputs: ["the quarantine (migrate --retry)"], inputCount: 1)
        let input = options.input
        let pipeline = BatchPipeline<[QuarantinedRecord]>(
            work: { (lines, output) async throws(MigrationError) in
                var records: [InputRecord] = []
                for line in lines {
                    guard let line = QuarantineLine(line.line[...]) else {
                        throw MigrationError(
                            .store, path: "",
                            "The quarantine of the store has an unreadable line. Check the store with 'store check'.")
                    }
                    records += line.records(
                        input.reader, table: input.table, rereadingUpTo: input.maximumRecordSize)
                }
                try await Self.migrate(records, migrator, verified, store, into: &output)
            }, jobs: options.migration.jobs)
        var last: [UInt8]?
        // Lines of this run, with another reason than before. They are not read again.
        var added: Set<[UInt8]> = []
        // The keys of lines that end a step, and that the store adds with the step that it is writing.
        var newEnds: [[UInt8]] = []
        do throws(MigrationError) {
            while true {
                if Task.isCancelled { throw .interrupted }
                // The store may still be writing the previous step. That step releases only lines before this page. The lines
                // that it adds are not migrated in this run, but the next run finds them after an interruption. So they end the
                // same steps here, whether the page has them yet or not.
                let page = try await Self.stored { try await store.quarantine(after: last, limit: 200) }
                let end = Self.endOfStep(in: page, after: last, newEnds)
                let read = page.prefix { line in end.map { !$0.lexicographicallyPrecedes(line.key) } ?? true }
                last = end ?? page.last?.key ?? last
                // Large records end a step early, so the groups that are in memory together are limited too.
                var groups = QuarantineLine.groups(read.filter { !added.contains($0.key) }).makeIterator()
                func next() -> (batch: [QuarantinedRecord], companion: [QuarantinedRecord])? {
                    groups.next().map { ($0, $0) }
                }
                try await pipeline.run(next) { (output, lines) throws(MigrationError) in
                    work.add(output, verified, size: ResumedSource.Size(), nil)
                    work.step.released += lines.map(\.key)
                }
                added.formUnion(work.step.quarantined.map(\.key))
                added.subtract(work.step.released)
                guard end != nil || page.isEmpty else { continue }
                let ends = work.step.quarantined.filter(\.endsStepOfRetry).map(\.key)
                try await work.commit(to: store)
                newEnds = ends
                progress(work.reported(bytesRead: 0))
                if page.isEmpty { break }
            }
        } catch {
            // The caller may close the store.
            try? await work.finishCommit()
            throw error
        }
        try await work.finishCommit()
        return try work.result()
    }

    /// The key at which a page of the quarantine ends the step of a retry; nil if the step continues on the next page.
    /// - Parameters:
    ///   - page: the lines after `last`.
    ///   - last: the key of the last line that was read; nil at the beginning.
    ///   - newEnds: the keys of new lines that end a step. The page may lack them.
    private static func endOfStep(
        in page: [QuarantinedRecord], after last: [UInt8]?, _ newEnds: [[UInt8]]
    ) -> [UInt8]? {
        guard let lastOfPage = page.last?.key else { return nil }
        let missing = newEnds.filter { key in
            (last ?? []).lexicographicallyPrecedes(key) && !lastOfPage.lexicographicallyPrecedes(key)
        }
        let ends = [page.first(where: \.endsStepOfRetry)?.key].compactMap(\.self) + missing
        return ends.min { $0.lexicographicallyPrecedes($1) }
    }

    private func migrator(date: Int64) throws(MigrationError) -> (RecordMigrator, VerifiedReceipts) {
        let filing = RecordMigrator.Filing(options, date: date)
        return (try RecordMigrator(options.migration, filing: filing), filing.verified)
    }

    private static func migrate(
        _ records: [InputRecord], _ migrator: RecordMigrator, _ verified: VerifiedReceipts, _ store: any Store,
        into output: inout BatchOutput
    ) async throws(MigrationError) {
        let receipts = migrator.keyedReceipts(records)
        let unknown = Set(receipts.compactMap { $0?.key }).filter { verified[$0] == nil }
        if !unknown.isEmpty {
            let known = try await stored { try await store.verifiedReceipts(Array(unknown)) }
            for receipt in known { verified.add(receipt) }
        }
        for (record, receipt) in zip(records, receipts) { migrator.migrate(record, receipt: receipt, into: &output) }
    }

    fileprivate static func stored<Result>(
        _ body: () async throws -> Result
    ) async throws(MigrationError) -> Result {
        do {
            return try await body()
        } catch is CancellationError {
            throw .interrupted
        } catch {
            throw MigrationError(.store, path: "", "The store failed: \(error)")
        }
    }

    // MARK: Resuming

    /// Finds where an earlier run of this migration stopped.
    private func begin(_ inputs: [String], _ store: any Store) async throws(MigrationError) -> Work {
        // Rows without a key can come in a different order in each run, so there is no position to continue after.
        if let query = options.migration.query, query.key == nil {
            let name = self.name(inputs, attempt: 1)
            var work = Work(migration: nil, stepSize: options.stepSize)
            work.counted = try await counted(name, store, addsRuns: false)
            work.progress.start = self.start(name, number: 1, inputs)
            return work
        }
        var (attempt, name) = (1, name(inputs, attempt: 1))
        var checkpoint = try await Self.stored { try await store.checkpoint(of: name) }
        var readable: [String] = []
        // Each start from the beginning has its own name.
        while let current = checkpoint {
            let next = self.name(inputs, attempt: attempt + 1)
            let newer = try await Self.stored { try await store.checkpoint(of: next) }
            if newer == nil {
                let unopened = MigrationProgress(state: current.state)?.unopened ?? []
                // The name of a file in a folder is no pattern.
                readable = unopened.filter { input in
                    SystemCalls.isReadable(input) || inputs.contains(input) && PathPattern.isMatched(input)
                }
                if readable.isEmpty, !options.startsOver { break }
            }
            (attempt, name, checkpoint) = (attempt + 1, next, newer)
        }
        let start = self.start(self.name(inputs, attempt: 1), number: attempt, inputs)
        var work = Work(migration: name, stepSize: options.stepSize)
        work.progress.start = start
        guard let checkpoint else {
            let opened = OpenedInputs(inputs: inputs, causes: readable)
            work.step.released = try await Self.stored { try await opened.outdatedLines(in: store) }
            return work
        }
        guard let progress = MigrationProgress(state: checkpoint.state) else {
            throw MigrationError(
                .inputChanged, path: "",
                "The store has a position of this migration that this version cannot read. Start over.")
        }
        work.checkpoint = checkpoint
        work.progress = progress
        work.progress.start = start
        if let date = progress.start?.date { work.progress.start?.date = date }
        work.recordsBefore = progress.summary.recordsRead
        work.beginStep()
        return work
    }

    private func start(_ migration: String, number: Int, _ inputs: [String]) -> MigrationProgress.Start {
        MigrationProgress.Start(
            migration: migration, number: number,
            inputs: inputs.prefix(MigrationProgress.Start.maximumInputs).map(Self.shownName), inputCount: inputs.count,
            date: options.date)
    }

    /// The name under which the store keeps the counts of all retries.
    private static let retryName = Fingerprint(of: Array("migrate --retry".utf8)).description

    /// The counts of the store for a migration without a position.
    /// - Parameters:
    ///   - name: the name of the migration.
    ///   - store: the store with the counts.
    ///   - addsRuns: whether the counts of this run are added to those of the earlier ones. A query that reads
    ///     everything each time has the counts of its last run.
    private func counted(
        _ name: String, _ store: any Store, addsRuns: Bool
    ) async throws(MigrationError) -> CountedRuns {
        let checkpoint = try await Self.stored { try await store.checkpoint(of: name) }
        let progress = checkpoint.flatMap { MigrationProgress(state: $0.state) }
        let before = addsRuns ? progress?.summary : nil
        return CountedRuns(name: name, records: checkpoint?.records ?? 0, summary: before ?? MigrationSummary())
    }

    /// The earlier runs of a migration without a position, whose checkpoint only has its counts.
    private struct CountedRuns {
        let name: String
        /// The records of its checkpoint. Those of a checkpoint that replaces it are more.
        let records: Int64
        /// The counts to which those of this run are added.
        let summary: MigrationSummary

        /// - Parameter progress: of this run.
        func checkpoint(_ progress: MigrationProgress) -> MigrationCheckpoint {
            var all = MigrationProgress()
            all.start = progress.start
            all.summary = summary
            all.summary.add(progress.summary)
            return MigrationCheckpoint(
                // A damaged store can have any number.
                migration: name, records: min(records, .max / 2) + Int64(progress.summary.recordsRead),
                digest: [UInt8](repeating: 0, count: SHA256Digest.byteCount), state: all.state)
        }
    }

    private static func identity(_ input: String) -> String {
        if input == "-" { return input }
        return (try? SourceDatabase(input)?.identity ?? CanonicalPath.of(input)) ?? input
    }

    /// An input as the command names it, without the user and the password of a database.
    private static func shownName(_ input: String) -> String {
        do throws(InputError) {
            let database = try SourceDatabase(input)
            return database?.name ?? input
        } catch {
            return error.input
        }
    }

    /// The name of the migration of these inputs with these options.
    private func name(_ inputs: [String], attempt: Int) -> String {
        let migration = options.migration
        var parts: [JSONValue] = [.integer(Int64(attempt))]
        func list(_ values: [String]) { parts.append(.array(values.map(JSONValue.string))) }
        list(inputs.map(Self.identity))
        list([migration.query?.sql ?? "", migration.query?.key ?? ""])
        list([migration.recordFormat.rawValue, "\(migration.limits.maximumSize)", "\(migration.acceptsRecorded)"])
        let receiptColumns = Set(migration.receiptColumns).sorted()
        list([receiptColumns.first, options.userColumn].map { $0.map { "=\($0)" } ?? "" })
        if receiptColumns.count > 1 { list(Array(receiptColumns.dropFirst())) }
        list(options.carriedColumns.sorted())
        let names = migration.documentColumns.names
        // An earlier version had no such names; its positions stay valid.
        if !names.isEmpty { list(names.map { "\($0.key.rawValue)=\($0.value)" }.sorted()) }
        let defaults = migration.documentDefaults
        // An earlier version had no defaults either.
        if !defaults.isEmpty { list(["defaults", defaults.bundleId ?? "", defaults.environment?.rawValue ?? ""]) }
        let table = migration.table
        list([table.dialect?.rawValue ?? "", table.delimiter.map { "\($0.value)" } ?? "", "\(table.hasHeader)"])
        // An earlier version had no such option.
        if let quote = table.quote { list(["quote", "\(quote.value)"]) }
        list(migration.environments?.map(\.rawValue).sorted() ?? ["*"])
        list(migration.bundleIds?.sorted() ?? ["*"])
        list([Fingerprint(of: migration.trust.digest).description])
        // An earlier version compared the records by another digest. Its migrations are read again, into the same store.
        if migration.query?.key == nil { list(["digests of columns and records"]) }
        return Fingerprint(of: JSONValue.array(parts).json).description
    }

    /// The step in progress, and the counts of the committed steps.
    ///
    /// The first steps of a migration are smaller than ``Options/stepSize``: a step may become as large as the number of
    /// records before it. So a small input has several steps too, and an interruption costs it only a part.
    private struct Work {
        /// The size up to which every step may grow.
        private static let firstStepSize = 500

        /// The name of the migration; nil for one without a position.
        let migration: String?
        /// The earlier runs of a migration without a position.
        var counted: CountedRuns?
        private let stepSize: Int
        var checkpoint: MigrationCheckpoint?
        var progress = MigrationProgress()
        var recordsBefore = 0
        var applied = AppliedFacts()
        var step = MigrationStep()
        /// The keys of the lines in the step.
        private var quarantined: Set<[UInt8]> = []
        private var position: MigrationPosition?
        private var size = ResumedSource.Size()
        /// The number of records before the step.
        private var recordsBeforeStep = 0
        /// The step that the store is writing while the next one is prepared.
        private var commit: Task<AppliedFacts, any Error>?

        init(migration: String?, stepSize: Int) {
            self.migration = migration
            self.stepSize = stepSize
        }

        var isStepFull: Bool { size.value >= min(stepSize, max(Self.firstStepSize, recordsBeforeStep)) }

        /// - Parameters:
        ///   - batch: the results of the batch.
        ///   - verified: the receipts of the batches before.
        ///   - size: of the records of the batch.
        ///   - position: the position after the batch; nil if the source has none.
        mutating func add(
            _ batch: BatchOutput, _ verified: VerifiedReceipts, size: ResumedSource.Size, _ position: MigrationPosition?
        ) {
            let additions = verified.new(in: batch.additions)
            step.facts += additions.facts
            step.users += additions.users
            step.receipts += additions.receipts.map(\.receipt)
            for line in batch.quarantine.bytes.split(separator: 0x0A) {
                let record = QuarantinedRecord(line: Array(line))
                // A receipt inside several records has one line.
                guard quarantined.insert(record.key).inserted else { continue }
                step.quarantined.append(record)
            }
            progress.summary.add(batch.counts.total())
            self.size.add(size)
            self.position = position
        }

        mutating func finish(_ statistics: InputStatistics, _ position: MigrationPosition) {
            progress.summary.finish(statistics)
            progress.start?.date = nil
            self.position = position
        }

        /// Waits for the previous step and hands this one to the store. Steps are written one after the other, so an
        /// interruption repeats at most this step and the one in progress.
        mutating func commit(to store: any Store) async throws(MigrationError) {
            try await finishCommit()
            // Lines leave the quarantine because of the records of the step. Without records, they stay; a retry has no position.
            guard position != nil || migration == nil && !step.released.isEmpty else { return }
            if let migration, let position {
                progress.marks = position.marks
                progress.row = position.row
                progress.input = position.inputAfterMarks
                step.checkpoint = MigrationCheckpoint(
                    migration: migration, records: Int64(position.records), digest: position.digest,
                    state: progress.state)
            } else if let counted {
                step.checkpoint = counted.checkpoint(progress)
            }
            // Not canceled with the migration, so that completed records are not repeated.
            commit = Task { [step] in try await store.apply(step) }
            beginStep()
        }

        /// Begins the step after the records counted so far.
        mutating func beginStep() {
            step = MigrationStep()
            quarantined = []
            size = ResumedSource.Size()
            position = nil
            recordsBeforeStep = progress.summary.recordsRead
        }

        /// Waits until the store has the step that was handed to it.
        mutating func finishCommit() async throws(MigrationError) {
            guard let commit else { return }
            self.commit = nil
            let result = try await StoreMigration.stored { try await commit.value }
            applied.add(result)
        }

        func reported(bytesRead: Int) -> Progress {
            let summary = progress.summary
            return Progress(bytesRead: bytesRead, records: summary.recordsRead, quarantined: summary.quarantined)
        }

        /// - Throws: ``MigrationError/Code-swift.enum/miscounted``.
        func result() throws(MigrationError) -> StoreMigrationSummary {
            try progress.summary.checkTotal()
            return StoreMigrationSummary(records: progress.summary, applied: applied, recordsBefore: recordsBefore)
        }
    }
}

extension QuarantinedRecord {
    /// Whether a step of a retry ends after this line.
    ///
    /// The key decides it, and not the lines before: those that were migrated are gone after an interruption, and the same
    /// command must end its steps at the same lines. The key is a hash, so a step has about 200 lines, or fewer if they or
    /// their records are long.
    fileprivate var endsStepOfRetry: Bool {
        let size = UInt64(QuarantineLine.sizeOfRetry(line)) + 80 << 10
        let stepSize: UInt64 = 16 << 20
        // The lines are in the order of their first bytes, so the last ones decide.
        let number = key.suffix(4).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return number < (1 << 32) / stepSize * min(size, stepSize)
    }
}

/// The numbers of a migration into a store.
public struct StoreMigrationSummary: Sendable, Equatable {
    /// The counts of records over all runs that the migration took. Transactions are not counted for each record: the store has
    /// each of them once.
    public let records: MigrationSummary
    /// Facts that were new to the store in this run, facts that it had, and facts of erased customers.
    public let applied: AppliedFacts
    /// How many of the records an earlier run had migrated.
    public let recordsBefore: Int

    /// The summary as JSON, laid out for people, keys in a fixed order, ending with a line feed.
    public func json() -> [UInt8] {
        records.jsonOfRecords([
            ("recordsMigratedBefore", recordsBefore), ("factsNewToTheStore", applied.changed),
            ("factsTheStoreHad", applied.unchanged), ("factsOfErasedCustomers", applied.erased),
        ])
    }
}
