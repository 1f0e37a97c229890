/// Consecutive records of the inputs, not yet recognized.
///
/// Dividing an input is sequential and cheap; `records()` does the rest and can run on any thread.
package struct InputBatch: Sendable {
    let storage: [UInt8]
    let frames: [RecordFrame]
    let contexts: [FrameContext]
    let reader: RecordReader
    /// The files, links and folders among the records that were missing or not permitted.
    let unopened: [String]
    /// How many records at the beginning an earlier run migrated.
    var skipped = 0

    /// The number of records.
    package var count: Int { frames.count }

    /// Recognizes every record, in the order of the input.
    package func records() -> [InputRecord] {
        (0..<count).map(record)
    }

    /// Recognizes one record.
    package func record(_ index: Int) -> InputRecord {
        let frame = frames[index]
        let context = contexts[frame.context]
        let original = storage[frame.kept]
        if let problem = frame.problem {
            return InputRecord(
                place: context.place(of: frame), original: original, length: frame.length, carried: [],
                payload: .unrecognized(problem), table: context.table)
        }
        if context.table == nil, let line = QuarantineLine(original) {
            return line.record(place: context.place(of: frame), reader)
        }
        let recognition = reader.read(original, table: context.table)
        return InputRecord(
            place: context.place(of: frame), original: original, length: frame.length, carried: recognition.carried,
            payload: recognition.payload, members: recognition.membersOfRecord, table: context.table)
    }
}

extension Recognition {
    /// The handling of the columns, or of the whole record if it has none.
    var membersOfRecord: [MemberPath] {
        members.isEmpty ? [MemberPath(MemberPath.whole, payload.fate)] : members
    }
}

/// The common properties of the records of one input.
struct FrameContext: Sendable {
    let input: String
    let unit: RecordPlace.Unit
    let table: TableLayout?

    func place(of frame: RecordFrame) -> RecordPlace { place(frame.number, byteOffset: frame.byteOffset) }

    func place(_ number: Int, byteOffset: Int) -> RecordPlace {
        RecordPlace(input: input, unit: unit, number: number, byteOffset: byteOffset)
    }
}

/// One record's bytes in a batch.
struct RecordFrame: Sendable {
    let kept: Range<Int>
    let length: Int
    let number: Int
    let byteOffset: Int
    let context: Int
    let problem: InputProblem?
}

/// Collects records until there are enough for a batch.
struct BatchBuilder {
    private var storage: [UInt8] = []
    private var frames: [RecordFrame] = []
    private var contexts: [FrameContext] = []
    private var unopened: [String] = []
    private let reader: RecordReader

    init(_ reader: RecordReader) {
        self.reader = reader
        // The last record goes beyond the limit, and must not make the storage move.
        storage.reserveCapacity(InputLimits.batchBytes + InputLimits.batchBytes / 8)
        frames.reserveCapacity(InputLimits.batchRecords)
    }

    var isEmpty: Bool { frames.isEmpty }
    var isFull: Bool { frames.count >= InputLimits.batchRecords || storage.count >= InputLimits.batchBytes }

    /// Begins the records of an input.
    mutating func begin(_ context: FrameContext) {
        contexts.append(context)
    }

    /// The record consists of `before`, the bytes of the input, and `after`.
    mutating func append(
        _ bytes: Bytes, before: [UInt8] = [], after: [UInt8] = [], length: Int? = nil, number: Int, byteOffset: Int,
        problem: InputProblem? = nil
    ) {
        let start = storage.count
        storage += before
        storage.append(contentsOf: bytes)
        storage += after
        let kept = start..<storage.count
        frames.append(
            RecordFrame(
                kept: kept, length: length ?? kept.count, number: number, byteOffset: byteOffset,
                context: contexts.count - 1, problem: problem))
    }

    mutating func append(_ oversize: OversizeRecord, number: Int, limit: Int) {
        let length = oversize.length
        oversize.excerpt.withUnsafeBufferPointer {
            var problem = InputProblem(.tooLarge, "The record has \(length) bytes; the limit is \(limit).")
            if $0.count < length, let context = contexts.last {
                problem = .tooLarge(length, kept: $0, at: context.place(number, byteOffset: oversize.byteOffset))
            }
            append($0, length: oversize.length, number: number, byteOffset: oversize.byteOffset, problem: problem)
        }
    }

    /// Appends a file, link or folder that cannot be read. It is reported, and the other inputs are read.
    mutating func append(unreadable error: InputError, at offset: Int) {
        begin(FrameContext(input: error.input, unit: .file, table: nil))
        let problem = InputProblem(.unreadable, error.message)
        append(Bytes(start: nil, count: 0), number: 1, byteOffset: offset, problem: problem)
        if error.isUnopened { unopened.append(error.input) }
    }

    consuming func finish() -> InputBatch {
        InputBatch(storage: storage, frames: frames, contexts: contexts, reader: reader, unopened: unopened)
    }
}

/// A record that is longer than the limit: its beginning, its place and its length.
struct OversizeRecord {
    let byteOffset: Int
    private(set) var excerpt: [UInt8] = []
    private(set) var length = 0

    /// Adds the next bytes of the record.
    mutating func absorb(_ bytes: Bytes) {
        excerpt.append(contentsOf: bytes.prefix(InputLimits.oversizeExcerpt - excerpt.count))
        length += bytes.count
    }

    /// Removes the carriage return of the line end, if there is one.
    mutating func dropCarriageReturn(_ last: UInt8?) {
        guard last == 0x0D, length > 0 else { return }
        if excerpt.count == length { excerpt.removeLast() }
        length -= 1
    }
}
