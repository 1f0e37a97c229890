import GRDBSQLite
package import TransactionStore

/// Runs queries on any SQLite database, not only on a store. The database is opened read-only, and all rows come from
/// one snapshot.
///
/// Use an instance on one thread at a time.
package final class SQLiteQuery {
    /// The class of a value. SQLite orders values of different classes by their class ("Datatypes In SQLite", 4.1).
    package enum ValueClass: String, Sendable {
        case null, integer, real, text, blob
    }

    /// Nil after ``close()``.
    private var database: OpaquePointer?
    private var statement: OpaquePointer?
    /// When all statements end with an error; nil for never.
    private let deadline: ContinuousClock.Instant?

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - limit: after how long all statements end with an error; nil for never.
    /// - Throws: `TransactionStoreError`, also for a file that does not exist.
    package init(path: String, limit: Duration? = nil) throws(TransactionStoreError) {
        deadline = limit.map { ContinuousClock.now + $0 }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened else { throw TransactionStoreError(.unavailable, "no memory for a connection") }
        database = opened
        guard code == SQLITE_OK else { throw failure() }
        // In milliseconds. The program that owns the database may be writing.
        sqlite3_busy_timeout(opened, 10_000)
        if deadline != nil { interruptAtDeadline(opened) }
        try execute("BEGIN")
    }

    private func interruptAtDeadline(_ database: OpaquePointer) {
        // SQLite calls it often while a statement runs, and a result other than 0 ends the statement. The connection does
        // not outlive this object.
        sqlite3_progress_handler(
            database, 10_000,
            { context in
                guard let context else { return 0 }
                let deadline = Unmanaged<SQLiteQuery>.fromOpaque(context).takeUnretainedValue().deadline
                return Task.isCancelled || deadline.map { $0 <= ContinuousClock.now } == true ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { close() }

    /// Ends the snapshot. No query can begin after it.
    func close() {
        sqlite3_finalize(statement)
        statement = nil
        sqlite3_close_v2(database)
        database = nil
    }

    /// Begins a query. Remaining rows of the previous query are discarded.
    ///
    /// - Parameters:
    ///   - sql: one read-only statement.
    ///   - value: the value of the parameter `?1`, and its class; nil if the statement has none.
    /// - Returns: the names of the columns.
    /// - Throws: `TransactionStoreError` with SQLite's message.
    package func begin(
        _ sql: String, _ value: (class: ValueClass, text: [UInt8])? = nil
    ) throws(TransactionStoreError) -> [String] {
        sqlite3_finalize(statement)
        statement = nil
        var hasMore = false
        let code = sql.withCString { text -> Int32 in
            var rest: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(database, text, -1, &statement, &rest)
            hasMore = rest.map { String(cString: $0).contains { !$0.isWhitespace && $0 != ";" } } ?? false
            return code
        }
        guard code == SQLITE_OK else { throw failure() }
        guard let statement, !hasMore else { throw TransactionStoreError(.engine, "the query must be one statement") }
        guard sqlite3_stmt_readonly(statement) != 0, sqlite3_column_count(statement) > 0 else {
            throw TransactionStoreError(.engine, "the query must be a statement that only reads rows")
        }
        if let value { try bind(value.class, value.text, to: statement) }
        return (0..<sqlite3_column_count(statement)).map { index in
            sqlite3_column_name(statement, index).map { String(cString: $0) } ?? ""
        }
    }

    /// The next row, value by value; false at the end.
    ///
    /// - Parameter take: receives the class and the bytes of each value. A number is given as text, and null as no
    ///   bytes.
    /// - Throws: `TransactionStoreError` with SQLite's message.
    package func next(
        _ take: (ValueClass, UnsafeBufferPointer<UInt8>) -> Void
    ) throws(TransactionStoreError) -> Bool {
        guard let statement else { return false }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: break
        case SQLITE_DONE: return false
        default: throw failure()
        }
        for index in 0..<sqlite3_column_count(statement) { Self.value(statement, index, take) }
        return true
    }

    private static func value(
        _ statement: OpaquePointer, _ index: Int32, _ take: (ValueClass, UnsafeBufferPointer<UInt8>) -> Void
    ) {
        let valueClass: ValueClass
        switch sqlite3_column_type(statement, index) {
        case SQLITE_NULL: return take(.null, UnsafeBufferPointer(start: nil, count: 0))
        case SQLITE_FLOAT:
            // SQLite's own text has only 15 digits, which do not always give the same number again.
            var text = "\(sqlite3_column_double(statement, index))"
            return text.withUTF8 { take(.real, $0) }
        case SQLITE_INTEGER: valueClass = .integer
        case SQLITE_BLOB: valueClass = .blob
        default: valueClass = .text
        }
        // The order matters: reading the pointer may convert the value (SQLite, "Result Values From A Query").
        let base = sqlite3_column_blob(statement, index)?.assumingMemoryBound(to: UInt8.self)
        take(
            valueClass,
            UnsafeBufferPointer(start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(statement, index))))
    }

    private func bind(_ kind: ValueClass, _ text: [UInt8], to statement: OpaquePointer) throws(TransactionStoreError) {
        // Swift does not import SQLITE_TRANSIENT, a C macro with a cast. It makes SQLite copy the bytes at once.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let string = String(decoding: text, as: UTF8.self)
        // An empty array has no address, and a null pointer would bind NULL.
        let bytes = text + [0]
        let code: Int32
        switch kind {
        case .null: code = sqlite3_bind_null(statement, 1)
        case .integer, .real:
            code =
                if let number = Int64(string) {
                    sqlite3_bind_int64(statement, 1, number)
                } else {
                    sqlite3_bind_double(statement, 1, Double(string) ?? 0)
                }
        case .blob: code = sqlite3_bind_blob(statement, 1, bytes, Int32(clamping: text.count), transient)
        case .text:
            code = bytes.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text(statement, 1, $0.baseAddress, Int32(clamping: text.count), transient)
                }
            }
        }
        guard code == SQLITE_OK else { throw failure() }
    }

    private func execute(_ sql: String) throws(TransactionStoreError) {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// The error that the connection reports for its last call.
    private func failure() -> TransactionStoreError {
        TransactionStoreError(
            .engine, "SQLite \(sqlite3_extended_errcode(database)): \(String(cString: sqlite3_errmsg(database)))")
    }
}
