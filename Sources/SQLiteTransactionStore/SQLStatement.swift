import GRDB
import GRDBSQLite
import Purchases
import TransactionStore

/// A connection that keeps its prepared statements.
protocol StatementSource {
    func statement(_ sql: String) throws -> SQLStatement
}

extension Database: StatementSource {
    func statement(_ sql: String) throws -> SQLStatement {
        guard let connection = sqliteConnection else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the connection is closed")
        }
        return SQLStatement(try cachedStatement(sql: sql), on: connection)
    }
}

extension Database {
    /// Runs `body` in a transaction that keeps other writers out from its start, because a reader that becomes a writer
    /// cannot wait for another writer.
    func immediateTransaction<Value>(_ body: () throws -> Value) throws -> Value {
        var value: Value?
        try inTransaction(.immediate) {
            value = try body()
            return .commit
        }
        guard let value else { throw TransactionStoreError(.engine, "The transaction did not run.") }
        return value
    }
}

extension DatabaseError {
    /// The error that the connection reports for its last call.
    init(connection: OpaquePointer) {
        self.init(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)))
    }
}

/// A prepared statement, bound and stepped without a value object per column. A bulk load binds ten values per row, and
/// a look-up reads hundreds of rows.
///
/// The connection owns the statement, so an instance must not leave the closure that has the connection.
struct SQLStatement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    /// The object that finalizes the statement, if the connection alone does not.
    private let owner: Statement?

    init(_ handle: OpaquePointer, on connection: OpaquePointer) {
        self.handle = handle
        self.connection = connection
        owner = nil
    }

    fileprivate init(_ statement: Statement, on connection: OpaquePointer) {
        handle = statement.sqliteStatement
        self.connection = connection
        owner = statement
    }

    // Swift does not import SQLITE_TRANSIENT, a C macro with a cast. It makes SQLite copy the bytes at once.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(connection: connection) }
    }

    func bind(_ index: Int32, _ value: Int64) throws { try check(sqlite3_bind_int64(handle, index, value)) }

    /// Binds all bytes of the text, including NUL characters.
    func bind(_ index: Int32, _ text: String) throws {
        var text = text
        let code = text.withUTF8 { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return sqlite3_bind_text(handle, index, "", 0, Self.transient) }
            return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                sqlite3_bind_text(handle, index, $0, Int32(clamping: bytes.count), Self.transient)
            }
        }
        try check(code)
    }

    func bind(_ index: Int32, _ bytes: [UInt8]) throws {
        let code = bytes.withUnsafeBytes { buffer -> Int32 in
            // A null pointer would bind NULL.
            guard let base = buffer.baseAddress, !buffer.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
            return sqlite3_bind_blob64(handle, index, base, sqlite3_uint64(buffer.count), Self.transient)
        }
        try check(code)
    }

    func bindNull(_ index: Int32) throws { try check(sqlite3_bind_null(handle, index)) }

    /// Binds the first parameters.
    func set<each Value: SQLValue>(_ values: repeat each Value) throws {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            try value.bind(to: self, at: index)
        }
    }

    /// The next row; nil after the last one.
    private func step() throws -> SQLRow? {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: SQLRow(handle: handle)
        case SQLITE_DONE: nil
        default: throw DatabaseError(connection: connection)
        }
    }

    /// Executes a statement that returns no rows, with the values for its first parameters, and returns the number of changed
    /// rows.
    @discardableResult
    func run<each Value: SQLValue>(_ values: repeat each Value) throws -> Int {
        try set(repeat each values)
        defer { sqlite3_reset(handle) }
        _ = try step()
        return Int(sqlite3_changes(connection))
    }

    /// Calls `body` for each row.
    func forEachRow<each Value: SQLValue>(_ values: repeat each Value, do body: (SQLRow) throws -> Void) throws {
        try set(repeat each values)
        defer { sqlite3_reset(handle) }
        while let row = try step() { try body(row) }
    }

    /// The result of `read` for each row.
    func rows<Row, each Value: SQLValue>(
        _ values: repeat each Value, as read: (SQLRow) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        try forEachRow(repeat each values) { rows.append(try read($0)) }
        return rows
    }

    /// Whether the first row begins with these two values.
    func isFirst(_ number: Int64, _ text: String) throws -> Bool {
        defer { sqlite3_reset(handle) }
        guard let row = try step() else { return false }
        return row.integer(0) == number && row.bytes(1).elementsEqual(text.utf8)
    }

    /// The integer in the first column of the first row; nil if there is none.
    func integer<each Value: SQLValue>(_ values: repeat each Value) throws -> Int64? {
        try set(repeat each values)
        defer { sqlite3_reset(handle) }
        return try step()?.integer(0)
    }
}

/// A value for a parameter of a statement.
protocol SQLValue {
    func bind(to statement: SQLStatement, at index: Int32) throws
}

extension Int64: SQLValue {
    func bind(to statement: SQLStatement, at index: Int32) throws { try statement.bind(index, self) }
}

extension String: SQLValue {
    func bind(to statement: SQLStatement, at index: Int32) throws { try statement.bind(index, self) }
}

extension [UInt8]: SQLValue {
    func bind(to statement: SQLStatement, at index: Int32) throws { try statement.bind(index, self) }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    func bind(to statement: SQLStatement, at index: Int32) throws {
        guard let self else { return try statement.bindNull(index) }
        try self.bind(to: statement, at: index)
    }
}

/// The current row of a statement.
struct SQLRow {
    fileprivate let handle: OpaquePointer

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// The bytes of a value, valid until the next step.
    func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
        // The order matters: reading the pointer may convert the value (SQLite, "Result Values From A Query").
        guard let base = sqlite3_column_blob(handle, column) else { return UnsafeBufferPointer(start: nil, count: 0) }
        let count = Int(sqlite3_column_bytes(handle, column))
        return UnsafeBufferPointer(start: base.assumingMemoryBound(to: UInt8.self), count: count)
    }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// The values of all columns; nil for NULL.
    var values: [SQLText.Value?] {
        (0..<sqlite3_column_count(handle)).map { column -> SQLText.Value? in
            switch sqlite3_column_type(handle, column) {
            case SQLITE_NULL: return nil
            case SQLITE_INTEGER: return .integer(integer(column))
            case SQLITE_BLOB: return .bytes(Array(bytes(column)))
            default: return .text(text(column))
            }
        }
    }

    /// Kind, source and signing date in three columns, and the hash of the document if it has a column.
    func head(_ column: Int32, document: Int32? = nil) -> CustomerAssembler.Row {
        CustomerAssembler.Row(
            kind: integer(column), source: integer(column + 1), signedDate: integer(column + 2),
            document: document.map { bytes($0) })
    }

    /// The environment and the bundle id in two columns.
    func scope(_ column: Int32) -> StoreScope {
        StoreScope(environment: .init(rawValue: text(column)), bundleId: text(column + 1))
    }
}
