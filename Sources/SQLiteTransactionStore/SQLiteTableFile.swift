import GRDB
import TransactionStore

/// A value of a column in SQLite.
package enum SQLiteValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
}

/// A connection to a SQLite file that is not a store, for commands that write tables.
package final class SQLiteTableFile: Sendable {
    package let path: String
    private let queue: DatabaseQueue

    /// Opens a file. A missing file is created with read permission for its owner only.
    /// - Parameter path: the path of the file; its folder must exist.
    /// - Throws: `TransactionStoreError`.
    package init(path: String) throws {
        self.path = path
        var configuration = Configuration()
        configuration.label = "SQLiteTableFile"
        // Seconds to wait while another program writes.
        configuration.busyMode = .timeout(30)
        // Temporary tables may not fit into memory.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA temp_store = FILE") }
        PrivateFile.make(path)
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw TransactionStoreError(error)
        }
    }

    /// Runs `body` on the thread of the connection.
    /// - Throws: what `body` throws; errors of SQLite as `TransactionStoreError`.
    package func perform<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTableSession) throws -> Value
    ) async throws -> Value {
        do {
            return try await queue.writeWithoutTransaction { try body(SQLiteTableSession(database: $0)) }
        } catch let error as DatabaseError {
            try Task.checkCancellation()
            throw TransactionStoreError(error)
        }
    }

    /// Closes the connection, which drops its temporary tables.
    package func close() { try? queue.close() }
}

/// The connection of a ``SQLiteTableFile`` during a call of `perform`.
package struct SQLiteTableSession {
    let database: Database

    /// Runs SQL without parameters.
    /// - Returns: the number of rows that the last INSERT, UPDATE or DELETE changed.
    package func run(_ sql: String) throws -> Int {
        try database.execute(sql: sql)
        return database.changesCount
    }

    /// Whether the file is a store or a spool.
    package func isStore() throws -> Bool {
        let id = try Int32.fetchOne(database, sql: "PRAGMA application_id")
        return id == SQLiteSchema.applicationId || id == SQLiteFactSpool.applicationId
    }

    /// The texts in the first column of a query.
    package func texts(_ sql: String) throws -> [String] { try String.fetchAll(database, sql: sql) }

    /// Runs a statement once per row, with the values of the row as its parameters.
    package func run(_ sql: String, _ rows: [[SQLiteValue]]) throws {
        let statement = try database.statement(sql)
        for row in rows {
            for (place, value) in zip(Int32(1)..., row) {
                switch value {
                case .null: try statement.bindNull(place)
                case .integer(let number): try statement.bind(place, number)
                case .text(let text): try statement.bind(place, text)
                }
            }
            try statement.run()
        }
    }

    /// Runs `body` in a transaction that keeps other writers out from its start.
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try database.immediateTransaction(body)
    }
}
