import AppStoreModels
import Purchases

/// How one input is divided into records.
enum InputFraming {
    case file
    case lines(joinsWrappedReceipts: Bool)
    case jsonElements
    case jsonSequence
    case jsonList(JSONList)
    case jsonTables(JSONTables)
    case table(TableDetector.Table)
    /// A SQL dump with any number of tables, and the dialect of its INSERT statements.
    case dump(TableDialect)
}

/// Detects how an input is divided into records, from its first bytes.
///
/// The answer can be wrong for unusual inputs. No data is lost then, because every framing puts every byte except white
/// space and separators into a record.
struct FormatDetector {
    let input: String
    let options: InputOptions
    /// The first bytes, byte order mark excluded.
    let head: Bytes
    /// `head`, or more bytes if the members after a long array decide.
    let beginning: Bytes
    /// Whether `head` is the whole input.
    let isWhole: Bool

    func detect() throws(InputError) -> InputFraming {
        let framing = try framing()
        guard !options.columnsAppearLater else { return framing }
        if !options.receiptColumns.isEmpty, let names = namesWithout(options.receiptColumns, framing) {
            let missing = options.receiptColumns.joined(separator: " and no member ")
            throw columnNotFound(
                "has no member \(missing). The members of its first record are: \(TableDetector.list(names)).\(Self.laterHint)"
            )
        }
        let isOneOfSeveral = options.receiptColumns.count > 1
        for column in (isOneOfSeveral ? options.receiptColumns : []) + options.otherColumns {
            guard let name = nameLike(column, framing) else { continue }
            throw columnNotFound(
                "has no member \(column) in its first records, but the member \(name). Check the name.\(Self.laterHint)"
            )
        }
        return framing
    }

    private func framing() throws(InputError) -> InputFraming {
        switch options.format {
        case .file: return .file
        case .lines, .ndjson: return .lines(joinsWrappedReceipts: false)
        case .json: return jsonDocument()
        case .csv:
            if let framing = try dump() { return framing }
            return try tableDetector(isCertain: true).detect(head, isWhole: isWhole).map { .table($0) }
                ?? .lines(joinsWrappedReceipts: false)
        case .auto:
            if isBinary { return .file }
            guard let start = head.firstNonWhiteSpace() else { return .lines(joinsWrappedReceipts: true) }
            if let framing = json(start) { return framing }
            if let framing = try dump() { return framing }
            // The comma in a data URL and the semicolon in a PHP string do not separate columns.
            if beginsDataURL(start) || beginsPHPString(start) { return .lines(joinsWrappedReceipts: false) }
            do throws(InputError) {
                if let framing = try table() { return framing }
            } catch {
                // The commas of JSON in the lines of a log are no columns either.
                guard error.code == .columnUndetectable, !isTableByName, containsJSONRecord else { throw error }
            }
            return text()
        }
    }

    private static let laterHint = " If the member first appears in a later record, add --columns-appear-later."

    /// - Parameter problem: what comes after the name of the input.
    private func columnNotFound(_ problem: String) -> InputError {
        InputError(code: .columnNotFound, input: input, message: "\(input) \(problem)")
    }

    /// Whether lines end with a carriage return alone, as on old Macs.
    var endsLinesWithCarriageReturns: Bool {
        guard head.position(of: 0x0A) == nil, head.position(of: 0x0D) != nil, !isBinary else { return false }
        // Other control characters show that it is no text.
        return head.allSatisfy { $0 >= 0x20 || $0 == 0x0D || $0 == 0x09 || $0 == 0x01 }
    }

    /// Why the file of a database cannot be read as records, and what to do; nil for other inputs.
    /// - Parameters:
    ///   - head: the first bytes of the input.
    ///   - input: the name of the input.
    static func databaseAdvice(_ head: Bytes, of input: String) -> String? {
        if head.begins(with: "SQLite format 3\u{0}") {
            return "\(input) is a SQLite database. Read it with sqlite:PATH --query \"SELECT …\"."
        }
        if head.begins(with: "PGDMP") {
            return """
                \(input) is a PostgreSQL archive of pg_dump. Convert it to text with pg_restore --file - and migrate that, \
                or query the database with postgres://… --query "SELECT …".
                """
        }
        return nil
    }

    /// A receipt's own bytes, a binary property list, UTF-16, or other bytes that are no text.
    private var isBinary: Bool {
        if StoredText.beginsSignedMessage(head) || head.begins(with: "bplist0") { return true }
        let beginning = Bytes(rebasing: head.prefix(8192))
        guard beginning.position(of: 0) != nil else { return false }
        // A table or a log can have NUL bytes in a few values, but no control characters that texts do not have.
        return beginning.count { $0 == 0 } * 100 > beginning.count
            || beginning.contains { $0 < 0x20 && !"\0\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1A}\u{1B}".utf8.contains($0) }
    }

    // MARK: A wrong column

    /// The names of the members of the first object, if none of the first records has a receipt in the named columns:
    /// then the columns are wrong for all of them. One record alone may be damaged or incomplete. A small array of objects
    /// without the columns is one record, and rows in it are read. Only other documents in it show that a name is wrong.
    private func namesWithout(_ columns: [String], _ framing: InputFraming) -> [String]? {
        var names: [String]?
        var isDocumentElsewhere = false
        for record in firstRecords(framing) {
            let text = Array(head[record])[...]
            guard text.first == UInt8(ascii: "{"), QuarantineLine(text) == nil else { return nil }
            // Nil if the text is damaged, or is not a JSON object.
            guard let members = (try? JSONValue.parse(text))?.object?.members else { continue }
            let recognition = options.reader.read(text: text, depth: 0)
            if case .unrecognized(let problem) = recognition.payload, problem.code == .missingColumn {
                names = names ?? members.map(\.key)
                isDocumentElsewhere = isDocumentElsewhere || Self.hasDocument(text)
            } else if columns.contains(where: { column in
                // In the JSON of a database with types, the columns are not the members of the text.
                members.contains { $0.key == column }
                    || recognition.members.contains { $0.isOf(column) }
            }) {
                return nil
            }
            // A record that is a reply is read without a column, and says nothing about the others.
        }
        if case .file = framing, !isDocumentElsewhere { return nil }
        return names
    }

    /// Whether an object has a document in any of its members. A row is no document here.
    static func hasDocument(_ object: ArraySlice<UInt8>) -> Bool {
        let recognition = RecordReader().read(text: object, depth: 0)
        return recognition.isRecognized && recognition.isUnmistakable && !recognition.isWeak && !recognition.isRow
    }

    /// The name of a member that differs from `column` by a typing error, if none of the first records has `column`. A record
    /// may lack a member, so its absence alone proves nothing.
    private func nameLike(_ column: String, _ framing: InputFraming) -> String? {
        let isReceipt = options.receiptColumns.contains(column)
        // A member that another option names is no other spelling of this one: `tag1` and `tag2`.
        let named = options.receiptColumns + options.otherColumns
        var names: [String] = []
        for record in firstRecords(framing) {
            let text = Array(head[record])[...]
            guard text.first == UInt8(ascii: "{") else { continue }
            guard QuarantineLine(text) == nil else { return nil }
            let recognition = options.reader.read(text: text, depth: 0)
            let carried = recognition.carried + recognition.payload.documents.flatMap(\.carried)
            if carried.contains(where: { $0.isNamed(column) }) { return nil }
            if recognition.members.contains(where: { $0.path == column }) { return nil }
            var others = carried.map(\.name)
            if isReceipt {
                if recognition.members.contains(where: { $0.isOf(column) }) { return nil }
                // A document whose column was misspelled is left out.
                others += recognition.members.filter { $0.fate == .leftOut }.map(\.path)
            }
            for name in others where !names.contains(name) && names.count < 1_000 { names.append(name) }
        }
        return names.first { !named.contains($0) && SimilarNames.differByTyping(column, $0) }
    }

    /// The complete records at the beginning that can be JSON objects, and the elements of an array that is a single record.
    /// Empty for tables and for any other single record.
    private func firstRecords(_ framing: InputFraming) -> [Range<Int>] {
        var records: [Range<Int>] = []
        var start = 0
        switch framing {
        // The columns can be in any of several tables.
        case .table, .jsonTables, .dump: return []
        case .lines:
            while start < head.count, records.count < InputLimits.detectionRows {
                let newline = head.position(of: 0x0A, from: start)
                guard newline != nil || isWhole else { break }
                let end = newline ?? head.count
                let text = head[slice: start..<end].trimmed()
                if !text.isEmpty { records.append((start + text.lowerBound)..<(start + text.upperBound)) }
                start = end + 1
            }
        case .file, .jsonElements, .jsonSequence, .jsonList:
            switch framing {
            case .file:
                guard let array = head.firstNonWhiteSpace(), head[array] == UInt8(ascii: "[") else { return [] }
                start = array + 1
            case .jsonElements: start = (head.firstNonWhiteSpace() ?? 0) + 1
            case .jsonList(let list): start = list.headerLength
            default: break
            }
            while records.count < InputLimits.detectionRows, let first = nextElement(from: start) {
                var value = JSONValueEnd(first: head[first])
                guard let end = value.scan(head, from: first) else { break }
                records.append(first..<end)
                start = end
            }
        }
        return records
    }

    // MARK: JSON

    private func json(_ start: Int) -> InputFraming? {
        switch head[start] {
        case UInt8(ascii: "{"):
            return StoredText.beginsPropertyList(head) ? propertyList() : jsonLinesOrDocument(start)
        case UInt8(ascii: "["):
            return beginsLogLine(start) ? nil : jsonLinesOrDocument(start)
        case UInt8(ascii: "\""):
            // A line that is one JSON string; `"a","b"` is the header of a table, and so is a quoted column name.
            guard let string = firstLineString(start) else { return nil }
            if options.receiptColumns.contains(string) || ColumnNames.meaning(of: string)?.isPayload == true {
                return nil
            }
            return .lines(joinsWrappedReceipts: false)
        default:
            return nil
        }
    }

    /// Whether the bracket begins a line of a log, for example `[2024-01-01 00:00:00] …` or `[info] …`. Text follows it
    /// in its line, and it contains nothing that can be a record.
    private func beginsLogLine(_ start: Int) -> Bool {
        guard let end = head.position(of: UInt8(ascii: "]"), from: start),
            let next = head.firstNonWhiteSpace(from: end + 1),
            head.position(of: 0x0A, from: start).map({ next < $0 }) ?? true
        else { return false }
        return !head[slice: (start + 1)..<end].contains { byte in
            byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "\"")
        }
    }

    private func jsonLinesOrDocument(_ start: Int) -> InputFraming {
        if let export = jsonExport { return export }
        let newline = head.position(of: 0x0A, from: start)
        guard let newline else {
            // One line. If it is long and not an array, more lines may follow.
            return isWhole || head[start] == UInt8(ascii: "[") ? jsonDocument() : .lines(joinsWrappedReceipts: false)
        }
        var value = JSONValueEnd(first: head[start])
        let end = value.scan(head, from: start)
        if let end, head.firstNonWhiteSpace(from: end) == nil, isWhole { return jsonDocument() }
        if let end, end <= newline, head.firstNonWhiteSpace(from: end).map({ $0 > newline }) ?? true {
            return .lines(joinsWrappedReceipts: false)
        }
        if head[start] == UInt8(ascii: "{"), nextLineIsObject(after: newline) {
            return .lines(joinsWrappedReceipts: false)
        }
        if let end, let next = head.firstNonWhiteSpace(from: end), head[start] == UInt8(ascii: "{") {
            if head[next] == UInt8(ascii: "{") { return .jsonSequence }
            // Text after the JSON in its line: a line of a log.
            if next < newline { return .lines(joinsWrappedReceipts: false) }
        }
        return jsonDocument()
    }

    /// The export of a known program.
    private var jsonExport: InputFraming? {
        if let list = JSONList(exportIn: beginning) { return .jsonList(list) }
        return JSONTables(exportIn: head, of: input, receiptColumns: options.receiptColumns).map { .jsonTables($0) }
    }

    /// One record, or one per element when the value is an array whose elements are records, or an object with such an array.
    private func jsonDocument() -> InputFraming {
        if let export = jsonExport { return export }
        guard let start = head.firstNonWhiteSpace(), head[start] == UInt8(ascii: "[") else { return .file }
        var value = JSONValueEnd(first: head[start])
        // An array that goes on after the window may be too long for a record, also if its first elements are short.
        let undivided: InputFraming = value.scan(head, from: start) == nil && !isWhole ? .jsonElements : .file
        var index = start + 1
        while let elementStart = nextElement(from: index) {
            var element = JSONValueEnd(first: head[elementStart])
            guard let elementEnd = element.scan(head, from: elementStart) else { return undivided }
            let reader = options.reader
            let payload = reader.read(text: Array(head[elementStart..<elementEnd])[...], depth: 0).payload
            switch payload {
            // An object with a named column is a record, also if nothing in the column can be read.
            case .unrecognized(let problem)
            where head[elementStart] == UInt8(ascii: "{") && !options.receiptColumns.isEmpty
                && problem.code != .missingColumn:
                return .jsonElements
            case .unrecognized: break
            // Rows belong together, if the array fits.
            case .transactions: return undivided
            default: return .jsonElements
            }
            index = elementEnd
        }
        return undivided
    }

    private func nextElement(from start: Int) -> Int? {
        head.firstNonSeparator(from: start).flatMap { head[$0] == UInt8(ascii: "]") ? nil : $0 }
    }

    /// Whether the next line is an object: an NDJSON file with a damaged first line. In a document, the second line is
    /// a member.
    private func nextLineIsObject(after newline: Int) -> Bool {
        guard let start = head.firstNonWhiteSpace(from: newline), head[start] == UInt8(ascii: "{") else { return false }
        let lineEnd = head.position(of: 0x0A, from: start) ?? head.count
        var value = JSONValueEnd(first: head[start])
        guard let end = value.scan(head, from: start), end <= lineEnd else { return false }
        return head.firstNonWhiteSpace(from: end).map { $0 > lineEnd } ?? true
    }

    private func firstLineString(_ start: Int) -> String? {
        let lineEnd = head.position(of: 0x0A, from: start) ?? head.count
        return (try? JSONValue.parse(head[slice: start..<lineEnd]))?.string
    }

    // MARK: Tables and text

    /// Whether the name or an option states that the input is a table.
    private var isTableByName: Bool {
        let name = input.lowercased()
        return name.hasSuffix(".csv") || name.hasSuffix(".tsv") || options.table != TableOptions()
    }

    private func table() throws(InputError) -> InputFraming? {
        try tableDetector(isCertain: isTableByName).detect(head, isWhole: isWhole).map { .table($0) }
    }

    private func tableDetector(isCertain: Bool) -> TableDetector {
        TableDetector(
            input: input, receiptColumns: options.receiptColumns, otherColumns: options.otherColumns,
            options: options.table,
            isCertain: isCertain)
    }

    /// A property list in one line may be one of many; one over several lines is the whole file.
    private func propertyList() -> InputFraming {
        guard let start = head.firstNonWhiteSpace(), let newline = head.position(of: 0x0A, from: start) else {
            return .file
        }
        let line = head[slice: start..<newline]
        let closes = line[line.trimmed()].last == UInt8(ascii: "}")
        return closes && head.firstNonWhiteSpace(from: newline) != nil ? .lines(joinsWrappedReceipts: true) : .file
    }

    /// Lines, if one of them can only be a receipt, or if all are transaction ids. Else one record, unless it would be
    /// a large one.
    private func text() -> InputFraming {
        guard let start = head.firstNonWhiteSpace() else { return .lines(joinsWrappedReceipts: true) }
        if StoredText.beginsPropertyList(head) || head.begins(with: "-----BEGIN ", at: start) || isHexOfOneReceipt {
            return .file
        }
        var lineStart = start
        var onlyIDs = true
        var lines = 0
        while lineStart < head.count {
            let newline = head.position(of: 0x0A, from: lineStart)
            // A line that the window truncates cannot be checked for ids.
            let line = head[slice: lineStart..<(newline ?? head.count)]
            let text = line[slice: line.trimmed()]
            if !text.isEmpty {
                lines += 1
                if StoredText.isUnmistakable(text) || isJSONRecord(text) { return .lines(joinsWrappedReceipts: true) }
                if newline != nil || isWhole {
                    onlyIDs = onlyIDs && (StoredText.isTransactionID(text) || TableDialect.isEndMark(text))
                }
            }
            guard let newline else { break }
            lineStart = newline + 1
        }
        return onlyIDs || lines == 1 || !isWhole ? .lines(joinsWrappedReceipts: true) : .file
    }

    /// Nil if the input is no SQL dump.
    ///
    /// - Throws: ``InputError`` if it has no table with the columns that the caller names.
    private func dump() throws(InputError) -> InputFraming? {
        guard let dialect = DumpFramer.dialect(of: head, stated: options.table.dialect) else { return nil }
        let tables = DumpFramer.tables(in: head, dialect).filter { table in
            table.contains { ColumnNames.meaning(of: $0)?.isPayload == true || options.receiptColumns.contains($0) }
        }
        // A table may be beyond the window.
        guard isWhole, let first = tables.first else { return .dump(dialect) }
        // Each table can have another one of the columns with receipts.
        let receipts = options.receiptColumns
        let wanted = options.otherColumns.map { [$0] } + (receipts.isEmpty ? [] : [receipts])
        for columns in wanted where !tables.contains(where: { table in columns.contains { table.contains($0) } }) {
            throw columnNotFound("\(TableDetector.missing(columns, first)).")
        }
        return .dump(dialect)
    }

    /// Whether the first line is a `data:` URL with base64.
    private func beginsDataURL(_ start: Int) -> Bool {
        guard head.begins(with: "data:", at: start) else { return false }
        let text = line(at: start)
        switch StoredEncoding(text) {
        // A comma in the rest separates columns after all.
        case .part(let body)?: return StoredText.isBase64(text[slice: body])
        case .decoded?: return true
        case nil: return false
        }
    }

    /// Whether the first line is a string that PHP serialized and that contains a document.
    private func beginsPHPString(_ start: Int) -> Bool {
        head.begins(with: "s:", at: start) && StoredText.isUnmistakable(line(at: start))
    }

    private func line(at start: Int) -> Bytes {
        let line = head[slice: start..<(head.position(of: 0x0A, from: start) ?? head.count)]
        return line[slice: line.trimmed()]
    }

    /// Whether the input is one receipt in hexadecimal, in several lines.
    private var isHexOfOneReceipt: Bool {
        let text = head[slice: head.trimmed()]
        guard isWhole, text.position(of: 0x0A) != nil, let bytes = StoredEncoding.decodedHex(text) else { return false }
        return bytes.withUnsafeBufferPointer(StoredText.expectedBytes) == bytes.count
    }

    /// Whether one of the first lines contains a document in JSON.
    private var containsJSONRecord: Bool {
        firstRecords(.lines(joinsWrappedReceipts: false)).contains { isJSONRecord(head[slice: $0]) }
    }

    /// Whether a line is a document in JSON, or a line of a log with one, which can be cut.
    private func isJSONRecord(_ text: Bytes) -> Bool {
        guard text.position(of: UInt8(ascii: "{")) != nil else { return false }
        let reader = options.reader
        if reader.read(text: Array(text)[...], depth: 0).isUnmistakable { return true }
        return text.first != UInt8(ascii: "{") && DocumentTraces.arePresent(in: text)
    }
}
