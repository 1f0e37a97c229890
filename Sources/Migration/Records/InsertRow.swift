import AppStoreModels

/// Divides the content of the parentheses of a statement at its commas, across pieces of input. The content is the values of a
/// row, such as `(1,'it''s',NULL)`, or the definitions of columns.
///
/// A row has the literals that mysqldump, pg_dump and SQLite write. It is broken at the first byte that belongs to none, so that
/// a quote without its escape costs one row and not all that follow. Comments may stand between its literals.
struct InsertRow {
    /// How many comments one can have: one for each column that MySQL allows.
    private static let maximumComments = 4_096

    private enum State { case opening, value, bare, text, escape, quote, closed, ended, broken }

    private let dialect: TableDialect
    private let isDefinition: Bool
    private var state = State.opening
    private var quote: UInt8 = 0
    /// The number of parentheses that are open in the value.
    private var depth = 0
    /// The position of the quote that began the last text.
    private var textStart = 0
    /// Where the next byte is that was not yet read.
    private var index: Int
    private var comments: [Range<Int>] = []
    /// The comment in which the bytes so far end.
    private(set) var comment: DumpComment?
    private let endless: Int

    /// - Parameters:
    ///   - dialect: how the statement quotes and escapes.
    ///   - isDefinition: whether the row is the column list of a table definition.
    ///   - start: where the parenthesis is.
    ///   - endless: a position before which no comment in `/*` and `*/` ends.
    init(_ dialect: TableDialect, isDefinition: Bool = false, at start: Int = 0, endless: Int = 0) {
        self.dialect = dialect
        self.isDefinition = isDefinition
        self.endless = endless
        index = start
    }

    /// Where the text began in which the bytes so far end; nil if they end in none.
    var openText: Int? { state == .text || state == .escape ? textStart : nil }
    /// Whether the last position is that of the parenthesis at the end.
    var isEnded: Bool { state == .ended }
    /// Whether the last position is that of a byte that cannot be there.
    var isBroken: Bool { state == .broken }

    /// The position at which the next value ends. Nil if the bytes end before it; then it continues at their end.
    mutating func next(_ bytes: Bytes) -> Int? {
        while index < bytes.count {
            let position = index
            if var comment {
                let end = comment.end(in: bytes)
                self.comment = end == nil ? comment : nil
                guard let end else {
                    guard comment.isTooLong else { return nil }
                    state = .broken
                    return comment.damage
                }
                comments.append(comment.start..<end)
                index = end
            } else if state == .text {
                let end =
                    dialect.hasBackslashes
                    ? bytes.position(ofEither: quote, or: UInt8(ascii: "\\"), from: index)
                    : bytes.position(of: quote, from: index)
                index = end.map { $0 + 1 } ?? bytes.count
                guard let end else { return nil }
                state = bytes[end] == quote ? .quote : .escape
            } else {
                if state != .opening, state != .escape {
                    guard let isComment = DumpComment.begins(at: index, of: bytes, dialect) else { return nil }
                    if isComment {
                        if state == .quote { endText() }
                        guard comments.count < Self.maximumComments else {
                            state = .broken
                            return index
                        }
                        comment = DumpComment(at: index, of: bytes, endless: endless)
                        continue
                    }
                }
                index += 1
                if take(bytes[position], at: position) { return position }
            }
        }
        return nil
    }

    /// Only a comma or a parenthesis may follow the text of a row.
    private mutating func endText() { state = isDefinition ? .bare : .closed }

    /// Takes a byte that is not inside a text. True if a value ends there, or the row is broken.
    private mutating func take(_ byte: UInt8, at index: Int) -> Bool {
        if state == .escape || (state == .quote && byte == quote) {
            state = .text
            return false
        }
        if state == .quote { endText() }
        switch byte {
        case UInt8(ascii: "(") where state == .opening: state = .value
        case _ where state == .opening: state = .broken
        case 0x20, 0x09, 0x0A, 0x0D: break
        case UInt8(ascii: ",") where state != .value:
            state = .value
            return depth == 0
        case UInt8(ascii: ")") where depth > 0:
            endText()
            depth -= 1
        case UInt8(ascii: ")") where state != .value: state = .ended
        case UInt8(ascii: ","), UInt8(ascii: ")"), UInt8(ascii: ";"), UInt8(ascii: "\\"): state = .broken
        case _ where state == .closed: state = .broken
        case UInt8(ascii: "("):
            state = .value
            depth += 1
        case _ where Self.isQuote(byte, dialect) || (isDefinition && DumpStatement.isQuote(byte)):
            (state, quote, textStart) = (.text, byte, index)
        default: state = .bare
        }
        return isEnded || isBroken
    }

    /// MySQL takes texts in double quotes too, as mydumper writes them.
    private static func isQuote(_ byte: UInt8, _ dialect: TableDialect) -> Bool {
        byte == UInt8(ascii: "'") || (byte == UInt8(ascii: "\"") && dialect.hasBackslashes)
    }

    // MARK: Values

    /// The same row in the dialect of ``QueryStream``, which is read like any table.
    static func copied(_ bytes: Bytes, _ dialect: TableDialect) throws(InputProblem) -> [UInt8] {
        var row = InsertRow(dialect)
        var line: [UInt8] = []
        line.reserveCapacity(bytes.count)
        var (start, comments) = (1, 0)
        while let end = row.next(bytes) {
            guard !row.isBroken else { throw damaged(end) }
            if start > 1 { line.append(QueryStream.dialect.delimiter) }
            let isRead =
                comments == row.comments.count
                ? append(bytes[slice: start..<end], dialect, to: &line)
                : without(row.comments[comments...], bytes, start..<end)
                    .withUnsafeBufferPointer { append($0, dialect, to: &line) }
            guard isRead else {
                throw InputProblem(
                    .unknownForm,
                    "The value at byte \(start) of the row is an expression that only its database can compute.")
            }
            (start, comments) = (end + 1, row.comments.count)
            guard row.isEnded else { continue }
            guard start == bytes.count else { throw damaged(start) }
            return line
        }
        throw damaged(row.openText ?? row.comment?.start ?? bytes.count)
    }

    /// A value with a blank in place of each comment.
    private static func without(_ comments: ArraySlice<Range<Int>>, _ bytes: Bytes, _ value: Range<Int>) -> [UInt8] {
        var text: [UInt8] = []
        var start = value.lowerBound
        for comment in comments {
            text += bytes[start..<comment.lowerBound]
            text.append(0x20)
            start = comment.upperBound
        }
        return text + bytes[start..<value.upperBound]
    }

    private static func damaged(_ index: Int) -> InputProblem {
        InputProblem(
            .unterminatedQuote,
            "The row of the INSERT is damaged at its byte \(index): it is cut off, or a quote is not escaped.")
    }

    /// Appends a value with the escapes of ``QueryStream``. False if it is an expression.
    private static func append(_ text: Bytes, _ dialect: TableDialect, to line: inout [UInt8]) -> Bool {
        let literal = text[slice: text.trimmed()]
        var value: [UInt8]?
        if literal.last == UInt8(ascii: ")") {
            value = dialect.hasBackslashes ? nil : SQLiteExpression.text(literal)
        } else if let open = literal.firstIndex(where: { isQuote($0, dialect) }) {
            guard literal.last == literal[open] else { return false }
            let field = TableField(
                range: open..<literal.count, isQuoted: true,
                dialect: TableDialect(
                    delimiter: dialect.delimiter, escape: dialect.escape, quote: literal[open],
                    isInsert: literal[open] == UInt8(ascii: "'")),
                hasTextAfterQuote: false, hasBackslashQuote: false, isUnterminated: false)
            switch literal[0] {
            // A character set: `_binary '…'`.
            case literal[open], UInt8(ascii: "_"): value = field.value(in: literal)
            // Bits, and the texts of national character sets.
            case UInt8(ascii: "b"), UInt8(ascii: "B"), UInt8(ascii: "n"), UInt8(ascii: "N"):
                value = open == 1 ? field.value(in: literal) : nil
            case UInt8(ascii: "x"), UInt8(ascii: "X"):
                value = open == 1 ? StoredEncoding.bytes(ofHex: literal[slice: field.content(in: literal)]) : nil
            default: break
            }
        } else if literal.begins(with: "0x") {
            value = StoredEncoding.bytes(ofHex: literal[slice: 2..<literal.count])
        } else if isNull(literal) {
            line += [UInt8(ascii: "\\"), UInt8(ascii: "N")]
            return true
        } else if literal.position(of: UInt8(ascii: "(")) == nil {
            value = Array(literal)
        }
        guard let value else { return false }
        value.withUnsafeBufferPointer { QueryStream.append($0, to: &line) }
        return true
    }

    /// DEFAULT is the value of a generated column in pg_dump: the dump does not have it.
    private static func isNull(_ literal: Bytes) -> Bool {
        guard literal.count <= 7, let first = literal.first, !first.isDigit else { return false }
        return ["NULL", "DEFAULT"].contains(String(decoding: literal, as: UTF8.self).uppercased())
    }
}
