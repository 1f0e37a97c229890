import Foundation
import TestSupport

/// A PostgreSQL server for tests, as `tools/postgres.sh` starts it.
public struct PostgreSQLServer: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public let url: String
    public let directory: String
    private let script: String

    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// The server that all tests share; nil where none was started.
    public static let shared = variable("LEGACY_RECEIPTS_POSTGRES").map {
        PostgreSQLServer(
            url: $0, directory: variable("LEGACY_RECEIPTS_POSTGRES_DIRECTORY") ?? "",
            script: variable("LEGACY_RECEIPTS_POSTGRES_SCRIPT") ?? "")
    }

    /// Whether tests can start servers of their own, to stop them.
    public static var canStartOthers: Bool { shared.map { !$0.script.isEmpty } ?? false }

    /// Runs `body` with a server of its own, which is removed afterwards.
    public static func with<Value>(_ body: (PostgreSQLServer) async throws -> Value) async throws -> Value {
        let server = try start()
        do {
            let value = try await body(server)
            try server.control("remove")
            return value
        } catch {
            try? server.control("remove")
            throw error
        }
    }

    private static func start() throws -> PostgreSQLServer {
        guard let script = shared?.script else { throw Failure(description: "no script to start a server with") }
        let output = try run("bash", [script, "start"])
        func value(_ name: String) throws -> String {
            guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("export \(name)='") }) else {
                throw Failure(description: "the script printed no \(name)")
            }
            return String(line.dropFirst("export \(name)='".count).dropLast())
        }
        return PostgreSQLServer(
            url: try value("LEGACY_RECEIPTS_POSTGRES"), directory: try value("LEGACY_RECEIPTS_POSTGRES_DIRECTORY"),
            script: script)
    }

    /// `stop`, `crash`, `resume`, `freeze`, `thaw` or `remove`.
    public func control(_ command: String) throws { _ = try Self.run("bash", [script, command, directory]) }

    /// Runs SQL by psql, the outside judge of what is in the database.
    @discardableResult
    public func sql(_ text: String) throws -> String {
        try Self.run("psql", [url, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text])
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        // A lock that a test holds, or a server that is silent, ends psql with an error.
        let limits = [
            "PGCONNECT_TIMEOUT": "30", "PGOPTIONS": "-c lock_timeout=60s -c statement_timeout=100s",
        ]
        let outcome = try ChildProcess.runWhileBlocking(program, arguments, environment: limits, within: 120)
        guard outcome.status == 0 else {
            throw Failure(description: "failed with \(outcome.status): \(arguments): \(outcome.errors)")
        }
        return outcome.output.trimmingCharacters(in: .newlines)
    }
}
