package import TransactionStore

/// Runs queries on any PostgreSQL database, not only on a store, through a cursor in a read-only transaction. All rows
/// come from one snapshot.
///
/// Use an instance on one thread at a time. It waits for the server until the current task is canceled.
package final class PostgreSQLQuery {
    /// The host and database, without the user and the password.
    package let server: String
    private let session: PostgreSQLSession
    private var rows: ResultRows?
    private var nextRow = 0
    private var hasCursor = false
    private var fetchCount = PostgreSQLQuery.firstFetchCount

    /// The approximate number of bytes to fetch at once.
    private static let fetchSize = 1 << 20
    private static let firstFetchCount = 100
    private static let name = "migrate_rows"

    /// The host and database of a URL for messages, without the user and the password.
    ///
    /// - Throws: `TransactionStoreError` `invalidURL`.
    package static func server(of url: String) throws(TransactionStoreError) -> String {
        try PostgreSQLAddress(url).description
    }

    /// The host and database of a URL as libpq reads them, which tell databases apart. Never for messages: if a password
    /// is not percent-encoded, a part of it can be here.
    ///
    /// - Throws: `TransactionStoreError` `invalidURL`.
    package static func identity(of url: String) throws(TransactionStoreError) -> String {
        try PostgreSQLAddress(url).place
    }

    /// Connects.
    ///
    /// - Parameters:
    ///   - url: `postgres://…`. With `?schema=`, this schema comes first in the search path.
    ///   - limit: after how long the server ends a statement with an error; nil for its own setting.
    /// - Throws: `TransactionStoreError`. Its message contains neither the user nor the password.
    package init(url: String, limit: Duration? = nil) throws(TransactionStoreError) {
        let address = try PostgreSQLAddress(url)
        server = address.description
        session = try Self.translated(server) {
            // In milliseconds. A query may sort for a long time before its first row. Cancellation ends the wait.
            let day = 86_400_000
            let statement = limit.map { max(1, Int($0 / .milliseconds(1))) }
            let session = try PostgreSQLSession(
                address,
                timeouts: PostgreSQLTimeouts(
                    statement: statement ?? day, lock: day, acquire: day, answer: statement.map { $0 + 5_000 } ?? day))
            session.isWaitCanceled = { Task.isCancelled }
            try session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            if let statement { try session.execute("SET LOCAL statement_timeout = \(statement)") }
            // A checkpoint stores a key as text, which must convert back to the same value.
            try session.execute(
                "SET LOCAL DateStyle = ISO; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = hex")
            if let schema = address.schema {
                try session.query(
                    "SELECT set_config('search_path', $1 || ', ' || current_setting('search_path'), true)",
                    [Array(Schema.quotedIdentifier(schema).utf8)])
            }
            return session
        }
    }

    /// Begins a query. Remaining rows of the previous query are discarded.
    ///
    /// - Parameters:
    ///   - sql: one read-only statement.
    ///   - value: the value of the parameter `$1` as text; nil if the statement has none.
    /// - Returns: the names of the columns.
    /// - Throws: `TransactionStoreError` with the server's message.
    package func begin(_ sql: String, _ value: [UInt8]? = nil) throws(TransactionStoreError) -> [String] {
        try Self.translated(server) {
            rows = nil
            if hasCursor { try session.execute("CLOSE \(Self.name)") }
            try session.query("DECLARE \(Self.name) NO SCROLL CURSOR FOR \(sql)", value.map { [$0] } ?? [])
            hasCursor = true
            // The rows of another query say nothing about the size of these.
            fetchCount = Self.firstFetchCount
            let rows = try fetch()
            return (0..<rows.columnCount).map { rows.name($0) }
        }
    }

    /// The next row, value by value; false at the end.
    ///
    /// - Parameter take: receives each value: the content of a `bytea`, the text of any other type, or nil for null.
    /// - Throws: `TransactionStoreError` with the server's message.
    package func next(_ take: (UnsafeBufferPointer<UInt8>?) -> Void) throws(TransactionStoreError) -> Bool {
        try Self.translated(server) {
            guard var rows else { return false }
            if nextRow == rows.count {
                guard rows.count > 0 else { return false }
                rows = try fetch()
                guard rows.count > 0 else { return false }
            }
            for column in 0..<rows.columnCount {
                if rows.isNull(nextRow, column) {
                    take(nil)
                } else if rows.isByteArray(column) {
                    try rows.withBytes(nextRow, column) { hex in Self.decoded(hex).withUnsafeBufferPointer { take($0) }
                    }
                } else {
                    try rows.withBytes(nextRow, column) { take($0) }
                }
            }
            nextRow += 1
            return true
        }
    }

    @discardableResult
    private func fetch() throws -> ResultRows {
        let rows = try session.query("FETCH FORWARD \(fetchCount) FROM \(Self.name)", [])
        if rows.count > 0 {
            fetchCount = max(1, min(10_000, Self.fetchSize / max(1, rows.byteCount / rows.count)))
        }
        (self.rows, nextRow) = (rows, 0)
        return rows
    }

    /// The bytes after `\x` (PostgreSQL documentation, 8.4.1).
    private static func decoded(_ hex: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        func digit(_ byte: UInt8) -> UInt8 { byte < 0x3A ? byte &- 0x30 : (byte | 0x20) &- 0x57 }
        return stride(from: 2, to: hex.count - 1, by: 2).map { digit(hex[$0]) << 4 | digit(hex[$0 + 1]) & 0xF }
    }

    private static func translated<Value>(
        _ server: String, _ body: () throws -> Value
    ) throws(TransactionStoreError) -> Value {
        do {
            return try body()
        } catch let failure as PostgreSQLFailure {
            throw failure.storeError(server)
        } catch {
            throw error as? TransactionStoreError ?? TransactionStoreError(.engine, "\(server): \(error)")
        }
    }
}
