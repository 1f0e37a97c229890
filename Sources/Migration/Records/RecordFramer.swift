internal import Encodings

/// Divides an input into records without decoding them.
protocol RecordFramer {
    /// Moves the next record from the input to the batch. False if there is none left.
    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool
    /// The number of skipped blank lines so far.
    var blankLines: Int { get }
    /// The number of rows so far that are no records, because their tables hold something else.
    var rowsOfOtherTables: Int { get }
    /// The properties of the next records, if they differ within the input.
    var context: FrameContext? { get }
}

extension RecordFramer {
    var blankLines: Int { 0 }
    var rowsOfOtherTables: Int { 0 }
    var context: FrameContext? { nil }
}

/// The whole input is one record.
struct FileFramer: RecordFramer {
    let limit: Int
    var isDone = false

    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool {
        guard !isDone else { return false }
        isDone = true
        try input.consumeRest(into: &batch, number: 1, limit: limit)
        return true
    }
}

extension InputBuffer {
    /// Adds everything that is left as one record.
    func consumeRest(
        into batch: inout BatchBuilder, number: Int, limit: Int, problem: InputProblem? = nil
    ) throws(InputError) {
        try fill(upTo: limit + 1)
        guard count > limit else {
            batch.append(window, number: number, byteOffset: offset, problem: problem)
            consume(count)
            return
        }
        var oversize = OversizeRecord(byteOffset: offset)
        repeat {
            oversize.absorb(window)
            consume(count)
        } while try fill()
        batch.append(oversize, number: number, limit: limit)
    }
}

/// One line of an input, as positions in its window.
enum InputLine {
    /// The line without its end, and where the next line begins.
    case complete(content: Range<Int>, next: Int)
    /// Longer than the limit; its end is unknown.
    case overlong
}

extension InputBuffer {
    /// The line that begins at `start`, or nil if the input ends there. The result depends only on the bytes, not on
    /// how they arrive.
    /// - Parameters:
    ///   - start: the position of the first byte.
    ///   - limit: the maximum length of a record, in bytes.
    ///   - lineEnd: the position of the line end in the bytes; those before its second argument were searched.
    func line(
        from start: Int = 0, limit: Int,
        _ lineEnd: (Bytes, Int) -> Int? = { bytes, searched in bytes.position(of: 0x0A, from: searched) }
    ) throws(InputError) -> InputLine? {
        var searched = start
        while true {
            let bytes = window
            let newline = lineEnd(bytes, searched)
            // Two more than the limit and no line feed: too long even if a carriage return follows.
            if newline == nil, bytes.count - start > limit + 1 { return .overlong }
            if newline != nil || isAtEnd {
                var end = newline ?? bytes.count
                guard end > start || newline != nil else { return nil }
                if end > start, bytes[end - 1] == 0x0D { end -= 1 }
                return end - start > limit
                    ? .overlong : .complete(content: start..<end, next: newline.map { $0 + 1 } ?? bytes.count)
            }
            searched = bytes.count
            _ = try fill()
        }
    }

    /// Consumes the line at the front, however long it is, and its end.
    func consumeOverlongLine() throws(InputError) -> OversizeRecord {
        try consumeOverlong { $0.position(of: 0x0A) }
    }

    /// Consumes the record at the front, however long it is, and its line end.
    /// - Parameter lineEnd: the position of the line end in the next bytes; nil if it is not among them.
    func consumeOverlong(_ lineEnd: (Bytes) -> Int?) throws(InputError) -> OversizeRecord {
        var record = OversizeRecord(byteOffset: offset)
        var last: UInt8?
        while true {
            let bytes = window
            let newline = lineEnd(bytes)
            let end = newline ?? bytes.count
            record.absorb(bytes[slice: 0..<end])
            last = end > 0 ? bytes[end - 1] : last
            consume(newline.map { $0 + 1 } ?? end)
            if newline != nil { break }
            guard try fill() else { break }
        }
        record.dropCarriageReturn(last)
        return record
    }
}

/// One record per line. A base64 receipt that was wrapped over several lines is joined again.
///
/// A line is continued only if it begins a receipt and does not complete it, by the receipt's length field or ending.
/// The next lines must have the same width (the last one may be shorter), be all base64, and not begin a receipt
/// themselves. In any case, every byte gets into one record.
struct LineFramer: RecordFramer {
    let limit: Int
    let joinsWrappedReceipts: Bool
    private(set) var blankLines = 0
    var number = 0

    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool {
        while let line = try input.line(limit: limit) {
            number += 1
            guard case .complete(let content, let next) = line else {
                batch.append(try input.consumeOverlongLine(), number: number, limit: limit)
                return true
            }
            let text = input.window[slice: content]
            if text.firstNonWhiteSpace() == nil || TableDialect.isEndMark(text) {
                blankLines += 1
                input.consume(next)
                continue
            }
            try append(content, next: next, from: input, into: &batch)
            return true
        }
        return false
    }

    private mutating func append(
        _ content: Range<Int>, next: Int, from input: InputBuffer, into batch: inout BatchBuilder
    ) throws(InputError) {
        var (end, next, lines) = (content.upperBound, next, 1)
        if joinsWrappedReceipts, var wrapped = WrappedReceipt(firstLine: input.window[slice: content]) {
            while wrapped.isOpen,
                case .complete(let following, let afterIt)? = try input.line(from: next, limit: limit),
                following.upperBound <= limit, wrapped.takes(input.window[slice: following])
            {
                (end, next, lines) = (following.upperBound, afterIt, lines + 1)
            }
        }
        batch.append(input.window[slice: 0..<end], number: number, byteOffset: input.offset)
        input.consume(next)
        number += lines - 1
    }
}

/// Decides whether lines continue the receipt that a first line began.
struct WrappedReceipt {
    private let width: Int
    private let expected: Int?
    private var characters: Int
    private(set) var isOpen = true

    /// Nil if the line does not begin a receipt, or contains a whole one.
    init?(firstLine: Bytes) {
        let text = firstLine[slice: firstLine.trimmed()]
        guard StoredText.beginsBase64Receipt(text) else { return nil }
        width = text.count
        characters = Self.characters(text)
        expected = StoredText.expectedCharacters(text)
        if let expected, characters >= expected { return nil }
        if expected == nil, StoredText.endsReceipt(text) { return nil }
        guard Self.isBase64(text) else { return nil }
    }

    /// Whether the line is the next piece. Adds it if so.
    mutating func takes(_ line: Bytes) -> Bool {
        let text = line[slice: line.trimmed()]
        guard !text.isEmpty, text.count <= width, Self.isBase64(text),
            !Self.beginsAnother(text), !isMoreLikelyAnID(text)
        else { return false }
        characters += Self.characters(text)
        isOpen = text.count == width && text.last != UInt8(ascii: "=") && characters < expected ?? .max
        return true
    }

    /// The last piece may be too short for a decision.
    private static func beginsAnother(_ text: Bytes) -> Bool {
        text.count >= 20 && StoredText.beginsBase64Receipt(text)
    }

    /// A short line of digits is the end of the receipt only if that makes its length right.
    private func isMoreLikelyAnID(_ text: Bytes) -> Bool {
        text.count < width && StoredText.isTransactionID(text) && expected.map { characters + text.count != $0 } ?? true
    }

    private static func isBase64(_ text: Bytes) -> Bool {
        text.allSatisfy { $0.base64Value != nil || $0 == UInt8(ascii: "=") }
    }

    private static func characters(_ text: Bytes) -> Int {
        var end = text.count
        while end > 0, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        return end
    }
}
