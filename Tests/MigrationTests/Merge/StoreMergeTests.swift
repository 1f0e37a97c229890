import AppStoreModels
import Foundation
import GRDB
import Migration
import PostgreSQLTransactionStore
import Purchases
import SQLiteTransactionStore
import TestDatabase
import TestSupport
import TestTraits
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Merges of stores", .computing, .timeLimit(.minutes(10)))
struct StoreMergeTests {
    private static let date: Int64 = 1_790_000_000_000
    private static let count = 3

    // MARK: Shards

    /// What one shard reads: files, and documents that a server received.
    private struct Shard {
        var inputs: [String] = []
        var sets: [FactSet] = []
        var unknown: [UnknownTransaction] = []
    }

    /// All fixtures, rows with users, and customers whose documents are in several shards.
    private struct Input {
        let shards: [Shard]

        init(_ folder: TemporaryFolder) throws {
            var shards = [Shard](repeating: Shard(), count: count)
            for (place, name) in FixtureStore.names.sorted().enumerated() {
                shards[place % count].inputs.append(FixtureStore.root.appending(path: name).path + "/")
            }
            // Lines of one dump, without those of the same customer side by side.
            let lines = try FixtureStore.bytes("inputs/customers.ndjson").split(separator: 0x0A)
            for place in 0..<count {
                let own = lines.indices.filter { $0 % count == place }.map { lines[$0] }
                let path = try folder.write("dump-\(place).ndjson", own.joined(separator: [0x0A]))
                shards[place].inputs.append(path)
                shards[place].inputs.append(try folder.write("users-\(place).csv", Self.users(of: place)))
            }
            for (place, set) in try Self.sets().enumerated() { shards[place % count].sets.append(set) }
            // What the App Store does not know: other shards queried the same ids on other days.
            for number in 0..<60 {
                let environment: AppStoreModels.Environment = number % 2 == 0 ? .production : .sandbox
                shards[number % count].unknown.append(
                    UnknownTransaction(
                        scope: StoreScope(environment: environment, bundleId: StoreSamples.scope.bundleId),
                        transactionId: "\(9_000 + number % 20)", answeredDate: date + Int64(number * 7 % 60)))
            }
            self.shards = shards
        }

        /// In each shard other users have the same receipts, and no row of the last one has a user.
        private static func users(of shard: Int) throws -> String {
            var rows = "user_id,country,receipt\n"
            for name in ["auto-renewable", "non-consumable", "consumable", "free-trial"] {
                let receipt = String(decoding: try FixtureFolder(name).receipt, as: UTF8.self)
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                for user in 0...2 { rows += "\(shard == count - 1 ? "" : "\(shard)-\(user)"),C\(user),\(receipt)\n" }
            }
            return rows + "x,XX,not a receipt of shard \(shard)\n"
        }

        /// Documents of 30 customers. Some documents join customers that other shards have apart.
        private static func sets() throws -> [FactSet] {
            typealias Samples = StoreSamples
            var generator = SeededGenerator(seed: 11)
            var sets: [FactSet] = ExportSamples.sets
            for number in 0..<150 {
                let original = String(7_000 + Int.random(in: 0..<30, using: &generator) * 10)
                let source = FactSource.allCases[Int.random(in: 0..<6, using: &generator)]
                let (day, isCancelled) = (Int64.random(in: 0...40, using: &generator), generator.chance(20))
                let fact = ExportSamples.period(
                    String((Int(original) ?? 0) + Int.random(in: 0...4, using: &generator)), original,
                    generator.chance(30) ? "premium" : "basic", from: day, source: source, at: day + 2,
                    cancelled: isCancelled ? day + 1 : nil)
                let date = fact.origin.signedDate
                var identities: [CustomerIdentity] = []
                if generator.chance(20) {
                    identities.append(
                        CustomerIdentity(.appTransactionId, "9\(Int.random(in: 0..<5, using: &generator))"))
                }
                let version = "\(Int.random(in: 1...9, using: &generator))"
                let form: KnownReceipt.Form = generator.chance(50) ? .app : .transaction
                sets.append(
                    Samples.set(
                        fact, identities: identities,
                        renewals: generator.chance(50) ? [Samples.renewal(original, source: source, at: date)] : [],
                        app: generator.chance(40) ? Samples.app(version, source: source, at: date) : nil,
                        receipt: generator.chance(30)
                            ? Samples.receipt("receipt \(number)", form: form, at: date) : nil,
                        notification: generator.chance(30) ? Samples.notification("uuid-\(number)") : nil))
            }
            // Passes: the earlier one of the same customer comes in another shard.
            for (id, day) in [("7900", Int64(20)), ("7901", 0), ("7902", 10)] {
                let pass = ExportSamples.purchase(id, "pass", .nonRenewingSubscription, from: day)
                sets.append(Samples.set(pass, identities: [CustomerIdentity(.appTransactionId, "99")]))
            }
            return sets
        }
    }

    private static func migrate(_ shard: Shard, into store: any CompleteTransactionStore) async throws {
        let options = StoreMigration.Options(
            migration: MigrationOptions(trust: try FixtureTrust.withIntermediates(), jobs: 1), userColumn: "user_id",
            carriedColumns: ["country"], date: date)
        _ = try await StoreMigration(options: options).run(inputs: shard.inputs, into: store)
        for set in shard.sets { _ = try await store.apply([set]) }
        try await store.remember(shard.unknown)
    }

    private static func open(_ folder: TemporaryFolder, _ name: String) throws -> SQLiteTransactionStore {
        try SQLiteTransactionStore.open(path: folder.file(name), options: .init(durability: .normal))
    }

    /// The stores of the shards, and one that read everything; made once.
    private static let migrated = Task {
        let folder = try TemporaryFolder()
        let input = try Input(folder)
        let whole = try open(folder, "whole")
        try await migrate(
            Shard(
                inputs: input.shards.flatMap(\.inputs), sets: input.shards.flatMap(\.sets),
                unknown: input.shards.flatMap(\.unknown)), into: whole)
        let expected = try await Content(of: whole, .sqlite(path: folder.file("whole")))
        try await whole.close()
        for (place, shard) in input.shards.enumerated() {
            let store = try open(folder, "shard-\(place)")
            try await migrate(shard, into: store)
            try await store.close()
        }
        return (folder: folder, expected: expected, shards: input.shards)
    }

    /// Everything of a store that a merge takes over.
    private struct Content: Equatable {
        /// Nil if nothing was exported.
        let exports: [String: [UInt8]]?
        let customers: [ComparableCustomer]
        let rows: [StoredTable: Set<StoredTableRow>]

        /// `exports: false` leaves out the exports.
        init(of store: any CompleteTransactionStore, _ address: StoreURL, exports isExported: Bool = true) async throws
        {
            var files: [String: [UInt8]]?
            if isExported {
                let folder = try TemporaryFolder()
                let catalog = try catalog(ExportSamples.products)
                _ = try await TableExport(catalog: catalog, date: date).run(store, to: folder.path)
                files = try folder.files()
            }
            exports = files
            var customers: [ComparableCustomer] = []
            for scope in try await store.scopes() {
                try await store.forEachCustomer(in: scope) { customer in
                    customers.append(try unwrap(ComparableCustomer(customer)))
                }
            }
            self.customers = customers
            let snapshot: any StoreSnapshot =
                switch address {
                case .sqlite(let path): try SQLiteStoreSnapshot(path: path)
                case .postgreSQL(let url): try PostgreSQLStoreSnapshot(url: url)
                }
            var rows: [StoredTable: Set<StoredTableRow>] = [:]
            for table in StoredTable.allCases {
                try snapshot.begin(table)
                while let row = try snapshot.next() { #expect(rows[table, default: []].insert(row).inserted) }
            }
            self.rows = rows
        }
    }

    @inline(never)
    private static func expectSame(_ content: Content, _ expected: Content, _ what: String) {
        if let exports = content.exports {
            #expect(exports.keys.sorted() == expected.exports?.keys.sorted(), "\(what)")
            for (name, bytes) in exports { #expect(bytes == expected.exports?[name], "\(what): \(name)") }
        }
        #expect(content.customers == expected.customers, "\(what)")
        for table in StoredTable.allCases { #expect(content.rows[table] == expected.rows[table], "\(what): \(table)") }
    }

    /// Merges files into a file, which is made if it is missing.
    @discardableResult
    private static func merge(
        _ sources: [String], into destination: String, in folder: TemporaryFolder, rowsPerStep: Int = 20_000
    ) async throws -> (summary: StoreMergeSummary, content: Content) {
        let store = try open(folder, destination)
        var merge = try StoreMerge(of: sources.map { .sqlite(path: $0) })
        merge.rowsPerStep = rowsPerStep
        let summary = try await merge.run(into: store)
        let content = try await Content(of: store, .sqlite(path: folder.file(destination)))
        try await store.close()
        return (summary, content)
    }

    /// All rows of all tables of a file.
    private static func rows(_ path: String) async throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        let rows = try await queue.read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            return try tables.flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\"").map { "\(table) \($0)" }
            }
        }
        try queue.close()
        return rows
    }

    // MARK: Rules

    @Test("The shards of the tests overlap, and have everything that a store keeps")
    func input() async throws {
        let (folder, expected, _) = try await Self.migrated.value
        // Each store has its own secret for the hashes of erased customers, so they have a test of their own.
        for table in StoredTable.allCases where table != .leftHashes {
            #expect((expected.rows[table]?.count ?? 0) > 10, "\(table)")
        }
        let exports = try #require(expected.exports)
        for table in ["transactions", "renewal_infos", "app_transactions", "customer_users", "conflicts", "terms"] {
            #expect(exports["\(table).ndjson"]?.isEmpty == false, "\(table)")
        }
        #expect(try StoreMigrationTests.rows(exports, "quarantine").count > 100)
        #expect(expected.customers.contains { $0.receipts.compactMap(\.self).count == 2 })
        #expect(expected.customers.contains { $0.appOrigins.count > 1 })
        // No shard alone has what all have together, and each customer counts once.
        var sum = 0
        for place in 0..<Self.count {
            let store = try Self.open(folder, "shard-\(place)")
            let content = try await Content(of: store, .sqlite(path: folder.file("shard-\(place)")))
            try await store.close()
            #expect(content.customers.count < expected.customers.count)
            sum += content.customers.count
        }
        #expect(sum > expected.customers.count + 10)
    }

    @Test(
        "In any order and grouping, the merge of shards is what one undisturbed migration gives",
        arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func order(order: [Int]) async throws {
        let (shards, expected, _) = try await Self.migrated.value
        let folder = try TemporaryFolder()
        let paths = order.map { shards.file("shard-\($0)") }
        let flat = try await Self.merge(paths, into: "flat", in: folder, rowsPerStep: 50)
        #expect(flat.summary.stores == 3)
        Self.expectSame(flat.content, expected, "\(order)")
        try await Self.merge([paths[0], paths[1]], into: "first", in: folder)
        let left = try await Self.merge([folder.file("first"), paths[2]], into: "left", in: folder)
        Self.expectSame(left.content, expected, "(\(order[0]) + \(order[1])) + \(order[2])")
        try await Self.merge([paths[1], paths[2]], into: "second", in: folder)
        let right = try await Self.merge([paths[0], folder.file("second")], into: "right", in: folder)
        Self.expectSame(right.content, expected, "\(order[0]) + (\(order[1]) + \(order[2]))")
        guard order == [1, 2, 0] else { return }
        // Into a shard that has documents of its own.
        try FileManager.default.copyItem(atPath: paths[0], toPath: folder.file("own"))
        let own = try await Self.merge([paths[2], paths[1]], into: "own", in: folder)
        Self.expectSame(own.content, expected, "into \(order[0])")
    }

    @Test("Merging again changes nothing, not even the ledger, and writes nothing to the sources")
    func again() async throws {
        let (shards, expected, _) = try await Self.migrated.value
        let folder = try TemporaryFolder()
        let paths = (0..<Self.count).map { shards.file("shard-\($0)") }
        // SQLite itself counts in the header of a file how often programs opened it.
        func rows() async throws -> [[String]] {
            var rows: [[String]] = []
            for path in paths { rows.append(try await Self.rows(path)) }
            return rows
        }
        let before = try await rows()
        let store = try Self.open(folder, "store")
        let merge = try StoreMerge(of: paths.map { .sqlite(path: $0) })
        let first = try await merge.run(into: store)
        #expect(first.changed > 300)
        let entries = try await store.changes(after: 0, limit: 10_000).map {
            "\($0.position) \($0.event) \($0.transactionId)"
        }
        #expect(entries.count > 100)
        let second = try await merge.run(into: store)
        #expect(second.changed == 0 && second.unchanged == first.changed + first.unchanged)
        #expect(second.customers == first.customers)
        let after = try await store.changes(after: 0, limit: 10_000).map {
            "\($0.position) \($0.event) \($0.transactionId)"
        }
        #expect(after == entries)
        Self.expectSame(try await Content(of: store, .sqlite(path: folder.file("store"))), expected, "twice")
        try await store.close()
        #expect(try await rows() == before)
    }

    @Test("After an interruption at any step, no receipt is known without its facts, and the same merge completes it")
    func interrupted() async throws {
        let (shards, expected, _) = try await Self.migrated.value
        let paths = (0..<Self.count).map { shards.file("shard-\($0)") }
        var merge = try StoreMerge(of: paths.map { .sqlite(path: $0) })
        merge.rowsPerStep = 100
        var stops = 0
        for stop in stride(from: 1, to: .max, by: 3) {
            let folder = try TemporaryFolder()
            let store = try Self.open(folder, "store")
            let stopping = StoreMigrationTests.Stopping(store, at: stop, commits: stop.isMultiple(of: 2))
            var isWhole = false
            do {
                _ = try await merge.run(into: stopping)
                isWhole = true
            } catch let error as TransactionStoreError {
                #expect(error.code == .unavailable)
                stops += 1
            }
            let address = StoreURL.sqlite(path: folder.file("store"))
            let partial = try await Content(of: store, address, exports: false)
            for row in partial.rows[.verifiedReceipts] ?? [] {
                let receipt = try row.verifiedReceipt()
                guard !receipt.identities.isEmpty else { continue }
                #expect(try await store.customer(receipt.identities, in: receipt.scope) != nil)
            }
            let summary = try await merge.run(into: store)
            // The last steps have no facts.
            if isWhole { #expect(summary.changed == 0) }
            Self.expectSame(try await Content(of: store, address, exports: false), expected, "\(stop)")
            try await store.close()
            if isWhole { break }
        }
        #expect(stops > 2)
    }

    @Test("The hashes of erased customers are taken over: any order and grouping gives the same store without them")
    func leftHashes() async throws {
        typealias Samples = StoreSamples
        let folder = try TemporaryFolder()
        let sets = ["1", "2", "3"].map { Samples.set(Samples.fact($0), receipt: Samples.receipt("receipt \($0)")) }
        let users = ["1", "2", "3"].map {
            UserClaim(scope: Samples.scope, identity: Samples.original($0), userId: "user \($0)")
        }
        for (name, erased) in [("a", "1"), ("b", nil), ("c", "2")] {
            let source = try Self.open(folder, name)
            _ = try await source.apply(MigrationStep(facts: sets, users: users))
            if let erased {
                let identity = Samples.original(erased)
                _ = try await source.erase([identity], in: Samples.scope, quarantined: [], leavingHashes: true)
            }
            try await source.close()
        }
        let orders = [[["a", "b", "c"]], [["b"], ["c"], ["a"]], [["c", "b"], ["a"]], [["a"], ["b"], ["c"], ["b"]]]
        var contents: [Content] = []
        for (number, order) in orders.enumerated() {
            let store = try Self.open(folder, "merged-\(number)")
            for group in order {
                let paths = group.map { StoreURL.sqlite(path: folder.file($0)) }
                let summary = try await StoreMerge(of: paths).run(into: store)
                #expect(summary.leftHashes == group.count { $0 != "b" })
                // Of one source all erased customers are known before its data is read.
                if number == 0 { #expect(summary.erased == 4 * 3 && summary.changed == 2) }
            }
            #expect(try await store.counts().leftHashes == 2)
            for id in ["1", "2"] { #expect(try await store.customer(original: id) == nil, "\(order)") }
            #expect(try await LedgerAudit.text(store.changes(after: 0, limit: 10)) == "3 purchased")
            contents.append(
                try await Content(of: store, .sqlite(path: folder.file("merged-\(number)")), exports: false))
            try await store.close()
        }
        #expect(contents[0].rows[.leftHashes]?.count == 2)
        for (content, order) in zip(contents, orders).dropFirst() {
            Self.expectSame(content, contents[0], "\(order)")
        }
    }

    @Test("A notification that a source processed is not taken again")
    func notifications() async throws {
        let folder = try TemporaryFolder()
        let set = StoreSamples.set(
            StoreSamples.fact("1", source: .notificationV2), notification: StoreSamples.notification("uuid"))
        let source = try Self.open(folder, "source")
        _ = try await source.apply([set])
        try await source.close()
        let store = try Self.open(folder, "store")
        let summary = try await StoreMerge(of: [.sqlite(path: folder.file("source"))]).run(into: store)
        #expect(summary.notifications == 1 && summary.customers == 1)
        #expect(try await store.hasProcessed(notificationUUID: "uuid"))
        #expect(try await store.apply([set]).repeatedNotifications == 1)
        #expect(try await store.changes(after: 0, limit: 10).map(\.event) == [.purchased])
        try await store.close()
    }

    @Test("A migration into the merged store verifies no receipt again")
    func verified() async throws {
        let (shards, expected, _) = try await Self.migrated.value
        let folder = try TemporaryFolder()
        let paths = (0..<Self.count).map { shards.file("shard-\($0)") }
        try await Self.merge(paths, into: "store", in: folder)
        let store = try Self.open(folder, "store")
        let receipt = String(decoding: try FixtureFolder("auto-renewable").receipt, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let path = try folder.write("more.csv", "user_id,country,receipt\n0-0,C0,\(receipt)\n")
        let options = StoreMigration.Options(
            migration: MigrationOptions(trust: try FixtureTrust.withIntermediates(), jobs: 1), userColumn: "user_id",
            carriedColumns: ["country"], date: Self.date)
        let summary = try await StoreMigration(options: options).run(inputs: [path], into: store)
        // Facts of a receipt that is verified would count as unchanged.
        #expect(summary.records.migrated == 1 && summary.applied == AppliedFacts())
        Self.expectSame(try await Content(of: store, .sqlite(path: folder.file("store"))), expected, "more")
        try await store.close()
    }

    @Test(
        "A source that is missing, is no store, or has another schema is refused by its name, before anything is read")
    func refused() async throws {
        let folder = try TemporaryFolder()
        func code(_ name: String) -> TransactionStoreError.Code? {
            do {
                _ = try StoreMerge(of: [.sqlite(path: folder.file(name))])
                return nil
            } catch let error as TransactionStoreError {
                #expect(error.message.contains(folder.file(name)), "\(error)")
                return error.code
            } catch {
                return nil
            }
        }
        #expect(code("missing") == .unavailable)
        #expect(!FileManager.default.fileExists(atPath: folder.file("missing")))
        try folder.write("text", "not a database, but long enough to be one with a header of 100 bytes, or nearly so")
        #expect(code("text") != nil)
        for (name, sql, expected) in [
            ("other", "PRAGMA application_id = 1", TransactionStoreError.Code.corrupt),
            ("newer", "INSERT INTO grdb_migrations VALUES ('1000')", .newerSchema),
            ("older", "DELETE FROM grdb_migrations WHERE identifier = '7'", .invalidArgument),
        ] {
            try await Self.open(folder, name).close()
            #expect(code(name) == nil)
            let queue = try DatabaseQueue(path: folder.file(name))
            try await queue.write { try $0.execute(sql: sql) }
            try queue.close()
            #expect(code(name) == expected, "\(name)")
        }
    }

    // MARK: PostgreSQL

    @Test(
        "Hashes of erased customers are taken over from SQLite to PostgreSQL and back",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"))
    func leftHashesOfPostgreSQL() async throws {
        typealias Samples = StoreSamples
        let server = try #require(PostgreSQLServer.shared)
        let name = "merge_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        defer { _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(name) CASCADE") }
        let url = server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(name)"
        let folder = try TemporaryFolder()
        let sqlite = try Self.open(folder, "store")
        let postgreSQL = try await PostgreSQLTransactionStore.open(url: url)
        let sets = ["1", "2", "3"].map { Samples.set(Samples.fact($0)) }
        _ = try await sqlite.apply(sets)
        _ = try await postgreSQL.apply(sets)
        _ = try await sqlite.erase([Samples.original("1")], in: Samples.scope, quarantined: [], leavingHashes: true)
        _ = try await postgreSQL.erase(
            [Samples.original("2")], in: Samples.scope, quarantined: [], leavingHashes: true)
        let first = try await StoreMerge(of: [.sqlite(path: folder.file("store"))]).run(into: postgreSQL)
        #expect(first.leftHashes == 1 && first.erased == 1 && first.changed == 0)
        let second = try await StoreMerge(of: [.postgreSQL(url)]).run(into: sqlite)
        #expect(second.leftHashes == 2 && second.erased == 0 && second.changed == 0)
        let stores: [any CompleteTransactionStore] = [sqlite, postgreSQL]
        for store in stores {
            #expect(try await store.counts().leftHashes == 2)
            for (id, isKnown) in [("1", false), ("2", false), ("3", true)] {
                #expect((try await store.customer(original: id) != nil) == isKnown)
            }
            try await store.close()
        }
    }

    @Test(
        "SQLite and PostgreSQL merge into each other",
        .enabled(if: PostgreSQLServer.shared != nil, "LEGACY_RECEIPTS_POSTGRES is not set"))
    func mergedWithPostgreSQL() async throws {
        let server = try #require(PostgreSQLServer.shared)
        let (shards, expected, inputs) = try await Self.migrated.value
        let name = "merge_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        func url(_ part: String) -> String {
            server.url + (server.url.contains("?") ? "&" : "?") + "schema=\(name)_\(part)"
        }
        defer {
            for part in ["shard", "whole"] {
                _ = try? server.sql("SET client_min_messages TO error; DROP SCHEMA IF EXISTS \(name)_\(part) CASCADE")
            }
        }
        #expect(throws: TransactionStoreError(.unavailable, "")) {
            _ = try StoreMerge(of: [.postgreSQL(url("shard"))])
        }
        let shard = try await PostgreSQLTransactionStore.open(url: url("shard"))
        try await Self.migrate(inputs[1], into: shard)
        try await shard.close()
        // The last transaction that wrote a row, and the number of rows.
        let tables = ["identities", "transactions", "ledger", "quarantine", "migration_checkpoints", "readiness"]
        func state() throws -> [String] {
            try tables.map {
                try server.sql("SELECT max(xmin::text::int8) || ' ' || count(*) FROM \(name)_shard.\($0)")
            }
        }
        let before = try state()
        let folder = try TemporaryFolder()
        let sqlite = try Self.open(folder, "store")
        let sources: [StoreURL] = [
            .sqlite(path: shards.file("shard-2")), .postgreSQL(url("shard")), .sqlite(path: shards.file("shard-0")),
        ]
        _ = try await StoreMerge(of: sources).run(into: sqlite)
        Self.expectSame(
            try await Content(of: sqlite, .sqlite(path: folder.file("store"))), expected, "into SQLite")
        try await sqlite.close()
        let whole = try await PostgreSQLTransactionStore.open(url: url("whole"))
        // Two merges at once, with the same content.
        async let first = StoreMerge(of: sources).run(into: whole)
        async let second = StoreMerge(of: sources.reversed()).run(into: whole)
        let summaries = try await [first, second]
        #expect(summaries.allSatisfy { $0.stores == 3 })
        Self.expectSame(try await Content(of: whole, .postgreSQL(url("whole"))), expected, "into PostgreSQL")
        let again = try await StoreMerge(of: sources).run(into: whole)
        #expect(again.changed == 0 && again.unchanged > 300)
        try await whole.close()
        #expect(try state() == before)
        try server.sql("INSERT INTO \(name)_shard.schema_migrations VALUES (1000)")
        #expect(throws: TransactionStoreError(.newerSchema, "")) {
            _ = try StoreMerge(of: [.postgreSQL(url("shard"))])
        }
        try server.sql("DELETE FROM \(name)_shard.schema_migrations WHERE version > 6")
        #expect(throws: TransactionStoreError(.invalidArgument, "")) {
            _ = try StoreMerge(of: [.postgreSQL(url("shard"))])
        }
    }
}
