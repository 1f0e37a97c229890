import Foundation
import GRDB
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("SQLite: what goes wrong has a documented error")
struct SQLiteFailureTests {
    private func sets(_ count: Int, from start: Int = 1) -> [FactSet] {
        (start..<start + count).map { Samples.set(Samples.fact("\($0)", product: String(repeating: "x", count: 500))) }
    }

    @Test func aMissingFolderIsUnavailable() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("missing/store.sqlite")
        #expect(await code { _ = try SQLiteTransactionStore.open(path: path) } == .unavailable)
    }

    @Test func aFolderInPlaceOfTheFileIsUnavailable() async throws {
        let folder = try TemporaryFolder()
        #expect(await code { _ = try SQLiteTransactionStore.open(path: folder.path) } == .unavailable)
    }

    @Test func aFileOfSomethingElseIsCorrupt() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("text")
        try Data(String(repeating: "no database ", count: 500).utf8).write(to: URL(fileURLWithPath: path))
        #expect(await code { _ = try SQLiteTransactionStore.open(path: path) } == .corrupt)
        let other = folder.file("other.sqlite")
        let queue = try DatabaseQueue(path: other)
        try await queue.write { try $0.execute(sql: "CREATE TABLE notes (text TEXT)") }
        try queue.close()
        #expect(await code { _ = try SQLiteTransactionStore.open(path: other) } == .corrupt)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["other.sqlite", "text"])
    }

    @Test func aNewerSchemaIsRefused() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await SQLiteTransactionStore.open(path: path).close()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('999')") }
        try queue.close()
        #expect(await code { _ = try SQLiteTransactionStore.open(path: path) } == .newerSchema)
    }

    @Test func aFullDiskIsNotWritableAndNothingIsHalfWritten() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await store.pragma("max_page_count = 40")
        _ = try await store.apply(sets(5))
        #expect(await code { _ = try await store.apply(sets(2000, from: 100)) } == .notWritable)
        #expect(try await store.counts().transactions == 5)
        _ = try await store.apply(sets(5, from: 10_000))
        #expect(try await store.counts().transactions == 10)
        try await store.close()
    }

    @Test func anotherProgramThatWritesForTooLongIsBusy() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path, options: .init(busyTimeout: 0.05))
        _ = try await store.apply(sets(1))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        #expect(await code { _ = try await store.apply(sets(1, from: 2)) } == .busy)
        #expect(await code { try await store.checkReadiness() } == .busy)
        #expect(try await store.customer(original: "1") != nil)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        _ = try await store.apply(sets(1, from: 2))
        #expect(try await store.counts().transactions == 2)
        try other.close()
        try await store.close()
    }

    @Test func aRemovedFileIsUnavailableUntilItIsBack() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path)
        _ = try await store.apply(sets(1))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        #expect(await code { _ = try await store.apply(sets(1, from: 2)) } == .unavailable)
        #expect(await code { _ = try await store.customer(original: "1") } == .unavailable)
        #expect(await code { try await store.checkReadiness() } == .unavailable)
        #expect(!FileManager.default.fileExists(atPath: path))
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        try await store.checkReadiness()
        _ = try await store.apply(sets(1, from: 2))
        #expect(try await store.counts().transactions == 2)
        try await store.close()
    }

    /// Look-ups do not ask for the file each time.
    @Test func lookUpsNoticeARemovedFileSoonByThemselves() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path)
        _ = try await store.apply(sets(1))
        #expect(try await store.customer(original: "1") != nil)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        try await Task.sleep(for: .milliseconds(15))
        #expect(await code { _ = try await store.customer(original: "1") } == .unavailable)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(try await store.customer(original: "1") != nil)
        try await store.close()
    }

    /// What something else has noticed is known to look-ups at once.
    @Test func lookUpsDetectARemovedFileAfterAWriteDid() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let store = try SQLiteTransactionStore.open(path: path)
        _ = try await store.apply(sets(1))
        #expect(try await store.customer(original: "1") != nil)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        #expect(await code { try await store.checkReadiness() } == .unavailable)
        #expect(await code { _ = try await store.customer(original: "1") } == .unavailable)
        try await store.close()
    }

    @Test func aStoreThatBecomesReadOnlyIsNotWritableUntilItIsAgain() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        _ = try await store.apply(sets(1))
        try await store.pragma("query_only = 1")
        #expect(await code { _ = try await store.apply(sets(1, from: 2)) } == .notWritable)
        #expect(await code { try await store.checkReadiness() } == .notWritable)
        #expect(try await store.customer(original: "1") != nil)
        try await store.pragma("query_only = 0")
        _ = try await store.apply(sets(1, from: 2))
        #expect(try await store.counts().transactions == 2)
        try await store.close()
    }

    /// By its permissions, which the test above cannot show to the superuser.
    @Test(.disabled(if: getuid() == 0, "the superuser may write to every file"))
    func aReadOnlyFileIsNotWritable() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await SQLiteTransactionStore.open(path: path).close()
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        #expect(await code { _ = try SQLiteTransactionStore.open(path: path) } == .notWritable)
    }

    @Test func aClosedStoreIsOneFile() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        _ = try await store.apply(sets(3))
        _ = try await store.counts()
        #expect(try await store.customer(original: "1") != nil)
        try await store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store.sqlite"])
        try FileManager.default.copyItem(atPath: folder.file("store.sqlite"), toPath: folder.file("copy.sqlite"))
        let copy = try SQLiteTransactionStore.open(path: folder.file("copy.sqlite"))
        #expect(try await copy.counts().transactions == 3)
        try await copy.close()
    }

    @Test("The log stays while another connection has the file open, and the last one removes it")
    func theLogGoesWithTheLastConnection() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let first = try SQLiteTransactionStore.open(path: path)
        let second = try SQLiteTransactionStore.open(path: path)
        _ = try await first.apply(sets(1))
        try await first.close()
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        _ = try await second.apply(sets(1, from: 2))
        #expect(try await second.counts().transactions == 2)
        try await second.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store.sqlite"])
    }

    @Test func aFileThatAnotherProgramHasBegunToMakeIsAStore() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        }
        try queue.close()
        let store = try SQLiteTransactionStore.open(path: path)
        _ = try await store.apply(sets(1))
        #expect(try await store.counts().transactions == 1)
        try await store.close()
    }

    @Test func severalOpenANewFileAtOnce() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.sqlite")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...8 {
                group.addTask {
                    let store = try SQLiteTransactionStore.open(path: path)
                    _ = try await store.apply(sets(1, from: number))
                    try await store.close()
                }
            }
            try await group.waitForAll()
        }
        let store = try SQLiteTransactionStore.open(path: path)
        #expect(try await store.counts().transactions == 8)
        try await store.close()
    }

    @Test func appliedFactsAreFlushedToTheDisk() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        // 2 is FULL (SQLite, PRAGMA synchronous).
        #expect(try await store.pragma("synchronous") == "2")
        #expect(try await store.pragma("journal_mode") == "wal")
        try await store.close()
    }

    @Test func aCallThatFailsDoesNotTakeTheOthersWithIt() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        try await store.pragma("max_page_count = 80")
        let results = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<10 {
                let sets = sets(number == 4 ? 5000 : 1, from: number * 10_000 + 1)
                group.addTask { (try? await store.apply(sets)) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(results == 9)
        #expect(try await store.counts().transactions == 9)
        try await store.close()
    }
}
