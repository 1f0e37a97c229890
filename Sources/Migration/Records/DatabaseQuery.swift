import PostgreSQLTransactionStore
import SQLiteTransactionStore
import TransactionStore

/// A query; its rows are the records of an input that is a database.
public struct RowQuery: Hashable, Sendable {
    /// One read-only SQL statement.
    public var sql: String
    /// The column that orders the rows and identifies each of them; nil for none. With it, a migration continues after
    /// the last row that it read.
    public var key: String?

    /// Creates a query without checking it.
    /// - Parameters:
    ///   - sql: one read-only SQL statement.
    ///   - key: the column that orders the rows and identifies each of them. Nil if there is none: then each migration
    ///     reads all rows.
    public init(sql: String, key: String? = nil) {
        self.sql = sql
        self.key = key
    }
}

/// A database as an input.
package enum SourceDatabase: Sendable, Equatable {
    case sqlite(path: String)
    /// The server is the host and database of the URL for messages. The identity distinguishes databases.
    case postgreSQL(url: String, server: String, identity: String)

    /// Parses an argument; nil if it is a path.
    /// - Throws: ``InputError`` if it is the URL of a database that cannot be read.
    package init?(_ argument: String) throws(InputError) {
        if argument.hasPrefix("sqlite:") {
            self = .sqlite(path: String(argument.dropFirst("sqlite:".count)))
        } else if argument.hasPrefix("postgres://") || argument.hasPrefix("postgresql://") {
            do throws(TransactionStoreError) {
                self = .postgreSQL(
                    url: argument, server: try PostgreSQLQuery.server(of: argument),
                    identity: try PostgreSQLQuery.identity(of: argument))
            } catch {
                throw InputError(code: .queryFailed, input: "postgres:", message: "\(error).")
            }
        } else {
            return nil
        }
    }

    /// The name in record places and messages, without the user and the password.
    var name: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgreSQL(_, let server, _): server
        }
    }

    /// The text that identifies the input when a migration is resumed. It is hashed and never shown.
    var identity: String {
        switch self {
        case .sqlite(let path): "sqlite:\(CanonicalPath.of(path))"
        case .postgreSQL(_, _, let identity): identity
        }
    }
}

/// A query on a database, and where it continues.
package struct DatabaseQuery: Sendable, Equatable {
    let database: SourceDatabase
    let query: RowQuery
    /// The last row of an earlier run; nil to begin at the first one.
    var position: QueryPosition?
    /// Whether the stream remembers positions, for ``QueryStream/position(afterRow:)``.
    var keepsPositions = false
}

/// The last row that was read from a query.
struct QueryPosition: Sendable, Equatable {
    /// The value of the key, and its class in SQLite. PostgreSQL compares by the type of the column.
    struct Key: Sendable, Equatable {
        let valueClass: SQLiteQuery.ValueClass
        let bytes: [UInt8]
    }

    let key: Key
    /// The number of the row. The names of the columns are row 1.
    let row: Int
    /// The byte offset of the end of the row, in the text that ``QueryStream`` writes.
    let end: Int
    /// How many rows had keys up to this one when they were counted: fewer than were read, if some were deleted since.
    let counted: Int
}
