import Purchases

/// The records in a SQL dump: the rows of `COPY … FROM stdin` and of `INSERT … VALUES`. The columns are those of the statement, or
/// of the CREATE TABLE before it. A row of a COPY is a line, and a row of an INSERT counts as a line.
///
/// A dump has all tables of a database. Every row of a table with a column for receipts is a record. Another row or
/// statement is a record only if it seems to contain a document. So no document is lost.
struct DumpFramer: RecordFramer {
    /// The columns of the tables that CREATE TABLE defined, and the bytes of these definitions.
    typealias Tables = (columns: [String: [String]], bytes: Int)

    private enum State { case statements, copiedRows, values }

    let limit: Int
    /// That of the rows of INSERT statements.
    private let dialect: TableDialect
    private let input: String
    private let receiptColumns: [String]
    private(set) var blankLines = 0
    private(set) var rowsOfOtherTables = 0
    private var number = 0
    private var state = State.statements
    /// Whether all rows of the current table are records.
    private var areRecords = false
    /// Whether the first row of the current INSERT has to number the columns, because nothing names them.
    private var areUnnamed = false
    private(set) var tables: Tables
    /// The columns of a table, probably of the one with receipts. Nil if there was none, or if one has a named column.
    private var otherColumns: [String]?
    private var hasReceiptColumn = false
    /// How many bytes were read ahead to find statements.
    private var bytesAhead = 0
    /// The byte of the input before which no comment in `/*` and `*/` ends, after one without an end.
    private var endless = 0
    /// The properties of the records in the statements, or in the rows of the current table.
    private var current: FrameContext
    /// The context that was given to the batch last.
    private var isBegun = true

    /// - Parameters:
    ///   - input: the name of the input.
    ///   - dialect: how its statements quote and escape.
    ///   - receiptColumns: the columns that the caller names for receipts.
    ///   - limit: the maximum length of a record, in bytes.
    ///   - tables: those of the dumps before it in its folder, which can have the definitions in a file of their own.
    init(input: String, dialect: TableDialect, receiptColumns: [String], limit: Int, tables: Tables) {
        self.input = input
        self.dialect = dialect
        self.receiptColumns = receiptColumns
        self.limit = limit
        self.tables = tables
        current = FrameContext(input: input, unit: .line, table: nil)
    }

    var context: FrameContext? { current }

    /// The problem if no table so far has a named column, so that no row was a record.
    var columnNotFound: InputError? {
        guard let otherColumns else { return nil }
        return InputError(
            code: .columnNotFound, input: input,
            message: "\(input) \(TableDetector.missing(receiptColumns, otherColumns)).")
    }

    mutating func next(from input: InputBuffer, into batch: inout BatchBuilder) throws(InputError) -> Bool {
        while true {
            if state == .values {
                if try readValues(from: input, into: &batch) { return true }
                continue
            }
            if state == .statements, try readStatement(from: input) { continue }
            guard let line = try input.line(limit: limit) else { return false }
            number += 1
            guard case .complete(let content, let next) = line else {
                if state == .statements { change(to: nil) }
                begin(&batch)
                batch.append(try input.consumeOverlongLine(), number: number, limit: limit)
                return true
            }
            let text = input.window[slice: content]
            let isRow = state == .copiedRows
            if isRow, TableDialect.isEndMark(text) {
                state = .statements
            } else if text.isEmpty {
                blankLines += 1
            } else if (isRow && areRecords) || isSearched(text) {
                if !isRow { change(to: nil) }
                begin(&batch)
                batch.append(
                    text, number: number, byteOffset: input.offset, problem: isRow ? nil : Self.statement)
                input.consume(next)
                return true
            } else if isRow {
                rowsOfOtherTables += 1
            }
            input.consume(next)
        }
    }

    /// Whether the text seems to contain a document. With named columns, the other tables are left out.
    private func isSearched(_ text: Bytes) -> Bool { receiptColumns.isEmpty && DocumentTraces.areLikely(in: text) }

    private static let statement = InputProblem(
        .unknownForm, "A statement of a SQL dump with a document, which is neither COPY nor INSERT … VALUES.")

    private mutating func change(to table: TableLayout?) {
        guard table != nil || current.table != nil else { return }
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

    /// Reads the beginning of a statement with rows, if one is at the front.
    private mutating func readStatement(from input: InputBuffer) throws(InputError) -> Bool {
        try input.fill(upTo: 1)
        // Statements without an end must not make reading slow.
        guard let first = input.window.first, DumpStatement.canBegin(with: first),
            bytesAhead <= input.offset + 64 * DumpStatement.maximumBytes
        else { return false }
        try input.fill(upTo: DumpStatement.maximumBytes)
        let head = Bytes(rebasing: input.window.prefix(DumpStatement.maximumBytes))
        guard let statement = DumpStatement(head, dialect, cost: &bytesAhead) else { return false }
        let columns = statement.columns ?? tables.columns[statement.table]
        if let columns { note(columns) }
        if statement.kind == .table {
            // Most dumps define a table just before its rows.
            if tables.bytes > 16 * DumpStatement.maximumBytes { tables = ([:], 0) }
            tables.columns[statement.table] = columns
            tables.bytes += statement.length
            state = .statements
            return false
        }
        state = statement.kind == .copy ? .copiedRows : .values
        areUnnamed = columns == nil
        enter(columns, statement.kind == .copy ? QueryStream.dialect : dialect)
        input.consume(statement.length)
        if statement.kind == .copy {
            number += 1
            try consumeEnd(of: input)
        }
        return true
    }

    /// Notes whether a table has a named column.
    private mutating func note(_ columns: [String]) {
        guard !receiptColumns.isEmpty, !hasReceiptColumn else { return }
        hasReceiptColumn = receiptColumns.contains { columns.contains($0) }
        if hasReceiptColumn {
            otherColumns = nil
        } else if otherColumns == nil || columns.contains(where: { ColumnNames.meaning(of: $0)?.isPayload == true }) {
            otherColumns = columns
        }
    }

    /// Begins the rows of a table.
    private mutating func enter(_ columns: [String]?, _ dialect: TableDialect) {
        if columns != current.table?.columns || dialect != current.table?.dialect {
            change(to: columns.map { TableLayout(dialect: dialect, columns: $0) })
        }
        areRecords =
            receiptColumns.isEmpty
            ? current.table?.meanings.contains { $0?.isPayload == true } == true
            : receiptColumns.contains { columns?.contains($0) == true }
    }

    /// Consumes a semicolon and the end of its line, which is no blank line.
    private func consumeEnd(of input: InputBuffer) throws(InputError) {
        try input.fill(upTo: 3)
        input.consume(input.window.begins(with: ";\r\n") ? 3 : input.window.begins(with: ";\n") ? 2 : 1)
    }

    // MARK: INSERT

    /// Reads what is at the front of the rows of an INSERT. False if that is no record.
    private mutating func readValues(
        from input: InputBuffer, into batch: inout BatchBuilder
    ) throws(InputError) -> Bool {
        try input.fill(upTo: 3)
        switch input.window.first {
        case nil: state = .statements
        case UInt8(ascii: ";")?:
            state = .statements
            try consumeEnd(of: input)
        case UInt8(ascii: ",")?, 0x20?, 0x09?, 0x0A?, 0x0D?: input.consume(1)
        case UInt8(ascii: "(")?: return try readRow(from: input, into: &batch)
        default:
            if DumpComment.begins(at: 0, of: input.window, dialect) == true {
                return try readComment(from: input, into: &batch)
            }
            if try readStatement(from: input) || state != .values { return false }
            // `ON CONFLICT …`, `AS new …`.
            guard input.window.begins(with: "ON ") || input.window.begins(with: "AS ") else {
                return try readRow(from: input, into: &batch)
            }
            state = .statements
        }
        return false
    }

    private mutating func readRow(
        from input: InputBuffer, into batch: inout BatchBuilder
    ) throws(InputError) -> Bool {
        var row = InsertRow(dialect, endless: endless - input.offset)
        while true {
            let bytes = Bytes(rebasing: input.window.prefix(limit))
            while let end = row.next(bytes) {
                if row.isEnded { return append(end + 1, from: input, into: &batch) }
                guard row.isBroken else { continue }
                note(row.comment, at: input.offset)
                return try appendDamaged(from: end, of: input, into: &batch)
            }
            if input.count <= limit, try input.fill() { continue }
            note(row.comment, at: input.offset)
            // The rows after a text or comment without an end seem to be in it.
            let start = row.openText.map { $0 + 1 } ?? row.comment?.damage ?? bytes.count
            return try appendDamaged(from: input.count <= limit ? start : bytes.count, of: input, into: &batch)
        }
    }

    /// Consumes a comment between rows. It is a record only if it seems to contain a document, or has no end.
    private mutating func readComment(
        from input: InputBuffer, into batch: inout BatchBuilder
    ) throws(InputError) -> Bool {
        var comment = DumpComment(at: 0, of: input.window, endless: endless - input.offset)
        var end: Int?
        while true {
            end = comment.end(in: Bytes(rebasing: input.window.prefix(limit)))
            guard end == nil, !comment.isTooLong, input.count <= limit, try input.fill() else { break }
        }
        // A comment up to the line end may be the last thing of the input.
        if end == nil, !comment.isBlock, !comment.isTooLong, input.count <= limit { end = input.count }
        guard let end else {
            note(comment, at: input.offset)
            return try appendDamaged(from: comment.damage, of: input, into: &batch)
        }
        let text = input.window[slice: 0..<end]
        let isRecord = isSearched(text)
        if isRecord {
            number += 1
            let table = current.table
            change(to: nil)
            begin(&batch)
            batch.append(text, number: number, byteOffset: input.offset, problem: Self.comment)
            change(to: table)
        }
        input.consume(end)
        return isRecord
    }

    private static let comment = InputProblem(.unknownForm, "A comment of a SQL dump with a document.")

    /// Remembers how far a comment was searched for its end. The next search continues there.
    private mutating func note(_ comment: DumpComment?, at offset: Int) {
        guard let comment, comment.isBlock else { return }
        endless = max(endless, offset + comment.searched)
    }

    /// Consumes a row that is damaged or too long: up to the next row or line end from a position on.
    private mutating func appendDamaged(
        from start: Int, of input: InputBuffer, into batch: inout BatchBuilder
    ) throws(InputError) -> Bool {
        var searched = start
        var end = Self.endOfDamage(input.window, from: searched)
        // Two more bytes than the limit show whether a row follows.
        while end == nil, input.count < limit + 2 {
            searched = max(searched, input.count - 2)
            end = try input.fill() ? Self.endOfDamage(input.window, from: searched) : input.count
        }
        if let end, end <= limit { return append(end, from: input, into: &batch) }
        number += 1
        var record = OversizeRecord(byteOffset: input.offset)
        var last: UInt8?
        while true {
            let piece = input.window[slice: 0..<(end ?? max(0, input.count - 2))]
            record.absorb(piece)
            last = piece.last(where: { !$0.isWhiteSpace }) ?? last
            searched = max(0, searched - piece.count)
            input.consume(piece.count)
            if end != nil { break }
            end = try input.fill() ? Self.endOfDamage(input.window, from: searched) : input.count
        }
        if last == UInt8(ascii: ";") { state = .statements }
        begin(&batch)
        batch.append(record, number: number, limit: limit)
        return true
    }

    private static func endsStatement(_ line: Bytes) -> Bool {
        line[slice: line.trimmed()].last == UInt8(ascii: ";")
    }

    private static func endOfDamage(_ bytes: Bytes, from start: Int) -> Int? {
        var index = start
        while let found = bytes.position(ofEither: UInt8(ascii: ")"), or: 0x0A, from: index) {
            if bytes[found] == 0x0A { return found }
            if bytes.begins(with: "),(", at: found) { return found + 1 }
            index = found + 1
        }
        return nil
    }

    /// Consumes a row, and moves it to the batch if it is a record.
    private mutating func append(_ length: Int, from input: InputBuffer, into batch: inout BatchBuilder) -> Bool {
        number += 1
        let row = input.window[slice: 0..<length]
        if areUnnamed, let columns = numberedColumns(of: row) {
            areUnnamed = false
            note(columns)
            enter(columns, dialect)
        }
        // The damaged part may be the rest of the statement.
        if Self.endsStatement(row) { state = .statements }
        let isRecord = areRecords || isSearched(row)
        if isRecord {
            begin(&batch)
            batch.append(row, number: number, byteOffset: input.offset)
        } else {
            rowsOfOtherTables += 1
        }
        input.consume(length)
        return isRecord
    }

    /// Nil if the row is damaged, or has more values than a table can have columns.
    private func numberedColumns(of row: Bytes) -> [String]? {
        guard let copied = try? InsertRow.copied(row, dialect) else { return nil }
        let limit = InputLimits.columnsOfTable
        let count = copied.withUnsafeBufferPointer {
            TableField.split($0, QueryStream.dialect, atMost: limit + 1).count
        }
        return count > limit ? nil : TableDetector.numbered(count)
    }

    // MARK: Detection

    private static let titles: [(title: StaticString, isMySQL: Bool)] = [
        ("-- PostgreSQL database dump", false), ("PRAGMA foreign_keys", false), ("-- MySQL dump", true),
        ("-- MariaDB dump", true), ("-- phpMyAdmin SQL Dump", true),
        // Comments that only MySQL and MariaDB execute; with --compact, they are the only sign.
        ("/*!40", true), ("/*!50", true), ("/*M!", true),
    ]

    /// The dialect of the INSERT statements in a dump; nil if the bytes begin none. They begin one with the title of its program,
    /// or with a statement that names columns, perhaps after comments and other statements.
    ///
    /// - Parameters:
    ///   - head: the first bytes of the input.
    ///   - stated: the dialect of tables that the caller states.
    static func dialect(of head: Bytes, stated: TableOptions.Dialect?) -> TableDialect? {
        func dialect(isMySQL: Bool) -> TableDialect {
            let hasBackslashes = stated.map { $0 == .mysql } ?? isMySQL
            return TableDialect(
                delimiter: UInt8(ascii: ","), escape: hasBackslashes ? .mysql : .csv, quote: UInt8(ascii: "'"),
                isInsert: true)
        }
        var (start, cost) = (0, 0)
        var areStatements = true
        while start < min(head.count, 4_096) {
            for (title, isMySQL) in titles where head.begins(with: title, at: start) {
                return dialect(isMySQL: isMySQL)
            }
            if areStatements,
                let statement = DumpStatement(head[slice: start..<head.count], dialect(isMySQL: true), cost: &cost)
            {
                let names = head[slice: start..<(start + statement.length)]
                return dialect(isMySQL: names.position(of: UInt8(ascii: "`")) != nil)
            }
            let end = head.position(of: 0x0A, from: start) ?? head.count
            let line = head[slice: start..<end]
            areStatements =
                areStatements
                && (line.firstNonWhiteSpace() == nil || line.begins(with: "--") || line.begins(with: "/*")
                    || endsStatement(line))
            start = end + 1
        }
        return nil
    }

    /// The columns of each table in the bytes.
    static func tables(in head: Bytes, _ dialect: TableDialect) -> [[String]] {
        var tables: [[String]] = []
        var (start, cost) = (0, 0)
        while start < head.count, cost <= 64 * DumpStatement.maximumBytes {
            if DumpStatement.canBegin(with: head[start]),
                let columns = DumpStatement(head[slice: start..<head.count], dialect, cost: &cost)?.columns
            {
                tables.append(columns)
            }
            start = (head.position(of: 0x0A, from: start) ?? head.count) + 1
        }
        return tables
    }
}
