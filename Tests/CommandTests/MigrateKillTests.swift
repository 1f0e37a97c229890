import Foundation
import GRDB
import TestDatabase
import TestSupport
import Testing

@Suite("migrate --into, killed", .timeLimit(.minutes(10)))
struct MigrateKillTests {
    /// How often a migration is killed. More with `LEGACY_RECEIPTS_KILLS`.
    private static let kills = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_KILLS"].flatMap { Int($0) } ?? 4
    private static let records = 1_200

    /// Where the records are.
    enum Source: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case ndjson, csv, gzip, array, files, standardInput, sqlite, postgreSQL

        var testDescription: String { rawValue }
    }

    @Test(
        "After kill -9 at any moment the same command goes on, to the same tables: SQLite",
        arguments: Source.allCases.filter { $0 != .postgreSQL })
    func sqlite(source: Source) async throws {
        let folder = try Folder.withRoot()
        try await check(source, ["sqlite:whole.sqlite", "sqlite:killed.sqlite"], nil, in: folder)
    }

    @Test(
        "After kill -9 at any moment the same command goes on, to the same tables: PostgreSQL",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"),
        arguments: [Source.ndjson, .standardInput, .postgreSQL])
    func killedOnPostgreSQL(source: Source) async throws {
        let server = try #require(PostgreSQLServer.shared)
        let folder = try Folder.withRoot()
        let name = "kill_\(source.rawValue.lowercased())_\(UUID().uuidString.prefix(8).lowercased())"
        func address(_ part: String) -> String { Self.address(server, schema: "\(name)_\(part)") }
        func remove() {
            for part in ["whole", "killed", "source"] {
                _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(name)_\(part) CASCADE")
            }
        }
        defer { remove() }
        if source == .postgreSQL { try Self.fill(server, schema: "\(name)_source") }
        try await check(source, [address("whole"), address("killed")], address("source"), in: folder)
    }

    private static func address(_ server: PostgreSQLServer, schema: String) -> String {
        server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
    }

    /// Migrates into the first store without interruption, and into the second one with `kills`.
    private func check(_ source: Source, _ stores: [String], _ database: String?, in folder: Folder) async throws {
        let arguments = try Self.prepare(source, database, in: folder)
        let start = ContinuousClock.now
        let whole = try await Self.migrate(arguments, source, into: stores[0], in: folder)
        let length = (ContinuousClock.now - start) / .milliseconds(1)
        #expect(whole.status == 0, "\(whole)")
        let expected = try await Self.export(stores[0], "whole", in: folder)
        #expect(expected["transactions.ndjson"]?.isEmpty == false)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<Self.kills {
            let wait = Int(Double.random(in: 0...length, using: &generator))
            _ = try await Self.migrate(arguments, source, into: stores[1], killedAfter: wait, in: folder)
        }
        let outcome = try await Self.migrate(arguments, source, into: stores[1], in: folder)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.output.contains("records read            \(Self.records)"), "\(outcome)")
        #expect(try await Self.export(stores[1], "killed", in: folder) == expected)
    }

    private static func migrate(
        _ arguments: String, _ source: Source, into store: String, killedAfter milliseconds: Int? = nil,
        in folder: Folder
    ) async throws -> Outcome {
        let input = source == .standardInput ? "cat dump.ndjson | " : ""
        let command =
            "exec \"$COMMAND\" migrate --quiet --trust-root root.der \(arguments) --into '\(store)'"
        guard let milliseconds else { return try await Command.shell("\(input)(\(command))", in: folder) }
        let script = """
            \(input)(\(command)) >out 2>&1 &
            sleep \(Double(milliseconds) / 1_000)
            kill -9 $!
            wait $!
            """
        return try await Command.shell(script, in: folder)
    }

    private static func export(_ store: String, _ tables: String, in folder: Folder) async throws -> [String: [UInt8]] {
        let outcome = try await Command.run(
            ["export", "--store", store, "--to", tables, "--at", "2026-01-01"], in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        return try folder.names(tables).reduce(into: [:]) { $0[$1] = try folder.bytes("\(tables)/\($1)") }
    }

    /// Writes the records and returns the arguments of `migrate` that read them.
    private static func prepare(_ source: Source, _ database: String?, in folder: Folder) throws -> String {
        let receipts = Forged.bulk.map(Forged.base64)
        switch source {
        case .ndjson:
            try folder.write("dump.ndjson", Forged.ndjson(records))
            return "dump.ndjson"
        case .standardInput:
            try folder.write("dump.ndjson", Forged.ndjson(records))
            return "-"
        case .gzip:
            try folder.write("dump.ndjson", Forged.ndjson(records))
            let process = try Process.run(
                URL(filePath: "/usr/bin/env"), arguments: ["gzip", folder.file("dump.ndjson")])
            process.waitUntilExit()
            return "dump.ndjson.gz"
        case .csv:
            let rows = (0..<records).map { "u\($0),\(receipts[$0 % receipts.count])\n" }
            try folder.write("dump.csv", Array(("user,receipt\n" + rows.joined()).utf8))
            return "dump.csv"
        case .array:
            let objects = (0..<records).map { "{\"user\":\"u\($0)\",\"receipt\":\"\(receipts[$0 % receipts.count])\"}" }
            try folder.write("dump.json", Array("[\(objects.joined(separator: ",\n"))]".utf8))
            return "dump.json"
        case .files:
            try FileManager.default.createDirectory(atPath: folder.file("receipts"), withIntermediateDirectories: true)
            for index in 0..<records {
                try folder.write("receipts/\(index).b64", Array(receipts[index % receipts.count].utf8))
            }
            return "receipts"
        case .sqlite:
            try DatabaseQueue(path: folder.file("shop.sqlite")).write { database in
                try database.execute(sql: "CREATE TABLE receipts (id INTEGER PRIMARY KEY, user TEXT, receipt TEXT)")
                for index in 0..<records {
                    try database.execute(
                        sql: "INSERT INTO receipts VALUES (?, ?, ?)",
                        arguments: [index, "u\(index)", receipts[index % receipts.count]])
                }
            }
            return "sqlite:shop.sqlite --query 'SELECT * FROM receipts' --key id"
        case .postgreSQL: return "'\(database ?? "")' --query 'SELECT * FROM receipts' --key id"
        }
    }

    private static func fill(_ server: PostgreSQLServer, schema: String) throws {
        let receipts = Forged.bulk.map { "'\(Forged.base64($0))'" }.joined(separator: ",")
        try server.sql(
            """
            CREATE SCHEMA \(schema); SET search_path TO \(schema);
            CREATE TABLE receipts (id bigint PRIMARY KEY, "user" text, receipt text);
            INSERT INTO receipts SELECT n, 'u' || n, (ARRAY[\(receipts)])[n % \(Forged.bulk.count) + 1]
            FROM generate_series(0, \(records - 1)) AS n
            """)
    }
}
