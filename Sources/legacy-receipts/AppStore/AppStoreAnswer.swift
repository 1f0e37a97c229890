import AppStoreModels
import AppStoreServer

/// The output of an action of `app-store`: one JSON object, and the same as text.
struct AppStoreAnswer {
    private var members: [JSONObject.Member] = []
    private var lines: [String] = []
    /// Why signed data of the answer is not in it, one sentence each.
    var notGenuine: [String] = []
    /// Whether the App Store did the requested action.
    var hasSucceeded = true

    /// The answer of a client for an environment.
    init(_ environment: AppStoreModels.Environment) { add("environment", .string(environment.rawValue)) }

    var jsonText: String { Self.line(.object(JSONObject(members: members))) }

    var text: String { lines.joined(separator: "\n") }

    /// Adds a value, in the text as one line, or one line for each member of an object.
    mutating func add(_ name: String, _ value: JSONValue) {
        members.append(.init(key: name, value: value))
        lines += DocumentInspectionText.member(name, value, indent: "  ")
    }

    /// Adds a line that is in the text only.
    mutating func say(_ line: String) { lines.append(line) }

    /// Adds objects, in the text as a table.
    ///
    /// - Parameters:
    ///   - name: the name of the JSON array.
    ///   - rows: objects.
    ///   - columns: the members in the text, with the path to each. A column without any value is left out.
    mutating func add(_ name: String, rows: [JSONValue], columns: [[String]]) {
        members.append(.init(key: name, value: .array(rows)))
        lines += ["", rows.isEmpty ? "\(name): none" : name]
        guard !rows.isEmpty else { return }
        lines += AppStoreText.table(rows, columns).map { "  \($0)" }
    }

    /// A value as one line of JSON.
    static func line(_ value: JSONValue) -> String {
        Printable.json(String(decoding: value.json, as: UTF8.self))
    }

    /// Apple's JSON of a value.
    static func json(_ value: some Encodable) throws -> JSONValue {
        try JSONValue.parse(try DeterministicJSON.encode(value))
    }
}

extension JSONValue {
    /// An object with those of the members that have a value.
    static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        .object(
            JSONObject(
                members: members.compactMap { name, value in value.map { JSONObject.Member(key: name, value: $0) } }))
    }
}

/// Apple's values for people.
enum AppStoreText {
    /// The columns of a list of transactions.
    static let transactionColumns = [
        "purchaseDate", "transactionId", "originalTransactionId", "productId", "type", "quantity", "expiresDate",
        "revocationDate", "inAppOwnershipType", "price", "currency",
    ].map { [$0] }

    /// A header and the rows, in columns.
    static func table(_ rows: [JSONValue], _ paths: [[String]]) -> [String] {
        let used = paths.filter { path in rows.contains { value(path, $0) != nil } }
        return TextTable.lines(
            [used.compactMap(\.last)] + rows.map { row in used.map { path in cell(path, row) } })
    }

    private static func value(_ path: [String], _ row: JSONValue) -> JSONValue? {
        var value: JSONValue? = row
        for name in path { value = value?[name] }
        return value.flatMap { $0.isNull ? nil : $0 }
    }

    private static func cell(_ path: [String], _ row: JSONValue) -> String {
        guard let value = value(path, row) else { return "-" }
        if let number = value.integer { return DateText.iso(number, of: path.last ?? "") ?? String(number) }
        return value.string.map { Printable.text($0) } ?? AppStoreAnswer.line(value)
    }

    /// Why a notification was not delivered, and what to do (App Store Server API, sendAttemptResult).
    static func explanation(_ result: SendAttemptResult) -> String {
        switch result {
        case .success: "Your server received the notification and answered with HTTP 2xx."
        case .timedOut: "Your server did not answer in time: answer before the work, and check its load."
        case .tlsIssue: "The TLS connection failed: check the certificate, its chain and the TLS versions."
        case .circularRedirect: "Your server redirects in a circle: correct the URL in App Store Connect."
        case .noResponse: "Your server closed the connection without an answer: check its log."
        case .socketIssue: "No connection to your server: check the address, the port and the firewall."
        case .unsupportedCharset: "Your server answered in an unsupported character set: answer without a body."
        case .invalidResponse: "Your server's answer is not valid HTTP: check the proxy in front of it."
        case .prematureClose: "The connection broke before the answer was complete: check the proxy and timeouts."
        case .unsuccessfulHTTPResponseCode: "Your server did not answer with HTTP 2xx: check its log and the path."
        default: "Apple could not deliver the notification: check the URL in App Store Connect and your server's log."
        }
    }
}
