/// Finds the end of one row of a table, across pieces of input.
///
/// A quote opens a quoted field only as the first byte of the field, so a stray quote inside a field does no harm.
struct TableRowEnd {
    enum State { case fieldStart, bare, quoted, quoteInQuoted, escapeInBare, escapeInQuoted }

    let dialect: TableDialect
    private(set) var state = State.fieldStart

    init(_ dialect: TableDialect) {
        self.dialect = dialect
    }

    /// Whether the bytes so far end inside quotes.
    var isQuoted: Bool { state == .quoted || state == .escapeInQuoted }

    /// Whether the bytes so far end with a backslash that escapes the next byte.
    var isEscaped: Bool { state == .escapeInBare || state == .escapeInQuoted }

    /// Continues at `start`, where the last call stopped. Returns the position of the row's line feed, or nil if it is
    /// not found yet.
    mutating func scan(_ bytes: Bytes, from start: Int) -> Int? {
        if let newline = scanUnquoted(bytes, from: start) { return newline < bytes.count ? newline : nil }
        var index = start
        while index < bytes.count {
            switch state {
            case .quoted:
                guard let end = endOfQuoted(bytes, from: index) else { return nil }
                state = bytes[end] == dialect.quote ? .quoteInQuoted : .escapeInQuoted
                index = end + 1
                continue
            case .escapeInQuoted, .escapeInBare:
                state = state == .escapeInQuoted ? .quoted : .bare
                index += 1
                continue
            case .bare:
                // With backslashes, the loop below searches byte by byte.
                if !dialect.hasBackslashes {
                    guard let end = bytes.position(ofEither: dialect.delimiter, or: 0x0A, from: index) else {
                        return nil
                    }
                    index = end
                }
            case .fieldStart, .quoteInQuoted: break
            }
            let byte = bytes[index]
            if byte == 0x0A { return index }
            if byte == dialect.delimiter {
                state = .fieldStart
            } else if byte == dialect.quote, dialect.hasQuotes, state != .bare {
                state = .quoted
            } else if byte == UInt8(ascii: "\\"), dialect.hasBackslashes {
                state = .escapeInBare
            } else {
                state = .bare
            }
            index += 1
        }
        return nil
    }

    /// The end of a row without quotes and escapes, as nearly all are, or of the bytes: `memchr` is much faster than the search
    /// for delimiters. Nil if there are quotes or escapes.
    private mutating func scanUnquoted(_ bytes: Bytes, from start: Int) -> Int? {
        guard !dialect.hasBackslashes, state == .fieldStart || state == .bare else { return nil }
        let end = bytes.position(of: 0x0A, from: start) ?? bytes.count
        guard end > start else { return end }
        if dialect.hasQuotes, bytes[slice: start..<end].position(of: dialect.quote) != nil { return nil }
        state = bytes[end - 1] == dialect.delimiter ? .fieldStart : .bare
        return end
    }

    private func endOfQuoted(_ bytes: Bytes, from start: Int) -> Int? {
        dialect.hasBackslashes
            ? bytes.position(ofEither: dialect.quote, or: UInt8(ascii: "\\"), from: start)
            : bytes.position(of: dialect.quote, from: start)
    }
}

/// One field of a row.
struct TableField {
    /// The unchanged field of the row, with its quotes.
    let range: Range<Int>
    let isQuoted: Bool
    let dialect: TableDialect
    /// Whether text follows its closing quote, other than blanks.
    let hasTextAfterQuote: Bool
    /// Whether its closing quote is after a backslash and before more text. Then the quote was escaped, as in the dialect of MySQL.
    let hasBackslashQuote: Bool
    /// Whether it begins with a quote, and no quote closes it before the row ends.
    let isUnterminated: Bool

    /// The field without the quotes around it, with its escapes.
    func content(in row: Bytes) -> Range<Int> {
        guard isQuoted else { return range }
        let closes = range.count >= 2 && row[range.upperBound - 1] == dialect.quote
        return (range.lowerBound + 1)..<(closes ? range.upperBound - 1 : range.upperBound)
    }

    /// The range of the value if it needs no decoding: the field, or the text between its quotes.
    func plainValue(in row: Bytes) -> Range<Int>? {
        if dialect.hasBackslashes, row[slice: range].position(of: UInt8(ascii: "\\")) != nil { return nil }
        guard isQuoted else { return range }
        let inner = (range.lowerBound + 1)..<max(range.lowerBound + 1, range.upperBound - 1)
        let closes = range.count >= 2 && row[range.upperBound - 1] == dialect.quote
        return closes && row[slice: inner].position(of: dialect.quote) == nil ? inner : nil
    }

    /// Whether the field is null, which differs from an empty text. RFC 4180 has no null.
    func isNull(in row: Bytes) -> Bool {
        dialect.hasBackslashes && !isQuoted && range.count == 2 && row[range.lowerBound] == UInt8(ascii: "\\")
            && row[range.lowerBound + 1] == UInt8(ascii: "N")
    }

    /// The value's bytes, without the quotes around it and without escapes. Null is empty.
    func value(in row: Bytes) -> [UInt8] {
        if let plain = plainValue(in: row) { return Array(row[plain]) }
        if isNull(in: row) { return [] }
        var value: [UInt8] = []
        value.reserveCapacity(range.count)
        var index = range.lowerBound + (isQuoted ? 1 : 0)
        var isInside = isQuoted
        while index < range.upperBound {
            let byte = row[index]
            index += 1
            if isInside, byte == dialect.quote {
                if index < range.upperBound, row[index] == byte {
                    value.append(byte)
                    index += 1
                } else {
                    isInside = false
                }
            } else if dialect.hasBackslashes, byte == UInt8(ascii: "\\") {
                dialect.appendEscaped(row, at: &index, end: range.upperBound, to: &value)
            } else {
                value.append(byte)
            }
        }
        return value
    }

    /// The value as the name of a column.
    func name(in row: Bytes) -> String {
        value(in: row).withUnsafeBufferPointer { String(decoding: $0[slice: $0.trimmed()], as: UTF8.self) }
    }

    /// The fields of a row without its line end.
    /// - Parameters:
    ///   - row: the bytes of the row.
    ///   - dialect: how they are divided.
    ///   - limit: the maximum number of fields to read. A row of delimiters alone has a field for each of its bytes.
    static func split(_ row: Bytes, _ dialect: TableDialect, atMost limit: Int = .max) -> [TableField] {
        var fields: [TableField] = []
        var start = 0
        while true {
            let isQuoted = dialect.hasQuotes && start < row.count && row[start] == dialect.quote
            let closing = isQuoted ? closingQuote(row, from: start, dialect) : nil
            let end =
                isQuoted
                ? closing.flatMap { endOfBare(row, from: $0 + 1, dialect) } : endOfBare(row, from: start, dialect)
            let rest = closing.map { row[slice: ($0 + 1)..<(end ?? row.count)] }
            let isAfterBackslash = closing.map { row[$0 - 1] == UInt8(ascii: "\\") } ?? false
            fields.append(
                TableField(
                    range: start..<(end ?? row.count), isQuoted: isQuoted, dialect: dialect,
                    hasTextAfterQuote: rest?.firstNonWhiteSpace() != nil,
                    hasBackslashQuote: rest?.isEmpty == false && isAfterBackslash && !dialect.hasBackslashes,
                    isUnterminated: isQuoted && closing == nil))
            guard let end, fields.count < limit else { return fields }
            start = end + 1
        }
    }

    private static func endOfBare(_ row: Bytes, from start: Int, _ dialect: TableDialect) -> Int? {
        guard dialect.hasBackslashes else { return row.position(of: dialect.delimiter, from: start) }
        var index = start
        while let end = row.position(ofEither: dialect.delimiter, or: UInt8(ascii: "\\"), from: index) {
            if row[end] == dialect.delimiter { return end }
            index = min(end + 2, row.count)
        }
        return nil
    }

    /// The quote that closes the field whose first quote is at `start`; nil if there is none.
    private static func closingQuote(_ row: Bytes, from start: Int, _ dialect: TableDialect) -> Int? {
        var index = start + 1
        while index < row.count {
            let found =
                dialect.hasBackslashes
                ? row.position(ofEither: dialect.quote, or: UInt8(ascii: "\\"), from: index)
                : row.position(of: dialect.quote, from: index)
            guard let found else { return nil }
            if row[found] == dialect.quote, found + 1 == row.count || row[found + 1] != dialect.quote { return found }
            // Two quotes, or an escape.
            index = found + 2
        }
        return nil
    }
}

/// Detects the header of a table where it occurs again because files were joined. Its columns can be in another order there.
struct RepeatedHeader {
    let input: String
    private let dialect: TableDialect
    private let names: [String]
    /// The first bytes of rows with these names. Nearly all other rows begin with other bytes.
    private let beginnings: Set<UInt8>
    private let maximumLength: Int

    init(input: String, table: TableLayout) {
        self.input = input
        dialect = table.dialect
        names = table.columns.sorted()
        beginnings = Set(table.columns.map { $0.utf8.first ?? table.dialect.delimiter })
        // With quotes, escapes, blanks and a byte order mark.
        maximumLength = table.columns.reduce(3) { $0 + 2 * $1.utf8.count + 8 }
    }

    /// The columns in the order of a row; nil if the row is not the header.
    func columns(in row: Bytes) -> [String]? {
        guard row.count <= maximumLength else { return nil }
        let row = row.starts(with: [0xEF, 0xBB, 0xBF]) ? row[slice: 3..<row.count] : row
        guard let first = row.first(where: { !$0.isWhiteSpace && $0 != dialect.quote }), beginnings.contains(first)
        else { return nil }
        let fields = TableField.split(row, dialect)
        guard fields.count == names.count else { return nil }
        let columns = fields.map { $0.name(in: row) }
        return columns.sorted() == names ? columns : nil
    }
}

/// One record per row of a table.
///
/// A quoted field without an end would include all following rows. Such a row ends at its first line feed and is reported, and
/// reading continues with the next line.
struct TableFramer: RecordFramer {
    let limit: Int
    let dialect: TableDialect
    /// The number of rows that were consumed, including the header.
    var number: Int
    /// Whether an empty row is a record.
    let keepsBlankRows: Bool
    /// The header, if it can occur again in the table. There it is not a record.
    let header: RepeatedHeader?
    private(set) var blankLines = 0
    /// The context that the last repeated header gives the rows after it; nil if the order of the columns never changed.
    private(set) var context: FrameContext?
    /// Whether the batch has the context.
    private var isBegun = true

    init(
        limit: Int, dialect: TableDialect, number: Int, keepsBlankRows: Bool = false, header: RepeatedHeader? = nil
    ) {
        self.limit = limit
        self.dialect = dialect
        self.number = number
        self.keepsBlankRows = keepsBlankRows
        self.header = header
    }

    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool {
        while true {
            var end = TableRowEnd(dialect)
            // With two bytes more than the limit, the row is too long even without a carriage return.
            let row = try input.line(limit: limit) { bytes, scanned in
                end.scan(Bytes(rebasing: bytes.prefix(limit + 2)), from: scanned)
            }
            guard let row else { return false }
            number += 1
            switch row {
            case _ where end.isQuoted:
                begin(&batch)
                try appendUnterminated(input, into: &batch)
            case .complete(let content, let next):
                if !keepsBlankRows, isBlank(input.window[slice: content]) {
                    blankLines += 1
                    input.consume(next)
                    continue
                }
                if let header, let columns = header.columns(in: input.window[slice: content]) {
                    change(to: TableLayout(dialect: dialect, columns: columns), of: header.input)
                    input.consume(next)
                    continue
                }
                begin(&batch)
                batch.append(input.window[slice: content], number: number, byteOffset: input.offset)
                input.consume(next)
            case .overlong:
                begin(&batch)
                batch.append(try consumeOverlong(input), number: number, limit: limit)
            }
            return true
        }
    }

    private mutating func change(to table: TableLayout, of input: String) {
        context = FrameContext(input: input, unit: .row, table: table)
        isBegun = false
    }

    /// Gives the batch the properties of its next records. A new batch already has them.
    private mutating func begin(_ batch: inout BatchBuilder) {
        guard !isBegun, let context else { return }
        batch.begin(context)
        isBegun = true
    }

    /// White space without a delimiter, or the end mark of PostgreSQL's format.
    private func isBlank(_ row: Bytes) -> Bool {
        if TableDialect.isEndMark(row) { return true }
        return row.firstNonWhiteSpace() == nil && row.position(of: dialect.delimiter) == nil
    }

    private func appendUnterminated(_ input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) {
        guard case .complete(let content, let next)? = try input.line(limit: limit) else {
            batch.append(try input.consumeOverlongLine(), number: number, limit: limit)
            return
        }
        batch.append(
            input.window[slice: content], number: number, byteOffset: input.offset,
            problem: InputProblem.unterminatedField(dialect))
        input.consume(next)
    }

    private func consumeOverlong(_ input: InputBuffer) throws(InputError) -> OversizeRecord {
        var end = TableRowEnd(dialect)
        return try input.consumeOverlong { end.scan($0, from: 0) }
    }
}

extension InputProblem {
    /// A row with a quoted field that does not end in it.
    static func unterminatedField(_ dialect: TableDialect) -> InputProblem {
        let hint = dialect.escape == .csv ? "; if backslashes escape quotes, the dialect of the table is mysql" : ""
        return InputProblem(.unterminatedQuote, "A quoted field of this row never ends\(hint).")
    }
}
