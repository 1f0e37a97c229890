import Foundation
import TestDatabase
import TestSupport
import Testing

@Suite("merge", .timeLimit(.minutes(10)))
struct MergeTests {
    /// Tables that were exported, by file name.
    private static func export(_ store: String, in folder: Folder) async throws -> [String: [UInt8]] {
        let tables = "tables-\(UUID().uuidString)"
        let outcome = try await Command.run(
            ["export", "--store", store, "--to", tables, "--at", "2026-01-01"], in: folder)
        #expect(outcome.status == 0, "\(outcome.error)")
        return try folder.names(tables).reduce(into: [:]) { $0[$1] = try folder.bytes("\(tables)/\($1)") }
    }

    /// Writes three dumps of the same receipts under different users, each with a line that is no record.
    private static func dumps(_ records: Int, in folder: Folder) throws -> [String] {
        let lines = Forged.ndjson(records).split(separator: 0x0A)
        return try (0..<3).map { shard in
            let own = lines.indices.filter { $0 % 3 == shard }.map { lines[$0] + [0x0A] }
            let path = "dump-\(shard).ndjson"
            try folder.write(path, own.joined() + Array("{\"receipt\":\"nothing of \(shard)\"}\n".utf8))
            return path
        }
    }

    private func merge(_ arguments: String..., in folder: Folder) async throws -> Outcome {
        try await Command.run(["merge"] + arguments, in: folder)
    }

    @Test("Shards that were migrated apart have the tables of one migration, in any order")
    func shards() async throws {
        let folder = try Folder.withRoot()
        let dumps = try Self.dumps(60, in: folder)
        let whole = try await folder.migrate(dumps[0], dumps[1], dumps[2], "--into", "sqlite:whole.sqlite")
        #expect(whole.status == 1, "\(whole)")
        let expected = try await Self.export("sqlite:whole.sqlite", in: folder)
        #expect(expected["conflicts.ndjson"]?.isEmpty == false && expected["quarantine.ndjson"]?.isEmpty == false)
        for (place, dump) in dumps.enumerated() {
            #expect(try await folder.migrate(dump, "--into", "sqlite:shard-\(place).sqlite").status == 1)
        }
        let outcome = try await merge(
            "shard-2.sqlite", "sqlite:shard-0.sqlite", "shard-1.sqlite", "--into", "sqlite:merged.sqlite", "--quiet",
            in: folder)
        #expect(outcome.status == 0 && outcome.error.isEmpty, "\(outcome)")
        #expect(outcome.output.hasPrefix("stores             "), "\(outcome.output)")
        #expect(outcome.output.hasSuffix("\n\nMerged into sqlite:merged.sqlite.\n"), "\(outcome.output)")
        #expect(try await Self.export("sqlite:merged.sqlite", in: folder) == expected)
        let again = try await merge("shard-1.sqlite", "--into", "sqlite:merged.sqlite", "--json", in: folder)
        let numbers = try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Int]
        // Each number has its own label.
        let text = try await merge("shard-1.sqlite", "--into", "sqlite:merged.sqlite", "--quiet", in: folder).output
        let lines = text.split(separator: "\n").dropLast()
        #expect(lines.count == numbers?.count, "\(text)")
        for (label, name) in [
            ("quarantined ", "quarantined"), ("facts there before ", "factsUnchanged"),
            ("not stored, of erased customers ", "erased"),
        ] {
            let line = lines.first { $0.hasPrefix(label) }
            let number = line?.split(separator: " ").last.flatMap { Int($0) }
            #expect(number != nil && number == numbers?[name], "\(text)")
        }
        #expect(numbers?["stores"] == 1 && numbers?["quarantined"] == 1, "\(again)")
        #expect(numbers?["factsChanged"] == 0 && (numbers?["factsUnchanged"] ?? 0) > 0, "\(again)")
        #expect(try await Self.export("sqlite:merged.sqlite", in: folder) == expected)
    }

    @Test("A store that cannot be merged is named, and no destination is made")
    func refused() async throws {
        let folder = try Folder()
        try await StoredPurchases.makeStore(in: folder)
        let names = folder.names("")
        let missing = try await merge("store.sqlite", "none.sqlite", "--into", "sqlite:merged.sqlite", in: folder)
        #expect(missing.status == 2 && missing.error.contains("sqlite:none.sqlite"), "\(missing)")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link.sqlite"), withDestinationPath: folder.file("store.sqlite"))
        let itself = try await merge("link.sqlite", "--into", "sqlite:store.sqlite", in: folder)
        #expect(itself.status == 2 && itself.error.contains("also among the stores to merge"), "\(itself)")
        let password = try await merge(
            "postgres://u:hunter2@127.0.0.1:1/x", "--into", "sqlite:merged.sqlite", in: folder)
        #expect(password.status == 2 && !password.error.contains("hunter2"), "\(password)")
        #expect(folder.names("") == (names + ["link.sqlite"]).sorted())
    }

    /// The file of a store that takes long enough to merge for a bar, and to be interrupted. It is made once.
    private static let longShard = Task {
        let folder = try Folder.withRoot()
        try folder.write("dump.ndjson", Forged.ndjson(20_000))
        let outcome = try await folder.migrate("dump.ndjson", "--into", "sqlite:shard.sqlite")
        try #require(outcome.status == 0, "\(outcome)")
        return try folder.bytes("shard.sqlite")
    }

    @Test("On a terminal: a bar on one line, gone at the end; --quiet: none", .enabled(if: Command.hasScript))
    func bar() async throws {
        let folder = try Folder()
        try await folder.write("shard.sqlite", Self.longShard.value)
        func merge(_ options: String) async throws -> String {
            let run = "$COMMAND merge shard.sqlite --into sqlite:merged\(options.count).sqlite \(options)"
            let outcome = try await Command.shell("script -qec \"\(run)\" /dev/null </dev/null", in: folder)
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.output
        }
        let parts = try await merge("").split(separator: "\r\u{1B}[2K\u{1B}[?7l")
        #expect(parts.count >= 2, "\(parts)")
        #expect(
            parts.dropLast().allSatisfy {
                $0.contains(/^\[#*\.*\] \d+ %  \d+ customers \(store 1 of 1\) in \d+ s, 0 quarantined/)
            })
        // The last rewriting leaves an empty line for the table.
        #expect(parts.last?.hasPrefix("\u{1B}[?7hstores") == true, "\(parts)")
        #expect(try await !merge("--quiet").contains("\u{1B}"))
    }

    @Test("Ctrl-C prints how to continue, and the same command merges the rest", .timeLimit(.minutes(5)))
    func interrupted() async throws {
        let folder = try Folder()
        try await folder.write("shard.sqlite", Self.longShard.value)
        let outcome = try await Command.shell(
            """
            "$COMMAND" merge shard.sqlite --into sqlite:merged.sqlite --quiet & merge=$!
            until [ -s merged.sqlite ]; do :; done
            kill -INT $merge; wait $merge
            """, in: folder)
        // A fast machine may have merged everything.
        #expect(outcome.status == 130 || outcome.status == 0, "\(outcome)")
        if outcome.status == 130 {
            let line =
                /Interrupted after \d+ customers\. What was merged stays\. Run the same command again to merge the rest\.\n/
            #expect(outcome.error.wholeMatch(of: line) != nil, "\(outcome.error)")
        }
        let again = try await merge("shard.sqlite", "--into", "sqlite:merged.sqlite", in: folder)
        #expect(again.status == 0, "\(again)")
        #expect(
            try await Self.export("sqlite:merged.sqlite", in: folder) == Self.export("sqlite:shard.sqlite", in: folder))
    }

    @Test(
        "Two migrations into one PostgreSQL at once give the tables of one",
        .enabled(if: PostgreSQLServer.shared != nil, "run the tests by 'tools/postgres.sh run swift test'"))
    func togetherOnPostgreSQL() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let folder = try Folder.withRoot()
        let dumps = try Self.dumps(1_500, in: folder)
        let whole = try await folder.migrate(dumps[0], dumps[1], dumps[2], "--into", "sqlite:whole.sqlite")
        #expect(whole.status == 1, "\(whole)")
        let expected = try await Self.export("sqlite:whole.sqlite", in: folder)
        // The same inputs twice; inputs that share one; and three at once.
        let inputs = [[dumps, dumps], [Array(dumps[0...1]), Array(dumps[1...2])], dumps.map { [$0] }]
        for parts in inputs {
            let schema = "together_\(UUID().uuidString.prefix(8).lowercased())"
            defer {
                _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(schema) CASCADE")
            }
            let store = server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(schema)"
            let arguments = ["migrate", "--quiet", "--trust-root", "root.der", "--into", store]
            try await withThrowingTaskGroup(of: Outcome.self) { group in
                for part in parts { group.addTask { try await Command.run(arguments + part, in: folder) } }
                for try await outcome in group { #expect(outcome.status == 1, "\(outcome)") }
            }
            #expect(try await Self.export(store, in: folder) == expected, "\(parts)")
        }
    }
}
