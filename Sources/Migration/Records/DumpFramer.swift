import Purchases

/// The records in the text of pg_dump: the rows of `COPY … FROM stdin`, in PostgreSQL's dialect, with the columns that the
/// statement names. Each row is a line.
///
/// A dump has all tables of a database. Every row of a table with a column for receipts is a record. Other rows, and
/// statements such as INSERT, are records only if they seem to contain a document, so that none is lost.
struct DumpFramer: RecordFramer {
    let limit: Int
    private let input: String
    private let receiptColumn: String?
    private(set) var blankLines = 0
    private var number = 0
    /// The properties of the records in the statements, or in the rows of the current table.
    private var current: FrameContext
    /// Whether the next lines are rows, and whether all of them are records.
    private var rows: (areRows: Bool, areRecords: Bool) = (false, false)
    /// The context that was given to the batch last.
    private var isBegun = true

    init(input: String, receiptColumn: String?, limit: Int) {
        self.input = input
        self.receiptColumn = receiptColumn
        self.limit = limit
        current = FrameContext(input: input, unit: .line, table: nil)
    }

    var context: FrameContext? { current }

    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool {
        while let line = try input.line(from: 0, limit: limit) {
            number += 1
            guard case .complete(let content, let next) = line else {
                begin(&batch)
                batch.append(try input.consumeOverlongLine(), number: number, limit: limit)
                return true
            }
            let text = input.window[slice: content]
            if rows.areRows, TableDialect.isEndMark(text) {
                rows = (false, false)
                change(to: nil)
            } else if !rows.areRows, let columns = Self.columns(text) {
                let hasReceipts =
                    receiptColumn.map { columns.contains($0) }
                    ?? columns.contains { ColumnNames.meaning(of: $0)?.isPayload == true }
                rows = (true, hasReceipts)
                change(to: TableLayout(dialect: QueryStream.dialect, columns: columns))
            } else if text.isEmpty {
                blankLines += 1
            } else if rows.areRecords || (isSearched && DocumentTraces.arePresent(in: text)) {
                begin(&batch)
                batch.append(
                    text, number: number, byteOffset: input.offset, problem: rows.areRows ? nil : Self.statement)
                input.consume(next)
                return true
            }
            input.consume(next)
        }
        return false
    }

    /// With a named column, the other tables are left out.
    private var isSearched: Bool { receiptColumn == nil }

    private static let statement = InputProblem(
        .unknownForm, "A statement of a SQL dump with a document. Dump the table with COPY, without --inserts.")

    private mutating func change(to table: TableLayout?) {
        current = FrameContext(input: input, unit: table == nil ? .line : .row, table: table)
        isBegun = false
    }

    /// Gives the batch the properties of its next records. A new batch already has them.
    private mutating func begin(_ batch: inout BatchBuilder) {
        guard !isBegun else { return }
        batch.begin(current)
        isBegun = true
    }

    // MARK: Statements

    private static let titleBytes = 4_096

    /// Whether the bytes are the beginning of a dump: the title of pg_dump, or a `COPY … FROM stdin`.
    static func beginsDump(_ head: Bytes) -> Bool {
        guard let start = head.firstNonWhiteSpace() else { return false }
        let end = head.position(of: 0x0A, from: start) ?? head.count
        if columns(withoutCarriageReturn(head[slice: start..<end])) != nil { return true }
        var line = start
        while line < min(head.count, titleBytes) {
            if head.begins(with: "-- PostgreSQL database dump", at: line) { return true }
            guard let newline = head.position(of: 0x0A, from: line) else { return false }
            line = newline + 1
        }
        return false
    }

    /// The columns of each table in the bytes.
    static func tables(in head: Bytes) -> [[String]] {
        var tables: [[String]] = []
        var start = 0
        while let newline = head.position(of: 0x0A, from: start) {
            if let columns = columns(withoutCarriageReturn(head[slice: start..<newline])) { tables.append(columns) }
            start = newline + 1
        }
        return tables
    }

    private static func withoutCarriageReturn(_ line: Bytes) -> Bytes {
        line.last == 0x0D ? line[slice: 0..<(line.count - 1)] : line
    }

    /// The columns that `COPY table (a, "b c") FROM stdin;` names; nil for any other line.
    private static func columns(_ line: Bytes) -> [String]? {
        let ending: StaticString = ") FROM stdin;"
        guard line.begins(with: "COPY "), line.count > ending.utf8CodeUnitCount,
            line.begins(with: ending, at: line.count - ending.utf8CodeUnitCount),
            let start = line.position(of: UInt8(ascii: "("))
        else { return nil }
        let end = line.count - ending.utf8CodeUnitCount
        var columns: [String] = []
        var index = start + 1
        while index < end {
            if line[index] == UInt8(ascii: " ") {
                index += 1
                continue
            }
            columns.append(name(line, at: &index, end: end))
            while index < end, line[index] != UInt8(ascii: ",") { index += 1 }
            index += 1
        }
        return columns.isEmpty ? nil : columns
    }

    /// The identifier at `index`, which is set to the end of it. A quote in a quoted one is doubled (PostgreSQL
    /// documentation, 4.1.1).
    private static func name(_ line: Bytes, at index: inout Int, end: Int) -> String {
        let quote = UInt8(ascii: "\"")
        var name: [UInt8] = []
        if line[index] == quote {
            index += 1
            while index < end {
                if line[index] == quote {
                    guard index + 1 < end, line[index + 1] == quote else { break }
                    index += 1
                }
                name.append(line[index])
                index += 1
            }
        } else {
            while index < end, line[index] != UInt8(ascii: ","), line[index] != UInt8(ascii: " ") {
                name.append(line[index])
                index += 1
            }
        }
        return String(decoding: name, as: UTF8.self)
    }
}
