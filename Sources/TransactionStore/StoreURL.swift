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
    ///   scheme, keywords of libpq with a password, text before `postgres://`, or a C0 control character. The message does
    ///   not repeat the address, which may contain a password.
    public init(_ text: String) throws {
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw TransactionStoreError(.invalidURL, "The address of the store contains a control character.")
        }
        switch Self.scheme(of: text) {
        case nil:
            // A file with such a name would have the password in it.
            let lowercase = text.lowercased()
            // libpq allows blanks around the equals sign.
            guard !lowercase.filter({ $0 != " " }).contains("password=") else {
                throw TransactionStoreError(
                    .invalidURL, "An address with keywords (host=… password=…) cannot be used: use postgres://….")
            }
            guard !lowercase.contains("postgres://"), !lowercase.contains("postgresql://") else {
                throw TransactionStoreError(
                    .invalidURL, "The address of a PostgreSQL store must begin with postgres:// or postgresql://.")
            }
            self = .sqlite(path: try Self.path(text[...]))
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
    /// The address for messages and command lines: without a password and other secrets (``omission``). It is `postgres://…`
    /// if they cannot be separated from the rest.
    public var description: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgreSQL(let address): ServerAddress(address)?.text ?? "postgres://…"
        }
    }

    /// Whether ``description`` shows nothing of the address, because a part of a password could be in any place.
    package var isHidden: Bool {
        guard case .postgreSQL(let address) = self else { return false }
        return ServerAddress(address) == nil
    }

    /// The parameters of libpq that no other user of the machine may see.
    package static let secretParameters: Set = [
        "password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret",
    ]

    /// What a person must add to a command line with ``description``, as a sentence; nil if the address is complete.
    public var omission: String? {
        guard case .postgreSQL(let address) = self else { return nil }
        guard let shown = ServerAddress(address) else {
            return "The address of the store is not shown, because it may contain a password in an unexpected place. "
                + "Insert the address that you gave."
        }
        if shown.omitted.isEmpty { return nil }
        if shown.omitted == ["password"] {
            return "The password of the store is not shown. Add it, for example with PGPASSWORD or ~/.pgpass."
        }
        let names = shown.omitted.joined(separator: ", ")
        return "The address of the store is shown without \(names). Add what is missing."
    }
}

/// The address of a PostgreSQL server without its secrets, divided in the same places as by libpq. An address that libpq
/// rejects is not divided: a part of a password could be in any place.
private struct ServerAddress {
    let text: String
    /// The parameters with a value that `text` lacks, in order. A password after the user is `password` too.
    let omitted: [String]

    init?(_ address: String) {
        // libpq divides bytes. A character can be a delimiter and an accent.
        guard address.utf8.allSatisfy({ $0 < 0x80 }), let scheme = address.firstRange(of: "://") else { return nil }
        var text = String(address[..<scheme.upperBound])
        var rest = address[scheme.upperBound...]
        var omitted: [String] = []
        if let end = rest.firstIndex(where: { $0 == "@" || $0 == "/" }), rest[end] == "@" {
            let login = rest[..<end].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let user = login.first, !user.lowercased().contains("%3a") else { return nil }
            if login.count > 1, !login[1].isEmpty { omitted.append("password") }
            text += "\(user)@"
            rest = rest[rest.index(after: end)...]
        }
        // Another one is in a password that is not percent-encoded.
        guard !rest.contains("@") else { return nil }
        let place = rest.prefix { $0 != "?" }
        let hosts = place.prefix { $0 != "/" }
        guard hosts.split(separator: ",", omittingEmptySubsequences: false).allSatisfy(Self.isHost),
            !Self.isConnectionString(place.dropFirst(hosts.count))
        else { return nil }
        var kept: [Substring] = []
        for pair in rest.dropFirst(place.count + 1).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            let (name, value) = (String(parts[0]), parts[1])
            if StoreURL.secretParameters.contains(name) || name == "options" && !Self.setOnlySearchPath(value) {
                if !value.isEmpty, !omitted.contains(name) { omitted.append(name) }
            } else if Self.parameters.contains(name), name != "dbname" || !Self.isConnectionString(value) {
                kept.append(pair)
            } else {
                return nil
            }
        }
        self.text = "\(text)\(place)\(kept.isEmpty ? "" : "?")\(kept.joined(separator: "&"))"
        self.omitted = omitted
    }

    /// Whether it is a host with or without a port. A password with a slash makes a port that is no number.
    private static func isHost(_ text: Substring) -> Bool {
        let port = text.hasPrefix("[") ? text.drop { $0 != "]" }.dropFirst() : text.drop { $0 != ":" }
        return port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy(\.isNumber)
    }

    /// Whether libpq reads the name of a database as further parameters, which can be secret.
    private static func isConnectionString(_ name: Substring) -> Bool {
        name.contains("=") || name.lowercased().contains("%3d") || name.contains("://")
            || name.lowercased().contains("%3a")
    }

    /// Whether options only set the search path. Any other setting can have a secret value, such as `-c app.jwt=…`.
    private static func setOnlySearchPath(_ options: Substring) -> Bool {
        let text = options.lowercased()
        let starts = ["-csearch_path%3d", "-csearch_path=", "-c%20search_path%3d", "-c%20search_path="]
        guard let start = starts.first(where: { text.hasPrefix($0) }) else { return false }
        return text.dropFirst(start.count).utf8.allSatisfy { $0.isASCIIAlphanumeric || "_,".utf8.contains($0) }
    }

    /// The other parameters of libpq (PostgreSQL manual, 34.1.2), and ours.
    private static let parameters: Set = [
        "host", "hostaddr", "port", "dbname", "user", "passfile", "require_auth", "channel_binding", "connect_timeout",
        "client_encoding", "options", "application_name", "fallback_application_name", "keepalives", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "tcp_user_timeout", "replication", "gssencmode", "ssl", "sslmode",
        "requiressl", "sslnegotiation", "sslcompression", "sslcert", "sslkey", "sslcertmode", "sslrootcert", "sslcrl",
        "sslcrldir", "sslsni", "requirepeer", "ssl_min_protocol_version", "ssl_max_protocol_version",
        "min_protocol_version", "max_protocol_version", "krbsrvname", "gsslib", "gssdelegation", "service",
        "servicefile", "target_session_attrs", "load_balance_hosts", "schema", "connections",
    ]
}
