import Foundation
import TestSupport

/// A PostgreSQL server for tests, as `tools/postgres.sh` starts it.
public struct PostgreSQLServer: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The URL as the script prints it.
    public let address: String
    public let directory: String
    private let script: String

    /// The URL, with a time for connecting that a busy machine keeps too.
    public var url: String { address + (address.contains("?") ? "&" : "?") + "connect_timeout=60" }

    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// The server that all tests share; nil where none was started.
    public static let shared = variable("LEGACY_RECEIPTS_POSTGRES").map {
        PostgreSQLServer(
            address: $0, directory: variable("LEGACY_RECEIPTS_POSTGRES_DIRECTORY") ?? "",
            script: variable("LEGACY_RECEIPTS_POSTGRES_SCRIPT") ?? "")
    }

    /// Whether tests can start servers of their own, to stop them.
    public static var canStartOthers: Bool { shared.map { !$0.script.isEmpty } ?? false }

    /// Runs `body` with a server of its own, which is removed afterwards.
    public static func with<Value>(_ body: (PostgreSQLServer) async throws -> Value) async throws -> Value {
        let server = try await start()
        do {
            let value = try await body(server)
            try await server.control("remove")
            return value
        } catch {
            try? await server.control("remove")
            throw error
        }
    }

    private static func start() async throws -> PostgreSQLServer {
        guard let script = shared?.script else { throw Failure(description: "no script to start a server with") }
        let output = try await run("bash", [script, "start"])
        func value(_ name: String) throws -> String {
            guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("export \(name)='") }) else {
                throw Failure(description: "the script printed no \(name)")
            }
            return String(line.dropFirst("export \(name)='".count).dropLast())
        }
        return PostgreSQLServer(
            address: try value("LEGACY_RECEIPTS_POSTGRES"),
            directory: try value("LEGACY_RECEIPTS_POSTGRES_DIRECTORY"), script: script)
    }

    /// `stop`, `crash`, `resume`, `freeze`, `thaw` or `remove`.
    public func control(_ command: String) async throws {
        _ = try await Self.run("bash", [script, command, directory])
    }

    /// Runs SQL by psql, an independent check of the database.
    @discardableResult
    public func sql(_ text: String) throws -> String {
        let arguments = psql(text)
        return try Self.output(
            try ChildProcess.runWhileBlocking("psql", arguments, environment: Self.limits, within: Self.timeLimit),
            arguments)
    }

    /// Runs SQL by psql, and does not block the thread.
    @inline(never)
    @discardableResult
    public func run(_ text: String) async throws -> String { try await Self.run("psql", psql(text)) }

    /// Runs `body` while another session holds the strongest lock on a table.
    @inline(never)
    public func locking<Value>(
        _ table: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws -> Value {
        let session = "lock \(UUID().uuidString)"
        let holder = try ChildProcess(
            "psql", psql("BEGIN; LOCK TABLE \(table); SELECT pg_sleep(600); COMMIT"),
            environment: ["PGAPPNAME": session])
        // A session does not notice that psql has ended while it sleeps.
        let found = "FROM pg_stat_activity WHERE application_name = '\(session)'"
        defer { _ = try? sql("SELECT pg_terminate_backend(pid) \(found)") }
        try await eventually("the table is locked") {
            guard holder.isRunning else { throw Failure(description: "the lock on \(table) was refused") }
            return try sql("SELECT count(*) \(found) AND wait_event = 'PgSleep'") == "1"
        }
        return try await body()
    }

    private func psql(_ text: String) -> [String] { [url, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text] }

    /// A lock that a test holds, or a server that is silent, ends psql with an error.
    private static let limits = [
        "PGCONNECT_TIMEOUT": "30", "PGOPTIONS": "-c lock_timeout=60s -c statement_timeout=100s",
    ]
    /// How many seconds a program may take.
    private static let timeLimit = 120.0

    private static func run(_ program: String, _ arguments: [String]) async throws -> String {
        try output(try await ChildProcess.run(program, arguments, environment: limits, within: timeLimit), arguments)
    }

    private static func output(_ outcome: ChildProcess.Outcome, _ arguments: [String]) throws -> String {
        guard outcome.status == 0 else {
            throw Failure(description: "failed with \(outcome.status): \(arguments): \(outcome.errors)")
        }
        return outcome.output.trimmingCharacters(in: .newlines)
    }
}
