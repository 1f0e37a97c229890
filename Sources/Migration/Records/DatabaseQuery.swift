import PostgreSQLTransactionStore
import SQLiteTransactionStore
import TransactionStore

/// The query whose rows are the records of an input that is a database.
public struct RowQuery: Hashable, Sendable {
    /// One SQL statement that only reads.
    public var sql: String
    /// The column by which the rows are ordered, each value of which stands in one row; nil if there is none. With it, a
    /// migration goes on after the last row that it has read.
    public var key: String?

    public init(sql: String, key: String? = nil) {
        self.sql = sql
        self.key = key
    }
}

/// A database as an input.
package enum SourceDatabase: Sendable, Equatable {
    case sqlite(path: String)
    /// The server is the host and database of the URL.
    case postgreSQL(url: String, server: String)

    /// Nil if an argument is a path.
    /// - Throws: ``InputError`` if it is the URL of a database that cannot be read.
    package init?(_ argument: String) throws(InputError) {
        if argument.hasPrefix("sqlite:") {
            self = .sqlite(path: String(argument.dropFirst("sqlite:".count)))
        } else if argument.hasPrefix("postgres://") || argument.hasPrefix("postgresql://") {
            do throws(TransactionStoreError) {
                self = .postgreSQL(url: argument, server: try PostgreSQLQuery.server(of: argument))
            } catch {
                throw InputError(code: .queryFailed, input: "postgres:", message: "\(error).")
            }
        } else {
            return nil
        }
    }

    /// The name in places and messages, without the user and the password.
    var name: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgreSQL(_, let server): server
        }
    }

    /// The name under which a migration is resumed.
    var identity: String {
        switch self {
        case .sqlite(let path): "sqlite:\(CanonicalPath.of(path))"
        case .postgreSQL(_, let server): server
        }
    }
}

/// A query on a database, and where it goes on.
package struct DatabaseQuery: Sendable, Equatable {
    let database: SourceDatabase
    let query: RowQuery
    /// The last row of an earlier run; nil to begin at the first one.
    var position: QueryPosition?
    /// Whether the rows up to which it was read are kept, for ``QueryStream/position(afterRow:)``.
    var keepsPositions = false
}

/// A row up to which a query was read.
struct QueryPosition: Sendable, Equatable {
    /// The value of the key, and its class in SQLite. PostgreSQL compares by the type of the column.
    struct Key: Sendable, Equatable {
        let valueClass: SQLiteQuery.ValueClass
        let bytes: [UInt8]
    }

    let key: Key
    /// The number of the row. The names of the columns are row 1.
    let row: Int
    /// Bytes up to the end of the row, in the text that ``QueryStream`` makes.
    let end: Int
}
