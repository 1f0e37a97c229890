import AppStoreModels

/// The address of a store in a configuration. It selects the engine.
///
/// | address | engine |
/// |---|---|
/// | `sqlite:PATH`, `sqlite:///ABSOLUTE/PATH`, or a plain path | SQLite, one file |
/// | `postgres://…`, `postgresql://…` | PostgreSQL; libpq reads the rest (PostgreSQL manual, 34.1.1.2) |
public enum StoreURL: Hashable, Sendable {
    /// The path of the file.
    case sqlite(path: String)
    /// The address as given. It may contain a password: print ``StoreURL/description`` instead.
    case postgreSQL(String)

    /// Reads an address.
    /// - Throws: ``TransactionStoreError`` `invalidURL` for an empty address, an address without a path, an unknown
    ///   scheme, or a C0 control character. The message does not repeat the address, which may contain a password.
    public init(_ text: String) throws {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw TransactionStoreError(.invalidURL, "The address of the store contains a control character.")
        }
        switch Self.scheme(of: text) {
        case nil: self = .sqlite(path: try Self.path(text[...]))
        case "sqlite", "sqlite3", "file":
            guard let colon = text.firstIndex(of: ":") else { throw Self.empty }
            self = .sqlite(path: try Self.path(text[text.index(after: colon)...]))
        case "postgres", "postgresql": self = .postgreSQL(text)
        case let scheme?:
            throw TransactionStoreError(
                .invalidURL, "Unknown scheme \(scheme): use sqlite:PATH, a path, or postgres://…")
        }
    }

    private static let empty = TransactionStoreError(.invalidURL, "The address of the store has no path.")

    /// A scheme in lowercase (RFC 3986, 3.1); nil for a plain path. A single letter is a drive, not a scheme.
    private static func scheme(of text: String) -> String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon].utf8
        let isScheme = scheme.allSatisfy { $0.isASCIIAlphanumeric || "+-.".utf8.contains($0) }
        guard isScheme, scheme.count > 1, let first = scheme.first, first | 0x20 >= 0x61 else { return nil }
        return text[..<colon].lowercased()
    }

    private static func path(_ text: Substring) throws -> String {
        // sqlite:///var/lib/x has an empty authority before the path. sqlite://x would have a host, but a file has
        // none.
        var path = text
        if path.hasPrefix("//") {
            path = path.dropFirst(2)
            guard path.hasPrefix("/") else {
                throw TransactionStoreError(
                    .invalidURL, "The address of a SQLite store cannot have a host: use sqlite:PATH.")
            }
        }
        guard !path.isEmpty else { throw empty }
        guard path.hasPrefix("/") || !path.hasPrefix(":") else {
            // SQLite would treat such a path as an in-memory store and lose all data at exit.
            throw TransactionStoreError(.invalidURL, "The path of a SQLite store cannot begin with a colon.")
        }
        return String(path)
    }
}

extension StoreURL: CustomStringConvertible {
    /// The engine and, for SQLite, the path; never a password.
    public var description: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgreSQL: "postgres:(address not shown)"
        }
    }
}
