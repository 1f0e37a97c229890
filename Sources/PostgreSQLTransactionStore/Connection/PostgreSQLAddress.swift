import CLibPQ
import Foundation
import TransactionStore

/// The server's address, the login and our own options. libpq parses the connection URI (PostgreSQL documentation,
/// 34.1.1.2).
struct PostgreSQLAddress: Sendable {
    struct Option: Sendable {
        let keyword: String
        let value: String
    }

    /// The options passed to libpq, including our defaults.
    let options: [Option]
    /// From `?schema=`, if the URL has it.
    let schema: String?
    /// From `?connections=`, if the URL has it.
    let maximumConnections: Int?
    /// Host, port and database, for messages. Never contains a user or a password.
    let description: String
    /// Host, port and database as libpq reads them, which tell servers apart. Never for messages: if a password is not
    /// percent-encoded, a part of it can be here.
    let place: String
    private let secrets: [String]

    /// - Throws: `TransactionStoreError` `invalidURL`. The message never repeats the URL. libpq's own message would,
    ///   including the password.
    ///
    /// - Parameters:
    ///   - url: the address of the store.
    ///   - connectTimeout: in seconds; used if the URL states none.
    init(_ url: String, connectTimeout: Int = 5) throws(TransactionStoreError) {
        guard url.utf8.count <= 8192, !url.utf8.contains(0), Self.hasScheme(url) else {
            throw Self.invalid("it must begin with postgresql:// or postgres://")
        }
        // libpq would take the part after the first one for the host, and ask name servers for it.
        guard !Self.hasSecondAt(url) else { throw Self.invalid("write an @ in a user or a password as %40") }
        var ours: [String: String] = [:]
        let rest = try Self.takeOptions(["schema", "connections"], from: url, into: &ours)
        var stated = try Self.parse(rest)
        let ports = stated.first { $0.keyword == "port" }?.value.split(separator: ",") ?? []
        guard ports.allSatisfy({ UInt16($0) ?? 0 > 0 }) else { throw Self.invalid("the port must be a number") }
        schema = ours["schema"]
        let connections = ours["connections"].map { Int($0) ?? 0 }
        guard connections.map({ (1...1000).contains($0) }) ?? true else {
            throw Self.invalid("connections must be a number from 1 to 1000")
        }
        maximumConnections = connections
        let store = StoreURL.postgreSQL(url)
        // Messages of libpq name each of several hosts alone.
        let hosts = store.isHidden ? stated.filter { Self.placed.contains($0.keyword) }.map(\.value) : []
        let parts = hosts.flatMap { host in host.split(separator: ",").map { String($0) } }
        let secrets: [String] = stated.filter { Self.isSecret($0) }.map(\.value) + hosts + parts
        // The longest first, because it may contain the other.
        self.secrets = Set(secrets).filter { !$0.isEmpty }.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        place = Self.describe(stated)
        description = store.isHidden ? "PostgreSQL at \(store)" : place
        let defaults = Self.defaults + [("connect_timeout", String(connectTimeout))]
        for (keyword, value) in defaults where !stated.contains(where: { $0.keyword == keyword }) {
            stated.append(Option(keyword: keyword, value: value))
        }
        // Always UTF-8, because identifiers are stored as their UTF-8 bytes.
        stated.removeAll { $0.keyword == "client_encoding" }
        stated.append(Option(keyword: "client_encoding", value: "UTF8"))
        options = stated
    }

    static func hasScheme(_ url: String) -> Bool {
        url.hasPrefix("postgresql://") || url.hasPrefix("postgres://")
    }

    /// Whether there is an `@` between the one after the login and the path or the parameters.
    private static func hasSecondAt(_ url: String) -> Bool {
        guard let scheme = url.firstRange(of: "://") else { return false }
        let parts = url.utf8[scheme.upperBound...].prefix { $0 != UInt8(ascii: "/") }
            .split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        return parts[1].prefix { $0 != UInt8(ascii: "?") }.contains(UInt8(ascii: "@"))
    }

    /// Where libpq can read a part of a password that is not percent-encoded.
    private static let placed: Set = ["user", "host", "hostaddr", "port", "dbname"]

    /// With these keepalives, a server that disappears is noticed within half a minute. Values are in seconds, except
    /// `tcp_user_timeout` in milliseconds.
    private static let defaults: [(String, String)] = [
        ("keepalives", "1"), ("keepalives_idle", "15"), ("keepalives_interval", "5"),
        ("keepalives_count", "3"), ("tcp_user_timeout", "30000"), ("fallback_application_name", "legacy-receipts"),
    ]

    /// The text without secrets. Used for messages of the server and of libpq.
    func redacted(_ text: String) -> String { secrets.reduce(text) { $0.replacing($1, with: "…") } }

    /// The options as a connection string for PostgreSQL's client programs. It contains no secrets, because any user of
    /// the machine can read the arguments of a process.
    var connectionString: String {
        options.filter { !Self.isSecret($0) }.map { option in
            let value = option.value.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
            return "\(option.keyword)='\(value)'"
        }.joined(separator: " ")
    }

    /// The secrets as environment variables for PostgreSQL's client programs.
    /// - Throws: `TransactionStoreError` `invalidURL` for a secret that no variable can contain.
    func secretEnvironment() throws -> [String: String] {
        try options.filter(Self.isSecret).reduce(into: [:]) { result, option in
            guard option.keyword == "password" else {
                throw Self.invalid("\(option.keyword) cannot be passed to another program; use a service file")
            }
            result["PGPASSWORD"] = option.value
        }
    }

    private static func isSecret(_ option: Option) -> Bool { StoreURL.secretParameters.contains(option.keyword) }

    private static func invalid(_ reason: String) -> TransactionStoreError {
        TransactionStoreError(.invalidURL, "not a PostgreSQL URL: \(reason)")
    }

    private static func parse(_ url: String) throws(TransactionStoreError) -> [Option] {
        var message: UnsafeMutablePointer<CChar>?
        let parsed = PQconninfoParse(url, &message)
        defer {
            PQconninfoFree(parsed)
            PQfreemem(message)
        }
        guard var option = parsed else { throw invalid("libpq cannot read it") }
        var result: [Option] = []
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                result.append(Option(keyword: String(cString: keyword), value: String(cString: value)))
            }
            option += 1
        }
        return result
    }

    private static func takeOptions(
        _ names: Set<String>, from url: String, into values: inout [String: String]
    ) throws(TransactionStoreError) -> String {
        guard let mark = url.firstIndex(of: "?") else { return url }
        var kept: [Substring] = []
        for pair in url[url.index(after: mark)...].split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.map(String.init), names.contains(name) else {
                kept.append(pair)
                continue
            }
            guard parts.count == 2, let value = String(parts[1]).removingPercentEncoding, !value.utf8.contains(0),
                values.updateValue(value, forKey: name) == nil
            else { throw invalid("option \(name) needs one value") }
        }
        return String(url[..<mark]) + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
    }

    private static func describe(_ options: [Option]) -> String {
        func value(_ keyword: String) -> String? { options.first { $0.keyword == keyword }?.value }
        let host = value("host") ?? value("hostaddr") ?? "the default socket"
        let port = value("port").map { ":\($0)" } ?? ""
        return "PostgreSQL at \(host)\(port)\(value("dbname").map { ", database \($0)" } ?? "")"
    }
}
