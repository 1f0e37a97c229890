import AppStoreModels
import Foundation
import LegacyReceipts
import Migration
import Purchases
import ReceiptForge
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore

/// Migrations into a store.
@Suite("Migrations into a store")
struct StoreMigrationTests {
    /// All fixtures, and tables as backends have them.
    private static let inputs =
        FixtureStore.names.map { FixtureStore.root.appending(path: $0).path + "/" }
        .sorted() + [FixtureStore.root.appending(path: "inputs").path]
    private static let date: Int64 = 1_790_000_000_000

    private static func options(
        jobs: Int = 1, trust: TrustPolicy? = nil, user: String? = nil, carry: Set<String> = [],
        startsOver: Bool = false,
        stepSize: Int = 20_000
    ) throws -> StoreMigration.Options {
        var options = StoreMigration.Options(
            migration: MigrationOptions(trust: try trust ?? FixtureTrust.withIntermediates(), jobs: jobs),
            userColumn: user, carriedColumns: carry, startsOver: startsOver, date: date)
        options.stepSize = stepSize
        return options
    }

    private static func open(_ folder: TemporaryFolder, _ name: String = "store") throws -> SQLiteTransactionStore {
        try SQLiteTransactionStore.open(path: folder.file("\(name).sqlite"), options: .init(durability: .normal))
    }

    static func export(
        _ store: any CompleteTransactionStore, _ folder: TemporaryFolder
    ) async throws -> [String: [UInt8]] {
        let tables = folder.file("tables-\(UUID())")
        _ = try await TableExport(date: date).run(store, to: tables)
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: tables) where !name.hasPrefix(".") {
            files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: tables).appending(path: name)))
        }
        return files
    }

    static func rows(_ files: [String: [UInt8]], _ table: String) throws -> [JSONValue] {
        try (files["\(table).ndjson"] ?? []).split(separator: 0x0A).map { try JSONValue.parse($0) }
    }

    /// What `LegacyFixtures` gives, migrated once without interruption.
    private static let undisturbed = Task {
        let folder = try TemporaryFolder()
        let store = try open(folder)
        let summary = try await StoreMigration(options: try options()).run(inputs: inputs, into: store)
        let files = try await export(store, folder)
        try await store.close()
        return (summary: summary, files: files)
    }

    /// What a step did to a store.
    struct AppliedStep: Equatable {
        /// The records before the position after the step.
        let records: Int64?
        let transactions: [String?]

        init(_ step: MigrationStep) {
            records = step.checkpoint?.records
            transactions = step.facts.flatMap(\.transactions).map(\.payload.transactionId)
        }
    }

    /// A store that stops at one step, as a process that is killed before or after its commit.
    final class Stopping: TransactionStore, MigrationStore, UnknownTransactions {
        let store: SQLiteTransactionStore
        let stop: Int
        let commits: Bool
        let steps = Counter()
        /// What was to be stored.
        let facts = Mutex<[FactSet]>([])
        /// The steps that were stored.
        let applied = Mutex<[AppliedStep]>([])
        /// The last line before the page of the quarantine that was read last.
        let pageStart = Mutex<[UInt8]>([])
        /// Called before the store writes a step.
        let beforeStep: @Sendable (Stopping, MigrationStep) async -> Void
        /// Called when the store looks up receipts.
        let onLookUp: @Sendable () async -> Void

        init(
            _ store: SQLiteTransactionStore, at stop: Int, commits: Bool,
            beforeStep: @escaping @Sendable (Stopping, MigrationStep) async -> Void = { _, _ in },
            onLookUp: @escaping @Sendable () async -> Void = {}
        ) {
            self.store = store
            self.stop = stop
            self.commits = commits
            self.beforeStep = beforeStep
            self.onLookUp = onLookUp
        }

        /// Waits until the page after a step is read. Returns whether it was read.
        func waitForPage(after step: MigrationStep) async -> Bool {
            let last = step.released.max { $0.lexicographicallyPrecedes($1) } ?? []
            return await StoreMigrationTests.wait(atMost: .seconds(30)) {
                self.pageStart.withLock { !$0.lexicographicallyPrecedes(last) }
            }
        }

        func apply(_ step: MigrationStep) async throws -> AppliedFacts {
            await beforeStep(self, step)
            facts.withLock { $0 += step.facts }
            let isStopped = steps.next() == stop
            if isStopped, !commits { throw TransactionStoreError(.unavailable, "stopped") }
            let result = try await store.apply(step)
            applied.withLock { $0.append(AppliedStep(step)) }
            if isStopped { throw TransactionStoreError(.unavailable, "stopped") }
            return result
        }

        func apply(_ sets: [FactSet]) async throws -> AppliedFacts { try await store.apply(sets) }
        func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
            try await store.customer(identities, in: scope)
        }
        func hasProcessed(notificationUUID: String) async throws -> Bool {
            try await store.hasProcessed(notificationUUID: notificationUUID)
        }
        func counts() async throws -> StoreCounts { try await store.counts() }
        func checkReadiness() async throws { try await store.checkReadiness() }
        func close() async throws {}
        func remember(_ transactions: [UnknownTransaction]) async throws { try await store.remember(transactions) }
        func unknownTransactions(_ ids: [String], in scope: StoreScope) async throws -> [UnknownTransaction] {
            try await store.unknownTransactions(ids, in: scope)
        }
        func forgetUnknownTransactions(_ ids: [String], in scope: StoreScope) async throws {
            try await store.forgetUnknownTransactions(ids, in: scope)
        }
        func unknownTransactionCount() async throws -> Int64 { try await store.unknownTransactionCount() }
        func checkpoint(of migration: String) async throws -> MigrationCheckpoint? {
            try await store.checkpoint(of: migration)
        }
        func checkpoints(after migration: String?, limit: Int) async throws -> [MigrationCheckpoint] {
            try await store.checkpoints(after: migration, limit: limit)
        }
        func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt] {
            await onLookUp()
            return try await store.verifiedReceipts(keys)
        }
        func users(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> [UserClaim] {
            try await store.users(of: identities, in: scope)
        }
        func quarantine(after key: [UInt8]?, limit: Int) async throws -> [QuarantinedRecord] {
            let page = try await store.quarantine(after: key, limit: limit)
            pageStart.withLock { $0 = key ?? [] }
            return page
        }
    }

    /// Waits for a condition. Returns whether it was met.
    private static func wait(atMost limit: Duration, until isMet: @Sendable () -> Bool) async -> Bool {
        let end = ContinuousClock.now + limit
        while !isMet() {
            guard ContinuousClock.now < end else { return false }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return true
    }

    final class Counter: Sendable {
        private let count = Mutex(0)
        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
        var value: Int { count.withLock { $0 } }
    }

    @Test("read every record, and migrate or quarantine it")
    func everyRecord() async throws {
        let (summary, files) = try await Self.undisturbed.value
        let records = summary.records
        #expect(records.recordsRead == records.migrated + records.quarantined)
        #expect(records.migrated > 100 && records.quarantined > 100)
        let quarantine = try Self.rows(files, "quarantine")
        // Lines are equal only if place, reason and bytes are.
        #expect(quarantine.count == records.quarantined + records.documentsQuarantined)
        for line in quarantine {
            let bytes = try FixtureRun.original(line)
            #expect(Fingerprint(of: bytes).description == line["sha256"]?.string)
        }
    }

    @Test("store the purchases that migrating to files finds, each once")
    func samePurchases() async throws {
        let (summary, files) = try await Self.undisturbed.value
        let exported = try Self.rows(files, "transactions")
        func key(_ row: JSONValue?) -> String {
            let members = ["environment", "bundleId", "originalTransactionId", "transactionId"]
            return members.map { row?[$0]?.string ?? "-" }.joined(separator: " ")
        }
        let keys = exported.map { key($0) }
        #expect(Set(keys).count == keys.count)
        let folder = try TemporaryFolder()
        let output = try await streamRecords(
            try Self.options().migration, inputs: Self.inputs, to: folder.file("output"))
        #expect(output.recordsRead == summary.records.recordsRead)
        let lines = try FixtureRun.lines(
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("output/transactions.ndjson")))))
        var missing: Set<String> = []
        for line in lines where !keys.contains(key(line["transaction"])) {
            missing.insert(line["source"]?["input"]?.string ?? "")
        }
        // Their records are in the quarantine of the store, since no store can file them.
        let quarantined = Set(
            try Self.rows(files, "quarantine").filter { $0["reason"] == .string("notFiled") }
                .compactMap { $0["input"]?.string })
        #expect(missing.subtracting(quarantined).isEmpty)
    }

    @Test("continue after an interruption at any step, before or after its commit, to the same store")
    func interrupted() async throws {
        let expected = try await Self.undisturbed.value
        for commits in [false, true] {
            for stop in 1... {
                let folder = try TemporaryFolder()
                let store = try Self.open(folder)
                let stopping = Stopping(store, at: stop, commits: commits)
                let migration = StoreMigration(options: try Self.options(stepSize: 1))
                var isWhole = false
                do {
                    _ = try await migration.run(inputs: Self.inputs, into: stopping)
                    isWhole = true
                } catch {
                    #expect(error.code == .store)
                }
                let steps = Counter()
                let summary = try await migration.run(inputs: Self.inputs, into: store) { _ in _ = steps.next() }
                #expect(summary.records == expected.summary.records)
                #expect(try await Self.export(store, folder) == expected.files)
                try await store.close()
                if isWhole {
                    #expect(stop > 2 && summary.recordsBefore == summary.records.recordsRead && steps.value == 0)
                    break
                }
            }
        }
    }

    /// Recorded replies with a date after that of any migration here, one purchase in each.
    private static func futureReplies(_ ids: Range<Int>) -> String {
        ids.map { id in
            """
            {"status":0,"environment":"Production","receipt":{"receipt_type":"Production","bundle_id":"com.example.app",\
            "request_date_ms":"1900000000000","in_app":[{"quantity":"1","product_id":"coins","transaction_id":"\(id)",\
            "original_transaction_id":"\(id)","purchase_date_ms":"1590000000000"}]}}\n
            """
        }.joined()
    }

    /// The dates of the exported transactions, and how many have each.
    private static func dates(_ files: [String: [UInt8]]) throws -> [Int64: Int] {
        try rows(files, "transactions").reduce(into: [:]) { $0[$1["asOf"]?.integer ?? 0, default: 0] += 1 }
    }

    @Test("after an interruption, file replies from the future at the date of the first run")
    func dateAfterInterruption() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("log.ndjson", Self.futureReplies(1_000..<1_600))
        var later = try Self.options(stepSize: 1)
        later.date += 86_400_000
        var startsOver = later
        startsOver.startsOver = true
        let first = StoreMigration(options: try Self.options(stepSize: 1))
        let whole = try Self.open(folder, "whole")
        _ = try await first.run(inputs: [path], into: whole)
        let expected = try await Self.export(whole, folder)
        #expect(try Self.dates(expected) == [Self.date: 600])
        try await whole.close()
        for (options, isSame) in [(later, true), (startsOver, false)] {
            let store = try Self.open(folder, "\(isSame)")
            await #expect(throws: MigrationError.self) {
                try await first.run(inputs: [path], into: Stopping(store, at: 2, commits: false))
            }
            let second = try await StoreMigration(options: options).run(inputs: [path], into: store)
            #expect(second.recordsBefore == (isSame ? 256 : 0) && second.records.recordsRead == 600)
            let found = try await Self.export(store, folder)
            #expect((found == expected) == isSame)
            #expect(try Self.dates(found) == [isSame ? Self.date : later.date: 600])
            try await store.close()
        }
    }

    @Test("file replies that were added after the end of a migration at the date of the run that reads them")
    func dateOfAddedRecords() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let path = try folder.write("log.ndjson", Self.futureReplies(1_000..<1_600))
        var options = try Self.options(stepSize: 1)
        _ = try await StoreMigration(options: options).run(inputs: [path], into: store)
        try folder.write("log.ndjson", Self.futureReplies(1_000..<1_601))
        options.date += 86_400_000
        let second = try await StoreMigration(options: options).run(inputs: [path], into: store)
        #expect(second.recordsBefore == 600)
        let dates = try Self.dates(try await Self.export(store, folder))
        #expect(dates == [Self.date: 600, options.date: 1])
        try await store.close()
    }

    @Test("continue after a checkpoint of an earlier version, which has no date, at the current date")
    func dateOfAnEarlierVersion() async throws {
        let folder = try TemporaryFolder()
        let (store, old) = (try Self.open(folder), try Self.open(folder, "old"))
        let path = try folder.write("log.ndjson", Self.futureReplies(1_000..<1_600))
        var options = try Self.options(stepSize: 1)
        let migration = StoreMigration(options: options)
        await #expect(throws: MigrationError.self) {
            try await migration.run(inputs: [path], into: Stopping(store, at: 2, commits: false))
        }
        try await Self.copyCheckpoint(of: store, to: old, replacing: #","date": ?\d+"#, with: "")
        options.date += 86_400_000
        let second = try await StoreMigration(options: options).run(inputs: [path], into: old)
        #expect(second.recordsBefore == 256)
        #expect(try Self.dates(try await Self.export(old, folder)) == [options.date: 344])
        try await store.close()
        try await old.close()
    }

    @Test("give the same store for any number of jobs and any step", arguments: [(1, 1), (3, 1), (4, 1_000)])
    func jobs(jobs: Int, stepSize: Int) async throws {
        let expected = try await Self.undisturbed.value
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let options = try Self.options(jobs: jobs, stepSize: stepSize)
        let summary = try await StoreMigration(options: options).run(inputs: Self.inputs, into: store)
        #expect(summary.records == expected.summary.records)
        #expect(try await Self.export(store, folder) == expected.files)
        try await store.close()
    }

    @Test("end their steps at the same records for any number of jobs, and after Ctrl-C at any record")
    func steps() async throws {
        let folder = try TemporaryFolder()
        let lines = try Self.lines()
        // Neighboring batches contain the same receipt.
        let records = (0..<2_600).map { lines[$0 / 100 % lines.count] }
        let path = try folder.write("log.ndjson", records.joined(separator: [0x0A]))
        /// - Parameters:
        ///   - jobs: the number of batches at once.
        ///   - place: the number of records at which a first run is canceled.
        @inline(never)
        func steps(jobs: Int, interruptedAt place: Int? = nil) async throws -> [AppliedStep] {
            let store = Stopping(try Self.open(folder, "store-\(UUID())"), at: .max, commits: true)
            let migration = StoreMigration(options: try Self.options(jobs: jobs))
            if let place {
                let run = Task {
                    _ = try await migration.run(inputs: [path], into: store) { progress in
                        guard progress.records >= place else { return }
                        withUnsafeCurrentTask { task in if let task { task.cancel() } }
                    }
                }
                let result = await run.result
                #expect(throws: MigrationError.self) { try result.get() }
            }
            let summary = try await migration.run(inputs: [path], into: store)
            #expect(summary.records.recordsRead == records.count)
            try await store.store.close()
            return store.applied.withLock { $0 }
        }
        let expected = try await steps(jobs: 1)
        #expect(expected.count > 2 && expected.count(where: { !$0.transactions.isEmpty }) > 1)
        #expect(try await steps(jobs: 2) == expected)
        for jobs in [1, 2] {
            for place in [1, 1_200] {
                #expect(try await steps(jobs: jobs, interruptedAt: place) == expected, "\(jobs) \(place)")
            }
        }
    }

    @Test("end the first steps early, and others at a number of records, or of bytes if the records are large")
    func sizeOfSteps() async throws {
        let folder = try TemporaryFolder()
        @inline(never)
        func ends(_ records: Int, bytes: Int) async throws -> [Int64?] {
            let filler = String(repeating: "x", count: bytes)
            let lines = (0..<records).map { String("{\"receipt\":\"\($0) \(filler)".prefix(bytes - 2)) + "\"}" }
            let path = try folder.write("\(bytes).ndjson", lines.joined(separator: "\n"))
            let store = Stopping(try Self.open(folder, "store-\(bytes)"), at: .max, commits: true)
            _ = try await StoreMigration(options: try Self.options(stepSize: 1_000)).run(inputs: [path], into: store)
            try await store.store.close()
            return store.applied.withLock { $0.map(\.records) }
        }
        // Batches have 256 records, or 2 MiB.
        #expect(try await ends(3_000, bytes: 40) == [512, 1_024, 2_048, 3_000])
        #expect(try await ends(100, bytes: 1 << 16) == [32, 64, 96, 100])
    }

    @Test("read what was appended to an input, and nothing twice", arguments: [1, 3])
    func grown(jobs: Int) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let lines = try Self.lines()
        let path = try folder.write("log.ndjson", lines.prefix(3).joined(separator: [0x0A]) + [0x0A])
        let migration = StoreMigration(options: try Self.options(jobs: jobs))
        let first = try await migration.run(inputs: [path], into: store)
        #expect(first.records.recordsRead == 3 && first.recordsBefore == 0)
        try folder.write("log.ndjson", lines.joined(separator: [0x0A]))
        let second = try await migration.run(inputs: [path], into: store)
        #expect(second.records.recordsRead == lines.count && second.recordsBefore == 3)
        try await store.close()
    }

    @Test("name an input that has changed, and start over when asked", arguments: [1, 3])
    func changed(jobs: Int) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let lines = try Self.lines()
        let paths = try ["a", "b", "c"].enumerated().map { place, name in
            try folder.write("\(name).ndjson", lines.dropFirst(place * 3).prefix(3).joined(separator: [0x0A]))
        }
        let migration = StoreMigration(options: try Self.options(jobs: jobs))
        let first = try await migration.run(inputs: paths, into: store)
        for (name, text) in [("b", lines[4]), ("c", lines[0]), ("a", lines[0] + [0x0A] + lines[1])] {
            let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("\(name).ndjson")))
            try folder.write("\(name).ndjson", text)
            let error = await #expect(throws: MigrationError.self) {
                try await migration.run(inputs: paths, into: store)
            }
            #expect(error?.code == .inputChanged)
            #expect(error?.path == folder.file("\(name).ndjson"), "\(error?.message ?? "")")
            try folder.write("\(name).ndjson", before)
        }
        #expect(try await migration.run(inputs: paths, into: store).recordsBefore == first.records.recordsRead)
        try folder.write("b.ndjson", lines[4])
        let again = StoreMigration(options: try Self.options(jobs: jobs, startsOver: true))
        let second = try await again.run(inputs: paths, into: store)
        #expect(second.recordsBefore == 0 && second.records.recordsRead == 7)
        // From now on the new position counts.
        #expect(try await migration.run(inputs: paths, into: store).recordsBefore == 7)
        try await store.close()
    }

    private static func nonsense(_ count: Int, _ word: String) -> String {
        (1...count).map { "{\"receipt\":\"\(word) \($0)\"}\n" }.joined()
    }

    @Test("name an input that is new before others, is missing or is at another place, and no unchanged one")
    func changedList() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        func table(_ count: Int) -> String {
            "user_id,receipt\n" + (1...count).map { "u\($0),nonsense \($0)\n" }.joined()
        }
        try folder.write("d/b.csv", table(3))
        try folder.write("d/c.ndjson", Self.nonsense(2, "old"))
        let migration = StoreMigration(options: try Self.options())
        @inline(never)
        func expectError(_ name: String, _ text: String) async throws {
            let error = await #expect(throws: MigrationError.self) {
                try await migration.run(inputs: [folder.file("d")], into: store)
            }
            let message = error?.message ?? ""
            #expect(error?.code == .inputChanged && error?.path == folder.file("d/\(name)"), "\(message)")
            #expect(message.contains("\(folder.file("d/\(name)")) \(text)"), "\(message)")
        }
        _ = try await migration.run(inputs: [folder.file("d")], into: store)
        for (name, count) in [("a.ndjson", 1), ("a.ndjson", 9), ("bb.ndjson", 1), ("bb.ndjson", 9)] {
            try folder.write("d/\(name)", Self.nonsense(count, "new"))
            try await expectError(name, "is new")
            try FileManager.default.removeItem(atPath: folder.file("d/\(name)"))
        }
        for name in ["b.csv", "c.ndjson"] {
            try FileManager.default.moveItem(atPath: folder.file("d/\(name)"), toPath: folder.file("moved"))
            try await expectError(name, "is missing")
            try FileManager.default.moveItem(atPath: folder.file("moved"), toPath: folder.file("d/\(name)"))
        }
        // The list is the same.
        try folder.write("d/b.csv", table(2))
        try await expectError("b.csv", "has changed")
        // An empty folder has no records.
        try FileManager.default.removeItem(atPath: folder.file("d/b.csv"))
        try FileManager.default.createDirectory(atPath: folder.file("d/b.csv"), withIntermediateDirectories: false)
        try await expectError("b.csv", "is at another place, or has no records")
        try FileManager.default.removeItem(atPath: folder.file("d/b.csv"))
        try folder.write("d/b.csv", table(3))
        #expect(try await migration.run(inputs: [folder.file("d")], into: store).recordsBefore == 5)
        try await store.close()
    }

    @Test("name a new input also before the one in which a migration was interrupted")
    func changedListInside() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        try folder.write("d/b.ndjson", Self.nonsense(600, "old"))
        try folder.write("d/c.ndjson", Self.nonsense(1, "last"))
        let migration = StoreMigration(options: try Self.options(stepSize: 1))
        await #expect(throws: MigrationError.self) {
            try await migration.run(inputs: [folder.file("d")], into: Stopping(store, at: 2, commits: false))
        }
        let changes = [
            ("a.ndjson", Self.nonsense(300, "new"), "is new"), ("b.ndjson", Self.nonsense(255, "old"), "has changed"),
        ]
        for (changed, lines, text) in changes {
            try folder.write("d/\(changed)", lines)
            let error = await #expect(throws: MigrationError.self) {
                try await migration.run(inputs: [folder.file("d")], into: store)
            }
            #expect(error?.path == folder.file("d/\(changed)"), "\(error?.message ?? "")")
            #expect(error?.message.contains("\(folder.file("d/\(changed)")) \(text)") == true)
            try FileManager.default.removeItem(atPath: folder.file("d/\(changed)"))
        }
        try await store.close()
    }

    @Test("name no wrong input that has changed, if there are too many to know which one")
    func changedOfMany() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        func name(_ number: Int) -> String { "in/\(10_000 + number)" }
        for number in 1...1_003 { try folder.write(name(number), "nonsense \(number)\n") }
        let migration = StoreMigration(options: try Self.options())
        let first = try await migration.run(inputs: [folder.file("in")], into: store)
        #expect(first.records.recordsRead == 1_003)
        for (number, isNamed) in [(1_000, true), (1_001, false)] {
            try folder.write(name(number), "other\n")
            let error = await #expect(throws: MigrationError.self) {
                try await migration.run(inputs: [folder.file("in")], into: store)
            }
            #expect(error?.code == .inputChanged && error?.path == (isNamed ? folder.file(name(number)) : ""))
            let message = error?.message ?? ""
            #expect(message.contains(folder.file(name(1_000))), "\(message)")
            #expect(message.contains(folder.file(name(1_003))) == !isNamed, "\(message)")
            try folder.write(name(number), "nonsense \(number)\n")
        }
        try await store.close()
    }

    @Test("fail if the records read are not the sum of those migrated and those quarantined")
    func miscounted() async throws {
        let folder = try TemporaryFolder()
        let (store, damaged) = (try Self.open(folder), try Self.open(folder, "damaged"))
        let path = try folder.write("a.ndjson", try Self.lines().prefix(3).joined(separator: [0x0A]))
        let migration = StoreMigration(options: try Self.options())
        _ = try await migration.run(inputs: [path], into: store)
        try await Self.copyCheckpoint(
            of: store, to: damaged, replacing: #""recordsRead": ?3"#, with: #""recordsRead":4"#)
        let error = await #expect(throws: MigrationError.self) {
            try await migration.run(inputs: [path], into: damaged)
        }
        #expect(error?.code == .miscounted, "\(error?.message ?? "")")
        try await store.close()
        try await damaged.close()
    }

    @Test("read an input that was missing when it exists, and remove it from the quarantine", arguments: [1, 3])
    func missingInput(jobs: Int) async throws {
        let folder = try TemporaryFolder()
        let lines = try Self.lines().prefix(9)
        let paths = try ["a", "b", "c", "d"].enumerated().map { place, name in
            try folder.write("\(name).ndjson", lines.dropFirst(place * 2).prefix(2).joined(separator: [0x0A]))
        }
        let all = try Self.open(folder, "all")
        let migration = StoreMigration(options: try Self.options(jobs: jobs))
        let undisturbed = try await migration.run(inputs: paths, into: all)
        let store = try Self.open(folder)
        for path in paths[1...2] { try FileManager.default.moveItem(atPath: path, toPath: path + ".later") }
        for before in [0, 6] {
            let without = try await migration.run(inputs: paths, into: store)
            #expect(without.recordsBefore == before && without.records.recordsRead == 6)
            #expect(without.records.quarantinedByReason["unreadable"] == 2)
        }
        let quarantine = try Self.rows(try await Self.export(store, folder), "quarantine")
        let named = quarantine.filter { $0["reason"]?.string == "unreadable" }.compactMap { $0["input"]?.string }
        #expect(named.sorted() == Array(paths[1...2]))
        // One of the two after the other.
        let steps: [(path: String, missing: Int?)] = [(paths[1], 1), (paths[2], nil)]
        for (path, missing) in steps {
            try FileManager.default.moveItem(atPath: path + ".later", toPath: path)
            let more = try await migration.run(inputs: paths, into: store)
            #expect(more.recordsBefore == 0 && more.records.quarantinedByReason["unreadable"] == missing)
        }
        let (found, expected) = (try await Self.export(store, folder), try await Self.export(all, folder))
        for name in expected.keys.sorted() where name != "export.json" {
            #expect(found[name] == expected[name], "\(name)")
        }
        let last = try await migration.run(inputs: paths, into: store)
        #expect(last.recordsBefore == 8 && last.records.recordsRead == undisturbed.records.recordsRead)
        try await store.close()
        try await all.close()
    }

    @Test("remove the line of a missing input also if another command reads the input")
    func missingInputOfAnotherCommand() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let lines = try Self.lines()
        let first = try folder.write("a.ndjson", Array(lines.prefix(2).joined(separator: [0x0A])))
        let (late, never) = (folder.file("late.ndjson"), folder.file("never.ndjson"))
        let migration = StoreMigration(options: try Self.options())
        _ = try await migration.run(inputs: [first, late, never], into: store)
        func missing() async throws -> [String] {
            let quarantine = try Self.rows(try await Self.export(store, folder), "quarantine")
            let lines = quarantine.filter { $0["reason"]?.string == "unreadable" }
            return lines.compactMap { $0["input"]?.string }.sorted()
        }
        #expect(try await missing() == [late, never])
        try folder.write("late.ndjson", Array(lines.dropFirst(2).prefix(2).joined(separator: [0x0A])))
        // This one does not read it.
        _ = try await migration.run(inputs: [try folder.write("b.ndjson", lines[4])], into: store)
        #expect(try await missing() == [late, never])
        _ = try await migration.run(inputs: [late], into: store)
        #expect(try await missing() == [never])
        try await store.close()
    }

    @Test("keep the line of a missing input if its content cannot be read when it exists")
    func missingInputOfUnknownContent() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let first = try folder.write("a.ndjson", Array(try Self.lines().prefix(2).joined(separator: [0x0A])))
        let late = folder.file("late.csv")
        let migration = StoreMigration(options: try Self.options())
        _ = try await migration.run(inputs: [first, late], into: store)
        let lines = try await store.quarantine(after: nil, limit: 10)
        #expect(lines.contains { String(decoding: $0.line, as: UTF8.self).contains("unreadable") })
        try folder.write("late.csv", "user,city\nann,Oslo\nbob,Bonn\n")
        let error = await #expect(throws: MigrationError.self) {
            try await migration.run(inputs: [late], into: store)
        }
        #expect(error?.code == .input)
        #expect(try await store.quarantine(after: nil, limit: 10) == lines)
        try await store.close()
    }

    @Test("replace the lines of rows whose table was defined in a file that was missing")
    func missingDefinition() async throws {
        let folder = try TemporaryFolder()
        let (store, all) = (try Self.open(folder), try Self.open(folder, "all"))
        let receipt = try Self.receipt("flipped-signature-bit")
        let title = "-- PostgreSQL database dump\n\n"
        try folder.write("in/data.sql", "\(title)INSERT INTO r VALUES ('u1','\(receipt)');\n")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("in/a.sql"), withDestinationPath: folder.file("definition"))
        let migration = StoreMigration(options: try Self.options())
        let without = try await migration.run(inputs: [folder.file("in")], into: store)
        #expect(without.records.quarantined == 2)
        try folder.write("definition", "\(title)CREATE TABLE r (user_id text, receipt text);\n")
        let found = try await migration.run(inputs: [folder.file("in")], into: store)
        #expect(found.recordsBefore == 0 && found.records.quarantined == 1)
        _ = try await migration.run(inputs: [folder.file("in")], into: all)
        let lines = try await store.quarantine(after: nil, limit: 10)
        #expect(lines.count == 1)
        #expect(try await all.quarantine(after: nil, limit: 10) == lines)
        try await store.close()
        try await all.close()
    }

    @Test("read the matches of a pattern and the target of a link once they are there")
    func missingMatches() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let lines = try Self.lines()
        func file(_ place: Int) -> [UInt8] { Array(lines.dropFirst(place * 2).prefix(2).joined(separator: [0x0A])) }
        let first = try folder.write("a.ndjson", file(0))
        let (pattern, link) = (folder.file("late-*.ndjson"), folder.file("link.ndjson"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target.ndjson")
        // A link in a folder whose name would be a pattern of another file.
        try folder.write("in/bx.ndjson", file(1))
        let odd = folder.file("in/b*.ndjson")
        try FileManager.default.createSymbolicLink(atPath: odd, withDestinationPath: "nothing")
        let inputs = [first, pattern, link, folder.file("in")]
        let migration = StoreMigration(options: try Self.options())
        for before in [0, 7] {
            let found = try await migration.run(inputs: inputs, into: store)
            #expect(found.recordsBefore == before && found.records.recordsRead == 7)
            #expect(found.records.quarantinedByReason["unreadable"] == 3)
        }
        try folder.write("late-1.ndjson", file(2))
        let matched = try await migration.run(inputs: inputs, into: store)
        #expect(matched.recordsBefore == 0 && matched.records.recordsRead == 8)
        try folder.write("target.ndjson", file(3))
        let all = try await migration.run(inputs: inputs, into: store)
        #expect(all.recordsBefore == 0 && all.records.recordsRead == 9)
        #expect(try await migration.run(inputs: inputs, into: store).recordsBefore == 9)
        let quarantine = try Self.rows(try await Self.export(store, folder), "quarantine")
        let named = quarantine.filter { $0["reason"]?.string == "unreadable" }.compactMap { $0["input"]?.string }
        #expect(named == [odd])
        try await store.close()
    }

    @Test("notice that the columns of a table have other names, also of a later table of a dump")
    func otherColumns() async throws {
        func insert(_ table: String, _ columns: String, _ id: Int, _ receipt: String) -> String {
            "INSERT INTO \(table) (\(columns)) VALUES ('u\(id)','\(receipt)');\n"
        }
        func copy(_ table: String, _ columns: String, _ id: Int, _ receipt: String) -> String {
            "COPY public.\(table) (\(columns)) FROM stdin;\nu\(id)\t\(receipt)\n\\.\n\n"
        }
        let receipt = try Self.receipt("consumable")
        let first = (insert("a", "user_id, receipt", 1, receipt), copy("a", "user_id, receipt", 1, receipt))
        try await Self.expectChange("d.csv", of: "uid2", in: "uid2,receipt\nu1,\(receipt)\n")
        try await Self.expectChange("d.sql", of: "uid2", in: first.0 + insert("b", "uid2, receipt", 2, receipt))
        try await Self.expectChange("d.sql", of: "uid2", in: first.1 + copy("b", "uid2, receipt", 2, receipt))
    }

    /// Expects that a second run notices a column that has become `user_id`.
    private static func expectChange(_ name: String, of column: String, in text: String) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let path = try folder.write(name, text)
        let migration = StoreMigration(options: try Self.options())
        let summary = try await migration.run(inputs: [path], into: store)
        #expect(summary.records.quarantinedByReason.isEmpty && summary.records.migrated > 0, "\(text.prefix(80))")
        try folder.write(name, text.replacing(column, with: "user_id"))
        let error = await #expect(throws: MigrationError.self) {
            try await migration.run(inputs: [path], into: store)
        }
        #expect(error?.code == .inputChanged && error?.path == path, "\(text.prefix(80))")
        try await store.close()
    }

    /// Objects of three batches and more: members, bytes of each, and the limit of a record.
    private static let longObjects: [(members: Int, size: Int, limit: Int)] = {
        // The real limit takes minutes without optimization.
        let real = (members: 17, size: 1 << 20, limit: InputLimits.recordSize)
        return [(members: 600, size: 100, limit: 40_000)] + (librariesAreOptimized ? [real] : [])
    }()

    @Test(
        "continue in an object that is too long for a record, whose keys are users, and a plan suggests them",
        arguments: longObjects)
    func longObject(members: Int, size: Int, limit: Int) async throws {
        let filler = String(repeating: "x", count: size)
        var users = ["\"u1\":{\"receipt\":\"\(try Self.receipt("auto-renewable"))\"}"]
        users += (1...members).map { "\"f\($0)\":{\"bio\":\"\(filler)\"}" }
        users += ["\"u2\":{\"receipt\":\"\(try Self.receipt("consumable"))\"}", "\"u3\":{\"receipt\":\"nonsense\"}"]
        let folder = try TemporaryFolder()
        let text = "{\"posts\":{\"p\":{\"n\":1}},\"users\":{\(users.joined(separator: ","))}}"
        let path = try folder.write("export.json", Array(text.utf8))
        var options = try Self.options(user: "users.*", stepSize: 1)
        options.migration.recordSize = limit
        options.migration.limits.maximumSize = limit / 2
        let migration = StoreMigration(options: options)
        let whole = try Self.open(folder, "whole")
        let expected = try await migration.run(inputs: [path], into: whole).records
        #expect(expected.recordsRead == members + 4 && expected.migrated == 2)
        #expect(expected.quarantined == members + 2)
        let files = try await Self.export(whole, folder)
        #expect(try Self.rows(files, "customer_users").compactMap { $0["userId"]?.string }.sorted() == ["u1", "u2"])
        try await whole.close()
        for (stop, commits) in [(1, true), (3, false)] {
            let store = try Self.open(folder, "store \(stop)")
            let stopping = Stopping(store, at: stop, commits: commits)
            await #expect(throws: MigrationError.self) { try await migration.run(inputs: [path], into: stopping) }
            let summary = try await migration.run(inputs: [path], into: store)
            #expect(summary.records == expected && summary.recordsBefore > 0)
            #expect(try await Self.export(store, folder) == files)
            try await store.close()
        }
        let plan = try MigrationPlanner(
            options: StoreMigration.Options(migration: options.migration, date: Self.date), engine: .sqlite,
            sample: .max
        ).plan(inputs: [path])
        #expect(plan.records == members + 4 && plan.sources.first?.possibleUserKeys == "users.*")
    }

    /// Copies the checkpoint of a store to another one, with a change in its state.
    @inline(never)
    private static func copyCheckpoint(
        of store: any MigrationStore, to other: any MigrationStore, replacing pattern: String, with text: String
    ) async throws {
        let checkpoint = try unwrap(try await store.checkpoints(after: nil, limit: 1).first)
        let state = String(decoding: checkpoint.state, as: UTF8.self)
        let changed = state.replacing(try Regex(pattern), with: text)
        #expect(changed != state)
        let step = MigrationStep(
            checkpoint: MigrationCheckpoint(
                migration: checkpoint.migration, records: checkpoint.records, digest: checkpoint.digest,
                state: Array(changed.utf8)))
        _ = try await other.apply(step)
    }

    /// Lines of records, at least nine.
    private static func lines() throws -> [[UInt8]] {
        let bytes = try FixtureStore.bytes("inputs/customers.ndjson")
        return bytes.split(separator: 0x0A).map { Array($0) }
    }

    private static func receipt(_ name: String) throws -> String {
        String(decoding: try FixtureFolder(name).receipt, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("keep the caller's users, and list purchases with several of them")
    func users() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let (renewable, consumable) = (try Self.receipt("auto-renewable"), try Self.receipt("non-consumable"))
        let path = try folder.write(
            "users.csv",
            """
            id,User ID,country,receipt
            1,7,DE,\(renewable)
            2,8,FR,\(renewable)
            3,7,US,\(renewable)
            4,"ü,\"\"'",,\(consumable)
            5,,SE,\(consumable)\n
            """)
        let migration = StoreMigration(options: try Self.options(carry: ["country"]))
        _ = try await migration.run(inputs: [path], into: store)
        let files = try await Self.export(store, folder)
        let users = try Self.rows(files, "customer_users")
        let purchases = try Self.rows(files, "transactions").compactMap { $0["originalTransactionId"]?.string }
        #expect(Set(users.map { $0["userId"]?.string ?? "-" }) == ["7", "8", "ü,\"'", "-"])
        #expect(
            users.first { $0["userId"]?.string == "7" }?["carried"]
                == (try JSONValue.parse(Array(#"[{"country":"DE"},{"country":"US"}]"#.utf8))))
        #expect(
            users.first { $0["userId"] == nil }?["carried"]
                == (try JSONValue.parse(Array(#"[{"country":"SE"}]"#.utf8))))
        let conflicts = try Self.rows(files, "conflicts")
        #expect(conflicts.count == 1)
        #expect(conflicts.first?["userIds"] == .array([.string("7"), .string("8")]))
        #expect(purchases.contains(conflicts.first?["originalTransactionId"]?.string ?? ""))
        try await store.close()
    }

    @Test("find the user in the column that is named")
    func userColumn() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let path = try folder.write(
            "users.ndjson", #"{"user_id": "1", "owner": 42, "receipt": "\#(try Self.receipt("auto-renewable"))"}"#)
        _ = try await StoreMigration(options: try Self.options(user: "owner")).run(inputs: [path], into: store)
        let users = try Self.rows(try await Self.export(store, folder), "customer_users")
        #expect(users.map { $0["userId"]?.string } == ["42"])
        try await store.close()
    }

    @Test("name each document by its hash: a reply has the same hash in a file, a column and a line with other members")
    func hashes() async throws {
        let folder = try TemporaryFolder()
        let reply = """
            {"status":0,"environment":"Production","receipt":{"receipt_type":"Production","bundle_id":"com.example.app",\
            "request_date_ms":"1600000000000","in_app":[{"quantity":"1","product_id":"coins","transaction_id":"5",\
            "original_transaction_id":"5","purchase_date_ms":"1590000000000"}]}}
            """
        let spaced = reply.replacing(",", with: " ,\n\t")
        let quoted = reply.replacing("\"", with: "\"\"")
        let forms = [
            ("reply.json", spaced), ("table.csv", "user_id,reply\nu1,\"\(quoted)\"\n"),
            ("lines.ndjson", "{\"user_id\":\"u1\",\(reply.dropFirst())\n"),
        ]
        for (name, text) in forms {
            let store = try Self.open(folder, name)
            let path = try folder.write(name, text)
            let summary = try await StoreMigration(options: try Self.options()).run(inputs: [path], into: store)
            #expect(summary.records.migrated == 1, "\(name)")
            let scope = StoreScope(environment: .production, bundleId: "com.example.app")
            let customer = try await store.customer([CustomerIdentity(.originalTransactionId, "5")], in: scope)
            let hashes = customer?.transactions.flatMap(\.origins).map(\.document)
            #expect(hashes == [Fingerprint(of: Array(reply.utf8))], "\(name)")
            try await store.close()
        }
        // A receipt has the hash of the kept receipt; columns that are read as a row have none.
        let receipt = try Self.receipt("auto-renewable")
        let row = "530009000000001,com.example.orchard.coins,1700000000000"
        let path = try folder.write(
            "row.csv", "transaction_id,product_id,purchase_date_ms,receipt\n\(row),\(receipt)\n")
        let store = try Self.open(folder, "row")
        _ = try await StoreMigration(options: try Self.options()).run(inputs: [path], into: store)
        var found: [FactSource: Set<Fingerprint?>] = [:]
        var kept: Set<Fingerprint?> = []
        for scope in try await store.scopes() {
            for customer in try await store.customers(in: scope, after: nil, limit: 100) {
                for origin in customer.transactions.flatMap(\.origins) {
                    found[origin.source, default: []].insert(origin.document)
                }
                if let receipt = customer.newestAppReceipt { kept.insert(receipt.hash) }
            }
        }
        #expect(found == [.receipt: kept, .recordedReply: [nil]])
        #expect(kept.count == 1)
        try await store.close()
    }

    @Test("verify a receipt once, however many records it stands in")
    func once() async throws {
        let folder = try TemporaryFolder()
        let receipt = try Self.receipt("auto-renewable")
        let path = try folder.write("many.csv", "user_id,receipt\n" + (1...600).map { "\($0),\(receipt)\n" }.joined())
        let store = try Self.open(folder)
        let first = try await StoreMigration(options: try Self.options()).run(inputs: [path], into: store)
        #expect(first.records.migratedByKind == ["appReceipt": 600])
        #expect(first.applied.unchanged == 0)
        let files = try await Self.export(store, folder)
        #expect(try Self.rows(files, "customer_users").count == 600)
        // Another input with the same receipt, in another run: the store has it.
        let other = try folder.write("other.csv", "user_id,receipt\n601,\(receipt)\n")
        let second = try await StoreMigration(options: try Self.options()).run(inputs: [other], into: store)
        #expect(second.records.migrated == 1 && second.applied == AppliedFacts())
        // What one policy trusts, another one need not.
        let third = try await StoreMigration(options: try Self.options(trust: .apple)).run(
            inputs: [other], into: store)
        #expect(third.records.quarantinedByReason == ["untrustedRoot": 1])
        try await store.close()
    }

    @Test("verify a receipt once, also if the columns beside it are a row")
    func onceBesideRows() async throws {
        let folder = try TemporaryFolder()
        let receipt = try Self.receipt("auto-renewable")
        // The receipt states the first purchase, and not the second.
        let ids = ["530001234567000", "530009000000001"]
        func table(_ user: String) -> String {
            "user_id,product_id,transaction_id,purchase_date_ms,receipt\n"
                + ids.map { "\(user),com.example.orchard.coins,\($0),1700000000000,\(receipt)\n" }.joined()
        }
        let store = try Self.open(folder)
        let path = try folder.write("rows.csv", table("u1"))
        let first = try await StoreMigration(options: try Self.options()).run(inputs: [path], into: store)
        #expect(first.records.migratedByKind == ["appReceipt": 2] && first.applied.unchanged == 0)
        // In another run, only the second row is compared with what the store has.
        let other = try folder.write("other.csv", table("u2"))
        let second = try await StoreMigration(options: try Self.options()).run(inputs: [other], into: store)
        #expect(second.records.migratedByKind == ["appReceipt": 2])
        #expect(second.applied.changed == 0 && second.applied.unchanged == 1)
        let users = try Self.rows(try await Self.export(store, folder), "customer_users")
        #expect(Set(users.compactMap { $0["userId"]?.string }) == ["u1", "u2"])
        try await store.close()
    }

    @Test("migrate the quarantine again, and keep what is still not migrated")
    func retry() async throws {
        let folder = try TemporaryFolder()
        let (whole, store) = (try Self.open(folder, "whole"), try Self.open(folder))
        let migration = StoreMigration(options: try Self.options())
        let expected = try await migration.run(inputs: Self.inputs, into: whole)
        let strict = try await StoreMigration(options: try Self.options(trust: .apple)).run(
            inputs: Self.inputs, into: store)
        #expect(strict.records.quarantined > 100 && expected.records.migrated > 100)
        let quarantined = try Self.rows(try await Self.export(store, folder), "quarantine")
        #expect(quarantined.contains { $0["path"]?.string == "(embedded receipt)" })
        let summary = try await migration.retry(store)
        #expect(summary.records.recordsRead == quarantined.count)
        let (files, wholeFiles) = (try await Self.export(store, folder), try await Self.export(whole, folder))
        // The rows beside a receipt keep the date that they had without it.
        let dated = ["renewal_infos.ndjson", "subscriptions.ndjson", "transactions.ndjson"]
        for (name, bytes) in wholeFiles where !dated.contains(name) {
            let isSame = files[name] == bytes
            #expect(isSame, "\(name)")
        }
        func stated(_ files: [String: [UInt8]]) throws -> [JSONObject] {
            try Self.rows(files, "transactions").compactMap(\.object).map {
                JSONObject(members: $0.members.filter { $0.key != "documents" && $0.key != "source" })
            }
        }
        #expect(try stated(files) == stated(wholeFiles))
        let again = try await migration.retry(store)
        let left = try Self.rows(files, "quarantine").count
        #expect(again.records.migrated == 0 && again.records.quarantined == left)
        let quarantine = try await Self.export(store, folder)["quarantine.ndjson"]
        #expect(quarantine == wholeFiles["quarantine.ndjson"])
        try await store.close()
        try await whole.close()
    }

    @Test("migrate the quarantine again in the same steps after an interruption, before or after a commit")
    func interruptedRetry() async throws {
        let folder = try TemporaryFolder()
        var lines = try forgeReceipts(count: 300).map { "{\"receipt\":\"\(Data($0).base64EncodedString())\"}" }
        // These stay in the quarantine.
        lines += (0..<300).map { "{\"receipt\":\"nonsense \($0)\"}" }
        let log = lines.joined(separator: "\n")
        /// Writes a store with all lines in the quarantine.
        @inline(never)
        func quarantine(_ name: String) async throws {
            let path = try folder.write("\(name).ndjson", log)
            let source = try Self.open(folder, name)
            let strict = try await StoreMigration(options: try Self.options(trust: .apple)).run(
                inputs: [path], into: source)
            #expect(strict.records.quarantined == 600)
            try await source.close()
        }
        let trust = TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER])
        let migration = StoreMigration(options: try Self.options(trust: trust))
        /// The transactions of each step that has any, and the tables at the end.
        @inline(never)
        func retried(
            _ source: String, stop: Int, commits: Bool
        ) async throws -> (transactions: [[String?]], files: [String: [UInt8]], wasStopped: Bool) {
            let name = "\(source)-\(stop)-\(commits)"
            try FileManager.default.copyItem(
                atPath: folder.file("\(source).sqlite"), toPath: folder.file("\(name).sqlite"))
            let store = try Self.open(folder, name)
            let stopping = Stopping(store, at: stop, commits: commits)
            var wasStopped = false
            do {
                _ = try await migration.retry(stopping)
            } catch {
                #expect(error.code == .store)
                wasStopped = true
                _ = try await migration.retry(stopping)
            }
            let files = try await Self.export(store, folder)
            try await store.close()
            let steps = stopping.applied.withLock { $0 }
            return (steps.map(\.transactions).filter { !$0.isEmpty }, files, wasStopped)
        }
        // The keys of the lines decide where a step ends, and contain the path. So sometimes there is only one step.
        var source = "source"
        try await quarantine(source)
        var expected = try await retried(source, stop: .max, commits: true)
        for number in 1...4 where expected.transactions.count == 1 {
            source = "source\(number)"
            try await quarantine(source)
            expected = try await retried(source, stop: .max, commits: true)
        }
        #expect(expected.transactions.count > 1 && expected.transactions.joined().count == 600)
        for commits in [false, true] {
            for stop in 1... {
                let found = try await retried(source, stop: stop, commits: commits)
                #expect(found.transactions == expected.transactions, "\(stop)")
                #expect(found.files == expected.files, "\(stop)")
                if !found.wasStopped { break }
            }
        }
    }

    @Test("retry with any number of jobs, and with pages that are read before a commit, to the same store and ledger")
    func jobsOfRetry() async throws {
        let folder = try TemporaryFolder()
        var receipts = try forgeReceipts(count: 200)
        // The same receipt is in several groups of lines.
        receipts += receipts.prefix(50)
        var lines = receipts.enumerated().map { place, receipt in
            "{\"user_id\":\"u\(place % 7)\",\"receipt\":\"\(Data(receipt).base64EncodedString())\"}"
        }
        // The retry keeps these with another reason. Some of the new lines end a step.
        let other = ForgedAppReceipt.production(bundleId: "com.example.other", created: ForgedInstant(2023, 9, 1))
        let excluded = Data(try other.signedData(.g5).encoded()).base64EncodedString()
        lines += (0..<1_000).map { "{\"number\":\($0),\"receipt\":\"\(excluded)\"}" }
        let path = try folder.write("log.ndjson", lines.joined(separator: "\n"))
        let source = try Self.open(folder, "source")
        let strict = try await StoreMigration(options: try Self.options(trust: .apple)).run(
            inputs: [path], into: source)
        #expect(strict.records.quarantined == lines.count)
        try await source.close()
        /// The transactions of each step that has any, the ledger and the tables at the end, and the counts of the last run.
        @inline(never)
        func retried(
            jobs: Int, readsAhead: Bool, stop: Int = .max, commits: Bool = true
        ) async throws -> (
            transactions: [[String?]], ledger: [String], files: [String: [UInt8]], records: MigrationSummary, steps: Int
        ) {
            let name = "copy-\(UUID())"
            try FileManager.default.copyItem(
                atPath: folder.file("source.sqlite"), toPath: folder.file("\(name).sqlite"))
            let store = try Self.open(folder, name)
            let stopping = Stopping(store, at: stop, commits: commits) { store, step in
                if readsAhead { _ = await store.waitForPage(after: step) }
            }
            var options = try Self.options(
                jobs: jobs, trust: TrustPolicy(additionalRoots: [try TestCertificateAuthority.rootDER]))
            options.migration.bundleIds = Set((0..<200).map { "com.example.bulk.app\($0)" })
            let migration = StoreMigration(options: options)
            if stop != .max {
                let error = await #expect(throws: MigrationError.self) { try await migration.retry(stopping) }
                #expect(error?.code == .store)
            }
            let records = try await migration.retry(stopping).records
            let ledger = try await store.changes(after: 0, limit: 1_000).map {
                "\($0.event) \($0.scope) \($0.transactionId)"
            }
            let files = try await Self.export(store, folder)
            try await store.close()
            let steps = stopping.applied.withLock { $0 }
            return (steps.map(\.transactions).filter { !$0.isEmpty }, ledger, files, records, steps.count)
        }
        let expected = try await retried(jobs: 1, readsAhead: false)
        #expect(expected.records.recordsRead == lines.count && expected.records.migrated == receipts.count)
        #expect(expected.records.quarantinedByReason == ["otherBundleId": 1_000])
        #expect(expected.ledger.count >= 400 && Set(expected.transactions.joined()).count == 400)
        for (jobs, readsAhead) in [(1, true), (4, false), (4, true)] {
            let found = try await retried(jobs: jobs, readsAhead: readsAhead)
            #expect(found.transactions == expected.transactions, "\(jobs) \(readsAhead)")
            #expect(found.ledger == expected.ledger, "\(jobs) \(readsAhead)")
            #expect(found.files == expected.files, "\(jobs) \(readsAhead)")
            #expect(found.records == expected.records, "\(jobs) \(readsAhead)")
        }
        for commits in [false, true] {
            // The keys of the lines contain the path, so in rare runs there is only one step.
            let stop = min(2, expected.steps)
            let found = try await retried(jobs: 4, readsAhead: true, stop: stop, commits: commits)
            #expect(found.transactions == expected.transactions, "\(commits)")
            #expect(found.ledger == expected.ledger, "\(commits)")
            #expect(found.files == expected.files, "\(commits)")
        }
    }

    @Test("retry groups of a page at the same time, and read the next page while the store writes a step")
    func parallelRetry() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let receipt = Data(try forgeReceipts(count: 1)[0]).base64EncodedString()
        let lines = (0..<1_000).map { "{\"number\":\($0),\"receipt\":\"\(receipt)\"}" }
        let path = try folder.write("log.ndjson", lines.joined(separator: "\n"))
        _ = try await StoreMigration(options: try Self.options(trust: .apple)).run(inputs: [path], into: store)
        let isRead = Mutex<[Bool]>([])
        let lookUps = Mutex((open: 0, most: 0))
        let observed = Stopping(store, at: .max, commits: true) { store, step in
            let wasRead = await store.waitForPage(after: step)
            isRead.withLock { $0.append(wasRead) }
        } onLookUp: {
            lookUps.withLock {
                $0.open += 1
                $0.most = max($0.most, $0.open)
            }
            _ = await Self.wait(atMost: .seconds(1)) { lookUps.withLock { $0.most > 1 } }
            lookUps.withLock { $0.open -= 1 }
        }
        _ = try await StoreMigration(options: try Self.options(jobs: 4, trust: .apple)).retry(observed)
        let (first, most) = (isRead.withLock { $0.first }, lookUps.withLock { $0.most })
        #expect(first == true && most > 1)
        try await store.close()
    }

    @Test("end the step of a retry after a large record of which the line has only the beginning")
    func stepsOfLongRecords() async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let text = "{\"note\":\"\(String(repeating: "x", count: 200_000))\"}\n"
        var short = try Self.options()
        short.migration.recordSize = 100_000
        short.migration.limits.maximumSize = 50_000
        let path = try folder.write("long.ndjson", text)
        _ = try await StoreMigration(options: short).run(inputs: [path], into: store)
        let lines = try await store.quarantine(after: nil, limit: 2)
        let line = String(decoding: try #require(lines.first).line, as: UTF8.self)
        let large = line.replacing(/"length":\d+/, with: "\"length\":16777216")
        #expect(lines.count == 1 && large != line)
        var step = MigrationStep()
        step.released = lines.map(\.key)
        step.quarantined = (1...5).map { number in
            QuarantinedRecord(line: Array(large.replacing("long.ndjson", with: "long\(number).ndjson").utf8))
        }
        _ = try await store.apply(step)
        let counting = Stopping(store, at: .max, commits: true)
        _ = try await StoreMigration(options: try Self.options()).retry(counting)
        #expect(counting.applied.withLock { $0.count } == 5)
        try await store.close()
    }

    @Test("read rows of a dump that were too long again", arguments: ["),(", "),\n("])
    func retryTooLongRow(separator: String) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let note = String(repeating: "x", count: 200_000)
        let (a, b) = (try Self.receipt("consumable"), try Self.receipt("auto-renewable"))
        let rows = ["'u1','\(note)','\(a)'", "'u2','\(note)','\(b)'"]
        let text = """
            -- MySQL dump 10.13

            CREATE TABLE `r` (`user_id` text, `note` text, `receipt` text);
            INSERT INTO `r` VALUES (\(rows.joined(separator: separator)));\n
            """
        let path = try folder.write("long.sql", text)
        var short = try Self.options()
        short.migration.recordSize = 100_000
        short.migration.limits.maximumSize = 50_000
        let first = try await StoreMigration(options: short).run(inputs: [path], into: store)
        #expect(first.records.quarantinedByReason == ["tooLarge": 2])
        let full = StoreMigration(options: try Self.options())
        // A quote that is missing now.
        try folder.write("long.sql", text.replacing("');", with: "a);"))
        #expect(try await full.retry(store).records.migrated == 1)
        #expect(try await store.quarantine(after: nil, limit: 2).count == 1)
        try folder.write("long.sql", text)
        #expect(try await full.retry(store).records.migrated == 1)
        #expect(try await store.quarantine(after: nil, limit: 2).isEmpty)
        let users = try Self.rows(try await Self.export(store, folder), "customer_users")
        #expect(users.compactMap { $0["userId"]?.string }.sorted() == ["u1", "u2"])
        try await store.close()
    }

    @Test("read a record that was too long again from its input, if it is still there", arguments: ["ndjson", "csv"])
    func retryTooLong(form: String) async throws {
        let folder = try TemporaryFolder()
        let store = try Self.open(folder)
        let (receipt, note) = (try Self.receipt("consumable"), String(repeating: "x", count: 200_000))
        let text =
            form == "csv"
            ? "user_id,note,receipt\r\nu1,\(note),\(receipt)\r\n"
            : "{\"user_id\":\"u1\",\"note\":\"\(note)\",\"receipt\":\"\(receipt)\"}\n"
        let path = try folder.write("long.\(form)", text)
        var short = try Self.options()
        short.migration.recordSize = 100_000
        short.migration.limits.maximumSize = 50_000
        _ = try await StoreMigration(options: short).run(inputs: [path], into: store)
        let lines = try await store.quarantine(after: nil, limit: 2)
        let message = try lines.map { try JSONValue.parse($0.line)["message"]?.string ?? "" }.joined()
        let expected = ["Only its first 65536 bytes are kept", "--retry --max-size 1", "\(path), "]
        #expect(lines.count == 1 && expected.allSatisfy { message.contains($0) }, "\(message)")
        // With the same limit, and while the input has something else there, the line stays.
        let full = StoreMigration(options: try Self.options())
        _ = try await StoreMigration(options: short).retry(store)
        try folder.write("long.\(form)", "\n" + text)
        #expect(try await full.retry(store).records.migrated == 0)
        try folder.write("long.\(form)", String(text.dropLast(2)) + "yz\n")
        #expect(try await full.retry(store).records.migrated == 0)
        #expect(try await store.quarantine(after: nil, limit: 2) == lines)
        try folder.write("long.\(form)", text)
        #expect(try await full.retry(store).records.migrated == 1)
        let files = try await Self.export(store, folder)
        #expect(try Self.rows(files, "quarantine").isEmpty)
        #expect(try Self.rows(files, "customer_users").compactMap { $0["userId"]?.string } == ["u1"])
        try await store.close()
    }
}
