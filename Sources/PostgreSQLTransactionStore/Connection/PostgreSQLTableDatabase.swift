import AppStoreModels
import TransactionStore

/// A connection to a PostgreSQL schema that is not a store, for commands that write tables.
package final class PostgreSQLTableDatabase: Sendable {
    private let connection: PostgreSQLConnection
    private let address: PostgreSQLAddress

    /// In milliseconds. One statement can write a large table.
    private static let timeouts = PostgreSQLTimeouts(
        statement: 3_600_000, lock: 60_000, acquire: 10_000, answer: 3_605_000)

    /// Creates a connection, which opens at its first use.
    /// - Parameter url: a connection URI of libpq. `?schema=NAME` names the schema of the tables, which is created if it is
    ///   missing. The default is the first existing schema of the role's `search_path`.
    /// - Throws: `TransactionStoreError` `invalidURL`.
    package init(url: String) throws {
        let address = try PostgreSQLAddress(url)
        self.address = address
        connection = PostgreSQLConnection(address, timeouts: Self.timeouts) { session in
            try Self.prepare(session, schema: address.schema)
        }
    }

    /// Host, port and database; never a user or a password.
    package var description: String { address.description }

    private static let findSchema = Statement("SELECT to_regnamespace(quote_ident($1))::text, quote_ident($1)::text")

    private static func prepare(_ session: PostgreSQLSession, schema: String?) throws {
        try session.checkVersion()
        try session.execute(
            """
            SET statement_timeout TO \(timeouts.statement);
            SET lock_timeout TO \(timeouts.lock);
            SET idle_in_transaction_session_timeout TO \(timeouts.statement)
            """)
        var schema = schema
        if schema == nil {
            let row = try session.query("SELECT current_schema()")
            guard !row.isNull(0, 0) else {
                throw TransactionStoreError(
                    .invalidURL, "no schema of the search_path exists: name one with ?schema=NAME in the address")
            }
            schema = try row.text(0, 0)
        }
        let row = try session.run(findSchema, .text(schema ?? ""))
        let name = try row.text(0, 1)
        if row.isNull(0, 0) { try session.execute("CREATE SCHEMA IF NOT EXISTS \(name)") }
        // The only schema in the path, so that an unqualified name can refer to one table only.
        try session.execute("SET search_path TO \(name)")
    }

    /// Runs `body` on the thread of the connection.
    /// - Throws: what `body` throws; errors of the server and of libpq as `TransactionStoreError`.
    package func perform<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLTableSession) throws -> Value
    ) async throws -> Value {
        do {
            return try await connection.perform { try body(PostgreSQLTableSession(session: $0)) }
        } catch let failure as PostgreSQLFailure {
            throw failure.storeError(address.description)
        }
    }

    /// Closes the connection, which drops its temporary tables.
    package func close() async { await connection.close() }
}

/// The connection of a ``PostgreSQLTableDatabase`` during a call of `perform`.
package struct PostgreSQLTableSession {
    let session: PostgreSQLSession

    /// Runs SQL without parameters.
    /// - Returns: the number of rows that the last INSERT, UPDATE or DELETE changed.
    package func run(_ sql: String) throws -> Int { try session.query(sql).affected }

    /// Whether the schema is that of a store.
    package func isStore() throws -> Bool {
        try texts(
            """
            SELECT count(*)::text FROM pg_tables
            WHERE schemaname = current_schema() AND tablename IN ('schema_migrations', 'scopes', 'identities')
            """) == ["3"]
    }

    /// The values in the first column of a query, in PostgreSQL's text format.
    package func texts(_ sql: String) throws -> [String] {
        let rows = try session.query(sql)
        return try (0..<rows.count).map { try rows.text($0, 0) }
    }

    /// Sends rows through `COPY … FROM STDIN (FORMAT binary)`.
    package func copy(_ sql: String, _ rows: CopyRows) throws { try session.copy(sql, rows.bytes) }

    /// Runs `body` in a READ COMMITTED transaction.
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value { try session.transaction(body) }
}

/// Rows in COPY's binary format.
package struct CopyRows: Sendable {
    private let columns: Int16
    private var buffer = BinaryBuffer()

    package init(columns: Int) {
        self.columns = Int16(clamping: columns)
        buffer.copyHeader()
    }

    package var byteCount: Int { buffer.count }

    /// Begins a row. Its values follow in the order of the columns.
    package mutating func beginRow() { buffer.integer(columns) }

    package mutating func null() { buffer.null() }

    package mutating func integer(_ value: Int64) { buffer.field(value) }

    /// A `timestamptz` value, from milliseconds since 1970-01-01T00:00:00Z.
    package mutating func timestamp(_ milliseconds: Int64) { buffer.field(PostgreSQLTimestamp.binary(milliseconds)) }

    package mutating func boolean(_ value: Bool) { buffer.field(value ? 1 : 0 as UInt8) }

    /// A `text` value, which cannot contain U+0000.
    package mutating func text(_ value: String) { buffer.field(value) }

    /// A `jsonb` value: its version, then JSON text (jsonb_recv in PostgreSQL's jsonb.c).
    package mutating func json(_ value: [UInt8]) {
        buffer.field { buffer in
            buffer.integer(UInt8(1))
            buffer.raw(JSONBText.accepted(value))
        }
    }

    var bytes: [UInt8] {
        var whole = buffer
        whole.integer(Int16(-1))
        return whole.bytes
    }
}

/// Replaces valid JSON that `jsonb` rejects: U+0000, unpaired surrogates, and numbers out of the range of `numeric`.
enum JSONBText {
    /// `numeric` has up to 131072 digits before the decimal point (PostgreSQL documentation, "Numeric Types"). A number
    /// of up to this many bytes, with an exponent of up to this many digits, is always in that range.
    private static let maximumNumber = 1_024
    private static let maximumExponent = 4

    private static let replacement = Array("\\uFFFD".utf8)

    /// The JSON in a form that `jsonb` accepts: rejected characters become U+FFFD, and rejected numbers become strings.
    static func accepted(_ json: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(json.count)
        var position = 0
        var isInString = false
        while position < json.count {
            let byte = json[position]
            var end = position + 1
            if isInString {
                if byte == UInt8(ascii: "\\") {
                    end = appendEscape(json, position, to: &result)
                } else {
                    if byte == UInt8(ascii: "\"") { isInString = false }
                    result.append(byte)
                }
            } else if byte == UInt8(ascii: "-") || byte.isDigit {
                while end < json.count, isPartOfNumber(json[end]) { end += 1 }
                let number = json[position..<end]
                let quote = isInRange(number) ? [] : [UInt8(ascii: "\"")]
                result += quote + number + quote
            } else {
                if byte == UInt8(ascii: "\"") { isInString = true }
                result.append(byte)
            }
            position = end
        }
        return result
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        byte.isDigit || byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") || byte == UInt8(ascii: "+")
            || byte == UInt8(ascii: "-")
    }

    private static func isInRange(_ number: ArraySlice<UInt8>) -> Bool {
        guard number.count <= maximumNumber else { return false }
        guard let mark = number.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return true }
        return number[(mark + 1)...].count { $0.isDigit } < maximumExponent
    }

    /// Appends an escape. If it begins a surrogate pair, appends the whole pair.
    /// - Returns: the position after it.
    private static func appendEscape(_ json: [UInt8], _ position: Int, to result: inout [UInt8]) -> Int {
        guard let unit = codeUnit(json, position) else {
            let end = min(position + 2, json.count)
            result += json[position..<end]
            return end
        }
        let end = position + 6
        switch unit {
        case 0, 0xDC00...0xDFFF: result += replacement
        case 0xD800...0xDBFF:
            guard let low = codeUnit(json, end), (0xDC00...0xDFFF).contains(low) else {
                result += replacement
                return end
            }
            result += json[position..<(end + 6)]
            return end + 6
        default: result += json[position..<end]
        }
        return end
    }

    /// The value of the escape `\u` with four digits at a position; nil if there is no such escape.
    private static func codeUnit(_ json: [UInt8], _ position: Int) -> UInt16? {
        guard position + 6 <= json.count, json[position] == UInt8(ascii: "\\"),
            json[position + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt16(String(decoding: json[(position + 2)..<(position + 6)], as: UTF8.self), radix: 16)
    }
}
