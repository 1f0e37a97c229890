import AppStoreModels
import Foundation
import Migration
import PostgreSQLTransactionStore
import Purchases
import TestDatabase
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Exports")
struct TableExportTests {
    /// Customers from a seed: subscriptions that change their product, are canceled and are stated by several documents.
    @inline(never)
    private static func randomSets(_ generator: inout SeededGenerator) -> [FactSet] {
        (0..<40).flatMap { number -> [FactSet] in
            let original = String(5_000 + number * 10)
            return (0..<Int.random(in: 1...5, using: &generator)).flatMap { place -> [FactSet] in
                let product = generator.chance(30) ? "premium" : "basic"
                let start = Int64(place) * 30 - (generator.chance(20) ? 5 : 0)
                return (0..<Int.random(in: 1...3, using: &generator)).map { _ -> FactSet in
                    let source = FactSource.allCases[Int.random(in: 0..<6, using: &generator)]
                    let fact = Samples.period(
                        String(5_000 + number * 10 + place), original, product, from: start, source: source,
                        at: Int64.random(in: start...start + 40, using: &generator),
                        cancelled: generator.chance(20) ? start + 3 : nil
                    ) { $0.price = generator.chance(50) ? 990 : nil }
                    return StoreSamples.set(
                        fact, scope: generator.chance(80) ? StoreSamples.scope : Samples.sandbox,
                        renewals: [StoreSamples.renewal(original, source: source, at: fact.origin.signedDate)])
                }
            }
        }
    }

    @Test("are equal byte for byte, in any order of the documents")
    func order() async throws {
        var generator = SeededGenerator(seed: 7)
        let sets = Samples.sets + Self.randomSets(&generator)
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        try await Samples.withStore(sets) { _ = try await Samples.export(.csv).run($0, to: first.path) }
        try await Samples.withStore(sets.shuffled(using: &generator)) {
            _ = try await Samples.export(.csv).run($0, to: second.path)
        }
        #expect(try first.files() == second.files())
    }

    @Test(
        "are equal byte for byte from SQLite and PostgreSQL, and psql loads the rows of an export into PostgreSQL",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"))
    func equalFromPostgreSQL() async throws {
        var generator = SeededGenerator(seed: 8)
        let sets = Samples.sets + Samples.distant + Self.randomSets(&generator)
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        let server = try #require(PostgreSQLServer.shared)
        let schema = "export_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let tables = "tables_\(schema)"
        let url = server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(tables)"
        defer { _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA \(tables) CASCADE") }
        try await Samples.withStore(sets) { store in
            _ = try await Samples.export(.csv).run(store, to: first.path)
            _ = try await Samples.export(.csv).run(store, into: .postgreSQL(url))
        }
        let store = try await PostgreSQLTransactionStore.open(url: server.url, options: .init(schema: schema))
        for set in sets.shuffled(using: &generator) { _ = try await store.apply([set]) }
        _ = try await store.apply(Samples.step)
        let summary = try await Samples.export(.csv).run(store, to: second.path)
        try await store.close()
        #expect(try first.files() == second.files())
        try server.sql("DROP SCHEMA \(schema) CASCADE; CREATE SCHEMA \(schema)")
        defer { _ = try? server.sql("DROP SCHEMA \(schema) CASCADE") }
        let psql = try await ChildProcess.run(
            "psql", [server.url, "-Xq", "-f", "postgresql.sql"], environment: ["PGOPTIONS": "--search_path=\(schema)"],
            directory: second.path)
        #expect(psql.status == 0, "\(psql.errors)")
        for table in summary.tables {
            #expect(try server.sql("SELECT count(*) FROM \(schema).\(table.name)") == String(table.rows))
            let others = "SELECT * FROM \(schema).\(table.name) EXCEPT ALL SELECT * FROM \(tables).\(table.name)"
            #expect(try server.sql("SELECT count(*) FROM (\(others)) AS others") == "0", "\(table.name)")
        }
        let active = "SELECT count(*) FROM \(schema).subscriptions WHERE hasAccess AND accessEnds IS NOT NULL"
        let rows = try ExportedRows("subscriptions", in: second).rows
        #expect(try server.sql(active) == String(rows.count { $0["hasAccess"] == "true" }))
    }

    @Test("that change nothing leave each file alone; the summary names what changed")
    func unchanged() async throws {
        let folder = try TemporaryFolder()
        func inodes() throws -> [String: UInt64] {
            var inodes: [String: UInt64] = [:]
            for name in try folder.files().keys {
                let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
                inodes[name] = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
            }
            return inodes
        }
        try await Samples.withStore { store in
            let export = try Samples.export(.ndjson)
            let first = try await export.run(store, to: folder.path)
            #expect(first.tables.allSatisfy { $0.isChanged })
            let (files, before) = (try folder.files(), try inodes())
            let second = try await export.run(store, to: folder.path)
            #expect(second.tables.allSatisfy { !$0.isChanged })
            #expect(second.tables.map(\.rows) == first.tables.map(\.rows))
            #expect(try folder.files() == files)
            #expect(try inodes() == before)
            _ = try await store.apply([
                StoreSamples.set(
                    renewals: [StoreSamples.renewal("100", product: "basic", at: Samples.june + 40 * Samples.day)])
            ])
            let third = try await export.run(store, to: folder.path)
            let changed = third.tables.filter(\.isChanged).map(\.name)
            #expect(changed == ["subscriptions", "renewal_infos", "customers"])
            let after = try inodes()
            for (name, inode) in before {
                let isChanged = name == "export.json" || changed.contains(String(name.dropLast(".ndjson".count)))
                #expect((after[name] != inode) == isChanged, "\(name)")
            }
        }
    }

    @Test("leave export.json with its earlier date if all tables are the same at another date")
    func unchangedAtAnotherDate() async throws {
        let folder = try TemporaryFolder()
        func date() throws -> Int64? { try JSONValue.parse(try folder.files()["export.json"] ?? [])["at"]?.integer }
        try await Samples.withStore([]) { store in
            _ = try await TableExport(date: Samples.june).run(store, to: folder.path)
            let later = try await TableExport(date: Samples.date).run(store, to: folder.path)
            #expect(later.date == Samples.date)
            #expect(try date() == Samples.june)
            // A damaged one, or one of another format, is written again.
            try folder.write("export.json", "{\"at\":1}")
            _ = try await TableExport(date: Samples.date).run(store, to: folder.path)
            #expect(try date() == Samples.date)
            _ = try await TableExport(format: .csv, date: Samples.june).run(store, to: folder.path)
            #expect(try date() == Samples.june)
            _ = try await store.apply([
                StoreSamples.set(
                    renewals: [StoreSamples.renewal("100", product: "basic", at: Samples.june + 40 * Samples.day)])
            ])
            _ = try await TableExport(format: .csv, date: Samples.date).run(store, to: folder.path)
            #expect(try date() == Samples.date)
        }
        #expect(try folder.files().keys.allSatisfy { !$0.hasSuffix(".partial") })
    }

    /// A store that fails, or is canceled, in the middle.
    struct Failing: CustomerDirectory, MigrationStore {
        let store: any CompleteTransactionStore
        let failure: any Error

        func scopes() async throws -> [StoreScope] { try await store.scopes() }

        func customers(
            in scope: StoreScope, after identity: CustomerIdentity?, limit: Int
        ) async throws -> [Customer] {
            if identity != nil { throw failure }
            return try await store.customers(in: scope, after: nil, limit: 2)
        }

        func identities(of reference: CustomerReference, limit: Int) async throws -> [ScopedIdentity] { [] }
        func apply(_ step: MigrationStep) async throws -> AppliedFacts { try await store.apply(step) }
        func checkpoint(of migration: String) async throws -> MigrationCheckpoint? { nil }
        func checkpoints(after migration: String?, limit: Int) async throws -> [MigrationCheckpoint] { [] }
        func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt] { [] }
        func users(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> [UserClaim] { [] }
        func quarantine(after key: [UInt8]?, limit: Int) async throws -> [QuarantinedRecord] { [] }
    }

    @Test("that fail keep the files of the export before, and leave nothing else")
    func failure() async throws {
        let (folder, empty) = (try TemporaryFolder(), try TemporaryFolder())
        try await Samples.withStore { store in
            _ = try await Samples.export(.csv).run(store, to: folder.path)
            let before = try folder.files()
            let lost = Failing(store: store, failure: TransactionStoreError(.unavailable, "gone"))
            await #expect(throws: TransactionStoreError(.unavailable, "")) {
                try await Samples.export(.csv).run(lost, to: folder.path)
            }
            let canceled = Failing(store: store, failure: CancellationError())
            await #expect(throws: CancellationError.self) {
                try await Samples.export(.ndjson).run(canceled, to: folder.path)
            }
            #expect(try folder.files() == before)
            await #expect(throws: TransactionStoreError.self) {
                try await Samples.export(.csv).run(lost, to: empty.path)
            }
            #expect(try empty.files().isEmpty)
            await #expect(throws: TransactionStoreError.self) {
                try await Samples.export(.csv).run(lost, to: empty.file("new/tables"))
            }
            #expect(!FileManager.default.fileExists(atPath: empty.file("new")))
        }
    }

    @Test("continue after an export that was killed while it renamed the files")
    func killed() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore { store in
            _ = try await Samples.export(.csv).run(store, to: folder.path)
            let whole = try folder.files()
            try FileManager.default.moveItem(
                atPath: folder.file("export.json"), toPath: folder.file("export.json.partial"))
            try folder.write("transactions.csv.partial", "half")
            try folder.write("customers.csv", "old")
            let summary = try await Samples.export(.csv).run(store, to: folder.path)
            #expect(summary.tables.filter(\.isChanged).map(\.name) == ["customers"])
            #expect(try folder.files() == whole)
        }
    }

    @Test("that cannot put a file into its place can be repeated")
    func obstacle() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore { store in
            _ = try await Samples.export(.csv).run(store, to: folder.path)
            let whole = try folder.files()
            try FileManager.default.removeItem(atPath: folder.file("customers.csv"))
            try FileManager.default.createDirectory(
                atPath: folder.file("customers.csv"), withIntermediateDirectories: false)
            await #expect(throws: MigrationError.self) { try await Samples.export(.csv).run(store, to: folder.path) }
            #expect(!FileManager.default.fileExists(atPath: folder.file("export.json")))
            try FileManager.default.removeItem(atPath: folder.file("customers.csv"))
            _ = try await Samples.export(.csv).run(store, to: folder.path)
            #expect(try folder.files() == whole)
        }
    }

    @Test("replace the tables of another format, and no other files")
    func otherFormat() async throws {
        let folder = try TemporaryFolder()
        try folder.write("notes.txt", "mine")
        try await Samples.withStore { store in
            _ = try await Samples.export(.csv).run(store, to: folder.path)
            _ = try await Samples.export(.ndjson).run(store, to: folder.path)
        }
        let names = Set(try folder.files().keys)
        #expect(names == Set(ExportedTables.outlines.map { "\($0.name).ndjson" } + ["export.json", "notes.txt"]))
    }

    @Test("refuse a folder with files that no export wrote")
    func foreignFiles() async throws {
        let folder = try TemporaryFolder()
        try folder.write("transactions.ndjson", "of a migration")
        try await Samples.withStore { store in
            for format in TableExport.Format.allCases {
                let error = await #expect(throws: MigrationError.self) {
                    try await Samples.export(format).run(store, to: folder.path)
                }
                #expect(error?.code == .outputConflict)
                #expect(error?.message.contains("transactions.ndjson was not written by an export") == true)
            }
        }
        #expect(try folder.files() == ["transactions.ndjson": Array("of a migration".utf8)])
    }

    @Test("never write through a link")
    func links() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let target = try other.write("target", "untouched")
        for name in ["transactions.csv.partial", "export.json"] {
            try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: target)
        }
        try await Samples.withStore { _ = try await Samples.export(.csv).run($0, to: folder.path) }
        #expect(try other.files() == ["target": Array("untouched".utf8)])
        #expect(try !ExportedRows("transactions", in: folder).rows.isEmpty)
    }

    @Test("into what is not a folder are an error that names it")
    func notAFolder() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", "")
        try await Samples.withStore { store in
            for path in [file, "\(file)/tables"] {
                let error = await #expect(throws: MigrationError.self) {
                    try await Samples.export(.csv).run(store, to: path)
                }
                #expect(error?.code == .output)
                #expect(error?.message.contains(path) == true)
            }
        }
    }

    @Test("of an empty store have tables without rows")
    func empty() async throws {
        let folder = try TemporaryFolder()
        try await Samples.withStore([]) { store in
            let summary = try await Samples.export(.csv).run(store, to: folder.path)
            #expect(summary.tables.allSatisfy { $0.rows == 0 })
        }
        #expect(try ExportedRows("customers", in: folder).rows.isEmpty)
    }
}
