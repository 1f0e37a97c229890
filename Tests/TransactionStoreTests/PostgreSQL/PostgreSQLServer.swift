import Foundation
import PostgreSQLTransactionStore
import Testing
import TransactionStore

/// A server for the tests, as `tools/postgres.sh` starts it.
struct PostgreSQLServer: Sendable {
    let url: String
    let directory: String
    let script: String

    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// The server that all tests share; nil where none was started.
    static let shared = variable("LEGACY_RECEIPTS_POSTGRES").map {
        PostgreSQLServer(
            url: $0, directory: variable("LEGACY_RECEIPTS_POSTGRES_DIRECTORY") ?? "",
            script: variable("LEGACY_RECEIPTS_POSTGRES_SCRIPT") ?? "")
    }

    static let isMissing: Comment =
        "LEGACY_RECEIPTS_POSTGRES is not set: run the tests by 'tools/postgres.sh run swift test'"

    /// Whether tests can start servers of their own, to stop them.
    static var canStartOthers: Bool { shared.map { !$0.script.isEmpty } ?? false }

    /// Starts a server of its own.
    static func start() throws -> PostgreSQLServer {
        let script = try #require(shared).script
        let output = try run("/bin/bash", [script, "start"])
        func value(_ name: String) throws -> String {
            let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("export \(name)='") })
            return String(line.dropFirst("export \(name)='".count).dropLast())
        }
        return PostgreSQLServer(
            url: try value("LEGACY_RECEIPTS_POSTGRES"), directory: try value("LEGACY_RECEIPTS_POSTGRES_DIRECTORY"),
            script: script)
    }

    /// `stop`, `crash`, `resume` or `remove`.
    func control(_ command: String) throws { try Self.run("/bin/bash", [script, command, directory]) }

    /// Runs SQL by psql, the outside judge of what is in the database.
    @discardableResult
    func sql(_ text: String) throws -> String {
        try Self.run("/usr/bin/env", ["psql", url, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text])
    }

    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(arguments)")
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// A schema of its own, so that tests can run side by side.
    func makeSchema() -> TestSchema {
        TestSchema(server: self, name: "test_" + UUID().uuidString.lowercased().filter { $0 != "-" })
    }
}

struct TestSchema: Sendable {
    let server: PostgreSQLServer
    let name: String

    func options() -> PostgreSQLTransactionStore.Options {
        // All tests share the cores: only what never ends is too slow.
        PostgreSQLTransactionStore.Options(
            schema: name, maximumConnections: 4, statementTimeout: 120, lockTimeout: 120, connectionTimeout: 120)
    }

    func open() async throws -> PostgreSQLTransactionStore {
        try await PostgreSQLTransactionStore.open(url: server.url, options: options())
    }

    func remove() throws { try server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(name) CASCADE") }

    /// Runs `body` with the schema and removes it.
    static func with<Value>(_ body: (TestSchema) async throws -> Value) async throws -> Value {
        let schema = try #require(PostgreSQLServer.shared).makeSchema()
        do {
            let value = try await body(schema)
            try schema.remove()
            return value
        } catch {
            try? schema.remove()
            throw error
        }
    }
}

extension StoreEngine {
    static let postgreSQL = StoreEngine(name: "PostgreSQL") {
        let schema = try #require(PostgreSQLServer.shared).makeSchema()
        return StorePlace(open: { try await schema.open() }, remove: { try schema.remove() })
    }
}

/// The code of the error that `body` throws; nil if it throws none.
func storeErrorCode(_ body: () async throws -> Void) async -> TransactionStoreError.Code? {
    do {
        try await body()
        return nil
    } catch let error as TransactionStoreError {
        return error.code
    } catch {
        Issue.record("not a store error: \(error)")
        return nil
    }
}
