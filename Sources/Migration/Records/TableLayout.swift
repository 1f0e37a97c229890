import AppStoreModels
import Purchases

/// The layout of a table, detected before its first record is read.
struct TableLayout: Sendable, Equatable {
    let dialect: TableDialect
    /// The header's fields; "column 1", "column 2" … if the first row is data.
    let columns: [String]
    /// The meanings of the column names.
    let meanings: [ColumnNames.Meaning?]

    init(dialect: TableDialect, columns: [String]) {
        self.dialect = dialect
        self.columns = columns
        meanings = columns.map { ColumnNames.meaning(of: $0) }
    }

    /// The other dialect in which a row is several rows, and their number. A quote or a backslash that has no meaning in that
    /// dialect has joined them. Nil if there is none, for example if a value has line feeds.
    /// - Parameters:
    ///   - row: the bytes of the row.
    ///   - dialect: the one in which it was read.
    ///   - fields: of the row, as it was read.
    func joinedRows(
        _ row: Bytes, _ dialect: TableDialect, _ fields: [TableField]
    ) -> (dialect: TableOptions.Dialect, count: Int)? {
        guard !dialect.isInsert, columns.count > 1, row.position(of: 0x0A) != nil else { return nil }
        // Text after a closing quote shows that the quote opens a value of another row. Blanks there show nothing.
        let isDamaged = fields.contains(where: \.hasTextAfterQuote)
        for other in TableOptions.Dialect.allCases where other != dialect.escape {
            let count = rows(in: row, dialect.escaped(as: other), areCertain: isDamaged)
            if count > 1 { return (other, count) }
        }
        return nil
    }

    /// The number of rows in bytes. 0 if they are not rows of the table, or may be lines of a text in the first one. They are
    /// rows if one after the first has a document, or if a column has ids or numbers of one form in all of them. They are
    /// lines of a text if a column has a document in one of them, and in another one what follows a comma in a sentence.
    /// - Parameters:
    ///   - bytes: the possible rows.
    ///   - dialect: the one in which they are read.
    ///   - areCertain: whether they cannot be lines of a text.
    private func rows(in bytes: Bytes, _ dialect: TableDialect, areCertain: Bool) -> Int {
        var areRows = areCertain
        var forms: [[UInt8]?] = []
        var (withDocument, withText): (Set<Int>, Set<Int>) = ([], [])
        var count = 0
        let areFitting = divide(bytes, dialect) { range, fields in
            let row = bytes[slice: range]
            let found = fields.map { Self.form(of: $0, in: row) }
            forms = count == 0 ? found : zip(forms, found).map { $0 == $1 ? $0 : nil }
            if count > 0, !areRows {
                areRows = zip(fields, meanings).contains { Self.isDocument($0, $1, in: row) }
            }
            for (column, field) in fields.enumerated() {
                let value = field.value(in: row)
                if Self.isDocument(value.filter { $0 != UInt8(ascii: "\"") }, meanings[column]) {
                    withDocument.insert(column)
                } else if value.first == UInt8(ascii: " "), value.contains(where: { $0 > UInt8(ascii: " ") }) {
                    withText.insert(column)
                }
            }
            count += 1
        }
        guard areFitting else { return 0 }
        if !areCertain, !withDocument.isDisjoint(with: withText) { return 0 }
        return areRows || forms.contains { $0 != nil } ? count : 0
    }

    /// Calls `body` for each row in bytes. It keeps no list of rows, because a row can have two bytes. False if one of them is not as
    /// wide as the header, or if the last one ends inside quotes.
    private func divide(
        _ bytes: Bytes, _ dialect: TableDialect, _ body: (_ row: Range<Int>, _ fields: [TableField]) -> Void
    ) -> Bool {
        var start = 0
        while start < bytes.count {
            let rest = bytes[slice: start..<bytes.count]
            var end = TableRowEnd(dialect)
            let newline = end.scan(rest, from: 0)
            guard newline != nil || !end.isQuoted else { return false }
            var length = newline ?? rest.count
            let next = start + length + 1
            if length > 0, rest[length - 1] == 0x0D { length -= 1 }
            let fields = TableField.split(rest[slice: 0..<length], dialect, atMost: columns.count + 1)
            guard fields.count == columns.count else { return false }
            body(start..<(start + length), fields)
            start = next
        }
        return true
    }

    /// Reads bytes that do not fit the dialect of this layout as rows of the dialect that the options state. Nil if the options
    /// state no other dialect, if the bytes are not whole rows of that dialect, or if they may be lines of a text.
    func rows(in bytes: Bytes, statedBy options: TableOptions) -> (layout: TableLayout, rows: [Range<Int>])? {
        guard !dialect.isInsert else { return nil }
        let stated = Self.stated(options, dialect, bytes)
        var rows: [Range<Int>] = []
        guard stated != dialect, divide(bytes, stated, { row, _ in rows.append(row) }), let last = rows.last else {
            return nil
        }
        // A backslash at the end escapes the line feed after it, so the value has more lines, which are not in these bytes.
        var end = TableRowEnd(stated)
        guard end.scan(bytes[slice: last], from: 0) == nil, !end.isEscaped else { return nil }
        if rows.count > 1 {
            let isDamaged = split(bytes, dialect).contains(where: \.hasTextAfterQuote)
            guard self.rows(in: bytes, stated, areCertain: isDamaged) == rows.count else { return nil }
        }
        return (TableLayout(dialect: stated, columns: columns), rows)
    }

    /// The fields of a row, at most ``mostFields``.
    func split(_ row: Bytes, _ dialect: TableDialect) -> [TableField] {
        TableField.split(row, dialect, atMost: mostFields)
    }

    /// How many fields of a row are read. A damaged row can have one for each of its bytes.
    var mostFields: Int { 2 * columns.count + InputLimits.superfluousFields }

    /// A dialect with what options state.
    /// - Parameters:
    ///   - options: what they do not state stays.
    ///   - dialect: the dialect.
    ///   - bytes: rows, which show whether MySQL has written quotes.
    private static func stated(_ options: TableOptions, _ dialect: TableDialect, _ bytes: Bytes) -> TableDialect {
        var stated = options.dialect.map { dialect.escaped(as: $0) } ?? dialect
        let delimiter = options.delimiter.flatMap { UInt8(exactly: $0.value) } ?? dialect.delimiter
        let quote = options.quote.flatMap { UInt8(exactly: $0.value) } ?? stated.quote
        stated = TableDialect(delimiter: delimiter, escape: stated.escape, quote: quote)
        guard options.dialect == .mysql, options.quote == nil, delimiter == 0x09 else { return stated }
        return Sample.unquoted(bytes, isWhole: true)?.dialect ?? stated
    }

    /// The other dialect in which invalid JSON of a row is valid, because backslashes escape line feeds and quotes. Nil if there is
    /// none.
    func dialectOfJSON(_ row: Bytes, _ fields: [TableField]) -> TableOptions.Dialect? {
        guard !dialect.hasBackslashes, !dialect.isInsert, row.position(of: UInt8(ascii: "\\")) != nil else {
            return nil
        }
        let escaped = TableField.split(row, dialect.escaped(as: .mysql), atMost: fields.count + 1)
        guard escaped.count == fields.count else { return nil }
        let isFound = zip(fields, escaped).contains { Self.isJSON($1, in: row) && !Self.isJSON($0, in: row) }
        return isFound ? .mysql : nil
    }

    /// Whether the value of a field is a JSON object or array.
    fileprivate static func isJSON(_ field: TableField, in row: Bytes) -> Bool {
        let value = field.value(in: row)
        guard let first = value.first(where: { !$0.isWhiteSpace }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        else { return false }
        return (try? JSONValue.parse(value)) != nil
    }

    /// The form of an id, a number or a date: `a-9` for `user-17`. Nil for another value, such as a word of a text.
    private static func form(of field: TableField, in row: Bytes) -> [UInt8]? {
        // Another dialect leaves quotes around the value.
        let value = field.value(in: row).filter { $0 != UInt8(ascii: "\"") }
        guard value.count <= 64 else { return nil }
        var form: [UInt8] = []
        for byte in value {
            var sign = byte
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): sign = UInt8(ascii: "9")
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): sign = UInt8(ascii: "a")
            case _ where "-_.:@".utf8.contains(byte): break
            default: return nil
            }
            if form.last != sign { form.append(sign) }
        }
        return form.contains(UInt8(ascii: "9")) ? form : nil
    }

    private static func isDocument(_ field: TableField, _ meaning: ColumnNames.Meaning?, in row: Bytes) -> Bool {
        isDocument(field.value(in: row), meaning)
    }

    private static func isDocument(_ value: [UInt8], _ meaning: ColumnNames.Meaning?) -> Bool {
        value.withUnsafeBufferPointer {
            let text = $0[slice: $0.trimmed()]
            if StoredText.isUnmistakable(text) { return true }
            return meaning?.isPayload == true && (StoredText.isTransactionID(text) || text.first == UInt8(ascii: "{"))
        }
    }
}

/// Detects a table's delimiter and columns, and whether a column contains receipts.
struct TableDetector {
    struct Table {
        let layout: TableLayout
        /// The numbers of bytes and rows up to the end of the header.
        let headerLength: Int
        let headerRows: Int
    }

    let input: String
    let receiptColumns: [String]
    /// Further columns that the caller requires.
    let otherColumns: [String]
    let options: TableOptions
    /// Whether the caller or the file name states that it is a table. If so, a failed detection is an error.
    let isCertain: Bool

    /// Nil if the bytes are not a table.
    ///
    /// - Parameters:
    ///   - head: the first bytes, byte order mark excluded.
    ///   - isWhole: whether these are all bytes of the input.
    func detect(_ head: Bytes, isWhole: Bool) throws(InputError) -> Table? {
        let named = Self.separatorLine(head)
        let isCertain = isCertain || named != nil
        let rest = head[slice: (named?.length ?? 0)..<head.count]
        let stated = named?.delimiter ?? options.delimiter.flatMap { UInt8(exactly: $0.value) }
        guard let sample = sample(rest, isWhole: isWhole, delimiter: stated, isCertain: isCertain) else {
            guard isCertain, head.firstNonWhiteSpace() != nil else { return nil }
            throw error(
                .noHeader, "The first row of \(input) does not end within \(InputLimits.detectionWindow) bytes.")
        }
        // One column is a table only by name; anything else is plain lines.
        if sample.width == 1, !isCertain, !isName(sample.texts(ofRow: 0)[0]) { return nil }
        guard let table = try table(sample, isCertain: isCertain) else { return nil }
        for column in otherColumns where !table.layout.columns.contains(column) {
            throw columnNotFound(column, table.layout.columns)
        }
        guard let named else { return table }
        return Table(
            layout: table.layout, headerLength: named.length + table.headerLength, headerRows: 1 + table.headerRows)
    }

    /// The sample of the dialect and the delimiter that fit best; nil if the first row does not end. Detects the delimiter if
    /// `delimiter` is nil.
    private func sample(_ head: Bytes, isWhole: Bool, delimiter: UInt8?, isCertain: Bool) -> Sample? {
        if let delimiter { return sample(head, isWhole: isWhole, delimiters: [delimiter]) }
        guard let usual = sample(head, isWhole: isWhole, delimiters: [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09])
        else { return nil }
        guard head.position(of: Self.bar) != nil, !isTableOfDocuments(usual),
            let barred = sample(head, isWhole: isWhole, delimiters: [Self.bar]),
            separates(barred, insteadOf: usual, isCertain: isCertain)
        else { return usual }
        return barred
    }

    private static let bar = UInt8(ascii: "|")

    /// Whether vertical bars separate columns. Values and log lines contain bars too, so the table needs a column of documents.
    private func separates(_ barred: Sample, insteadOf usual: Sample, isCertain: Bool) -> Bool {
        guard barred.width > 1 else { return false }
        if isCertain { return usual.width == 1 || isTableOfDocuments(barred) }
        // After a bar, the JSON of a log is a field of its own.
        if namesDocuments(barred) { return !barred.hasBareJSON(inRow: 0) }
        let hasBareJSON = barred.rows.indices.contains { barred.hasBareJSON(inRow: $0) }
        return barred.isEven && !hasBareJSON && isTableOfDocuments(barred)
    }

    /// Whether a sample has several columns, one of them with documents, or a column that a name states.
    private func isTableOfDocuments(_ sample: Sample) -> Bool {
        namesDocuments(sample) || sample.width > 1 && (sample.hasReceipt(inRow: 0) || sample.hasReceiptBelowHeader)
    }

    /// Whether the header names the columns that the caller names, or one with documents.
    private func namesDocuments(_ sample: Sample) -> Bool {
        guard options.hasHeader else { return false }
        let names = sample.texts(ofRow: 0)
        if !receiptColumns.isEmpty { return receiptColumns.allSatisfy { names.contains($0) } }
        return names.contains { ColumnNames.meaning(of: $0)?.isPayload == true }
    }

    private func sample(_ head: Bytes, isWhole: Bool, delimiters: [UInt8]) -> Sample? {
        let quote = options.quote.flatMap { UInt8(exactly: $0.value) } ?? TableDialect.doubleQuote
        func best(_ escape: TableOptions.Dialect) -> Sample? {
            let samples = delimiters.map {
                Sample(head, TableDialect(delimiter: $0, escape: escape, quote: quote), isWhole: isWhole)
            }
            return samples.max { $0.score < $1.score }.flatMap { $0.rows.isEmpty ? nil : $0 }
        }
        if let dialect = options.dialect {
            let sample = best(dialect)
            guard dialect == .mysql, options.quote == nil, (sample?.dialect.delimiter ?? delimiters.first) == 0x09
            else { return sample }
            return Sample.unquoted(head, isWhole: isWhole) ?? sample
        }
        let plain = best(.csv)
        // Any value can contain backslashes. They are escapes only if the rows fit with them, and do not fit without. If one of
        // many rows is damaged, the others decide: at most half as many may fit without escapes.
        if plain?.isRegular != true, head.position(of: UInt8(ascii: "\\")) != nil, let escaped = best(.mysql),
            escaped.isRegular || (plain?.hasBackslashQuote == true && escaped.isEven)
                || (escaped.isNearlyRegular && 2 * (plain?.fittingRows ?? 0) <= escaped.fittingRows)
        {
            return escaped
        }
        return plain.flatMap { $0.escapedJSON(isWhole: isWhole, quote: quote) } ?? plain
    }

    /// Excel's first line `sep=;`, which names the delimiter.
    private static func separatorLine(_ head: Bytes) -> (delimiter: UInt8, length: Int)? {
        guard head.begins(with: "sep="), head.count > 5 else { return nil }
        let end = head[5] == 0x0D ? 6 : 5
        guard end < head.count, head[end] == 0x0A, TableOptions.isDelimiter(Unicode.Scalar(head[4])) else { return nil }
        return (head[4], end + 1)
    }

    private func table(_ sample: Sample, isCertain: Bool) throws(InputError) -> Table? {
        let names = options.hasHeader ? sample.texts(ofRow: 0) : Self.numbered(sample.width)
        if !receiptColumns.isEmpty {
            if let missing = receiptColumns.first(where: { !names.contains($0) }) {
                guard isCertain || sample.isRegular else { return nil }
                guard options.hasHeader, sample.hasReceipt(inRow: 0) else { throw columnNotFound(missing, names) }
                throw error(
                    .columnNotFound,
                    """
                    \(input) has no column \(missing): its first row has a receipt, so it has no header. Name the \
                    column by its number, with --no-header.
                    """)
            }
            return make(sample, names, hasHeader: options.hasHeader)
        }
        let ids = sample.columnsOfIDs(from: 0)
        // A single column of ids is read line by line.
        if sample.width == 1, !ids.isEmpty, otherColumns.isEmpty { return nil }
        if !options.hasHeader {
            guard ids.isEmpty || sample.hasReceipt(inRow: 0) || sample.hasReceiptBelowHeader else {
                throw undetectable(sample, names, hasHeader: false)
            }
            return make(sample, names, hasHeader: false)
        }
        // A receipt in the first row means that there is no header.
        if sample.hasReceipt(inRow: 0) { return make(sample, Self.numbered(names.count), hasHeader: false) }
        if names.contains(where: { ColumnNames.meaning(of: $0)?.isPayload == true }) || sample.hasReceiptBelowHeader {
            return make(sample, names)
        }
        guard isCertain || sample.isRegular else { return nil }
        throw undetectable(sample, names, hasHeader: ids.isEmpty)
    }

    private func undetectable(_ sample: Sample, _ names: [String], hasHeader: Bool) -> InputError {
        let names = hasHeader ? names : Self.numbered(sample.width)
        // Without it, --column would only move all rows to the quarantine.
        let dialectHint = sample.hasBackslashQuote ? " If backslashes escape quotes, pass --table-dialect mysql." : ""
        return error(
            .columnUndetectable,
            """
            The receipt column of \(input) cannot be detected; name it with --column. The columns are: \
            \(Self.list(names)).\(idHint(sample, names, hasHeader: hasHeader))\(Self.delimiterHint(names))\(dialectHint)
            """)
    }

    /// Names the columns that may have transaction ids. They are read only if the caller names them: user ids, phone numbers and
    /// card numbers look the same, and `enrich` sends transaction ids to Apple.
    private func idHint(_ sample: Sample, _ names: [String], hasHeader: Bool) -> String {
        let ids = sample.columnsOfIDs(from: hasHeader ? 1 : 0)
        guard let first = ids.first else { return "" }
        let option = hasHeader ? "--column \(names[first])" : "--no-header --column \(first + 1)"
        return """
             All values are numbers that can be transaction ids in: \(Self.list(ids.map { names[$0] })). If they are, name the \
            column: \(option).
            """
    }

    private func make(_ sample: Sample, _ names: [String], hasHeader: Bool = true) -> Table {
        Table(
            layout: TableLayout(dialect: sample.dialect, columns: names),
            headerLength: hasHeader ? sample.headerLength : 0, headerRows: hasHeader ? sample.headerRows : 0)
    }

    private func isName(_ text: String) -> Bool {
        receiptColumns.contains(text) || ColumnNames.meaning(of: text)?.isPayload == true
    }

    static func numbered(_ count: Int) -> [String] {
        (1...max(1, count)).map { "column \($0)" }
    }

    /// At most forty names, so that a message stays short.
    static func list(_ names: [String]) -> String {
        let shown = names.prefix(40).map { $0.count > 60 ? $0.prefix(60) + "…" : $0[...] }
        return shown.joined(separator: ", ") + (names.count > 40 ? ", …" : "")
    }

    /// The end of a sentence about missing columns.
    static func missing(_ columns: [String], _ names: [String]) -> String {
        // A column without a name has its number as name.
        let called = columns.map { $0.hasPrefix("column ") ? $0 : "column \($0)" }.joined(separator: " and no ")
        return "has no \(called). Its columns are: \(list(names))"
    }

    /// Advice for a header that seems to have other quotes or another delimiter than those that are detected.
    private static func delimiterHint(_ names: [String]) -> String {
        if names.contains(where: { $0.count > 2 && $0.hasPrefix("'") && $0.hasSuffix("'") }) {
            return #" If the values are in single quotes, pass --quote "'"."#
        }
        guard names.count == 1, let delimiter = names[0].first(where: { "^~\u{1}".contains($0) }) else { return "" }
        let argument = delimiter == "\u{1}" ? "$'\\x01'" : "'\(delimiter)'"
        return " If they are separated by another character, name it: --delimiter \(argument)."
    }

    private func columnNotFound(_ name: String, _ names: [String]) -> InputError {
        error(.columnNotFound, "\(input) \(Self.missing([name], names)).\(Self.delimiterHint(names))")
    }

    private func error(_ code: InputError.Code, _ message: String) -> InputError {
        InputError(code: code, input: input, message: message)
    }
}

/// The first rows of a table, split by one dialect.
private struct Sample {
    let head: Bytes
    let dialect: TableDialect
    private(set) var rows: [(row: Range<Int>, fields: [TableField])] = []
    private(set) var headerLength = 0
    private(set) var headerRows = 0

    init(_ head: Bytes, _ dialect: TableDialect, isWhole: Bool) {
        self.head = head
        self.dialect = dialect
        var start = 0
        while start < head.count, rows.count <= InputLimits.detectionRows {
            let rest = head[slice: start..<head.count]
            var end = TableRowEnd(dialect)
            let newline = end.scan(rest, from: 0)
            guard newline != nil || (isWhole && !end.isQuoted) else { break }
            var length = newline ?? rest.count
            if length > 0, rest[length - 1] == 0x0D { length -= 1 }
            let next = start + (newline.map { $0 + 1 } ?? rest.count)
            if rows.isEmpty { (headerLength, headerRows) = (next, headerRows + 1) }
            let row = start..<(start + length)
            if head[slice: row].firstNonWhiteSpace() != nil, !TableDialect.isEndMark(head[slice: row]) {
                rows.append((row, TableField.split(head[slice: row], dialect)))
            }
            start = next
        }
    }

    /// The rows of a table that MySQL has written with tabs and without quotes. Nil if a column has quotes.
    static func unquoted(_ head: Bytes, isWhole: Bool) -> Sample? {
        // By itself MySQL writes no quotes. One at the beginning of a value must not join rows.
        let dialect = TableDialect(delimiter: 0x09, escape: .mysql, quote: TableDialect.noQuote)
        let sample = Sample(head, dialect, isWhole: isWhole)
        return sample.rows.isEmpty || sample.hasEnclosedColumn ? nil : sample
    }

    /// The same rows with backslash escapes and without quotes, as MySQL and PostgreSQL write them with tabs. Nil unless JSON shows
    /// that backslashes are escapes: some values are JSON only with escapes, and none only without. Such rows can fit both ways.
    func escapedJSON(isWhole: Bool, quote: UInt8) -> Sample? {
        guard dialect.delimiter == 0x09, quote == TableDialect.doubleQuote,
            head.position(of: UInt8(ascii: "\\")) != nil,
            let escaped = Self.unquoted(head, isWhole: isWhole), escaped.isEven || escaped.isNearlyRegular,
            escaped.hasOnlyWrittenEscapes, json.isStrictSubset(of: escaped.json)
        else { return nil }
        return escaped
    }

    /// The positions of the values that are JSON objects or arrays.
    private var json: Set<Int> {
        var positions: Set<Int> = []
        for (row, fields) in rows {
            for field in fields where TableLayout.isJSON(field, in: head[slice: row]) {
                positions.insert(row.lowerBound + field.range.lowerBound)
            }
        }
        return positions
    }

    /// Whether each backslash begins an escape that MySQL and PostgreSQL write. Other backslashes are parts of values.
    private var hasOnlyWrittenEscapes: Bool {
        rows.allSatisfy { row, _ in
            let text = head[slice: row]
            var index = 0
            while let found = text.position(of: UInt8(ascii: "\\"), from: index) {
                // The range of a row ends before an escaped line feed at its end.
                guard found + 1 == text.count || "\\bfnrtv0ZN\t\n".utf8.contains(text[found + 1]) else { return false }
                index = found + 2
            }
            return true
        }
    }

    var width: Int { rows.first?.fields.count ?? 0 }
    private var regularRows: Int { rows.count { $0.fields.count == width } }
    /// Whether all rows have the same width.
    var isEven: Bool { width > 1 && regularRows == rows.count }
    /// Whether three or more rows have the same width, which is hardly by chance, and no quote in them is escaped in another
    /// dialect.
    var isRegular: Bool { isEven && rows.count >= 3 && !hasBackslashQuote }
    /// The rows as wide as the first one, in which no quote is escaped in another dialect.
    var fittingRows: Int {
        rows.count { $0.fields.count == width && !$0.fields.contains(where: \.hasBackslashQuote) }
    }
    /// Whether more than ten rows fit, and at most one does not.
    var isNearlyRegular: Bool { width > 1 && fittingRows > 10 && fittingRows >= rows.count - 1 }
    var hasBackslashQuote: Bool { rows.contains { $0.fields.contains(where: \.hasBackslashQuote) } }

    /// Whether some column has quotes around all of its values, nulls and the first row aside, which can be a header.
    var hasEnclosedColumn: Bool {
        (0..<width).contains { column in
            var count = 0
            for (row, fields) in rows.dropFirst(rows.count > 1 ? 1 : 0) where column < fields.count {
                let text = head[slice: row]
                let value = text[slice: fields[column].range]
                if fields[column].isNull(in: text) { continue }
                guard value.count > 1, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") else {
                    return false
                }
                count += 1
            }
            return count > 0
        }
    }

    /// Prefers several columns to one, then the delimiter that splits most rows alike, then the one with more columns.
    var score: (Int, Int, Int) { (width > 1 ? 1 : 0, regularRows, width) }

    func texts(ofRow index: Int) -> [String] {
        let row = head[slice: rows[index].row]
        return rows[index].fields.map { $0.name(in: row) }
    }

    /// Whether a column of a row can only be a receipt.
    func hasReceipt(inRow index: Int) -> Bool {
        let row = head[slice: rows[index].row]
        return rows[index].fields.contains { field in
            field.value(in: row).withUnsafeBufferPointer {
                let text = $0[slice: $0.trimmed()]
                return StoredText.isUnmistakable(text) || StoredText.beginsSignedMessage($0)
                    || isReceiptJSON(text, isQuoted: field.isQuoted)
            }
        }
    }

    /// Whether a field without quotes begins as JSON does.
    func hasBareJSON(inRow index: Int) -> Bool {
        let row = head[slice: rows[index].row]
        return rows[index].fields.contains { field in
            let text = row[slice: field.range]
            guard !field.isQuoted, let start = text.firstNonWhiteSpace() else { return false }
            return text[start] == UInt8(ascii: "{") || text[start] == UInt8(ascii: "[")
        }
    }

    private func isReceiptJSON(_ text: Bytes, isQuoted: Bool) -> Bool {
        guard
            text.first == UInt8(ascii: "{") || text.first == UInt8(ascii: "[")
                || (isQuoted && StoredText.mayContainObject(text))
        else { return false }
        let recognition = RecordReader().read(text: Array(text)[...], depth: 1)
        // If the field has no quotes, text around the JSON shows that the line is from a log, not from a table.
        return recognition.isUnmistakable && (isQuoted || !recognition.isInText)
    }

    /// The columns, from 0, in which all values are numbers as long as transaction ids, from a row on.
    func columnsOfIDs(from first: Int) -> [Int] {
        let rows = rows.dropFirst(first)
        // Fewer rows do not show what the numbers are.
        guard rows.count >= 3 else { return [] }
        return (0..<width).filter { column in
            rows.allSatisfy { row, fields in
                guard column < fields.count else { return false }
                return fields[column].value(in: head[slice: row]).withUnsafeBufferPointer {
                    let text = $0[slice: $0.trimmed()]
                    return text.count >= 15 && StoredText.isTransactionID(text)
                }
            }
        }
    }

    /// Whether a row after the header contains a receipt.
    var hasReceiptBelowHeader: Bool {
        rows.indices.dropFirst().contains { rows[$0].fields.count == width && hasReceipt(inRow: $0) }
    }
}
