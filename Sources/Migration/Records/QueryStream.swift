import AppStoreModels
import PostgreSQLTransactionStore
import SQLiteTransactionStore
import TransactionStore

/// The rows of a query on a database, as a table in PostgreSQL's COPY text format with a header. They are then read,
/// quarantined and retried like any table. Null differs from an empty text, and a blob keeps its bytes.
final class QueryStream: ByteStream {
    static let dialect = TableDialect(delimiter: 0x09, escape: .postgresql)

    /// The names of the columns.
    let columns: [String]
    /// The length of the first line, which has the names of the columns, in bytes.
    let headerLength: Int
    /// The index of the key column; nil without one.
    let keyColumn: Int?

    private let name: String
    private let rows: any QueryRows
    /// The bytes of rows that were not read yet.
    private var pending: [UInt8]
    private var taken = 0
    private var isAtEnd = false
    /// The number of the last row in `pending`, and the byte offset of its end.
    private var row: Int
    private var end: Int
    private var lastKey: QueryPosition.Key?
    /// How many rows have keys up to that of the last row.
    private var counted: Int
    /// The rows after which the query may have to continue, oldest first. Empty if the caller does not need them,
    /// because they would fill the memory.
    private var positions: [QueryPosition] = []
    private let keepsPositions: Bool

    /// The approximate number of bytes of rows that are written at once.
    private static let pieceSize = 256 << 10

    init(_ input: DatabaseQuery) throws(InputError) {
        name = input.database.name
        keepsPositions = input.keepsPositions
        let sql = Self.statement(input.query.sql)
        do throws(TransactionStoreError) {
            rows =
                switch input.database {
                case .sqlite(let path): try SQLiteQuery(path: path)
                case .postgreSQL(let url, _, _): try PostgreSQLQuery(url: url)
                }
            if let key = input.query.key {
                let names = try rows.begin("SELECT * FROM (\n\(sql)\n) AS q LIMIT 0", from: nil)
                guard let index = names.firstIndex(of: key) else {
                    throw TransactionStoreError(.engine, "the query \(TableDetector.missing([key], names))")
                }
                counted = try Self.check(rows, sql, key: key, position: input.position)
                keyColumn = index
                let column = Self.identifier(key)
                let rest = input.position == nil ? "" : " WHERE q.\(column) > \(rows.parameter)"
                columns = try rows.begin(
                    "SELECT * FROM (\n\(sql)\n) AS q\(rest) ORDER BY q.\(column)", from: input.position?.key)
            } else {
                keyColumn = nil
                counted = 0
                columns = try rows.begin(sql, from: nil)
            }
        } catch {
            throw Self.failed(error, input.database.name)
        }
        if let position = input.position, counted > position.counted {
            throw Self.grown(input.database.name, position, by: counted - position.counted)
        }
        pending = Self.header(columns)
        headerLength = pending.count
        row = input.position?.row ?? 1
        end = input.position?.end ?? headerLength
        lastKey = input.position?.key
    }

    private static func header(_ columns: [String]) -> [UInt8] {
        var line: [UInt8] = []
        for (index, column) in columns.enumerated() {
            if index > 0 { line.append(dialect.delimiter) }
            Array(column.utf8).withUnsafeBufferPointer { append($0, to: &line) }
        }
        return line + [0x0A]
    }

    /// The query without the semicolon at its end, so that it can be a subquery.
    private static func statement(_ sql: String) -> String {
        var sql = sql[...]
        while let last = sql.last, last.isWhitespace || last == ";" { sql.removeLast() }
        return String(sql)
    }

    /// Checks for rows that could be missed. Rows without a key sort before or after all others; and if several rows
    /// have the last row's key, only one of them was read.
    /// - Returns: how many rows have keys up to the one of the position.
    private static func check(
        _ rows: any QueryRows, _ sql: String, key: String, position: QueryPosition?
    ) throws(TransactionStoreError) -> Int {
        let column = identifier(key)
        _ = try rows.begin("SELECT 1 FROM (\n\(sql)\n) AS q WHERE q.\(column) IS NULL LIMIT 1", from: nil)
        guard try !rows.next({ _, _ in }) else {
            throw TransactionStoreError(
                .engine, "the key \(key) is null in some rows. Exclude them, or name another --key")
        }
        guard let position else { return 0 }
        _ = try rows.begin(
            "SELECT 1 FROM (\n\(sql)\n) AS q WHERE q.\(column) = \(rows.parameter) LIMIT 2", from: position.key)
        if try rows.next({ _, _ in }), try rows.next({ _, _ in }) { throw notUnique(key) }
        let upToLast = "SELECT count(*) FROM (\n\(sql)\n) AS q WHERE q.\(column) <= \(rows.parameter)"
        guard let count = try number(rows, upToLast, from: position.key) else {
            throw TransactionStoreError(.engine, "the rows up to the last key cannot be counted")
        }
        return count
    }

    /// The number that a query gives in one row.
    private static func number(
        _ rows: any QueryRows, _ sql: String, from key: QueryPosition.Key?
    ) throws(TransactionStoreError) -> Int? {
        _ = try rows.begin(sql, from: key)
        var number: Int?
        _ = try rows.next { _, bytes in number = Int(String(decoding: bytes, as: UTF8.self)) }
        return number
    }

    /// The number of rows of a query; nil if the database cannot count them, or not in time.
    ///
    /// It is for estimates: the database can have other rows than when the query is read.
    static func count(_ input: DatabaseQuery, within limit: Duration) -> Int? {
        do throws(TransactionStoreError) {
            let rows: any QueryRows =
                switch input.database {
                case .sqlite(let path): try SQLiteQuery(path: path, limit: limit)
                case .postgreSQL(let url, _, _): try PostgreSQLQuery(url: url, limit: limit)
                }
            return try number(rows, "SELECT count(*) FROM (\n\(statement(input.query.sql))\n) AS q", from: nil)
        } catch {
            return nil
        }
    }

    /// Rows before the position are not read, so new ones among them would be missed.
    private static func grown(_ name: String, _ position: QueryPosition, by count: Int) -> InputError {
        InputError(
            code: .rowsAdded, input: name,
            message: """
                The input \(name) has changed since it was migrated up to row \(position.row): rows with keys up to that \
                of the row were added, \(count) more than were deleted.
                """)
    }

    /// An identifier as SQL (PostgreSQL documentation, 4.1.1; SQLite, "SQLite Keywords").
    private static func identifier(_ name: String) -> String { name.inQuotes("\"", escapedAs: "\"\"") }

    private static func notUnique(_ key: String) -> TransactionStoreError {
        TransactionStoreError(
            .engine, "the key \(key) has the same value in several rows. Name a column with --key that identifies a row"
        )
    }

    private static func failed(_ error: TransactionStoreError, _ name: String) -> InputError {
        if Task.isCancelled {
            return InputError(code: .interrupted, input: name, message: "Reading \(name) was interrupted.")
        }
        // The errors of a server already contain its name.
        let message = error.message.hasPrefix(name) ? error.message : "\(name): \(error.message)"
        let end = message.hasSuffix("?") || message.hasSuffix(".") ? "" : "."
        return InputError(code: .queryFailed, input: name, message: "The query failed. \(message)\(end)")
    }

    /// Where the query continues after a row; nil without a key. Forgets the rows before it.
    func position(afterRow number: Int) -> QueryPosition? {
        guard let first = positions.first, number >= first.row else { return nil }
        positions.removeFirst(min(number - first.row, positions.count))
        return positions.first
    }

    // MARK: Reading

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputError) -> Int {
        if taken == pending.count {
            pending.removeAll(keepingCapacity: true)
            taken = 0
            do throws(TransactionStoreError) {
                while pending.count < Self.pieceSize, !isAtEnd { try appendRow() }
            } catch {
                throw Self.failed(error, name)
            }
        }
        if Task.isCancelled { throw Self.failed(TransactionStoreError(.unavailable, ""), name) }
        let count = min(buffer.count, pending.count - taken)
        pending[taken..<taken + count].withUnsafeBytes { buffer.copyMemory(from: $0) }
        taken += count
        return count
    }

    private func appendRow() throws(TransactionStoreError) {
        let start = pending.count
        var column = 0
        var key: QueryPosition.Key?
        let hasRow = try rows.next { valueClass, bytes in
            if column > 0 { pending.append(Self.dialect.delimiter) }
            if valueClass == .null {
                pending += [UInt8(ascii: "\\"), UInt8(ascii: "N")]
            } else {
                Self.append(bytes, to: &pending)
            }
            if column == keyColumn { key = QueryPosition.Key(valueClass: valueClass, bytes: Array(bytes)) }
            column += 1
        }
        guard hasRow else {
            isAtEnd = true
            return
        }
        pending.append(0x0A)
        row += 1
        end += pending.count - start
        guard let key, let keyColumn else { return }
        guard key != lastKey else { throw Self.notUnique(columns[keyColumn]) }
        lastKey = key
        counted += 1
        if keepsPositions { positions.append(QueryPosition(key: key, row: row, end: end, counted: counted)) }
    }

    /// Appends a value with the escapes of the format.
    static func append(_ bytes: Bytes, to line: inout [UInt8]) {
        var start = 0
        for index in bytes.indices {
            let escape: UInt8
            switch bytes[index] {
            case UInt8(ascii: "\\"): escape = UInt8(ascii: "\\")
            case 0x09: escape = UInt8(ascii: "t")
            case 0x0A: escape = UInt8(ascii: "n")
            case 0x0D: escape = UInt8(ascii: "r")
            default: continue
            }
            line += bytes[start..<index]
            line += [UInt8(ascii: "\\"), escape]
            start = index + 1
        }
        line += bytes[start...]
    }
}

/// Runs one query after another, on any engine.
private protocol QueryRows {
    /// The first parameter of a statement.
    var parameter: String { get }
    /// Begins a query, and returns the names of its columns.
    func begin(_ sql: String, from key: QueryPosition.Key?) throws(TransactionStoreError) -> [String]
    /// The next row, value by value; false at the end.
    func next(_ take: (SQLiteQuery.ValueClass, Bytes) -> Void) throws(TransactionStoreError) -> Bool
}

extension SQLiteQuery: QueryRows {
    fileprivate var parameter: String { "?1" }

    fileprivate func begin(
        _ sql: String, from key: QueryPosition.Key?
    ) throws(TransactionStoreError) -> [String] {
        try begin(sql, key.map { ($0.valueClass, $0.bytes) })
    }
}

extension PostgreSQLQuery: QueryRows {
    fileprivate var parameter: String { "$1" }

    fileprivate func begin(
        _ sql: String, from key: QueryPosition.Key?
    ) throws(TransactionStoreError) -> [String] {
        try begin(sql, key?.bytes)
    }

    fileprivate func next(_ take: (SQLiteQuery.ValueClass, Bytes) -> Void) throws(TransactionStoreError) -> Bool {
        try next { (bytes: Bytes?) in
            if let bytes { take(.text, bytes) } else { take(.null, Bytes(start: nil, count: 0)) }
        }
    }
}
