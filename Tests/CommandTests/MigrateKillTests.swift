import Foundation
import GRDB
import PostgreSQLTransactionStore
import TestCompression
import TestDatabase
import TestSupport
import Testing

/// How many commands are killed for each kind of source and each engine. `LEGACY_RECEIPTS_KILLS` sets another number.
private let kills = ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_KILLS"].flatMap { Int($0) } ?? 2

@Suite("migrate --into, migrate --retry and merge, killed", .timeLimit(.minutes(max(10, kills))))
struct MigrateKillTests {
    private static let records = 1_200

    /// Where the records are.
    enum Source: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case ndjson, csv, mysqldump, gzip, bzip2, zstd, array, files, pattern, standardInput, sqlite, postgreSQL

        var testDescription: String { rawValue }

        /// The compression of the records; nil if they are not compressed.
        var compression: CompressionFormat? { CompressionFormat(rawValue: rawValue) }
    }

    @Test(
        "After kill -9 at any moment the same command continues, to the same tables and ledger: SQLite",
        arguments: Source.allCases.filter { $0 != .postgreSQL })
    func sqlite(source: Source) async throws {
        try await check(source, Self.files, nil, in: try Folder.withRoot())
    }

    @Test(
        "After kill -9 at any moment the same command continues, to the same tables and ledger: PostgreSQL",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"),
        arguments: Source.allCases)
    func killedOnPostgreSQL(source: Source) async throws {
        let server = try #require(PostgreSQLServer.shared)
        let name = Self.schema(source)
        defer { Self.remove(name, server) }
        if source == .postgreSQL { try Self.fill(server, schema: "\(name)_source") }
        let stores = Self.stores(on: server, name)
        try await check(source, stores, Self.address(server, schema: "\(name)_source"), in: try Folder.withRoot())
    }

    @Test(
        "After kill -9 at any moment the same command continues, to the same tables and ledger: from PostgreSQL to SQLite",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func killedFromPostgreSQL() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let name = Self.schema(.postgreSQL)
        defer { Self.remove(name, server) }
        try Self.fill(server, schema: "\(name)_source")
        try await check(
            .postgreSQL, Self.files, Self.address(server, schema: "\(name)_source"), in: try Folder.withRoot())
    }

    @Test("After kill -9 at any moment the same retry continues, to the same tables and ledger: SQLite")
    func retryOnSQLite() async throws {
        try await checkRetry(Self.files, in: try Folder.withRoot())
    }

    @Test(
        "After kill -9 at any moment the same retry continues, to the same tables and ledger: PostgreSQL",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func retryOnPostgreSQL() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let name = Self.schema("retry")
        defer { Self.remove(name, server) }
        try await checkRetry(Self.stores(on: server, name), in: try Folder.withRoot())
    }

    @Test("After kill -9 at any moment the same merge continues, to the same tables and ledger: SQLite")
    func mergeOnSQLite() async throws {
        try await checkMerge(Self.files, in: try Folder.withRoot())
    }

    @Test(
        "After kill -9 at any moment the same merge continues, to the same tables and ledger: PostgreSQL",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func mergeOnPostgreSQL() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let name = Self.schema("merge")
        defer { Self.remove(name, server) }
        try await checkMerge(Self.stores(on: server, name), in: try Folder.withRoot())
    }

    @Test(
        "After PostgreSQL was lost between two steps the same command continues, to the same tables and ledger",
        .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"),
        arguments: ["stop", "crash"])
    func lostPostgreSQL(command: String) async throws {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(Forged.historyRecords(Self.records)))
        try await PostgreSQLServer.with { server in
            let (whole, lost) = (Self.address(server, schema: "whole"), Self.address(server, schema: "lost"))
            let run = Self.migration("-", .standardInput)
            let undisturbed = try await run.run(lasting: nil, on: whole, in: folder)
            #expect(undisturbed.status == 0, "\(undisturbed)")
            let expected = try await Self.content(of: whole, in: folder)
            #expect(!expected.ledger.isEmpty)

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
            async let interrupted = run.run(lasting: nil, on: lost, in: folder)
            try await eventually("a step waits") {
                try server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
            }
            try await server.control(command)
            let outcome = try await interrupted
            #expect(outcome.status == 2, "\(outcome)")
            #expect(outcome.error.contains("Run the same command to continue where it stopped."), "\(outcome)")

            try await server.control("resume")
            try server.sql("DROP TRIGGER pause ON lost.migration_checkpoints")
            let resumed = try await run.run(lasting: nil, on: lost, in: folder)
            #expect(resumed.status == 0, "\(resumed)")
            #expect(resumed.output.contains("of the records were migrated by an earlier run"), "\(resumed)")
            #expect(resumed.output.contains("records read            \(Self.records)"), "\(resumed)")
            let found = try await Self.content(of: lost, in: folder)
            #expect(found == expected)
        }
    }

    private static func schema(_ source: Source) -> String { schema(source.rawValue) }

    private static func schema(_ name: String) -> String {
        "kill_\(name.lowercased())_\(UUID().uuidString.prefix(8).lowercased())"
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

    private static func stores(on server: PostgreSQLServer, _ name: String) -> [String] {
        ["whole", "killed"].map { address(server, schema: "\(name)_\($0)") }
    }

    /// Removes a store, so that the next command creates it.
    @inline(never)
    private static func remove(store: String, in folder: Folder) throws {
        if store.hasPrefix("sqlite:") {
            let file = store.dropFirst("sqlite:".count)
            for name in folder.names("") where name.hasPrefix(file) {
                try FileManager.default.removeItem(atPath: folder.file(name))
            }
        } else {
            let server = try #require(PostgreSQLServer.shared)
            let schema = try #require(store.split(separator: "schema=").last)
            try remove([String(schema)], server)
        }
    }

    private static func address(_ server: PostgreSQLServer, schema: String) -> String {
        server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
    }

    /// A command that writes to a store, and that is killed.
    private struct Run {
        /// What standard input has; nil for nothing.
        var input: String?
        /// The command as shell text; the store follows it.
        let command: String
        let status: Int32
        /// What its output contains.
        var output: String?

        /// Runs the command.
        /// - Parameters:
        ///   - milliseconds: when to kill it; nil to let it end.
        ///   - store: the address of the store.
        ///   - folder: the working directory.
        @inline(never)
        func run(lasting milliseconds: Int?, on store: String, in folder: Folder) async throws -> Outcome {
            let input = input.map { "cat \($0) | " } ?? ""
            let all = "\(input)(exec \"$COMMAND\" \(command) --into '\(store)')"
            guard let milliseconds else { return try await Command.shell(all, in: folder) }
            let script = """
                \(all) >out 2>&1 &
                sleep \(Double(milliseconds) / 1_000)
                kill -9 $!
                wait $!
                """
            return try await Command.shell(script, in: folder)
        }

        func expectEnd(_ outcome: Outcome) {
            #expect(outcome.status == status, "\(outcome)")
            if let output { #expect(outcome.output.contains(output), "\(outcome)") }
        }
    }

    private func check(_ source: Source, _ stores: [String], _ database: String?, in folder: Folder) async throws {
        let run = Self.migration(try Self.prepare(source, database, in: folder), source)
        let content = try await check(run, stores, in: folder) { try Self.remove(store: $0, in: folder) }
        #expect(content.tables["transactions.ndjson"]?.isEmpty == false)
        // Three transactions for each customer. Only if their receipts are in several steps, a refunded one has two entries on
        // PostgreSQL.
        #expect(content.ledger.count > 3 * Forged.histories.count)
    }

    private func checkRetry(_ stores: [String], in folder: Folder) async throws {
        // The first run trusts no receipt. Those of the second file stay in the quarantine.
        try folder.write("dump.ndjson", Forged.ndjson(Forged.historyRecords(Self.records)))
        let nonsense = (0..<300).map { "{\"receipt\":\"nonsense \($0)\"}\n" }
        try folder.write("nonsense.ndjson", nonsense.joined())
        let first = Run(command: "migrate --quiet dump.ndjson nonsense.ndjson", status: 1)
        let run = Run(command: "migrate --quiet --retry --trust-root root.der", status: 1)
        let content = try await check(run, stores, in: folder) { store in
            try Self.remove(store: store, in: folder)
            first.expectEnd(try await first.run(lasting: nil, on: store, in: folder))
        }
        let quarantine = try #require(content.tables["quarantine.ndjson"])
        #expect(quarantine.count(where: { $0 == 0x0A }) == 300)
        #expect(content.ledger.count >= 3 * Forged.histories.count)
    }

    private func checkMerge(_ stores: [String], in folder: Folder) async throws {
        for (name, bytes) in try await Self.shards.value { try folder.write(name, bytes) }
        let run = Run(command: "merge shard-0.sqlite shard-1.sqlite shard-2.sqlite --quiet", status: 0)
        let content = try await check(run, stores, in: folder) { try Self.remove(store: $0, in: folder) }
        #expect(content.ledger.count >= 2 * Forged.histories.count)
        let transactions = try #require(content.tables["transactions.ndjson"])
        #expect(transactions.count(where: { $0 == 0x0A }) >= 12_000 + 2 * Forged.histories.count)
    }

    /// The files of three stores that take several steps to merge. They are made once.
    private static let shards = Task {
        let folder = try Folder.withRoot()
        let lines = Forged.ndjson(Forged.historyRecords(600)).split(separator: 0x0A)
        var files: [String: [UInt8]] = [:]
        for shard in 0..<3 {
            let own = lines.indices.filter { $0 % 3 == shard }.map { lines[$0] + [0x0A] }
            try folder.write("dump.ndjson", Array(own.joined()))
            let rows = (0..<6_000).map { row in
                let id = 540_000_000_000_000 + shard * 3_000 + row
                return "coins,\(id),\(id),\(1_690_000_000_000 + row)\n"
            }
            try folder.write(
                "rows.csv", "product_id,transaction_id,original_transaction_id,purchase_date_ms\n" + rows.joined())
            let outcome = try await folder.migrate(
                "dump.ndjson", "rows.csv", "--default-bundle-id", "com.example.bulk", "--default-environment",
                "Production", "--into", "sqlite:shard-\(shard).sqlite")
            try #require(outcome.status == 0, "\(outcome)")
            files["shard-\(shard).sqlite"] = try folder.bytes("shard-\(shard).sqlite")
        }
        return files
    }

    /// Runs a command on the first store without interruption, and on the second one with kills: two for each time that the store
    /// is as at the beginning. More would mostly hit commands that have nothing left to do.
    /// - Parameters:
    ///   - run: the command.
    ///   - stores: the addresses of the two stores.
    ///   - folder: the working directory.
    ///   - beginning: makes a store as it is before the command.
    /// - Returns: the content of both stores at the end.
    private func check(
        _ run: Run, _ stores: [String], in folder: Folder, beginning: (String) async throws -> Void
    ) async throws -> Content {
        try await beginning(stores[0])
        let start = ContinuousClock.now
        let whole = try await run.run(lasting: nil, on: stores[0], in: folder)
        let length = (ContinuousClock.now - start) / .milliseconds(1)
        run.expectEnd(whole)
        let expected = try await Self.content(of: stores[0], in: folder)
        var generator = SystemRandomNumberGenerator()
        for number in 0..<kills {
            if number.isMultiple(of: 2) { try await beginning(stores[1]) }
            let wait = Int(Double.random(in: 0...length, using: &generator))
            _ = try await run.run(lasting: wait, on: stores[1], in: folder)
            guard !number.isMultiple(of: 2) || number == kills - 1 else { continue }
            run.expectEnd(try await run.run(lasting: nil, on: stores[1], in: folder))
            let found = try await Self.content(of: stores[1], in: folder)
            #expect(found.tables == expected.tables)
            #expect(found.ledger == expected.ledger)
        }
        return expected
    }

    private static func migration(_ arguments: String, _ source: Source) -> Run {
        Run(
            input: source == .standardInput ? "dump.ndjson" : nil,
            command: "migrate --quiet --trust-root root.der \(arguments)", status: 0,
            output: "records read            \(records)")
    }

    /// What a store contains.
    private struct Content: Equatable {
        /// The tables of `export`, by file name.
        let tables: [String: [UInt8]]
        /// The entries in order, without their dates, and without their positions: an interrupted step of PostgreSQL leaves a gap.
        let ledger: [String]
    }

    @inline(never)
    private static func content(of store: String, in folder: Folder) async throws -> Content {
        let outcome = try await Command.run("ledger", "read", "--store", store, in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        let ledger = try outcome.output.split(separator: "\n").map { line -> String in
            var entry = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            for name in ["position", "recordedDate"] {
                let wasThere = entry.removeValue(forKey: name) != nil
                #expect(wasThere, "\(line)")
            }
            let bytes = try JSONSerialization.data(withJSONObject: entry, options: .sortedKeys)
            return String(decoding: bytes, as: UTF8.self)
        }
        return Content(tables: try await export(store, "tables-\(UUID().uuidString)", in: folder), ledger: ledger)
    }

    private static func export(_ store: String, _ tables: String, in folder: Folder) async throws -> [String: [UInt8]] {
        let outcome = try await Command.run(
            ["export", "--store", store, "--to", tables, "--at", "2026-01-01"], in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        return try folder.names(tables).reduce(into: [:]) { $0[$1] = try folder.bytes("\(tables)/\($1)") }
    }

    /// Writes the records and returns the arguments of `migrate` that read them.
    private static func prepare(_ source: Source, _ database: String?, in folder: Folder) throws -> String {
        let receipts = Forged.historyRecords(records)
        let dump = Forged.ndjson(receipts)
        switch source {
        case .ndjson:
            try folder.write("dump.ndjson", dump)
            return "dump.ndjson"
        case .standardInput:
            try folder.write("dump.ndjson", dump)
            return "-"
        case .gzip, .bzip2, .zstd:
            let compression = try #require(source.compression)
            let name = "dump.ndjson\(compression.suffix)"
            try folder.write(name, compression.compressed(dump))
            return name
        case .pattern:
            let lines = dump.split(separator: 0x0A)
            for part in 0..<12 {
                let size = records / 12
                let (first, last) = (lines[part * size], lines[(part + 1) * size - 1])
                try folder.write("part-\(part + 10).ndjson", dump[first.startIndex..<last.endIndex])
            }
            return "'part-*.ndjson'"
        case .csv:
            let rows = (0..<records).map { "u\($0),\(receipts[$0])\n" }
            try folder.write("dump.csv", Array(("user,receipt\n" + rows.joined()).utf8))
            return "dump.csv"
        case .mysqldump:
            let rows = (0..<records).map { "('u\($0)','\(receipts[$0])')" }
            let insert = "INSERT INTO `r` (`user`,`receipt`) VALUES \(rows.joined(separator: ","));\n"
            try folder.write("dump.sql", Array(insert.utf8))
            return "dump.sql"
        case .array:
            let objects = (0..<records).map { "{\"user\":\"u\($0)\",\"receipt\":\"\(receipts[$0])\"}" }
            try folder.write("dump.json", Array("[\(objects.joined(separator: ",\n"))]".utf8))
            return "dump.json"
        case .files:
            try FileManager.default.createDirectory(atPath: folder.file("receipts"), withIntermediateDirectories: true)
            for index in 0..<records {
                // They are read in the order of their names.
                try folder.write("receipts/\(10_000 + index).b64", Array(receipts[index].utf8))
            }
            return "receipts"
        case .sqlite:
            try DatabaseQueue(path: folder.file("shop.sqlite")).write { database in
                try database.execute(sql: "CREATE TABLE receipts (id INTEGER PRIMARY KEY, user TEXT, receipt TEXT)")
                for index in 0..<records {
                    try database.execute(
                        sql: "INSERT INTO receipts VALUES (?, ?, ?)",
                        arguments: [index, "u\(index)", receipts[index]])
                }
            }
            return "sqlite:shop.sqlite --query 'SELECT * FROM receipts' --key id"
        case .postgreSQL: return "'\(database ?? "")' --query 'SELECT * FROM receipts' --key id"
        }
    }

    private static func fill(_ server: PostgreSQLServer, schema: String) throws {
        let path = "SET search_path TO \(schema);"
        try server.sql(
            """
            CREATE SCHEMA \(schema); \(path)
            CREATE TABLE versions (customer bigint, version bigint, receipt text);
            CREATE TABLE receipts (id bigint PRIMARY KEY, "user" text, receipt text);
            """)
        // A word of a command has at most 128 KiB.
        for (customer, receipts) in Forged.histories.enumerated() {
            for (version, receipt) in receipts.enumerated() {
                try server.sql(
                    "\(path) INSERT INTO versions VALUES (\(customer), \(version), '\(Forged.base64(receipt))')")
            }
        }
        // As in `Forged.historyRecords`.
        try server.sql(
            """
            \(path) INSERT INTO receipts SELECT n, 'u' || n, receipt FROM generate_series(0, \(records - 1)) AS n
            JOIN versions ON customer = n % 40 AND version = least(2, (n + 13 * (n % 40)) / 500)
            """)
    }
}
