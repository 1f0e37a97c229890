import AppStoreModels
import Foundation
import TransactionStore

/// A line of `quarantine.ndjson`. Its record is migrated again like in its own input: a row has its header, bytes that
/// are not text are decoded, and the caller's columns have their original names.
struct QuarantineLine {
    private let object: JSONObject
    private let original: [UInt8]

    /// Nil if the bytes are not such a line.
    init?(_ bytes: ArraySlice<UInt8>) {
        // Every line that a migration writes begins like this.
        guard bytes.starts(with: Self.beginning), let object = (try? JSONValue.parse(bytes))?.object,
            object["verdict"]?.string != nil, object["source"]?.object != nil
        else { return nil }
        self.object = object
        if let text = object["original"]?.string {
            original = Array(text.utf8)
        } else if let text = object["originalBase64"]?.string {
            original = StoredText.decode(text.utf8)
        } else {
            return nil
        }
    }

    private static let beginning = Array("{\"reason\":\"".utf8)

    /// The quarantined record. If it is quarantined again, its line is the same.
    /// - Parameters:
    ///   - place: where the line is.
    ///   - reader: reads the record again.
    ///   - whole: the bytes of the whole record, if the line has only the beginning.
    func record(place: RecordPlace, _ reader: RecordReader, whole: [UInt8]? = nil) -> InputRecord {
        record(
            whole ?? original, whole?.count ?? length, at: place, in: TableLayout(quarantined: object["table"]), reader)
    }

    private func record(
        _ original: [UInt8], _ length: Int, at place: RecordPlace, in table: TableLayout?, _ reader: RecordReader
    ) -> InputRecord {
        let roles = roles
        // The option names the record's own column. The column "original" of the quarantine is always read.
        let named = reader.receiptColumns.filter { $0 != "original" }
        // A document that was quarantined alone is what that column had.
        let columns = named.isEmpty && path.isEmpty ? roles?.receipts ?? [] : named
        let recognition = recognition(
            RecordReader(
                receiptColumns: columns, namedColumns: (roles?.all ?? []) + reader.namedColumns, isRecord: path.isEmpty),
            table, of: original, length)
        // A document that was quarantined alone has the columns beside it in a separate member.
        let carried = path.isEmpty ? recognition.carried : self.columns + recognition.carried
        return InputRecord(
            place: place, original: original[...], length: length, carried: carried, payload: recognition.payload,
            members: recognition.membersOfRecord, table: table, path: path, roles: roles)
    }

    /// The roles that the caller gave to columns; nil if none.
    var roles: ColumnRoles? { object["roles"].map(ColumnRoles.init(quarantined:)) }
    /// Empty for a whole record.
    private var path: String {
        let path = object["source"]?["path"]?.string ?? ""
        return path == MemberPath.migrated ? "" : path
    }

    /// The quarantined record, with the place where it was first read.
    /// - Parameters:
    ///   - reader: reads the record again.
    ///   - limit: a length in bytes. If the line has only the beginning of a record that is not longer, the whole record is
    ///     read from its input, if the input still exists.
    func record(_ reader: RecordReader, rereadingUpTo limit: Int = 0) -> InputRecord {
        record(place: firstPlace, reader, whole: length > original.count && length <= limit ? wholeOriginal : nil)
    }

    /// The quarantined records for a retry, with the places where they were first read. There are several if several rows were
    /// read as one record.
    /// - Parameters:
    ///   - reader: reads the records again.
    ///   - table: the dialect that the caller states. It is used only for a row whose form or JSON was rejected. Any other row
    ///     fits its own dialect, and another dialect could change its values.
    ///   - limit: as for ``record(_:rereadingUpTo:)``.
    func records(_ reader: RecordReader, table: TableOptions, rereadingUpTo limit: Int) -> [InputRecord] {
        rows(statedBy: table, reader) ?? [record(reader, rereadingUpTo: limit)]
    }

    /// The rows of a line that was refused for its form or its JSON. Nil if the line is another one, or if one of its rows would be
    /// refused again. The line then stays as it is.
    private func rows(statedBy options: TableOptions, _ reader: RecordReader) -> [InputRecord]? {
        guard let reason = InputProblem.Code(rawValue: object["reason"]?.string ?? ""),
            reason.isAboutForm || reason == .invalidJSON, path.isEmpty,
            length == original.count, let table = TableLayout(quarantined: object["table"]),
            let (stated, rows) = original.withUnsafeBufferPointer({ table.rows(in: $0, statedBy: options) })
        else { return nil }
        // The rows are a part of the row that was counted, so they have its number, and bytes of their own.
        let first = firstPlace
        let records = rows.map { row in
            let place = RecordPlace(
                input: first.input, unit: first.unit, number: first.number,
                byteOffset: first.byteOffset &+ row.lowerBound)
            return record(Array(original[row]), row.count, at: place, in: stated, reader)
        }
        let isRefused = records.contains { record in
            guard case .unrecognized(let problem) = record.payload else { return false }
            return problem.code.isAboutForm || problem.code == reason
        }
        return isRefused ? nil : records
    }

    /// The whole record of which the line has only the beginning. Nil if its input is no plain file any more in which this
    /// beginning is at its place and the record ends as before.
    private var wholeOriginal: [UInt8]? {
        let place = firstPlace
        // A shorter beginning identifies nothing.
        guard original.count == InputLimits.oversizeExcerpt, path.isEmpty, place.byteOffset >= 0,
            (try? SystemCalls.status(place.input))?.kind == .file,
            let file = FileHandle(forReadingAtPath: place.input)
        else { return nil }
        defer { try? file.close() }
        do {
            try file.seek(toOffset: UInt64(place.byteOffset))
            guard let beginning = try file.read(upToCount: original.count), Array(beginning) == original,
                let rest = try file.read(upToCount: length - original.count), rest.count == length - original.count
            else { return nil }
            let end = try file.read(upToCount: 2) ?? Data()
            if let table = TableLayout(quarantined: object["table"]), table.dialect.isInsert {
                return Self.wholeRow(original + Array(rest), table.dialect)
            }
            switch place.unit {
            case .file: guard end.isEmpty else { return nil }
            case .line, .row: guard end.isEmpty || end.first == 0x0A || Array(end) == [0x0D, 0x0A] else { return nil }
            case .element: break
            }
            return original + Array(rest)
        } catch {
            return nil
        }
    }

    /// A row of a dump that was too long, without the text after its parenthesis. Nil if it is not a whole row. That can happen
    /// because the end of a row that is too long is searched without regard to quotes.
    private static func wholeRow(_ record: [UInt8], _ dialect: TableDialect) -> [UInt8]? {
        let delimiters = [UInt8(ascii: ","), UInt8(ascii: ";")]
        guard let end = record.lastIndex(where: { !$0.isWhiteSpace && !delimiters.contains($0) }) else { return nil }
        let row = Array(record[...end])
        let copied = row.withUnsafeBufferPointer { try? InsertRow.copied($0, dialect) }
        return copied == nil ? nil : row
    }

    /// A page has several groups, so that each processor has one.
    private static let linesOfGroup = 16

    /// Lines that a retry migrates in one task. One that is read again from its input can be large, so it is alone.
    static func groups(_ lines: [QuarantinedRecord]) -> [[QuarantinedRecord]] {
        lines.reduce(into: [[QuarantinedRecord]]()) { groups, line in
            if let group = groups.last, group.count < linesOfGroup, let last = group.last, !isCut(last.line),
                !isCut(line.line)
            {
                groups[groups.count - 1].append(line)
            } else {
                groups.append([line])
            }
        }
    }

    /// The bytes that a retry of a line may have in memory. A record that is read again from its input is longer than its line.
    static func sizeOfRetry(_ line: [UInt8]) -> Int {
        guard isCut(line), let length = QuarantineLine(line[...])?.length else { return line.count }
        return max(line.count, length)
    }

    private static func isCut(_ line: [UInt8]) -> Bool {
        line.withUnsafeBufferPointer { $0.contains("\"originalIsCut\":true") }
    }

    private var firstPlace: RecordPlace {
        let source = object["source"]
        func number(_ name: String) -> Int? { source?[name]?.integer.flatMap { Int(exactly: $0) } }
        let unit = RecordPlace.Unit.allCases.last { $0 != .file && number($0.rawValue) != nil } ?? .file
        return RecordPlace(
            input: source?["input"]?.string ?? "", unit: unit, number: unit == .file ? 1 : number(unit.rawValue) ?? 1,
            byteOffset: number("byteOffset") ?? 0)
    }

    /// The file, link or folder that could not be opened; nil if the line is about a record.
    var unopenedInput: String? {
        let isOfInput = original.isEmpty && object["reason"]?.string == InputProblem.Code.unreadable.rawValue
        return isOfInput && firstPlace.byteOffset == 0 ? firstPlace.input : nil
    }

    /// Whether a line can be about an input, without reading its JSON.
    static func isOfInput(_ line: [UInt8]) -> Bool { line.starts(with: beginningOfInput) }

    private static let beginningOfInput = beginning + Array("\(InputProblem.Code.unreadable.rawValue)\"".utf8)

    /// The input of the record.
    var input: String { firstPlace.input }

    /// Whether it is about a row of a dump whose columns have numbers, because the dump does not name them.
    var hasNumberedColumns: Bool {
        guard let table = TableLayout(quarantined: object["table"]), table.dialect.isInsert else { return false }
        return table.columns == TableDetector.numbered(table.columns.count)
    }

    private var length: Int {
        guard object["originalIsCut"]?.bool == true, let length = object["source"]?["length"]?.integer else {
            return original.count
        }
        return max(original.count, Int(length))
    }

    private func recognition(
        _ reader: RecordReader, _ table: TableLayout?, of original: [UInt8], _ length: Int
    ) -> Recognition {
        if length > original.count {
            return original.withUnsafeBufferPointer {
                Recognition(.unrecognized(.tooLarge(length, kept: $0, at: firstPlace)))
            }
        }
        // These are about an input, and have no bytes of their own.
        for code in [InputProblem.Code.unreadable, .truncatedInput]
        where original.isEmpty && object["reason"]?.string == code.rawValue {
            let message = object["message"]?.string ?? "This could not be read."
            return Recognition(.unrecognized(InputProblem(code, message)))
        }
        return reader.read(original[...], table: table)
    }

    /// The caller's own columns that the line has.
    var columns: [CarriedColumn] {
        guard let members = object["record"]?.object?.members else { return [] }
        return members.map { member in
            if let text = member.value.string { return CarriedColumn(name: member.key, value: .text(text)) }
            return CarriedColumn(name: member.key, value: .json(String(decoding: member.value.json, as: UTF8.self)))
        }
    }
}

extension TableLayout {
    /// The layout that ``writeMembers(to:)`` wrote.
    init?(quarantined value: JSONValue?) {
        guard let delimiter = value?["delimiter"]?.string?.utf8.first, let columns = value?["columns"]?.array else {
            return nil
        }
        let escape = value?["dialect"]?.string.flatMap(TableOptions.Dialect.init(rawValue:)) ?? .csv
        let sql = value?["quote"]?.string
        let quote = (value?["enclosedBy"]?.string ?? sql).map { $0.utf8.first ?? TableDialect.noQuote }
        let dialect = TableDialect(
            delimiter: delimiter, escape: escape, quote: quote ?? TableDialect.doubleQuote, isInsert: sql == "'")
        self.init(dialect: dialect, columns: columns.map { $0.string ?? "" })
    }

    func writeMembers(to writer: inout JSONWriter) {
        writer.member("delimiter", String(decoding: [dialect.delimiter], as: UTF8.self))
        if dialect.escape != .csv { writer.member("dialect", dialect.escape.rawValue) }
        if dialect.isInsert {
            writer.member("quote", "'")
        } else if dialect.quote == TableDialect.noQuote {
            writer.member("quote", "")
        } else if dialect.quote != TableDialect.doubleQuote {
            writer.member("enclosedBy", String(decoding: [dialect.quote], as: UTF8.self))
        }
        writer.array("columns", columns) { $0.string($1) }
    }
}
