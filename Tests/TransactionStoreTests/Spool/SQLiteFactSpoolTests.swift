import AppStoreModels
import Foundation
import GRDB
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

/// What a spool keeps, and what it refuses.
@Suite("SQLite: the spool keeps receipts that the store cannot accept")
struct SQLiteFactSpoolTests {
    private func open(_ folder: TemporaryFolder, maximumBytes: Int64 = 1 << 20) throws -> SQLiteFactSpool {
        try SQLiteFactSpool.open(path: folder.file("spool"), maximumBytes: maximumBytes, lockTimeout: 0.05)
    }

    private func set(_ id: String) -> FactSet {
        Samples.set(Samples.fact(id, original: "1\(id)"), receipt: Samples.receipt("receipt of \(id)"))
    }

    private func all(_ spool: SQLiteFactSpool) async throws -> [SpooledFacts] {
        try await spool.oldest(after: 0, maximumCount: 1_000, maximumBytes: .max)
    }

    /// Everything that a set can hold, with characters that JSON escapes.
    private var fullSet: FactSet {
        var legacy = LegacyTransactionFields()
        legacy.isTrialPeriod = true
        legacy.cancellationDate = Samples.june
        legacy.itemId = "42"
        return FactSet(
            scope: StoreScope(environment: .sandbox, bundleId: "com.example.app"),
            identities: [CustomerIdentity(.appAccountToken, "11111111-2222-4333-8444-555555555555")],
            transactions: [
                Samples.fact("200", original: "100", product: "a \"quoted\" ünï\u{2028} name", legacy: legacy),
                Samples.fact("201", original: "100", source: .signedTransaction, at: Samples.june + 1) {
                    $0.price = 9_990
                    $0.currency = "EUR"
                },
            ], renewalInfos: [Samples.renewal("100") { $0.autoRenewStatus = .on }],
            appTransaction: Samples.app("7"), receipt: Samples.receipt("bytes \0 of a receipt", form: .app))
    }

    @Test func aSetIsReadBackAsItWas() async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder)
        let set = fullSet
        try await spool.append(set)
        let entry = try #require(try await all(spool).first)
        let read = try entry.facts.get()
        // Stores that get one and the other know the same.
        let stores = try ["one", "other"].map { try SQLiteTransactionStore.open(path: folder.file($0)) }
        _ = try await stores[0].apply([set])
        _ = try await stores[1].apply([read])
        let identity = Samples.original("100")
        let one = ComparableCustomer(try await stores[0].customer([identity], in: set.scope))
        #expect(one?.transactions.count == 2 && one?.renewals.count == 1 && one?.app != nil)
        #expect(one == ComparableCustomer(try await stores[1].customer([identity], in: set.scope)))
        #expect(read.identities == set.identities && read.receipt == set.receipt)
        for store in stores { try await store.close() }
        try await spool.close()
    }

    @Test func entriesComeInTheirOrderAndSurviveTheEndOfTheProgram() async throws {
        let folder = try TemporaryFolder()
        var spool = try open(folder)
        for id in 1...5 { try await spool.append(set("\(id)")) }
        let state = spool.state
        #expect(state.entries == 5 && state.bytes > 0 && state.oldestDate != nil)
        try await spool.close()
        spool = try open(folder)
        #expect(spool.state == state)
        let entries = try await all(spool)
        #expect(
            try entries.map { try $0.facts.get().transactions.first?.payload.transactionId } == [
                "1", "2", "3", "4", "5",
            ])
        try await spool.remove(entries.prefix(2).map(\.id))
        #expect(spool.state.entries == 3)
        #expect(try await all(spool).map(\.name) == entries.dropFirst(2).map(\.name))
        try await spool.remove(entries.map(\.id))
        #expect(spool.state.entries == 0 && spool.state.bytes == 0 && spool.state.oldestDate == nil)
        try await spool.close()
    }

    /// Clients send one receipt again and again while the store is away.
    @Test func equalFactsAreOneEntry() async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder)
        for _ in 0..<3 { try await spool.append(set("1")) }
        try await spool.append(Samples.set(Samples.fact("1", original: "11")))
        #expect(spool.state.entries == 2)
        try await spool.close()
    }

    @Test func manyCallersAreAllKept() async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...100 { group.addTask { try await spool.append(set("\(id)")) } }
            try await group.waitForAll()
        }
        #expect(spool.state.entries == 100)
        #expect(Set(try await all(spool).map(\.name)).count == 100)
        try await spool.close()
    }

    @Test func aFullSpoolRefusesUntilSomethingLeaves() async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder, maximumBytes: 4_096)
        var kept = 0
        while await code({ try await spool.append(set("\(kept + 1)")) }) == nil {
            kept += 1
            try #require(kept < 100)
        }
        #expect(kept > 1)
        #expect(await code { try await spool.append(set("another")) } == .notWritable)
        #expect(spool.state.entries == Int64(kept) && spool.state.bytes <= 4_096)
        try await spool.remove([try #require(try await all(spool).first).id])
        #expect(await code { try await spool.append(set("another")) } == nil)
        try await spool.close()
    }

    /// Clients send the receipts again that wait already.
    @Test func aFullSpoolAcceptsEntriesThatItContains() async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder, maximumBytes: 4_096)
        var kept = 0
        while await code({ try await spool.append(set("\(kept + 1)")) }) == nil {
            kept += 1
            try #require(kept < 100)
        }
        let state = spool.state
        #expect(await code { try await spool.append(set("1")) } == nil)
        #expect(await code { try await spool.append(set("another")) } == .notWritable)
        #expect(spool.state == state)
        #expect(try await all(spool).count == kept)
        try await spool.close()
    }

    /// Else receipts would be answered that end with the process.
    @Test(arguments: ["removed", "replaced", "log removed"])
    func aFileThatGoesWhileItIsOpenTakesNothingMore(_ what: String) async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder)
        try await spool.append(set("1"))
        try await spool.checkReadiness()
        let (path, log) = (folder.file("spool"), folder.file("spool-wal"))
        #expect(unlink(log) == 0)
        if what != "log removed" { #expect(unlink(path) == 0) }
        if what == "replaced" {
            try Data("another file".utf8).write(to: URL(fileURLWithPath: path))
            try Data("its log".utf8).write(to: URL(fileURLWithPath: log))
        }
        #expect(await code { try await spool.append(set("2")) } == .unavailable)
        #expect(await code { try await spool.checkReadiness() } == .unavailable)
        // The store can still have what was taken before.
        #expect(try await all(spool).count == 1)
        try await spool.close()
        if what == "replaced" {
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "another file")
            #expect(try String(contentsOfFile: log, encoding: .utf8) == "its log", "the log belongs to another file")
        }
    }

    @Test(arguments: [false, true])
    func aDamagedFileIsKeptUnderAnotherNameAndANewSpoolIsOpened(isLink: Bool) async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder)
        try await spool.append(set("1"))
        try await spool.close()
        var file = folder.file("spool")
        if isLink {
            file = folder.file("elsewhere")
            try FileManager.default.moveItem(atPath: folder.file("spool"), toPath: file)
            try FileManager.default.createSymbolicLink(atPath: folder.file("spool"), withDestinationPath: file)
        }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        bytes.replaceSubrange(0..<4_096, with: Data(repeating: 0x55, count: 4_096))
        try bytes.write(to: URL(fileURLWithPath: file))
        #expect(await code { _ = try open(folder) } == .corrupt)
        var reports: [String] = []
        let next = try SQLiteFactSpool.open(path: folder.file("spool"), maximumBytes: 1 << 20) {
            reports.append($0 + "\($1)")
        }
        #expect(next.state.entries == 0)
        try await next.append(set("2"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let kept = try #require(names.first { $0.contains(".damaged-") })
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file(kept))) == bytes)
        #expect(
            reports.count == 1 && reports.first?.contains(kept) == true && reports.first?.contains("corrupt") == true)
        try await next.close()
        #expect(try open(folder).state.entries == 1)
    }

    /// A path that was mistyped must not take a store from its place.
    @Test func aDatabaseOfSomethingElseStaysWhereItIs() async throws {
        let folder = try TemporaryFolder()
        try await SQLiteTransactionStore.open(path: folder.file("spool")).close()
        let found = await code {
            _ = try SQLiteFactSpool.open(path: folder.file("spool"), maximumBytes: 1 << 20) { path, _ in
                Issue.record("\(path)")
            }
        }
        #expect(found == .corrupt)
        // A store that was closed may leave an index beside it.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("spool") && !names.contains { $0.contains(".damaged-") }, "\(names)")
    }

    @Test func oneSpoolIsOfOneServer() async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder)
        let second = await code { _ = try open(folder) }
        #expect(second == .busy)
        try await spool.append(set("1"))
        try await spool.close()
        let next = try open(folder)
        #expect(next.state.entries == 1)
        try await next.close()
    }

    @Test func anEntrySetAsideBlocksNothingAndWaitsAgainAfterTheNextStart() async throws {
        let folder = try TemporaryFolder()
        var spool = try open(folder)
        for id in 1...3 { try await spool.append(set("\(id)")) }
        let first = try #require(try await all(spool).first)
        try await spool.setAside(first.id, reason: "corrupt: on purpose")
        #expect(spool.state.entries == 2 && spool.state.setAside == 1)
        #expect(try await all(spool).map(\.name).contains(first.name) == false)
        // It is kept, and the same facts are not kept twice.
        try await spool.append(set("1"))
        #expect(spool.state.entries == 2)
        try await spool.close()
        spool = try open(folder)
        #expect(spool.state.entries == 3 && spool.state.setAside == 0)
        #expect(try await all(spool).first?.name == first.name)
        try await spool.close()
    }

    @Test(arguments: ["UPDATE entries SET facts = 'no JSON'", "UPDATE entries SET receipt = x'00'"])
    func aDamagedEntryIsReadAsCorrupt(sql: String) async throws {
        let folder = try TemporaryFolder()
        var spool = try open(folder)
        try await spool.append(set("1"))
        try await spool.close()
        let queue = try DatabaseQueue(path: folder.file("spool"))
        try await queue.write { try $0.execute(sql: sql) }
        try queue.close()
        spool = try open(folder)
        let entry = try #require(try await all(spool).first)
        #expect(throws: TransactionStoreError.self) { try entry.facts.get() }
        try await spool.close()
    }

    @Test func readingIsBoundedAndAlwaysGetsOne() async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder)
        for id in 1...4 { try await spool.append(set("\(id)")) }
        let three = try await spool.oldest(after: 0, maximumCount: 3, maximumBytes: .max)
        #expect(three.count == 3)
        #expect(try await spool.oldest(after: 0, maximumCount: 3, maximumBytes: 1).count == 1)
        let rest = try await spool.oldest(after: try #require(three.first).id, maximumCount: 9, maximumBytes: .max)
        #expect(rest.count == 3 && rest.first?.id == three[1].id)
        try await spool.close()
    }

    @Test func notificationsAreNotSpooled() async throws {
        let folder = try TemporaryFolder()
        let spool = try open(folder)
        let notification = Samples.set(Samples.fact("1"), notification: Samples.notification("u"))
        #expect(await code { try await spool.append(notification) } == .invalidArgument)
        try await spool.close()
    }

    @Test func aFileOfSomethingElseIsCorrupt() async throws {
        let folder = try TemporaryFolder()
        try await SQLiteTransactionStore.open(path: folder.file("spool")).close()
        #expect(await code { _ = try open(folder) } == .corrupt)
        #expect(
            await code { _ = try SQLiteFactSpool.open(path: folder.file("no/spool"), maximumBytes: 1) } == .unavailable)
    }

    /// Receipts are personal data: the umask of who starts the server does not matter.
    @Test func filesAreOnlyForTheirOwner() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store"))
        let spool = try open(folder)
        _ = try await store.apply([set("1")])
        try await spool.append(set("1"))
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        #expect(FileManager.default.fileExists(atPath: folder.file("store-wal")))
        try await spool.close()
        try await store.close()
    }
}
