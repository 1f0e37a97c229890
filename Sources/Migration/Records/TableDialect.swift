import AppStoreModels
import Encodings

/// The caller's options for tables among the inputs.
public struct TableOptions: Hashable, Sendable {
    /// How the fields of a table are quoted and escaped.
    public enum Dialect: String, Hashable, Sendable, CaseIterable {
        /// RFC 4180: a field can be quoted, and a quote in it is doubled.
        case csv
        /// MySQL's `SELECT … INTO OUTFILE` and `mysqldump --tab`: a backslash escapes delimiters, line feeds, quotes and itself;
        /// `\N` is null. Quotes are optional (MySQL Reference Manual, LOAD DATA): between tabs they mean nothing if no column has
        /// them throughout.
        case mysql
        /// PostgreSQL's `COPY … TO` in the text format: a backslash escapes, `\N` is null, quotes mean nothing, and `\.` ends the
        /// data (PostgreSQL documentation, COPY).
        case postgresql
    }

    /// Nil to detect it: RFC 4180, unless its rows do not fit and those of `mysql` do, or its JSON is JSON only in `mysql`.
    public var dialect: Dialect?
    /// One ASCII character; nil to detect comma, semicolon, tab or vertical bar, or to read it from Excel's first line `sep=;`.
    public var delimiter: Unicode.Scalar?
    /// Whether the first row names the columns. Without it they are "column 1", "column 2" and so on. A table whose first row
    /// has a receipt has no header in any case.
    public var hasHeader: Bool
    /// The quote around fields, one ASCII character; nil for a double quote.
    public var quote: Unicode.Scalar?

    /// Creates options. The defaults detect the dialect and the delimiter, and read names from the first row.
    /// - Parameters:
    ///   - dialect: nil to detect it.
    ///   - delimiter: a character that ``isDelimiter(_:)`` accepts; nil to detect it.
    ///   - hasHeader: whether the first row names the columns.
    ///   - quote: a character that ``isQuote(_:)`` accepts; nil for a double quote.
    public init(
        dialect: Dialect? = nil, delimiter: Unicode.Scalar? = nil, hasHeader: Bool = true,
        quote: Unicode.Scalar? = nil
    ) {
        self.dialect = dialect
        self.delimiter = delimiter
        self.hasHeader = hasHeader
        self.quote = quote
    }

    /// Whether a character can separate fields: ASCII, and neither a letter, a digit, a quote, a backslash nor a line end.
    public static func isDelimiter(_ character: Unicode.Scalar) -> Bool {
        guard character.isASCII, character.value != 0x0A, character.value != 0x0D, character.value != 0 else {
            return false
        }
        return character != "\"" && character != "\\" && !character.properties.isAlphabetic
            && character.properties.numericType == nil
    }

    /// Whether a character can be the quote: a double quote, or any delimiter except blanks.
    public static func isQuote(_ character: Unicode.Scalar) -> Bool {
        character == "\"" || isDelimiter(character) && !character.properties.isWhitespace
    }
}

/// How the rows of one table are divided into fields.
struct TableDialect: Sendable, Hashable {
    let delimiter: UInt8
    var escape = TableOptions.Dialect.csv
    /// The character around quoted fields; ``noQuote`` if there is none.
    var quote = TableDialect.doubleQuote
    /// Whether a row is an ``InsertRow``.
    var isInsert = false

    static let noQuote: UInt8 = 0
    static let doubleQuote = UInt8(ascii: "\"")

    /// The same with other escapes.
    func escaped(as escape: TableOptions.Dialect) -> TableDialect {
        TableDialect(
            delimiter: delimiter, escape: escape, quote: quote == Self.noQuote ? Self.doubleQuote : quote)
    }

    var hasBackslashes: Bool { escape != .csv }
    var hasQuotes: Bool { escape != .postgresql && quote != Self.noQuote }

    /// Whether a line is `\.`, which ends the data of PostgreSQL's COPY. It is no row in any dialect.
    static func isEndMark(_ line: Bytes) -> Bool { line.count == 2 && line.begins(with: "\\.") }

    /// The other dialects in which a row has a number of fields.
    func others(inWhich row: Bytes, has count: Int) -> [TableOptions.Dialect] {
        TableOptions.Dialect.allCases.filter { other in
            other != escape && !isInsert
                && TableField.split(row, escaped(as: other), atMost: count + 1).count == count
        }
    }

    /// Appends the value of an escape: the byte after the backslash, and in PostgreSQL's format the digits of a code.
    ///
    /// - Parameters:
    ///   - row: the bytes of the row.
    ///   - index: the position of the byte after the backslash; set to that of the byte after the escape.
    ///   - end: the end of the field.
    ///   - value: gets the byte.
    func appendEscaped(_ row: Bytes, at index: inout Int, end: Int, to value: inout [UInt8]) {
        guard index < end else {
            value.append(UInt8(ascii: "\\"))
            return
        }
        let byte = row[index]
        index += 1
        switch (byte, escape) {
        case (UInt8(ascii: "b"), _): value.append(0x08)
        case (UInt8(ascii: "n"), _): value.append(0x0A)
        case (UInt8(ascii: "r"), _): value.append(0x0D)
        case (UInt8(ascii: "t"), _): value.append(0x09)
        case (UInt8(ascii: "0"), .mysql): value.append(0)
        case (UInt8(ascii: "Z"), .mysql): value.append(0x1A)
        // Escapes of patterns, which are themselves in any other text (MySQL Reference Manual, String Literals).
        case (UInt8(ascii: "%"), .mysql) where isInsert, (UInt8(ascii: "_"), .mysql) where isInsert:
            value += [UInt8(ascii: "\\"), byte]
        case (UInt8(ascii: "f"), .postgresql): value.append(0x0C)
        case (UInt8(ascii: "v"), .postgresql): value.append(0x0B)
        case (UInt8(ascii: "0")...UInt8(ascii: "7"), .postgresql):
            index -= 1
            value.append(Self.code(row, at: &index, end: min(end, index + 3), radix: 8))
        case (UInt8(ascii: "x"), .postgresql) where index < end && row[index].hexValue != nil:
            value.append(Self.code(row, at: &index, end: min(end, index + 2), radix: 16))
        default: value.append(byte)
        }
    }

    private static func code(_ row: Bytes, at index: inout Int, end: Int, radix: Int) -> UInt8 {
        var code = 0
        while index < end, let digit = row[index].hexValue, digit < radix {
            code = code * radix + Int(digit)
            index += 1
        }
        return UInt8(truncatingIfNeeded: code)
    }
}
