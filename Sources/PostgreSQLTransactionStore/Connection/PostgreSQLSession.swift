import CLibPQ
import Synchronization
import TransactionStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A statement that a session prepares at its first use. A session keeps it until it ends, so create each statement
/// only once.
struct Statement: Sendable {
    /// Unique in this process.
    let name: String
    let sql: String

    private static let count = Atomic<Int>(0)

    init(_ sql: String) {
        name = "s\(Self.count.wrappingAdd(1, ordering: .relaxed).newValue)"
        self.sql = sql
    }
}

/// One connection through libpq. Its calls block, so it lives on the thread of a ``PostgreSQLConnection``.
///
/// libpq runs in non-blocking mode with our own deadline. Otherwise a server that stops, or is cut off without closing
/// the connection, would block a call forever.
final class PostgreSQLSession: SQLSession {
    private let connection: OpaquePointer
    private let address: PostgreSQLAddress
    /// How long to wait for any answer, in milliseconds. A connection that exceeds it is closed and not used again.
    private var answerTimeout: Int
    private var prepared: Set<String> = []
    /// The statements that all SQL engines share, by their SQL.
    private var shared: [String: Statement] = [:]
    private var parameters = BinaryBuffer()
    /// Whether the connection failed. A failed connection cannot be used again.
    private(set) var isLost = false
    /// The first number of the advisory locks, which is that of the schema.
    var lockClass: Int32 = 0
    /// Called several times a second while waiting for an answer. If it returns true, the wait ends and the connection
    /// is lost.
    var isWaitCanceled: (() -> Bool)?

    /// Connects. The deadline is `connect_timeout` of the URL (5 seconds by default).
    init(_ address: PostgreSQLAddress, timeouts: PostgreSQLTimeouts) throws {
        self.address = address
        answerTimeout = timeouts.answer
        let keywords = address.options.map { strdup($0.keyword) }
        let values = address.options.map { strdup($0.value) }
        defer { for text in keywords + values { free(text) } }
        let keywordPointers = keywords.map { UnsafePointer($0) } + [nil]
        let valuePointers = values.map { UnsafePointer($0) } + [nil]
        guard let opened = PQconnectdbParams(keywordPointers, valuePointers, 0) else {
            throw PostgreSQLFailure(sqlState: "53200", message: "no memory for a connection", isConnectionLost: true)
        }
        connection = opened
        guard PQstatus(opened) == CONNECTION_OK, PQsetnonblocking(opened, 1) == 0 else {
            isLost = true
            throw lostFailure()
        }
        // Notices contain nothing that a caller can act on. By default libpq prints them to standard error.
        PQsetNoticeReceiver(opened, { _, _ in }, nil)
    }

    deinit { PQfinish(connection) }

    /// Rejects servers that are too old. libpq's number is 150020 for 15.20.
    func checkVersion() throws {
        guard PQserverVersion(connection) >= 120_000 else {
            throw TransactionStoreError(.engine, "PostgreSQL 12 or newer is needed")
        }
    }

    // MARK: Statements

    /// Runs SQL text of this module without parameters. The text may contain several statements.
    func execute(_ sql: String) throws { _ = try query(sql) }

    /// Runs SQL text of this package without parameters. The rows are in text format.
    func query(_ sql: String) throws -> ResultRows {
        try send { PQsendQuery(connection, sql) }
        return try finish()
    }

    /// Runs one statement with the values of its parameters. It is prepared at its first use. The rows are in binary format.
    @discardableResult
    func run(_ statement: Statement, _ values: Parameter...) throws -> ResultRows { try run(statement, values) }

    @discardableResult
    func run(_ statement: Statement, _ values: [Parameter]) throws -> ResultRows {
        if !prepared.contains(statement.name) {
            try send { PQsendPrepare(connection, statement.name, statement.sql, 0, nil) }
            _ = try finish()
            prepared.insert(statement.name)
        }
        parameters.removeAll()
        var ends: [Int] = []
        for value in values {
            value.write(to: &parameters)
            ends.append(parameters.count)
        }
        // libpq takes a null pointer for SQL NULL. One extra byte keeps the address of an empty value from being null.
        parameters.integer(UInt8(0))
        let starts = [0] + ends.dropLast()
        let lengths = zip(starts, ends).map { Int32(truncatingIfNeeded: $1 - $0) }
        let formats = [Int32](repeating: 1, count: values.count)
        try parameters.bytes.withUnsafeBytes { buffer in
            let pointers = starts.prefix(values.count).map { start in
                buffer.baseAddress.map { ($0 + start).assumingMemoryBound(to: CChar.self) }
            }
            try send {
                PQsendQueryPrepared(
                    connection, statement.name, Int32(values.count), pointers, lengths, formats, 1)
            }
        }
        return try finish()
    }

    let dialect = SQLDialect(
        now: PostgreSQLTransactionStore.now,
        // Includes positions that a running transaction has taken but not committed, which no reader has seen.
        lastPosition: "CASE WHEN is_called THEN last_value ELSE 0 END FROM ledger_positions", scope: "scope",
        purchase: ["purchase"], customer: "customer", join: "JOIN", locking: "FOR UPDATE", rowNumber: nil,
        // An array, because PostgreSQL reads it before it looks for rows. With IN it might read all rows of the table instead.
        isOfPurchases: {
            "purchase = ANY (ARRAY(SELECT id FROM identities WHERE scope = \($0) AND kind = 1 AND value \(oneOf: $1)))"
        })

    func run(_ text: SQLText) throws -> SQLResult {
        let (sql, values) = text.written { number, value in
            switch value {
            case .integer: "$\(number)::int8"
            case .text, .bytes: "$\(number)::bytea"
            case .oneOf: "= ANY ($\(number)::bytea[])"
            }
        }
        let statement = shared[sql] ?? Statement(sql)
        shared[sql] = statement
        let found = try run(
            statement,
            values.map { value -> Parameter in
                switch value {
                case .integer(let number): return .int8(number)
                case .text(let text): return .text(text)
                case .bytes(let bytes): return .bytes(bytes)
                case .oneOf(let texts): return .texts(texts)
                }
            })
        return SQLResult(rows: try (0..<found.count).map { try found.row($0) }, changed: found.affected)
    }

    /// Runs one statement without preparing it. Parameters and rows are in text format.
    @discardableResult
    func query(_ sql: String, _ values: [[UInt8]] = []) throws -> ResultRows {
        // libpq takes values in text format as C strings. PostgreSQL's text values cannot contain NUL.
        let texts = values.map { $0.filter { $0 != 0 } + [0] }
        let bytes = texts.flatMap(\.self)
        let starts = texts.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
        try bytes.withUnsafeBufferPointer { buffer in
            try buffer.withMemoryRebound(to: CChar.self) { characters in
                let pointers = starts.prefix(values.count).map { start in characters.baseAddress.map { $0 + start } }
                try send { PQsendQueryParams(connection, sql, Int32(values.count), nil, pointers, nil, nil, 0) }
            }
        }
        return try finish()
    }

    /// Sends rows, including header and trailer, in COPY's binary format through `COPY … FROM STDIN`.
    func copy(_ sql: String, _ rows: [UInt8]) throws {
        try send { PQsendQuery(connection, sql) }
        let deadline = Deadline(milliseconds: answerTimeout)
        try flush(deadline)
        try awaitResult(deadline)
        guard let answer = PQgetResult(connection) else { throw lostFailure() }
        guard PQresultStatus(answer) == PGRES_COPY_IN else {
            let failure = self.failure(answer)
            PQclear(answer)
            try drain(deadline)
            throw failure
        }
        PQclear(answer)
        let piece = 1 << 18
        var position = 0
        while position < rows.count {
            let end = min(position + piece, rows.count)
            try put(rows, position..<end)
            position = end
        }
        let end = Deadline(milliseconds: answerTimeout)
        while true {
            let status = PQputCopyEnd(connection, nil)
            if status == 1 { break }
            guard status == 0 else { throw lostFailure() }
            try wait(for: POLLIN | POLLOUT, end)
        }
        _ = try finish()
    }

    private func put(_ rows: [UInt8], _ range: Range<Int>) throws {
        let deadline = Deadline(milliseconds: answerTimeout)
        while true {
            let status = rows.withUnsafeBytes { buffer -> Int32 in
                guard let base = buffer.baseAddress else { return 1 }
                return PQputCopyData(
                    connection, (base + range.lowerBound).assumingMemoryBound(to: CChar.self), Int32(range.count))
            }
            if status == 1 { break }
            guard status == 0 else { throw lostFailure() }
            try wait(for: POLLIN | POLLOUT, deadline)
        }
        // Without this wait libpq would buffer all rows in memory.
        try flush(deadline)
    }

    /// Runs `body` with a different ``answerTimeout``, in milliseconds.
    func withAnswerTimeout<Value>(_ timeout: Int, _ body: () throws -> Value) rethrows -> Value {
        let usual = answerTimeout
        answerTimeout = max(usual, timeout)
        defer { answerTimeout = usual }
        return try body()
    }

    // MARK: Transactions

    /// Runs `body` in a READ COMMITTED transaction, regardless of the database's default.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        let value: Value
        do {
            value = try body()
        } catch {
            if !isLost {
                do { try execute("ROLLBACK") } catch { isLost = true }
            }
            throw error
        }
        do {
            try execute("COMMIT")
        } catch var failure as PostgreSQLFailure {
            failure.isCommitUnknown = failure.isConnectionLost
            if !failure.isConnectionLost, PQtransactionStatus(connection) != PQTRANS_IDLE { isLost = true }
            throw failure
        }
        return value
    }

    // MARK: Waiting

    private func send(_ call: () -> Int32) throws {
        guard !isLost else { throw lostFailure() }
        guard call() == 1 else { throw lostFailure() }
    }

    /// Waits for the complete answer. Returns the last result, or throws the first error.
    private func finish() throws -> ResultRows {
        let deadline = Deadline(milliseconds: answerTimeout)
        try flush(deadline)
        var last: ResultRows?
        var failed: PostgreSQLFailure?
        while true {
            try awaitResult(deadline)
            guard let result = PQgetResult(connection) else { break }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                last = ResultRows(result)
            default:
                failed = failed ?? failure(result)
                PQclear(result)
            }
        }
        if let failed { throw failed }
        guard let last else { throw lostFailure() }
        return last
    }

    private func drain(_ deadline: Deadline) throws {
        repeat { try awaitResult(deadline) } while PQgetResult(connection).map { PQclear($0) } != nil
    }

    private func flush(_ deadline: Deadline) throws {
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1: try wait(for: POLLIN | POLLOUT, deadline)
            default: throw lostFailure()
            }
        }
    }

    private func awaitResult(_ deadline: Deadline) throws {
        while PQisBusy(connection) == 1 { try wait(for: POLLIN, deadline) }
    }

    /// Waits until the socket is ready for the requested events, and reads the available data.
    private func wait(for events: Int32, _ deadline: Deadline) throws {
        var descriptor = pollfd(fd: PQsocket(connection), events: Int16(truncatingIfNeeded: events), revents: 0)
        var ready = poll(&descriptor, 1, isWaitCanceled == nil ? deadline.remaining : min(100, deadline.remaining))
        while ready == 0, deadline.remaining > 0, let isWaitCanceled {
            if isWaitCanceled() {
                isLost = true
                throw CancellationError()
            }
            ready = poll(&descriptor, 1, min(100, deadline.remaining))
        }
        if ready < 0, errno != EINTR { throw lostFailure() }
        if ready == 0 {
            isLost = true
            throw PostgreSQLFailure(
                sqlState: "08006", message: "no answer within \(answerTimeout) ms", isConnectionLost: true,
                isTimedOut: true)
        }
        if Int32(descriptor.revents) & ~POLLOUT != 0, PQconsumeInput(connection) == 0 { throw lostFailure() }
    }

    // MARK: Failures

    private func failure(_ result: OpaquePointer) -> PostgreSQLFailure {
        let state = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
        let message = PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
        // 57P01 to 57P05: the server ends the session. The socket may not show it yet.
        if PQstatus(connection) != CONNECTION_OK || state?.hasPrefix("57P") == true || state?.hasPrefix("08") == true
            || state == "25P03"
        {
            isLost = true
        }
        return PostgreSQLFailure(
            sqlState: state, message: message.map(line) ?? "the connection was lost", isConnectionLost: isLost)
    }

    /// The text without secrets in one line, without the tabs and line feeds of libpq.
    private func line(_ text: String) -> String {
        address.redacted(text).split { $0.unicodeScalars.allSatisfy { $0.properties.generalCategory == .control } }
            .joined(separator: " ")
    }

    private func lostFailure() -> PostgreSQLFailure {
        isLost = true
        let text = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        let line = line(text)
        return PostgreSQLFailure(
            sqlState: nil, message: line.isEmpty ? "the connection was lost" : line, isConnectionLost: true)
    }
}

/// A deadline on the monotonic clock.
private struct Deadline {
    private let end: ContinuousClock.Instant

    init(milliseconds: Int) { end = .now + .milliseconds(milliseconds) }

    /// Milliseconds for poll(2); 0 after the deadline.
    var remaining: Int32 {
        let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
        return Int32(max(0, min(left.rounded(.up), 86_400_000)))
    }
}
