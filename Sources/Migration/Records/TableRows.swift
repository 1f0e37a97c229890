/// Finds the end of one row of a table (RFC 4180), across pieces of input.
///
/// A quote opens a quoted field only as the first byte of the field, so a stray one further on costs nothing.
struct TableRowEnd {
    enum State { case fieldStart, bare, quoted, quoteInQuoted }

    let delimiter: UInt8
    private(set) var state = State.fieldStart

    init(delimiter: UInt8) {
        self.delimiter = delimiter
    }

    /// Goes on at `start`, where the last call stopped. The position of the row's line feed, or nil.
    mutating func scan(_ bytes: Bytes, from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            switch state {
            case .quoted:
                guard let quote = bytes.position(of: UInt8(ascii: "\""), from: index) else { return nil }
                state = .quoteInQuoted
                index = quote + 1
                continue
            case .bare:
                guard let end = bytes.position(ofEither: delimiter, or: 0x0A, from: index) else { return nil }
                index = end
            case .fieldStart, .quoteInQuoted: break
            }
            let byte = bytes[index]
            if byte == 0x0A { return index }
            if byte == delimiter {
                state = .fieldStart
            } else if byte == UInt8(ascii: "\""), state != .bare {
                state = .quoted
            } else {
                state = .bare
            }
            index += 1
        }
        return nil
    }
}

/// One field of a row.
struct TableField {
    /// The unchanged field of the row, with its quotes.
    let range: Range<Int>
    let isQuoted: Bool

    /// The field without the quotes around it; doubled quotes stay doubled.
    func content(in row: Bytes) -> Range<Int> {
        guard isQuoted else { return range }
        let closes = range.count >= 2 && row[range.upperBound - 1] == UInt8(ascii: "\"")
        return (range.lowerBound + 1)..<(closes ? range.upperBound - 1 : range.upperBound)
    }

    /// Where the value is, when it needs no work: the field, or what is between its quotes.
    func plainValue(in row: Bytes) -> Range<Int>? {
        guard isQuoted else { return range }
        let inner = (range.lowerBound + 1)..<max(range.lowerBound + 1, range.upperBound - 1)
        let closes = range.count >= 2 && row[range.upperBound - 1] == UInt8(ascii: "\"")
        return closes && row[slice: inner].position(of: UInt8(ascii: "\"")) == nil ? inner : nil
    }

    /// The value's bytes: quotes around it gone, doubled quotes single.
    func value(in row: Bytes) -> [UInt8] {
        if let plain = plainValue(in: row) { return Array(row[plain]) }
        var value: [UInt8] = []
        value.reserveCapacity(range.count)
        var index = range.lowerBound + 1
        var isInside = true
        while index < range.upperBound {
            let byte = row[index]
            if isInside, byte == UInt8(ascii: "\"") {
                if index + 1 < range.upperBound, row[index + 1] == byte {
                    value.append(byte)
                    index += 1
                } else {
                    isInside = false
                }
            } else {
                value.append(byte)
            }
            index += 1
        }
        return value
    }

    /// The fields of a row without its line end.
    static func split(_ row: Bytes, delimiter: UInt8) -> [TableField] {
        var fields: [TableField] = []
        var start = 0
        while true {
            let isQuoted = start < row.count && row[start] == UInt8(ascii: "\"")
            let end =
                isQuoted
                ? endOfQuoted(row, from: start, delimiter: delimiter) : row.position(of: delimiter, from: start)
            fields.append(TableField(range: start..<(end ?? row.count), isQuoted: isQuoted))
            guard let end else { return fields }
            start = end + 1
        }
    }

    private static func endOfQuoted(_ row: Bytes, from start: Int, delimiter: UInt8) -> Int? {
        var index = start + 1
        while let quote = row.position(of: UInt8(ascii: "\""), from: index) {
            guard quote + 1 < row.count, row[quote + 1] == UInt8(ascii: "\"") else {
                return row.position(of: delimiter, from: quote + 1)
            }
            index = quote + 2
        }
        return nil
    }
}

/// One record per row of a table.
///
/// A quoted field without an end would include all following rows. Such a row ends at its first line feed and is reported, and
/// reading continues with the next line.
struct TableFramer: RecordFramer {
    let limit: Int
    let delimiter: UInt8
    private(set) var blankLines = 0
    private var number: Int

    /// - Parameter rowsBefore: rows that were consumed already, the header among them.
    init(limit: Int, delimiter: UInt8, rowsBefore: Int) {
        self.limit = limit
        self.delimiter = delimiter
        number = rowsBefore
    }

    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool {
        while let row = try Self.row(of: input, delimiter: delimiter, limit: limit) {
            number += 1
            switch row {
            case .complete(let content, let next):
                if input.window[slice: content].firstNonWhiteSpace() == nil, !hasDelimiter(input.window[slice: content])
                {
                    blankLines += 1
                    input.consume(next)
                    continue
                }
                batch.append(input.window[slice: content], number: number, byteOffset: input.offset)
                input.consume(next)
            case .unterminated:
                try appendUnterminated(input, into: &batch)
            case .overlong:
                batch.append(try consumeOverlong(input), number: number, limit: limit)
            }
            return true
        }
        return false
    }

    private func hasDelimiter(_ row: Bytes) -> Bool {
        row.position(of: delimiter) != nil
    }

    enum Row {
        case complete(content: Range<Int>, next: Int)
        case unterminated
        case overlong
    }

    /// The row at the front of the input; nil at the end. The outcome depends only on the bytes, not on how they arrive.
    static func row(of input: InputBuffer, delimiter: UInt8, limit: Int) throws(InputError) -> Row? {
        var end = TableRowEnd(delimiter: delimiter)
        var scanned = 0
        while true {
            // Two bytes more than the limit settle it: the row is too long even without a carriage return.
            let bytes = Bytes(rebasing: input.window.prefix(limit + 2))
            let newline = end.scan(bytes, from: scanned)
            scanned = bytes.count
            if newline == nil, scanned > limit + 1 { return end.state == .quoted ? .unterminated : .overlong }
            if newline != nil || input.isAtEnd {
                guard newline != nil || scanned > 0 else { return nil }
                if newline == nil, end.state == .quoted { return .unterminated }
                var length = newline ?? scanned
                if length > 0, bytes[length - 1] == 0x0D { length -= 1 }
                return length > limit
                    ? .overlong : .complete(content: 0..<length, next: newline.map { $0 + 1 } ?? scanned)
            }
            _ = try input.fill()
        }
    }

    private func appendUnterminated(_ input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) {
        guard case .complete(let content, let next)? = try input.line(from: 0, limit: limit) else {
            batch.append(try input.consumeOverlongLine(), number: number, limit: limit)
            return
        }
        let problem = InputProblem(.unterminatedQuote, "A quoted field of this row never ends.")
        batch.append(input.window[slice: content], number: number, byteOffset: input.offset, problem: problem)
        input.consume(next)
    }

    private func consumeOverlong(_ input: InputBuffer) throws(InputError) -> OversizeRecord {
        var record = OversizeRecord(byteOffset: input.offset)
        var end = TableRowEnd(delimiter: delimiter)
        var last: UInt8?
        while true {
            let bytes = input.window
            let newline = end.scan(bytes, from: 0)
            let taken = newline ?? bytes.count
            record.absorb(bytes[slice: 0..<taken])
            last = taken > 0 ? bytes[taken - 1] : last
            input.consume(newline.map { $0 + 1 } ?? taken)
            if newline != nil { break }
            guard try input.fill() else { break }
        }
        record.dropCarriageReturn(last)
        return record
    }
}
