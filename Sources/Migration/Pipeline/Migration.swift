import AppStoreModels
import LegacyReceipts

/// A one-shot migration from records to modern transactions.
///
/// Each record is either migrated to `transactions.ndjson` (or `.csv`), `app-transactions.ndjson` and `renewal-infos.ndjson`, or
/// written to `quarantine.ndjson` with its original bytes and the reason. If a record contains valid and invalid documents, the
/// invalid ones are quarantined separately. `summary.json` contains the counts and the handling of each column. The same inputs
/// give the same output for any number of jobs.
public struct Migration: Sendable {
    /// The progress of a migration.
    public struct Progress: Sendable {
        public let bytesRead: Int
        public let records: Int
        public let quarantined: Int
    }

    public let options: MigrationOptions

    public init(options: MigrationOptions = MigrationOptions()) { self.options = options }

    /// Migrates files, folders, patterns such as `2019-*.csv`, and, for `-`, standard input, into a folder.
    ///
    /// - Parameters:
    ///   - inputs: paths or patterns of files and folders, and `-` for standard input, in the order in which they are read.
    ///   - output: the path of the output folder, which is created if it does not exist.
    ///   - documents: receives the accepted documents, one batch at a time in the order of the input, before the output files
    ///     get their final names. Its error ends the migration.
    ///   - progress: called from time to time, at most once per batch of records.
    /// - Throws: ``MigrationError``; then no output file has its final name. If the task is canceled, the error is
    ///   ``MigrationError/Code-swift.enum/interrupted``, and the files are removed.
    public func run(
        inputs: [String], output: String, documents: (@Sendable ([MigratedDocument]) async throws -> Void)? = nil,
        progress: @Sendable (Progress) -> Void = { _ in }
    ) async throws(MigrationError) -> MigrationSummary {
        let arguments = try options.arguments(inputs)
        try checkOutput(output, isOutside: arguments.compactMap(\.path))
        let migrator = try RecordMigrator(options, collectsDocuments: documents != nil)
        let folder = try OutputFolder<MigrationError>(path: output)
        let names = Self.names(options.outputFormat)
        if !options.overwrites, let taken = folder.firstTaken(of: names + otherNames) {
            throw MigrationError(
                .outputExists, path: taken, "The output folder holds \(taken) from an earlier migration.")
        }
        var files: [OutputFile<MigrationError>] = []
        for name in names { files.append(try folder.makeFile(name)) }
        if options.outputFormat == .csv { try files[0].write(TransactionTable.header) }
        let source = RecordSource(arguments, options: options.input)
        var summary = MigrationSummary()
        func next() throws(MigrationError) -> (batch: InputBatch, companion: Void)? {
            try source.nextBatchUnlessCanceled().map { ($0, ()) }
        }
        let pipeline = BatchPipeline(work: { migrator.migrate($0, into: &$1) }, jobs: options.jobs)
        try await pipeline.run(next) {
            (batch, _) async throws(MigrationError) in
            if let documents { try await Self.hand(batch.documents, to: documents) }
            for (file, writer) in zip(
                files, [batch.transactions, batch.appTransactions, batch.renewalInfos, batch.quarantine])
            {
                try writer.withBytes { (bytes) throws(MigrationError) in try file.write(bytes) }
                try file.flush()
            }
            summary.add(batch.counts.total())
            progress(
                Progress(
                    bytesRead: source.statistics.bytes, records: summary.recordsRead, quarantined: summary.quarantined))
        }
        try options.check(records: summary.recordsRead)
        summary.inputs = source.statistics.inputs
        summary.bytesRead = source.statistics.bytes
        summary.blankLines = source.statistics.blankLines
        summary.emptyInputs = source.statistics.emptyInputs
        try files[4].write(summary.json())
        try folder.complete(last: files[4], removing: otherNames, keepsUnchanged: false)
        return summary
    }

    private static func hand(
        _ documents: [MigratedDocument], to taker: @Sendable ([MigratedDocument]) async throws -> Void
    ) async throws(MigrationError) {
        guard !documents.isEmpty else { return }
        do {
            try await taker(documents)
        } catch {
            throw MigrationError(.documents, path: "", "\(error)")
        }
    }

    /// The files of a migration in the order of writing. The summary is the last one, so its presence means that all are complete.
    private static func names(_ format: MigrationOptions.OutputFormat) -> [String] {
        [
            format == .csv ? "transactions.csv" : "transactions.ndjson", "app-transactions.ndjson",
            "renewal-infos.ndjson", "quarantine.ndjson", "summary.json",
        ]
    }

    /// The files that only a migration with another output format writes.
    private var otherNames: [String] {
        let names = Set(Self.names(options.outputFormat))
        return MigrationOptions.OutputFormat.allCases.flatMap(Self.names).filter { !names.contains($0) }
    }

    /// Rejects an output folder inside an input folder, which would be read as input, and an input that is one of the
    /// output files, which would be replaced.
    private func checkOutput(_ output: String, isOutside inputs: [String]) throws(MigrationError) {
        let outputPath = CanonicalPath.of(output)
        let files = Set((Self.names(options.outputFormat) + otherNames).map { "\(outputPath)/\($0)" })
        for input in inputs {
            let inputPath = CanonicalPath.of(input)
            if files.contains(inputPath) {
                throw MigrationError(
                    .outputConflict, path: output,
                    "The input \(input) is a file of the output folder \(output) and would be replaced.")
            }
            if outputPath == inputPath || outputPath.hasPrefix(inputPath.hasSuffix("/") ? inputPath : inputPath + "/") {
                throw MigrationError(
                    .outputConflict, path: output,
                    "The output folder \(output) lies inside the input \(input) and would be read as input.")
            }
        }
    }
}
