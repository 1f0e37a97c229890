import AppStoreModels
import Crypto
import Encodings
import LegacyReceipts
import SQLiteTransactionStore
import TransactionStore

/// The progress of a migration into a store, and its counts: the content of its checkpoints.
struct MigrationProgress: Sendable {
    /// The end of an input: the number and the digest of the records read so far.
    struct Mark: Equatable, Sendable {
        let input: String
        let records: Int
        let digest: [UInt8]
    }

    /// The start of a migration. `report` shows it, and uses it to count each record once.
    struct Start: Equatable, Sendable {
        /// The maximum number of kept names of inputs.
        static let maximumInputs = 100

        /// The name of the migration at its first start.
        let migration: String
        /// From 1. A later start reads all records again, so only the counts of the last start are valid.
        let number: Int
        /// The first inputs as the command names them, without the user and the password of a database.
        let inputs: [String]
        let inputCount: Int
        /// The current time at its first run, in milliseconds since 1970-01-01T00:00:00Z. No recorded document is
        /// filed as newer. Nil after its last record, because records that are added later can be newer. Nil in
        /// checkpoints of earlier versions.
        var date: Int64?
    }

    /// The maximum number of kept marks. A change of a later input is detected, but which one it was is not known.
    static let maximumMarks = 1_000

    var marks: [Mark] = []
    /// The input after those with a mark, in which the position is. Nil if it is not known: after the last input, after too
    /// many inputs, and in checkpoints of earlier versions.
    var input: String?
    /// The last row that was read from a query with a key.
    var row: QueryPosition?
    var summary = MigrationSummary()
    /// Nil in checkpoints of earlier versions.
    var start: Start?
    /// The files, links and folders that were missing or not permitted. If one can be read later, the stored position is
    /// invalid, because the records of the file come first.
    private(set) var unopened: [String] = []

    init() {}

    mutating func add(unopened inputs: [String]) {
        for input in inputs where unopened.count < Self.maximumMarks && !unopened.contains(input) {
            unopened.append(input)
        }
    }

    /// The form in a checkpoint.
    var state: [UInt8] {
        JSONWriter.object { writer in
            writer.objects("inputs", marks) { writer, mark in
                writer.member("input", mark.input)
                writer.member("records", Int64(mark.records))
                writer.member("sha256", Printable.hex(mark.digest))
            }
            if let input { writer.member("input", input) }
            if !unopened.isEmpty { writer.member("unopened", unopened) }
            if let row {
                writer.object("query") { writer in
                    writer.member("class", row.key.valueClass.rawValue)
                    writer.member("key", Base64.encode(row.key.bytes))
                    writer.member("row", Int64(row.row))
                    writer.member("end", Int64(row.end))
                    writer.member("counted", Int64(row.counted))
                }
            }
            if let start {
                writer.object("start") { writer in
                    writer.member("migration", start.migration)
                    writer.member("number", start.number)
                    writer.member("inputs", start.inputs)
                    writer.member("inputCount", start.inputCount)
                    if let date = start.date { writer.member("date", date) }
                }
            }
            writer.member("summary", json: summary.json().filter { $0 != 0x0A })
        }
    }

    /// Nil if the bytes are not such a state.
    init?(state: [UInt8]) {
        guard let object = try? JSONValue.parse(state[...]).object, let summary = object["summary"]?.object else {
            return nil
        }
        self.summary = MigrationSummary(summary)
        input = object["input"]?.string
        start = object["start"].flatMap { Start($0) }
        unopened = (object["unopened"]?.array ?? []).compactMap(\.string)
        for mark in object["inputs"]?.array ?? [] {
            guard let input = mark["input"]?.string,
                let records = mark["records"]?.integer.flatMap({ Int(exactly: $0) }),
                let hex = mark["sha256"]?.string, let digest = Fingerprint(hex: hex)
            else { return nil }
            marks.append(Mark(input: input, records: records, digest: digest.bytes))
        }
        guard let query = object["query"] else { return }
        guard let valueClass = query["class"]?.string.flatMap(SQLiteQuery.ValueClass.init(rawValue:)),
            let key = query["key"]?.string, let row = query["row"]?.integer.flatMap({ Int(exactly: $0) }), row >= 1,
            let end = query["end"]?.integer.flatMap({ Int(exactly: $0) })
        else { return nil }
        self.row = QueryPosition(
            key: QueryPosition.Key(valueClass: valueClass, bytes: StoredText.decode(key.utf8)), row: row, end: end,
            // Earlier versions did not count. The names of the columns are row 1.
            counted: query["counted"]?.integer.flatMap { Int(exactly: $0) } ?? row - 1)
    }
}

extension MigrationProgress.Start {
    /// Nil if it is not what ``MigrationProgress/state`` wrote.
    fileprivate init?(_ value: JSONValue) {
        guard let migration = value["migration"]?.string,
            let number = value["number"]?.integer.flatMap({ Int(exactly: $0) }), let inputs = value["inputs"]?.array,
            let count = value["inputCount"]?.integer.flatMap({ Int(exactly: $0) })
        else { return nil }
        self.init(
            migration: migration, number: number, inputs: inputs.compactMap(\.string), inputCount: count,
            date: value["date"]?.integer)
    }
}

/// Reads the records of a migration. It also reads those before a checkpoint, because ``MigrationPosition`` compares them. For a
/// query with a key, it reads only the rows after the checkpoint.
final class ResumedSource {
    /// Consecutive records of an input.
    struct Run: Sendable {
        let input: String
        /// The columns, if it is a table: another header gives other records.
        let columns: [String]
        var records: Int
    }

    /// The size of some records. It depends only on the input.
    struct Size: Sendable {
        private(set) var records = 0
        private(set) var bytes = 0

        init() {}

        /// - Parameter batch: a batch, without its skipped records.
        init(of batch: InputBatch) {
            let frames = batch.frames.dropFirst(batch.skipped)
            records = frames.count
            bytes = frames.reduce(0) { $0 + $1.kept.count }
        }

        mutating func add(_ other: Size) {
            records += other.records
            bytes += other.bytes
        }

        /// One number for both.
        var value: Int { records + bytes / 2_048 }
    }

    /// The part of a batch that counts for the position after it.
    struct Part: Sendable {
        let records: Int
        /// How many records at the beginning an earlier run migrated.
        let skipped: Int
        /// The size of the others.
        let size: Size
        /// All records, in their order; none for a query with a key.
        let runs: [Run]
        /// The last row of a query with a key.
        let row: QueryPosition?
        /// The files, links and folders among the records that were missing or not permitted.
        let unopened: [String]
    }

    private let source: RecordSource
    private var skipped: Int

    init(_ source: RecordSource, after position: MigrationPosition) {
        self.source = source
        skipped = position.skipped
    }

    /// The next records; nil at the end.
    func next() throws(MigrationError) -> (batch: InputBatch, companion: Part)? {
        guard var batch = try source.nextBatchUnlessCanceled() else { return nil }
        if let query = source.query, query.keyColumn != nil, let last = batch.frames.last {
            let row = query.position(afterRow: last.number)
            let part = Part(
                records: batch.count, skipped: 0, size: Size(of: batch), runs: [], row: row, unopened: [])
            return (batch, part)
        }
        batch.skipped = min(batch.count, skipped)
        skipped -= batch.skipped
        let part = Part(
            records: batch.count, skipped: batch.skipped, size: Size(of: batch), runs: batch.runs, row: nil,
            unopened: batch.unopened)
        return (batch, part)
    }
}

/// The position of a migration after the batches so far. It finds out whether the records before a checkpoint have changed.
struct MigrationPosition {
    /// The number of records before the checkpoint. The source of a query with a key begins after them, so there are none.
    let skipped: Int
    private let digestOfSkipped: [UInt8]
    private let known: [MigrationProgress.Mark]
    /// The input in which the checkpoint is.
    private let knownInput: String?
    private(set) var records: Int
    private(set) var marks: [MigrationProgress.Mark] = []
    private(set) var row: QueryPosition?
    private var hash = SHA256()
    private var input: String?
    /// Whether an input without a mark has ended.
    private var hasUnmarked = false
    /// The columns of the last records.
    private var columns: [String]?

    /// - Parameters:
    ///   - checkpoint: where to continue; nil to start at the beginning.
    ///   - progress: the content of the checkpoint.
    init(after checkpoint: MigrationCheckpoint?, _ progress: MigrationProgress) {
        row = progress.row
        known = progress.marks
        knownInput = progress.input
        let before = checkpoint.flatMap { Int(exactly: $0.records) } ?? 0
        records = progress.row == nil ? 0 : before
        skipped = progress.row == nil ? before : 0
        digestOfSkipped = progress.row == nil ? checkpoint?.digest ?? [] : []
    }

    /// The input in which the position is, if it comes directly after those with a mark.
    var inputAfterMarks: String? { marks.count < MigrationProgress.maximumMarks ? input : nil }

    /// SHA-256 of the digests of all records, after the columns of their tables. For a query with a key, SHA-256 of the
    /// last key, because the rows before it are not read again.
    var digest: [UInt8] {
        row.map { Array(SHA256.hash(data: $0.key.bytes)) } ?? Array(hash.finalize())
    }

    /// - Parameters:
    ///   - part: the part of the source that the batch read.
    ///   - digests: the ``InputBatch/digests`` of the batch.
    /// - Throws: ``MigrationError/Code-swift.enum/inputChanged`` if the records before the checkpoint have changed.
    mutating func add(_ part: ResumedSource.Part, digests: [UInt8]) throws(MigrationError) {
        row = part.row ?? row
        if part.runs.isEmpty { records += part.records }
        var digests = digests[...]
        for run in part.runs {
            if input != run.input {
                if let input { try end(input) }
                (input, columns) = (run.input, nil)
            }
            // A dump has several tables.
            if run.columns != columns {
                columns = run.columns
                for column in run.columns { hash.update(data: Array(column.utf8) + [0]) }
            }
            for _ in 0..<run.records {
                digests.prefix(SHA256Digest.byteCount).withUnsafeBytes { hash.update(bufferPointer: $0) }
                digests = digests.dropFirst(SHA256Digest.byteCount)
                records += 1
                if records == skipped, digest != digestOfSkipped {
                    throw changedList() ?? changedRecords(upTo: run.input)
                }
            }
        }
    }

    /// Ends the last input.
    /// - Throws: ``MigrationError/Code-swift.enum/inputChanged`` if there are fewer records than before the checkpoint.
    mutating func finish() throws(MigrationError) {
        if let input, marks.count < MigrationProgress.maximumMarks {
            try end(input)
            self.input = nil
        }
        guard records >= skipped else {
            throw changedList(isRead: true)
                ?? changed(nil, "it has \(records) records now, and \(skipped) were migrated")
        }
    }

    private mutating func end(_ input: String) throws(MigrationError) {
        guard marks.count < MigrationProgress.maximumMarks else {
            hasUnmarked = true
            return
        }
        let mark = MigrationProgress.Mark(input: input, records: records, digest: digest)
        if marks.count < known.count, records <= skipped {
            let old = known[marks.count]
            guard old.records == records, old.digest == mark.digest else {
                throw changedList() ?? changed(old.input, Self.others)
            }
        }
        marks.append(mark)
    }

    /// The first difference between the inputs read so far and those of the checkpoint; nil if they are the same ones in the
    /// same order. With another list, the records of an unchanged input are at another place.
    /// - Parameter isRead: whether all inputs were read.
    private func changedList(isRead: Bool = false) -> MigrationError? {
        let before = known.map(\.input) + [knownInput].compactMap(\.self)
        let now = marks.map(\.input) + [inputAfterMarks].compactMap(\.self)
        guard let place = zip(before, now).enumerated().first(where: { !Self.areSame($1.0, $1.1) })?.offset else {
            return isRead && now.count < before.count ? missing(before[now.count]) : nil
        }
        let (old, new) = (before[place], now[place])
        guard (try? SystemCalls.status(old)) != nil else { return missing(old) }
        let wasLater = before[(place + 1)...].contains { Self.areSame($0, new) }
        guard !wasLater else {
            return MigrationError(
                .inputChanged, path: old,
                """
                The input \(old) is at another place, or has no records now. When the first \(skipped) records were migrated, \
                it came before \(new).
                """)
        }
        return MigrationError(
            .inputChanged, path: new,
            """
            The input \(new) is new. When the first \(skipped) records were migrated, it was not there or had no records \
            before those of \(old).
            """)
    }

    private func missing(_ input: String) -> MigrationError {
        MigrationError(
            .inputChanged, path: input,
            "The input \(input) is missing or has no records now. Some of the first \(skipped) records were in it.")
    }

    /// The same command can name a file in several ways.
    private static func areSame(_ left: String, _ right: String) -> Bool {
        left == right || CanonicalPath.of(left) == CanonicalPath.of(right)
    }

    /// The change is in this input, or in one before it that has no mark.
    private func changedRecords(upTo input: String) -> MigrationError {
        // The input of the checkpoint has ended before.
        if let knownInput, marks.count > known.count { return changed(knownInput, Self.others) }
        guard hasUnmarked, let marked = marks.last?.input else { return changed(input, Self.others) }
        return MigrationError(
            .inputChanged, path: "",
            "An input after \(marked), up to \(input), has changed since the first \(skipped) records were migrated.")
    }

    private static let others = "its records or its columns have changed"

    private func changed(_ input: String?, _ change: String) -> MigrationError {
        let name = input.map { "The input \($0)" } ?? "The input"
        return MigrationError(
            .inputChanged, path: input ?? "",
            "\(name) has changed since its first \(skipped) records were migrated: \(change).")
    }
}

extension InputBatch {
    /// SHA-256 of each record, one after the other: of the sizes of what is kept and of the whole record, and of what is kept.
    var digests: [UInt8] {
        var digests: [UInt8] = []
        digests.reserveCapacity(count * SHA256Digest.byteCount)
        for frame in frames {
            var hash = SHA256()
            let bytes = storage[frame.kept]
            withUnsafeBytes(of: (UInt64(bytes.count).littleEndian, UInt64(frame.length).littleEndian)) {
                hash.update(bufferPointer: $0)
            }
            bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
            digests += hash.finalize()
        }
        return digests
    }

    fileprivate var runs: [ResumedSource.Run] {
        var runs: [ResumedSource.Run] = []
        var last: Int?
        for frame in frames {
            if frame.context != last {
                let context = contexts[frame.context]
                runs.append(
                    ResumedSource.Run(input: context.input, columns: context.table?.columns ?? [], records: 0))
            }
            last = frame.context
            runs[runs.count - 1].records += 1
        }
        return runs
    }
}
