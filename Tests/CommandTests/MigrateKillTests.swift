import Foundation
import GRDB
import PostgreSQLTransactionStore
import TestDatabase
import TestSupport
import Testing

/// How many migrations are killed for each kind of source and each engine. `LEGACY_RECEIPTS_KILLS` sets another number.
private let kills = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_KILLS"].flatMap { Int($0) } ?? 2

@Suite("migrate --into, killed", .timeLimit(.minutes(max(10, kills))))
struct MigrateKillTests {
    private static let records = 1_200

    /// Where the records are.
    enum Source: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case ndjson, csv, mysqldump, gzip, bzip2, zstd, array, files, pattern, standardInput, sqlite, postgreSQL

        var testDescription: String { rawValue }

        /// The program that compresses the records, and its options.
        var compressor: [String]? {
            switch self {
            case .gzip, .bzip2: [rawValue]
            case .zstd: ["zstd", "--quiet", "--rm"]
            default: nil
            }
        }

        /// Those for which the programs are there.
        static let available = allCases.filter { $0.compressor.map { Command.hasProgram($0[0]) } ?? true }
    }

    @Test(
        "After kill -9 at any moment the same command continues, to the same tables: SQLite",
        arguments: Source.available.filter { $0 != .postgreSQL })
    func sqlite(source: Source) async throws {
        let folder = try Folder.withRoot()
        try await check(source, Self.files, nil, in: folder) { try Self.removeStore(in: folder) }
    }

    @Test(
        "After kill -9 at any moment the same command continues, to the same tables: PostgreSQL",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"),
        arguments: Source.available)
    func killedOnPostgreSQL(source: Source) async throws {
        let server = try #require(PostgreSQLServer.shared)
        let name = Self.schema(source)
        defer { Self.remove(name, server) }
        if source == .postgreSQL { try Self.fill(server, schema: "\(name)_source") }
        let stores = ["whole", "killed"].map { Self.address(server, schema: "\(name)_\($0)") }
        try await check(source, stores, Self.address(server, schema: "\(name)_source"), in: try Folder.withRoot()) {
            try Self.remove(["\(name)_killed"], server)
        }
    }

    @Test(
        "After kill -9 at any moment the same command continues, to the same tables: from PostgreSQL to SQLite",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func killedFromPostgreSQL() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let name = Self.schema(.postgreSQL)
        defer { Self.remove(name, server) }
        try Self.fill(server, schema: "\(name)_source")
        let folder = try Folder.withRoot()
        try await check(.postgreSQL, Self.files, Self.address(server, schema: "\(name)_source"), in: folder) {
            try Self.removeStore(in: folder)
        }
    }

    @Test(
        "After PostgreSQL was lost between two steps the same command continues, to the same tables",
        .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"),
        arguments: ["stop", "crash"])
    func lostPostgreSQL(command: String) async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(Self.records))
        try await PostgreSQLServer.with { server in
            let (whole, lost) = (Self.address(server, schema: "whole"), Self.address(server, schema: "lost"))
            let undisturbed = try await Self.migrate("-", .standardInput, into: whole, in: folder)
            #expect(undisturbed.status == 0, "\(undisturbed)")
            let expected = try await Self.export(whole, "whole", in: folder)
            #expect(expected["transactions.ndjson"]?.isEmpty == false)

            // A step that another one precedes waits before its commit, until the server is lost.
            try await PostgreSQLTransactionStore.open(url: lost).close()
            try server.sql(
                """
                CREATE FUNCTION lost.pause() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF EXISTS (SELECT FROM lost.migration_checkpoints) THEN PERFORM pg_sleep(25); END IF;
                    RETURN NEW;
                END $$;
                CREATE TRIGGER pause BEFORE INSERT OR UPDATE ON lost.migration_checkpoints
                FOR EACH ROW EXECUTE FUNCTION lost.pause()
                """)
            // A step ends after half a second, so the pause of the input makes two of them.
            let input = "(head -n 600 dump.ndjson; sleep 2; tail -n +601 dump.ndjson)"
            let script = "\(input) | (\(Self.command("-", into: lost)))"
            async let interrupted = Command.shell(script, in: folder)
            try await eventually("a step waits") {
                try server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
            }
            try await server.control(command)
            let outcome = try await interrupted
            #expect(outcome.status == 2, "\(outcome)")
            #expect(outcome.error.contains("Run the same command to continue where it stopped."), "\(outcome)")

            try await server.control("resume")
            try server.sql("DROP TRIGGER pause ON lost.migration_checkpoints")
            let resumed = try await Self.migrate("-", .standardInput, into: lost, in: folder)
            #expect(resumed.status == 0, "\(resumed)")
            #expect(resumed.output.contains("of the records were migrated by an earlier run"), "\(resumed)")
            #expect(resumed.output.contains("records read            \(Self.records)"), "\(resumed)")
            let exported = try await Self.export(lost, "lost", in: folder)
            #expect(exported == expected)
        }
    }

    private static func schema(_ source: Source) -> String {
        "kill_\(source.rawValue.lowercased())_\(UUID().uuidString.prefix(8).lowercased())"
    }

    private static func remove(_ name: String, _ server: PostgreSQLServer) {
        try? remove(["whole", "killed", "source"].map { "\(name)_\($0)" }, server)
    }

    private static func remove(_ schemas: [String], _ server: PostgreSQLServer) throws {
        for schema in schemas {
            try server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(schema) CASCADE")
        }
    }

    private static let files = ["sqlite:whole.sqlite", "sqlite:killed.sqlite"]

    private static func removeStore(in folder: Folder) throws {
        for name in folder.names("") where name.hasPrefix("killed.sqlite") {
            try FileManager.default.removeItem(atPath: folder.file(name))
        }
    }

    private static func address(_ server: PostgreSQLServer, schema: String) -> String {
        server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
    }

    /// Migrates into the first store without interruption, and into the second one with kills: two for each time that it is
    /// empty at the beginning. More would mostly hit migrations that have nothing left to do.
    private func check(
        _ source: Source, _ stores: [String], _ database: String?, in folder: Folder, emptying: () throws -> Void
    ) async throws {
        let arguments = try Self.prepare(source, database, in: folder)
        let start = ContinuousClock.now
        let whole = try await Self.migrate(arguments, source, into: stores[0], in: folder)
        let length = (ContinuousClock.now - start) / .milliseconds(1)
        #expect(whole.status == 0, "\(whole)")
        let expected = try await Self.export(stores[0], "whole", in: folder)
        #expect(expected["transactions.ndjson"]?.isEmpty == false)
        var generator = SystemRandomNumberGenerator()
        for number in 0..<kills {
            if number.isMultiple(of: 2) { try emptying() }
            let wait = Int(Double.random(in: 0...length, using: &generator))
            _ = try await Self.migrate(arguments, source, into: stores[1], killedAfter: wait, in: folder)
            guard !number.isMultiple(of: 2) || number == kills - 1 else { continue }
            let outcome = try await Self.migrate(arguments, source, into: stores[1], in: folder)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.output.contains("records read            \(Self.records)"), "\(outcome)")
            #expect(try await Self.export(stores[1], "killed-\(number)", in: folder) == expected)
        }
    }

    private static func command(_ arguments: String, into store: String) -> String {
        "exec \"$COMMAND\" migrate --quiet --trust-root root.der \(arguments) --into '\(store)'"
    }

    private static func migrate(
        _ arguments: String, _ source: Source, into store: String, killedAfter milliseconds: Int? = nil,
        in folder: Folder
    ) async throws -> Outcome {
        let input = source == .standardInput ? "cat dump.ndjson | " : ""
        let command = Self.command(arguments, into: store)
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
        case .gzip, .bzip2, .zstd:
            try folder.write("dump.ndjson", Forged.ndjson(records))
            let process = try Process.run(
                URL(filePath: "/usr/bin/env"),
                arguments: (source.compressor ?? []) + [folder.file("dump.ndjson")])
            process.waitUntilExit()
            let files = folder.names("").filter { $0.hasPrefix("dump.ndjson.") }
            return try #require(files.count == 1 ? files.first : nil, "\(source) wrote \(files)")
        case .pattern:
            let dump = Forged.ndjson(records)
            let lines = dump.split(separator: 0x0A)
            for part in 0..<12 {
                let size = records / 12
                let (first, last) = (lines[part * size], lines[(part + 1) * size - 1])
                try folder.write("part-\(part + 10).ndjson", dump[first.startIndex..<last.endIndex])
            }
            return "'part-*.ndjson'"
        case .csv:
            let rows = (0..<records).map { "u\($0),\(receipts[$0 % receipts.count])\n" }
            try folder.write("dump.csv", Array(("user,receipt\n" + rows.joined()).utf8))
            return "dump.csv"
        case .mysqldump:
            let rows = (0..<records).map { "('u\($0)','\(receipts[$0 % receipts.count])')" }
            let insert = "INSERT INTO `r` (`user`,`receipt`) VALUES \(rows.joined(separator: ","));\n"
            try folder.write("dump.sql", Array(insert.utf8))
            return "dump.sql"
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
