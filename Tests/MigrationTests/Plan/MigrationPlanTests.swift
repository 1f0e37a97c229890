import AppStoreModels
import Encodings
import Foundation
import LegacyReceipts
import Migration
import PostgreSQLTransactionStore
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import TestDatabase
import TestSupport
import Testing
import TransactionStore

@Suite("Plans")
struct MigrationPlanTests {
    private static let inputs =
        FixtureStore.names.map { FixtureStore.root.appending(path: $0).path + "/" }.sorted()
        + [FixtureStore.root.appending(path: "inputs").path]
    private static let date: Int64 = 1_790_000_000_000

    private static func options(_ configure: (inout MigrationOptions) -> Void = { _ in }) throws -> MigrationOptions {
        var options = MigrationOptions(trust: try FixtureTrust.withIntermediates())
        configure(&options)
        return options
    }

    private static func plan(
        _ inputs: [String], store: Bool = true, user: String? = nil, carry: Set<String> = [], sample: Int = .max,
        _ configure: (inout MigrationOptions) -> Void = { _ in }
    ) throws -> MigrationPlan {
        let options = StoreMigration.Options(
            migration: try options(configure), userColumn: user, carriedColumns: carry, date: date)
        return try MigrationPlanner(options: options, engine: store ? .sqlite : nil, sample: sample)
            .plan(inputs: inputs)
    }

    /// The lines of a stream of all inputs, and the plan of it; made once.
    private static let stream = Task {
        let lines = Mutex<[UInt8]>([])
        let summary = try await MigrationStream(options: try options()).run(inputs: inputs) { bytes in
            lines.withLock { $0 += bytes }
        }
        return (summary: summary, lines: lines.withLock { $0 }, plan: try plan(inputs, store: false))
    }

    /// A table whose columns have names that say nothing, and one that says too much.
    private static func oddTable(_ rows: Int, lineEnd: String = "\n") throws -> String {
        let receipt = String(decoding: try FixtureStore.bytes("auto-renewable/receipt.b64"), as: UTF8.self)
            .filter { !$0.isWhitespace }
        let other = String(decoding: try FixtureStore.bytes("consumable/receipt.b64"), as: UTF8.self)
            .filter { !$0.isWhitespace }
        var lines = ["blob 1,customer_id,country,log,receipt"]
        for row in 0..<rows {
            let payload = row == 2 ? "no receipt!" : row % 2 == 0 ? receipt : other
            let log =
                row == 0
                ? "saved latest_receipt_info of the user - see the archive of the year before the last one" : ""
            lines.append("\(payload),u\(row),DE,\(log),")
        }
        return lines.joined(separator: lineEnd) + lineEnd
    }

    @Test("The counts of a plan over all records are those of the stream, and its bytes are those of the lines")
    func countsOfStream() async throws {
        let (summary, lines, plan) = try await Self.stream.value
        #expect(plan.summary == summary)
        #expect(plan.isWhole)
        #expect(plan.records == summary.recordsRead)
        #expect(!plan.summary.isClean)
        #expect(plan.outputBytes == lines.count)
    }

    @Test("The counts of a plan over all records are those of the migration into a store")
    func countsOfStore() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        let summary = try await StoreMigration(
            options: StoreMigration.Options(migration: try Self.options(), date: Self.date)
        ).run(inputs: Self.inputs, into: store)
        try await store.close()
        #expect(try Self.plan(Self.inputs).summary == summary.records)
    }

    @Test("Each reason has an example: the first record in the quarantine, by its place and hash")
    func examples() async throws {
        let (_, lines, plan) = try await Self.stream.value
        let outputs = StreamedLines.byOutput(lines)
        var first: [String: JSONValue] = [:]
        var counts: [String: Int] = [:]
        for line in try FixtureRun.lines(outputs["quarantine"] ?? []) {
            let reason = try #require(line["reason"]?.string)
            if first[reason] == nil { first[reason] = line }
            counts[reason, default: 0] += 1
        }
        #expect(Set(plan.quarantine.map(\.reason)) == Set(first.keys))
        for example in plan.quarantine {
            let line = try #require(first[example.reason])
            #expect(example.sha256 == line["source"]?["sha256"]?.string)
            #expect(example.message == line["message"]?.string)
            #expect(example.place.hasPrefix(try #require(line["source"]?["input"]?.string)))
            #expect(example.records + example.documents == counts[example.reason])
        }
        let sizes = plan.quarantine.map { $0.records + $0.documents }
        #expect(sizes == sizes.sorted(by: >))
    }

    @Test("Each column has its role and the cause: option, name or content")
    func columns() throws {
        let folder = try TemporaryFolder()
        let table = try folder.write("odd.csv", Self.oddTable(6))
        let plan = try Self.plan([table], carry: ["country"])
        let columns = try #require(plan.sources.first).columns
        func column(_ path: String, _ columns: [MigrationPlan.Column] = columns) throws -> MigrationPlan.Column {
            try #require(columns.first { $0.path == path }, "\(columns.map(\.path))")
        }
        #expect(try column("blob 1").fates[MemberFate.readAsReceipt.rawValue] == 5)
        #expect(try column("blob 1").cause == .content)
        #expect(try column("customer_id").isUser)
        #expect(try column("customer_id").cause == .name)
        #expect(try column("country").isKept)
        #expect(try !column("country").isUser)
        #expect(try column("country").cause == nil)
        #expect(try column("log").fates[MemberFate.looksLikeDocument.rawValue] == 1)
        #expect(try column("receipt").fates.keys.contains(MemberFate.empty.rawValue))
        #expect(!plan.summary.isClean)
        let named = try #require(
            try Self.plan([table], user: "country") { $0.receiptColumns = ["blob 1"] }.sources.first
        ).columns
        #expect(try column("blob 1", named).cause == .option)
        #expect(try column("country", named).isUser)
        #expect(try column("country", named).cause == .option)
        #expect(try !column("customer_id", named).isUser)
    }

    @Test("A sample has the first records of each source, and the sizes of the files give the rest")
    func sample() throws {
        let folder = try TemporaryFolder()
        let tables = [try folder.write("1.csv", Self.oddTable(400)), try folder.write("2.csv", Self.oddTable(5))]
        let plan = try Self.plan(tables, sample: 40)
        #expect(plan.sources.map(\.sampledRecords) == [40, 5])
        #expect(plan.sources.map(\.isWhole) == [false, true])
        #expect(plan.summary.recordsRead == 45)
        #expect(!plan.isWhole)
        let records = try #require(plan.records)
        #expect((380...430).contains(records), "\(records)")
        #expect(try #require(plan.expectedBytes) > Double(plan.outputBytes))
        #expect(try Self.plan(tables, sample: 400).isWhole)
        #expect(try Self.plan(tables, sample: 399).sources[0].isWhole == false)
    }

    @Test("A limit is one of all sources together")
    func limit() throws {
        let folder = try TemporaryFolder()
        let tables = [try folder.write("1.csv", Self.oddTable(30)), try folder.write("2.csv", Self.oddTable(30))]
        let plan = try Self.plan(tables, sample: 100) { $0.maximumRecords = 35 }
        #expect(plan.sources.map(\.sampledRecords) == [30, 5])
        #expect(plan.records == 35)
        #expect(plan.isWhole)
        let small = try Self.plan(tables, sample: 10) { $0.maximumRecords = 35 }
        #expect(small.summary.recordsRead == 20)
        #expect(small.records == 35)
        #expect(!small.isWhole)
    }

    @Test("The number of records in a compressed file is unknown unless the sample is all of it")
    func compressed() throws {
        let folder = try TemporaryFolder()
        let table = try folder.write("dump.csv", Self.oddTable(50))
        #expect(try ChildProcess.runWhileBlocking("gzip", [table]).status == 0)
        #expect(try Self.plan([table + ".gz"], sample: 10).records == nil)
        #expect(try Self.plan([table + ".gz"], sample: 50).records == 50)
    }

    @Test("A wrong column is an error that names it and the columns there are")
    func wrongColumn() throws {
        let folder = try TemporaryFolder()
        let table = try folder.write("odd.csv", Self.oddTable(6))
        func error(_ body: () throws -> MigrationPlan) -> MigrationError? {
            do { _ = try body() } catch { return error as? MigrationError }
            return nil
        }
        for wrong in [
            error { try Self.plan([table]) { $0.receiptColumns = ["payload"] } },
            error { try Self.plan([table], user: "payload") },
            error { try Self.plan([table], carry: ["payload"]) },
        ] {
            let message = try #require(wrong).message
            #expect(message.contains("has no column payload"))
            #expect(message.contains("blob 1, customer_id, country, log, receipt"))
        }
        // Of dumps with one table each, one has to have the column, also if it is longer than the detection looks.
        let users = try folder.write("users.sql", "INSERT INTO `users` (`id`) VALUES (1);\n")
        let note = String(repeating: "x", count: InputLimits.detectionWindow)
        let receipts = try folder.write(
            "receipts.sql", "INSERT INTO `r` (`note`,`data`) VALUES ('\(note)','MII');\n")
        #expect(try Self.plan([users, receipts]) { $0.receiptColumns = ["data"] }.summary.recordsRead == 1)
        for inputs in [[users, receipts], [receipts]] {
            let wrong = error { try Self.plan(inputs) { $0.receiptColumns = ["payload"] } }
            #expect(wrong?.message.contains("has no column payload. Its columns are: ") == true)
        }
    }

    @Test("The JSON has the numbers of the plan, and the command word by word")
    func json() throws {
        let folder = try TemporaryFolder()
        let plan = try Self.plan([try folder.write("odd.csv", Self.oddTable(6))])
        let value = try JSONValue.parse(plan.json(command: ["a", "b \"c"]))
        #expect(value["command"]?.array?.compactMap(\.string) == ["a", "b \"c"])
        #expect(value["summary"]?["recordsRead"]?.integer == 6)
        #expect(value["records"]?.integer == 6)
        #expect(value["sources"]?.array?.first?["columns"]?.array?.count == 5)
        #expect(value["quarantine"]?.array?.first?["records"]?.integer == 1)
    }

    // MARK: Disk space

    /// A table like a backend's: the next receipt of a customer has one more period, each is in several rows, and some rows
    /// have no receipt.
    private static func growingTable(customers: Int, receipts: Int) throws -> String {
        var lines = ["user_id,receipt"]
        for periods in 1...receipts {
            let sent = try (0..<customers).map { customer in
                var receipt = ForgedAppReceipt.bulk(Int64(customer), purchases: periods)
                receipt.creationDate = .seconds(ForgedInstant(2024, Int64(periods), 1))
                return Base64.encode(try receipt.signedData(.g5).encoded())
            }
            for _ in 0..<3 { for (user, receipt) in sent.enumerated() { lines.append("user-\(user),\(receipt)") } }
            lines.append("user-\(periods),\(String(repeating: "no receipt ", count: 700))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The plan of a store, and the bytes that its migration takes.
    private struct Space {
        let planned: Double
        let taken: Double
        var ratio: Double { planned / taken }
    }

    @inline(never)
    private static func planned(
        _ inputs: [String], _ engine: MigrationPlan.StoreEngine, _ trust: TrustPolicy, sample: Int = .max
    ) throws -> Double {
        let planner = MigrationPlanner(
            options: StoreMigration.Options(migration: MigrationOptions(trust: trust), date: date), engine: engine,
            sample: sample)
        return try #require(try planner.plan(inputs: inputs).expectedBytes)
    }

    @inline(never)
    private static func migrate(
        _ inputs: [String], into store: any StoreMigration.Store, _ trust: TrustPolicy
    ) async throws {
        let options = StoreMigration.Options(migration: MigrationOptions(trust: trust), date: date)
        _ = try await StoreMigration(options: options).run(inputs: inputs, into: store)
    }

    /// - Returns: the size of the store's files after it was closed.
    @inline(never)
    private static func bytesInSQLite(_ inputs: [String], _ trust: TrustPolicy) async throws -> Double {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(
            path: folder.file("store.sqlite"), options: .init(durability: .normal))
        try await migrate(inputs, into: store, trust)
        try await store.close()
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try files.reduce(0) { try $0 + Double(Data(contentsOf: URL(filePath: folder.file($1))).count) }
    }

    @Test("A plan over all records names the disk space of a SQLite store: between 0.85 and 2 times what it takes")
    func spaceInSQLite() async throws {
        let trust = try FixtureTrust.withIntermediates()
        let ofFixtures = Space(
            planned: try Self.planned(Self.inputs, .sqlite, trust),
            taken: try await Self.bytesInSQLite(Self.inputs, trust))
        #expect((0.85...2).contains(ofFixtures.ratio), "\(ofFixtures)")

        let folder = try TemporaryFolder()
        let forged = TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])
        let table = [try folder.write("table.csv", Self.growingTable(customers: 60, receipts: 8))]
        let ofTable = Space(
            planned: try Self.planned(table, .sqlite, forged), taken: try await Self.bytesInSQLite(table, forged))
        #expect((0.85...2).contains(ofTable.ratio), "\(ofTable)")
        // The sample does not know that the same customers come again.
        let ofSample = Space(
            planned: try Self.planned(table, .sqlite, forged, sample: 360), taken: ofTable.taken)
        #expect((0.85...8).contains(ofSample.ratio), "\(ofSample)")
    }

    @Test(
        "A plan over all records names the disk space of a PostgreSQL store: between 0.85 and 4 times what it takes",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"))
    func spaceInPostgreSQL() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let folder = try TemporaryFolder()
        // The plan counts rows that later ones replace. A table this short is one step, which replaces none.
        let table = [try folder.write("table.csv", Self.growingTable(customers: 60, receipts: 4))]
        let trust = TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])
        let schema = "plan_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        defer { _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(schema) CASCADE") }
        let store = try await PostgreSQLTransactionStore.open(url: server.url, options: .init(schema: schema))
        try await Self.migrate(table, into: store, trust)
        try await store.close()
        let taken = try server.sql(
            """
            SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = '\(schema)' AND c.relkind = 'r'
            """)
        let bytes = try #require(Double(taken.filter { !$0.isWhitespace }))
        let space = Space(planned: try Self.planned(table, .postgreSQL, trust), taken: bytes)
        #expect((0.85...4).contains(space.ratio), "\(space)")
    }

    @Test("Each source counts with the size of its own records")
    func spaceOfSources() throws {
        let folder = try TemporaryFolder()
        let large = String(repeating: "no receipt ", count: 1_500)
        let rows = (0..<400).map { "u\($0),\(large)\($0)\n" }.joined()
        let wide = try folder.write("wide.csv", "user_id,receipt\n" + rows)
        let narrow = try folder.write(
            "narrow.csv", "user_id,receipt\n" + (0..<20).map { "u\($0),no receipt\n" }.joined())
        func bytes(_ inputs: [String]) throws -> Double {
            try #require(try Self.plan(inputs, sample: 20).expectedBytes)
        }
        let (alone, both) = (try bytes([wide]), try bytes([wide, narrow]))
        // With the size of the other records, those of the second table would take more than 500 KB.
        #expect((alone...alone + 100_000).contains(both), "\(alone) \(both)")
    }
}
