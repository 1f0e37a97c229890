import AppStoreModels

/// Migrates records as a filter: lines come out in the order in which records come in, and nothing is kept.
///
/// Each line of the result is a JSON object. Its member `output` names it: one of the `transactions`,
/// `app-transactions` or `renewal-infos` of a record, or a line of the `quarantine`, with the original bytes and the
/// reason. After the lines of a record comes a line with the output `records`. It has the record's `source`, its
/// `status` (`migrated` or `quarantined`), and the number of its lines in each output. A record is resolved alone, so
/// the same record gives the same lines, but for its `source`, wherever it is read.
public struct MigrationStream: Sendable {
    /// The options for all records.
    public let options: MigrationOptions

    /// - Parameter options: the defaults accept all records, with Apple's certificates as trust anchors.
    public init(options: MigrationOptions = MigrationOptions()) { self.options = options }

    /// Migrates the inputs.
    ///
    /// - Parameters:
    ///   - inputs: paths of files and folders, and `-` for standard input, in the order in which they are read.
    ///   - write: receives whole lines, those of one batch at a time: up to 256 records or 2 MB of them.
    /// - Returns: the counts.
    /// - Throws: ``MigrationError``, or what `write` throws. A record never ends a stream.
    public func run(
        inputs: [String], write: @Sendable (ArraySlice<UInt8>) throws -> Void
    ) async throws -> MigrationSummary {
        let arguments = try options.arguments(inputs)
        let migrator = try RecordMigrator(options)
        let source = RecordSource(arguments, options: options.input)
        func next() throws(MigrationError) -> (batch: InputBatch, companion: Void)? {
            try source.nextBatchUnlessCanceled().map { ($0, ()) }
        }
        var summary = MigrationSummary()
        var failure: (any Error)?
        let pipeline = BatchPipeline<InputBatch>(work: { Self.migrate($0, migrator, into: &$1) }, jobs: options.jobs)
        do {
            try await pipeline.run(next) { (batch, _) throws(MigrationError) in
                do {
                    try batch.transactions.withBytes(write)
                } catch {
                    failure = error
                    throw .interrupted
                }
                summary.add(batch.counts.total())
            }
        } catch {
            throw failure ?? error
        }
        try options.check(records: summary.recordsRead)
        try summary.checkTotal()
        summary.finish(source.statistics)
        return summary
    }

    private static func migrate(_ batch: InputBatch, _ migrator: RecordMigrator, into output: inout BatchOutput) {
        var one = BatchOutput()
        for index in 0..<batch.count {
            migrate(batch.record(index), migrator, &one, to: &output.transactions)
        }
        output.counts = one.counts
    }

    /// Migrates one record, and writes its lines.
    /// - Parameters:
    ///   - one: has no lines, before and after. It counts the records.
    ///   - lines: gets the lines of all outputs.
    ///   - quarantined: receives the record's lines in the quarantine, as a store keeps them.
    static func migrate(
        _ record: InputRecord, _ migrator: RecordMigrator, _ one: inout BatchOutput, to lines: inout JSONWriter,
        quarantined: (JSONWriter) -> Void = { _ in }
    ) {
        let (migrated, transactions) = (one.counts.migratedRecords, one.counts.transactions)
        let (appTransactions, renewalInfos) = (one.counts.appTransactions, one.counts.renewalInfos)
        migrator.migrate(record, into: &one)
        move(&one.transactions, to: &lines)
        move(&one.appTransactions, to: &lines)
        move(&one.renewalInfos, to: &lines)
        quarantined(one.quarantine)
        let quarantine = moveQuarantine(&one.quarantine, to: &lines)
        lines.beginObject()
        lines.member("status", one.counts.migratedRecords > migrated ? "migrated" : "quarantined")
        lines.member("transactions", one.counts.transactions - transactions)
        lines.member("app-transactions", one.counts.appTransactions - appTransactions)
        lines.member("renewal-infos", one.counts.renewalInfos - renewalInfos)
        lines.member("quarantine", quarantine)
        lines.object("source") { record.place.writeMembers(to: &$0) }
        lines.member("output", "records")
        lines.endObject()
        lines.newline()
    }

    private static func move(_ lines: inout JSONWriter, to all: inout JSONWriter) {
        lines.withBytes { lines in lines.withUnsafeBufferPointer { all.verbatim($0) } }
        lines.removeAll()
    }

    /// Moves the lines of the quarantine, each with the name of its output, which a quarantine in a store does not have.
    /// - Returns: the number of lines.
    private static func moveQuarantine(_ lines: inout JSONWriter, to all: inout JSONWriter) -> Int {
        defer { lines.removeAll() }
        return lines.withBytes { lines in
            lines.withUnsafeBufferPointer { bytes in
                var (start, count) = (0, 0)
                while let length = bytes[slice: start..<bytes.count].position(of: 0x0A) {
                    // Without the brace at the end.
                    all.verbatim(bytes[slice: start..<start + length - 1])
                    all.verbatim(",\"output\":\"quarantine\"}\n")
                    start += length + 1
                    count += 1
                }
                return count
            }
        }
    }
}
