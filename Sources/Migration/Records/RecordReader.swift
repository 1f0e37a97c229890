import AppStoreModels
import Purchases

/// The recognized content of a record, and the caller's own columns.
struct Recognition {
    var payload: InputPayload
    var carried: [CarriedColumn]
    /// The handling of each column or member; empty if the text has none.
    var members: [MemberPath]
    /// Whether it may be something else: a bare number, or a word in the alphabet of base64.
    var isWeak: Bool
    /// Whether it is the JSON in a text that contains other text too, such as a message of a log.
    var isInText = false

    init(
        _ payload: InputPayload, carried: [CarriedColumn] = [], members: [MemberPath] = [], isWeak: Bool = false
    ) {
        self.payload = payload
        self.carried = carried
        self.members = members
        self.isWeak = isWeak
    }

    /// The unreadable part, and the reason.
    static func unrecognized(_ code: InputProblem.Code, _ message: String) -> Recognition {
        Recognition(.unrecognized(InputProblem(code, message)))
    }

    /// Whether it can hardly be anything else; a bare number can.
    var isUnmistakable: Bool {
        switch payload {
        case .unrecognized(let problem): problem.code == .otherStore || problem.code == .tooManyColumns
        case .transactionID: false
        default: true
        }
    }

    var isRecognized: Bool {
        if case .unrecognized = payload { false } else { true }
    }

    /// Whether it is an object without the named columns.
    var isWithoutColumn: Bool {
        if case .unrecognized(let problem) = payload { problem.code == .missingColumn } else { false }
    }

    /// Whether the object itself was read as a row.
    var isRow: Bool { members.contains(MemberPath("product_id", .readAsRows)) }

    /// Whether it was read as a row, and nothing in it looks like a document.
    var isRowAlone: Bool { isRow && !members.contains { $0.fate == .looksLikeDocument } }
}

/// Recognizes single records. A plain receipt is neither copied nor turned into a string.
struct RecordReader {
    /// The columns with the receipts; empty to find them by name or content.
    let receiptColumns: [String]
    /// The columns that options name besides, which belong to a row wherever it is.
    var namedColumns: [String] = []
    /// Whether the text was inside base64 of JSON. No other base64 of JSON is then decoded.
    var isInBase64JSON = false
    /// The names of the members from what is read to the objects whose keys are columns; no names for what is read itself.
    private var pathsToKeys: [ArraySlice<Substring>]
    /// Whether the text is ``DatabaseJSON`` that was made plain.
    private var isPlain = false
    /// Whether a named column can be a member of the text. The text is then one of these:
    /// - an object in an array that is the record,
    /// - the value of a key that is a column, or that leads to one,
    /// - the record after its HTML entities were decoded.
    private var isElementOfRecord = false

    /// The last part of the name of a column that has the keys of an object: `users.*` for the object `users`, `*` for the
    /// record. Each key is in this column beside the documents in its value.
    static let keys = "*"

    /// - Parameters:
    ///   - receiptColumns: the columns that the caller names for receipts; all are searched if it names none.
    ///   - namedColumns: the columns that other options name.
    ///   - isRecord: whether records are read, and not a document that was in one.
    init(receiptColumns: [String] = [], namedColumns: [String] = [], isRecord: Bool = true) {
        self.receiptColumns = receiptColumns
        self.namedColumns = namedColumns
        pathsToKeys =
            isRecord
            ? namedColumns.map { $0.split(separator: ".", omittingEmptySubsequences: false) }
                .filter { $0.last == Self.keys[...] }.map { $0.dropLast() } : []
    }

    /// Whether the keys of the object that is read are a column.
    var readsKeys: Bool { leadsToKeys && pathsToKeys.contains { $0.isEmpty } }

    /// Whether the keys of the object that is read, or of an object in it, are a column.
    var leadsToKeys: Bool { !pathsToKeys.isEmpty }

    /// The reader of the value of a member.
    func inside(_ name: String) -> RecordReader {
        guard !pathsToKeys.isEmpty else { return self }
        var reader = self
        reader.pathsToKeys = pathsToKeys.filter { $0.first == name[...] }.map { $0.dropFirst() }
        reader.isElementOfRecord = isElementOfRecord && (readsKeys || reader.leadsToKeys)
        return reader
    }

    /// Whether a column may state the user, the app and so on of the row that it is in.
    func mayHaveRole(_ name: String) -> Bool {
        let column = CarriedColumn(name: name, value: .text(""))
        return namedColumns.contains { column.isNamed($0) } || column.hasNameOfRole
    }

    func read(_ original: ArraySlice<UInt8>, table: TableLayout?) -> Recognition {
        if let table { return readRow(original, table) }
        return read(text: original, depth: 0)
    }

    /// - Parameters:
    ///   - text: the bytes of a record, or of a value that a record wraps.
    ///   - depth: the number of wrappers around the text.
    func read(text: ArraySlice<UInt8>, depth: Int) -> Recognition {
        text.withUnsafeBufferPointer { bytes in
            guard depth <= InputLimits.payloadNesting else { return Self.tooDeep }
            // Binary first, because its last bytes may look like white space.
            if StoredText.beginsSignedMessage(bytes) { return Recognition(.receipt(text)) }
            let trimmed = bytes.trimmed()
            guard let first = bytes[slice: trimmed].first else {
                return Recognition.unrecognized(.empty, "There is nothing here.")
            }
            let slice = text[slice: trimmed]
            // Nearly all receipts. To tell other texts apart, the whole text is searched.
            if StoredText.isBase64OfOneReceipt(bytes[slice: trimmed]) { return Recognition(.receipt(slice)) }
            if depth == 0, let recognition = plain(bytes[slice: trimmed], first) { return recognition }
            if let recognition = listed(bytes[slice: trimmed], depth: depth) { return recognition }
            if let content = StoredEncoding.htmlDecoded(bytes[slice: trimmed]) {
                let reader = depth == 0 ? withElement(true) : self
                return reader.read(text: content[...], depth: depth + 1)
            }
            switch first {
            case UInt8(ascii: "{") where !StoredText.beginsPropertyList(bytes):
                return object(slice, bytes[slice: trimmed], depth: depth)
            case UInt8(ascii: "["):
                return array(slice, bytes[slice: trimmed], depth: depth)
            case UInt8(ascii: "\""):
                return string(bytes[slice: trimmed], depth: depth)
            default:
                return plain(slice, bytes[slice: trimmed], depth: depth)
            }
        }
    }

    private static let tooDeep = Recognition.unrecognized(
        .nestedTooDeep, "More than \(InputLimits.payloadNesting) wrappers around the payload.")

    // MARK: Text

    private func plain(_ text: ArraySlice<UInt8>, _ bytes: Bytes, depth: Int) -> Recognition {
        if bytes.begins(with: "eyJ"), bytes.position(of: UInt8(ascii: ".")) != nil {
            if StoredText.isJWS(bytes) { return Recognition(.jws(text)) }
            guard StoredEncoding.listItemBody(bytes) != nil else {
                return .unrecognized(.unknownForm, "Starts like a JWS but does not have three base64url parts.")
            }
        }
        switch StoredEncoding(bytes) {
        case .part(let range)?:
            return read(text: text[slice: range], depth: depth + 1)
        case .decoded(let content)?: return read(text: content[...], depth: depth + 1)
        case nil: break
        }
        if let recognition = base64JSON(bytes, depth: depth) { return recognition }
        if StoredText.beginsBase64Receipt(bytes) { return Recognition(.receipt(text)) }
        if StoredText.isTransactionID(bytes) {
            return Recognition(.transactionID(String(decoding: bytes, as: UTF8.self)), isWeak: true)
        }
        if OtherStore.isID(bytes) {
            return .unrecognized(.otherStore, "An id from a store other than Apple's.")
        }
        if OtherStore.isWindowsReceipt(bytes) {
            return .unrecognized(.otherStore, "A receipt of the Windows Store.")
        }
        if StoredText.beginsPropertyList(bytes) { return Recognition(.receipt(text)) }
        if let body = StoredText.pemBody(bytes) {
            return Recognition(.receipt(text[slice: body]))
        }
        if StoredText.isBase64(bytes) { return Recognition(.receipt(text), isWeak: true) }
        if let recognition = logged(bytes, depth: depth) { return recognition }
        return Recognition(.unrecognized(Self.problem(of: bytes)))
    }

    /// The JSON objects in a line of a log, for example the bodies of a request and its response, also with escapes in quotes; nil
    /// if nothing in them is recognized. The other text of the line is not read, and counts if it seems to contain a document.
    private func logged(_ bytes: Bytes, depth: Int) -> Recognition? {
        var array = [UInt8(ascii: "[")]
        var end = 0
        var isDocumentUnread = false
        for value in StoredText.jsonValues(in: bytes) {
            let isText = bytes[value.lowerBound] == UInt8(ascii: "\"")
            let json: [UInt8]? = isText ? StoredText.jsonString(ofQuoted: bytes[slice: value]) : Array(bytes[value])
            guard let json else { continue }
            isDocumentUnread = isDocumentUnread || DocumentTraces.arePresent(in: bytes[slice: end..<value.lowerBound])
            end = value.upperBound
            if array.count > 1 { array.append(UInt8(ascii: ",")) }
            array += json
        }
        guard end > 0 else { return nil }
        array.append(UInt8(ascii: "]"))
        isDocumentUnread = isDocumentUnread || DocumentTraces.arePresent(in: bytes[slice: end..<bytes.count])
        var recognition = read(text: array[...], depth: depth + 1)
        guard recognition.isUnmistakable else { return nil }
        // In a value of a record, a status alone is one of the caller's own, for example of an HTTP response.
        let documents = recognition.payload.documents
        if depth > 0, !documents.isEmpty, documents.allSatisfy(\.payload.isVague) { return nil }
        recognition.isInText = true
        if isDocumentUnread {
            recognition.members = recognition.membersOfRecord + [MemberPath(MemberPath.whole, .looksLikeDocument)]
        }
        return recognition
    }

    /// A text that begins like JSON and is none. A line of a log can begin with a time in brackets, or with the JSON itself.
    private func notJSON(_ error: JSONReadingError, _ bytes: Bytes, depth: Int) -> Recognition {
        if let problem = Self.encodingProblem(of: bytes) { return Recognition(.unrecognized(problem)) }
        if let first = bytes.first {
            var value = JSONValueEnd(first: first)
            // A value without an end may contain only a part of the stored value.
            if let end = value.scan(bytes, from: 0), end < bytes.count,
                let recognition = logged(bytes, depth: depth)
            {
                return recognition
            }
        }
        return Recognition(.unrecognized(InputProblem(error)))
    }

    /// Reads an array of PostgreSQL, or documents that one text joins. Nil for any other text, or if nothing in it is recognized.
    private func listed(_ bytes: Bytes, depth: Int) -> Recognition? {
        guard let array = StoredEncoding.postgreSQLArray(bytes) ?? StoredEncoding.joinedDocuments(bytes) else {
            return nil
        }
        let recognition = read(text: array[...], depth: depth + 1)
        return recognition.isRecognized || recognition.isUnmistakable ? recognition : nil
    }

    /// Nil if the text is not base64 of JSON, or if nothing in the JSON is recognized.
    private func base64JSON(_ bytes: Bytes, depth: Int) -> Recognition? {
        guard !isInBase64JSON, let json = StoredEncoding.base64JSON(bytes) else { return nil }
        var reader = self
        reader.isInBase64JSON = true
        let recognition = reader.read(text: json[...], depth: depth + 1)
        return recognition.isRecognized || recognition.isUnmistakable ? recognition : nil
    }

    /// The problem of bytes that are compressed or UTF-16; nil for any others.
    static func encodingProblem(of bytes: Bytes) -> InputProblem? {
        let magic: [([UInt8], String)] = [
            ([0x1F, 0x8B], "gzip"), ([0x50, 0x4B, 0x03, 0x04], "zip"), ([0x28, 0xB5, 0x2F, 0xFD], "zstd"),
            ([0x42, 0x5A, 0x68], "bzip2"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz"),
        ]
        for (prefix, name) in magic where bytes.starts(with: prefix) {
            return InputProblem(.compressed, "This is compressed (\(name)); decompress it first.")
        }
        // Without a byte order mark, the zero bytes of ASCII characters show UTF-16.
        let zeros = bytes.prefix(4).map { $0 == 0 }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) || zeros == [true, false, true, false]
            || zeros == [false, true, false, true]
        {
            return InputProblem(.utf16, "This is UTF-16 text; convert it to UTF-8 first.")
        }
        return nil
    }

    private static func problem(of bytes: Bytes) -> InputProblem {
        if let problem = encodingProblem(of: bytes) { return problem }
        if StoredText.isNullWord(bytes) {
            return InputProblem(.empty, "The record contains no receipt.")
        }
        if UTF8Validation.firstInvalid(in: bytes, range: 0..<bytes.count) != nil {
            return InputProblem(.invalidUTF8, "Neither a receipt's bytes nor UTF-8 text.")
        }
        if bytes.begins(with: "INSERT INTO ") || bytes.begins(with: "-- MySQL dump") {
            return InputProblem(
                .unknownForm,
                "INSERT statements are read in a dump, and not as a single record. Leave --input-format out.")
        }
        if StoredText.beginsSerializedPHP(bytes) {
            return InputProblem(.unknownForm, "A value that PHP serialized. Write it as JSON, with json_encode.")
        }
        if bytes.begins(with: "---\n") || bytes.begins(with: "---\r\n") || bytes.begins(with: "--- ") {
            return InputProblem(.unknownForm, "This is YAML; convert it to JSON first.")
        }
        if DocumentTraces.arePresent(in: bytes) {
            return InputProblem(
                .unknownForm, "The text seems to contain a document among other text. Extract the document.")
        }
        return InputProblem(
            .unknownForm, "Neither a receipt nor another supported document with purchases.")
    }

    // MARK: JSON

    /// A record in the JSON of a database with types; nil for any other.
    private func plain(_ bytes: Bytes, _ first: UInt8) -> Recognition? {
        guard !isPlain, first == UInt8(ascii: "{") || first == UInt8(ascii: "["), let json = DatabaseJSON.plain(bytes)
        else { return nil }
        var reader = self
        reader.isPlain = true
        return reader.read(text: json[...], depth: 0)
    }

    private func string(_ bytes: Bytes, depth: Int) -> Recognition {
        do throws(JSONReadingError) {
            guard case .string(let string) = try JSONValue.parse(bytes) else { return Self.tooDeep }
            return read(text: Array(string.utf8)[...], depth: depth + 1)
        } catch {
            return notJSON(error, bytes, depth: depth)
        }
    }

    private func object(_ text: ArraySlice<UInt8>, _ bytes: Bytes, depth: Int) -> Recognition {
        if let content = StoredEncoding.buffer(bytes) { return read(text: content[...], depth: depth + 1) }
        do throws(JSONReadingError) {
            let reader = isElementOfRecord ? withElement(false) : self
            let object = try ObjectReader(reader: reader, text: text, bytes: bytes, depth: depth)
            var envelope = EnvelopeReader(object: object)
            let recognition = try envelope.read(only: depth == 0 || isElementOfRecord ? receiptColumns : [])
            guard leadsToKeys, case .unrecognized(let problem) = recognition.payload, problem.code == .missingColumn
            else { return recognition }
            // The values of keys that are a column are like records: the named columns are in them.
            let record = try ObjectReader(reader: withElement(true), text: text, bytes: bytes, depth: depth)
            var keys = EnvelopeReader(object: record)
            return keys.readInKeys() ?? recognition
        } catch {
            return notJSON(error, bytes, depth: depth)
        }
    }

    /// Reads rows of `latest_receipt_info`, several documents, or any single element.
    ///
    /// Keeps nothing of an element that is no document: two bytes can be one, such as `0,`.
    private func array(_ text: ArraySlice<UInt8>, _ bytes: Bytes, depth: Int) -> Recognition {
        do throws(JSONReadingError) {
            // Validates the whole text before any element is read.
            var scanner = try JSONMemberScanner(bytes)
            var (count, plainRows) = (0, 0)
            while let element = try scanner.next() {
                if plainRows == count, let row = try rowElement(element, of: text, bytes, depth: depth),
                    !mayHoldMore(row)
                {
                    plainRows += 1
                }
                count += 1
            }
            guard count > 0 else { return .unrecognized(.empty, "The array is empty.") }
            if plainRows == count { return Recognition(.transactions(try JSONValue.parse(bytes))) }
            var elements = try JSONMemberScanner(bytes)
            var several = SeveralElements(reader: self, bytes: bytes.count)
            var hasOnlyRows = true
            while let element = try elements.next() {
                let value = text[slice: element.value]
                guard let row = try rowElement(element, of: text, bytes, depth: depth) else {
                    let recognition = self.element(element.kind, value, depth: depth)
                    if count == 1 { return recognition }
                    several.add(recognition, of: value)
                    hasOnlyRows = false
                    continue
                }
                let parsed = try JSONValue.parse(bytes[slice: element.value])
                if let inside = contentBeyondRow(row, value, depth: depth) {
                    several.add(parsed, holding: inside, of: value)
                    hasOnlyRows = false
                } else {
                    several.add(parsed, beside: [])
                }
            }
            let recognition = several.recognition
            return hasOnlyRows ? Recognition(recognition.payload) : recognition
        } catch {
            return notJSON(error, bytes, depth: depth)
        }
    }

    /// Reads an element of an array that is no row. If the array is the record, only the named columns of an object are read. An
    /// object without them is left out if it contains a document.
    private func element(_ kind: JSONKind, _ text: ArraySlice<UInt8>, depth: Int) -> Recognition {
        guard depth == 0, kind == .object, !receiptColumns.isEmpty else { return read(text: text, depth: depth + 1) }
        let named = withElement(true).read(text: text, depth: depth + 1)
        guard case .unrecognized(let problem) = named.payload, problem.code == .missingColumn else { return named }
        let other = read(text: text, depth: depth + 1)
        return other.isRecognized ? named : other
    }

    private func withElement(_ isElementOfRecord: Bool) -> RecordReader {
        var reader = self
        reader.isElementOfRecord = isElementOfRecord
        return reader
    }

    /// An element of an array that is a row; nil for any other.
    private func rowElement(
        _ element: JSONMember, of text: ArraySlice<UInt8>, _ bytes: Bytes, depth: Int
    ) throws(JSONReadingError) -> ObjectReader? {
        guard element.kind == .object else { return nil }
        let object = try ObjectReader(
            reader: self, text: text[slice: element.value], bytes: bytes[slice: element.value], depth: depth)
        return object.isRow ? object : nil
    }

    /// Whether a row may contain more than a row, or columns with a role.
    private func mayHoldMore(_ row: ObjectReader) -> Bool { row.mayContainDocument || row.hasRoles }

    /// The content of a row that contains more than a row, or columns with a role, read as a record of its own; nil for any other
    /// row.
    private func contentBeyondRow(_ row: ObjectReader, _ text: ArraySlice<UInt8>, depth: Int) -> Recognition? {
        guard mayHoldMore(row) else { return nil }
        let recognition = read(text: text, depth: depth + 1)
        return !recognition.isRowAlone || row.hasRoles ? recognition : nil
    }

    /// The elements of an array.
    private struct SeveralElements {
        let reader: RecordReader
        /// Rows with the same user, app and so on beside them are one document, as in a reply.
        private var rows: [(carried: [CarriedColumn], rows: [JSONValue])] = []
        private var places: [[UInt8]: Int] = [:]
        private var documents: [InputDocument] = []
        /// The first elements that may be no documents: bare ids, and what was not recognized. Beside documents they count, so
        /// that nothing is lost.
        private var others: [(element: Recognition, text: ArraySlice<UInt8>)] = []
        /// Those after them, as a JSON array without its end. As documents of their own they would need much more memory.
        private var moreOthers: [UInt8] = []
        private var members: [MemberPath] = []
        /// The elements of `members`, once there are many.
        private var knownMembers: Set<MemberPath> = []
        /// Why the first object without a named column was left out; nil if none was.
        private var leftOut: InputProblem?
        /// Whether all documents are in texts.
        private var isInText = true
        /// How many columns can still be copied beside documents; negative if there were too many.
        private var columnsLeft: Int

        init(reader: RecordReader, bytes: Int) {
            self.reader = reader
            columnsLeft = InputLimits.columnsBesideDocuments(ofValue: bytes)
        }

        mutating func add(_ row: JSONValue, beside columns: [CarriedColumn]) {
            let carried = columns.filter { reader.mayHaveRole($0.name) }
            let key = JSONWriter.carriedColumns(carried)
            if let place = places[key] { return rows[place].rows.append(row) }
            places[key] = rows.count
            rows.append((carried, [row]))
        }

        /// Adds a row that contains documents or columns with a role. A signed document in it counts, and the row
        /// is copied to the output, as in a record of its own.
        mutating func add(_ row: JSONValue, holding inside: Recognition, of text: ArraySlice<UInt8>) {
            guard inside.isRecognized, !inside.isRow else {
                add(row, beside: inside.carried)
                if inside.members.isEmpty, text.withUnsafeBufferPointer({ DocumentTraces.arePresent(in: $0) }) {
                    count(MemberPath("[]", .looksLikeDocument))
                }
                for member in inside.members
                where member.fate == .looksLikeDocument
                    || (member.fate != .readAsRows && reader.mayHaveRole(member.path))
                {
                    count(member.inside("[]"))
                }
                return
            }
            if !inside.payload.documents.contains(where: { $0.payload.isSigned }) {
                add(row, beside: inside.carried)
            }
            add(inside, of: text)
        }

        mutating func add(_ element: Recognition, of text: ArraySlice<UInt8>) {
            if case .unrecognized(let problem) = element.payload, problem.code == .missingColumn {
                leftOut = leftOut ?? problem
                return count(MemberPath("[]", .leftOut))
            }
            guard element.isUnmistakable, !element.isWeak else {
                if element.payload.fate == .empty {
                    count(MemberPath("[]", .empty))
                } else if others.count < InputLimits.otherElements || Self.isOfAppStore(element, text) {
                    others.append((element, text))
                } else {
                    moreOthers.append(UInt8(ascii: moreOthers.isEmpty ? "[" : ","))
                    moreOthers += text
                }
                return
            }
            append(element, of: text)
        }

        /// Whether it is an id as long as those of the App Store. `enrich` can complete it, and its length bounds the memory.
        private static func isOfAppStore(_ element: Recognition, _ text: ArraySlice<UInt8>) -> Bool {
            element.payload.isTransactionID && text.count >= 14
        }

        /// Counts the handling of a member. After the first ones, only what is new counts.
        private mutating func count(_ member: MemberPath) {
            guard members.count >= InputLimits.memberPaths else { return members.append(member) }
            if knownMembers.isEmpty { knownMembers = Set(members) }
            let other = MemberPath("(other)", member.fate)
            guard !knownMembers.contains(member), knownMembers.insert(other).inserted else { return }
            members.append(other)
        }

        private mutating func append(_ element: Recognition, of text: ArraySlice<UInt8>) {
            isInText = isInText && element.isInText
            for member in element.membersOfRecord { count(member.inside("[]")) }
            if case .unrecognized = element.payload {
                documents.append(
                    InputDocument(payload: element.payload, path: "[]", carried: element.carried, text: text))
            }
            let found = element.payload.documents
            columnsLeft -= InputLimits.columns(beside: found, element.carried)
            guard columnsLeft >= 0 else {
                documents = []
                return
            }
            documents += found.map { document in
                document.inside("[]", beside: element.carried + document.carried)
            }
        }

        var recognition: Recognition {
            guard !documents.isEmpty || !rows.isEmpty || columnsLeft < 0 else {
                let problem = InputProblem(.unknownForm, "An array without documents with purchases.")
                return Recognition(.unrecognized(leftOut ?? problem))
            }
            var result = self
            for (element, text) in others { result.append(element, of: text) }
            if !moreOthers.isEmpty {
                result.append(
                    .unrecognized(
                        .unknownForm,
                        "All elements that are no documents, after the first \(InputLimits.otherElements) of them."),
                    of: (moreOthers + [UInt8(ascii: "]")])[...])
            }
            guard result.columnsLeft >= 0 else { return Recognition(.unrecognized(.tooManyColumns), members: members) }
            var (documents, members) = (result.documents, result.members)
            for (carried, rows) in rows {
                documents.append(
                    InputDocument(payload: .transactions(.array(rows)), path: "[]", carried: carried, text: []))
            }
            if !rows.isEmpty { members.append(MemberPath("[]", .readAsRows)) }
            var recognition =
                documents.count == 1
                ? Recognition(documents[0].payload, carried: documents[0].carried, members: members)
                : Recognition(.several(documents), members: members)
            recognition.isInText = result.isInText && rows.isEmpty
            return recognition
        }
    }

    // MARK: Tables

    private func readRow(_ row: ArraySlice<UInt8>, _ table: TableLayout) -> Recognition {
        guard table.dialect.isInsert else { return readRow(row, table, in: table.dialect) }
        return row.withUnsafeBufferPointer { bytes -> Recognition in
            do throws(InputProblem) {
                let copied = try InsertRow.copied(bytes, table.dialect)
                return readRow(copied[...], table, in: QueryStream.dialect)
            } catch {
                return Recognition(.unrecognized(error))
            }
        }
    }

    private func readRow(_ row: ArraySlice<UInt8>, _ table: TableLayout, in dialect: TableDialect) -> Recognition {
        row.withUnsafeBufferPointer { bytes in
            let fields = table.split(bytes, dialect)
            // A row from an input is refused before. One from the quarantine has the reason that it had.
            guard fields.last?.isUnterminated != true else {
                return Recognition(.unrecognized(.unterminatedField(dialect)))
            }
            if let (joined, rows) = table.joinedRows(bytes, dialect, fields) {
                return Recognition.unrecognized(
                    .columnCount,
                    "The row would be \(rows) rows in the table dialect \(joined.rawValue) (--table-dialect).")
            }
            // With a missing or extra field, values would be in the wrong columns.
            guard fields.count == table.columns.count else {
                let fitting = table.dialect.others(inWhich: bytes, has: table.columns.count).map(\.rawValue)
                let hint =
                    fitting.isEmpty ? "" : " It fits the table dialect \(fitting.joined(separator: " or "))."
                let count = fields.count < table.mostFields ? "\(fields.count)" : "at least \(fields.count)"
                return Recognition.unrecognized(
                    .columnCount, "The row has \(count) fields; the header has \(table.columns.count).\(hint)")
            }
            guard !fields.contains(where: \.hasBackslashQuote) else {
                return Recognition.unrecognized(
                    .unterminatedQuote,
                    "A quote of this row is escaped with a backslash, so the dialect of the table is mysql (--table-dialect)."
                )
            }
            let object = ObjectReader(reader: self, row: row, bytes: bytes, fields: fields, of: table)
            do throws(JSONReadingError) {
                var envelope = EnvelopeReader(object: object)
                var recognition = try envelope.read(only: receiptColumns)
                guard case .unrecognized(let problem) = recognition.payload, problem.code == .invalidJSON,
                    let other = table.dialectOfJSON(bytes, fields)
                else { return recognition }
                recognition.payload = .unrecognized(
                    InputProblem(
                        .invalidJSON,
                        "\(problem.message) It is JSON in the table dialect \(other.rawValue) (--table-dialect)."))
                return recognition
            } catch {
                return Recognition(.unrecognized(InputProblem(error)))
            }
        }
    }
}
