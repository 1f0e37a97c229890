import AppStoreModels
import Crypto
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

    /// The maximum number of kept marks. A change of a later input is detected, but its name is not known.
    static let maximumMarks = 1_000

    var marks: [Mark] = []
    /// The last row that was read from a query with a key.
    var row: QueryPosition?
    var summary = MigrationSummary()

    init() {}

    /// The form in a checkpoint.
    var state: [UInt8] {
        JSONWriter.object { writer in
            writer.objects("inputs", marks) { writer, mark in
                writer.member("input", mark.input)
                writer.member("records", Int64(mark.records))
                writer.member("sha256", Printable.hex(mark.digest))
            }
            if let row {
                writer.object("query") { writer in
                    writer.member("class", row.key.valueClass.rawValue)
                    writer.member("key", Base64.encode(row.key.bytes))
                    writer.member("row", Int64(row.row))
                    writer.member("end", Int64(row.end))
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
            key: QueryPosition.Key(valueClass: valueClass, bytes: StoredText.decode(key.utf8)), row: row, end: end)
    }
}

/// Reads the records after a checkpoint. It also reads the records before it, to check that they have not changed. For
/// a query with a key, it reads only the rows after the checkpoint.
final class ResumedSource {
    /// The position after a batch.
    struct Position: Sendable {
        let records: Int
        let digest: [UInt8]
        let marks: [MigrationProgress.Mark]
        let row: QueryPosition?
    }

    private let source: RecordSource
    private let skipped: Int
    private let digestOfSkipped: [UInt8]
    private let known: [MigrationProgress.Mark]
    private var records = 0
    private var hash = SHA256()
    private var marks: [MigrationProgress.Mark] = []
    private var input: String?
    private var row: QueryPosition?

    /// - Parameters:
    ///   - checkpoint: where to continue; nil to start at the beginning.
    ///   - progress: the content of the checkpoint.
    init(_ source: RecordSource, after checkpoint: MigrationCheckpoint?, _ progress: MigrationProgress) {
        self.source = source
        row = progress.row
        known = progress.marks
        let before = checkpoint.flatMap { Int(exactly: $0.records) } ?? 0
        // The source of a query with a key begins after the row, so nothing is skipped.
        records = progress.row == nil ? 0 : before
        skipped = progress.row == nil ? before : 0
        digestOfSkipped = progress.row == nil ? checkpoint?.digest ?? [] : []
    }

    /// The next records after the checkpoint, and the position after them; nil at the end.
    /// - Throws: ``MigrationError/Code-swift.enum/inputChanged`` if the records before the checkpoint have changed.
    func next() throws(MigrationError) -> (batch: InputBatch, companion: Position)? {
        while let batch = try source.nextBatchUnlessCanceled() {
            let before = records
            try read(batch)
            guard records > skipped else { continue }
            return (batch.dropping(max(0, skipped - before)), position)
        }
        if let input, marks.count < MigrationProgress.maximumMarks {
            try end(input)
            self.input = nil
        }
        guard records >= skipped else {
            throw changed(nil, "it has \(records) records now, and \(skipped) of them were migrated")
        }
        return nil
    }

    /// The current position.
    var position: Position { Position(records: records, digest: digest, marks: marks, row: row) }

    /// The digest of all records; for a query with a key, that of the last key, because the rows before it are not read
    /// again.
    private var digest: [UInt8] {
        row.map { Array(SHA256.hash(data: $0.key.bytes)) } ?? Array(hash.finalize())
    }

    private func read(_ batch: InputBatch) throws(MigrationError) {
        if let query = source.query, query.keyColumn != nil, let last = batch.frames.last {
            row = query.position(afterRow: last.number) ?? row
            records += batch.count
            return
        }
        for frame in batch.frames {
            let name = batch.contexts[frame.context].input
            if let input, input != name { try end(input) }
            input = name
            let bytes = batch.storage[frame.kept]
            withUnsafeBytes(of: (UInt64(bytes.count).littleEndian, UInt64(frame.length).littleEndian)) {
                hash.update(bufferPointer: $0)
            }
            bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
            records += 1
            if records == skipped, digest != digestOfSkipped { throw changed(name, "its records are others") }
        }
    }

    private func end(_ input: String) throws(MigrationError) {
        guard marks.count < MigrationProgress.maximumMarks else { return }
        let mark = MigrationProgress.Mark(input: input, records: records, digest: digest)
        if marks.count < known.count, records <= skipped {
            let old = known[marks.count]
            guard old.records == records, old.digest == mark.digest else {
                throw changed(old.input, "its records are others")
            }
        }
        marks.append(mark)
    }

    private func changed(_ input: String?, _ what: String) -> MigrationError {
        let name = input.map { "The input \($0)" } ?? "The input"
        return MigrationError(
            .inputChanged, path: input ?? "",
            "\(name) is not the one that was migrated up to record \(skipped) before: \(what).")
    }
}

extension InputBatch {
    /// The batch without its first records.
    fileprivate func dropping(_ count: Int) -> InputBatch {
        guard count > 0 else { return self }
        return InputBatch(
            storage: storage, frames: Array(frames.dropFirst(count)), contexts: contexts,
            reader: reader)
    }
}
