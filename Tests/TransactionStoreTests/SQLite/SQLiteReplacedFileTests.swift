import Foundation
import GRDB
import Purchases
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import TransactionStoreConformance

/// A file that another one is put in place of while it is open, with its last pages in the log.
@Suite("SQLite: a file that is replaced while it is open")
struct SQLiteReplacedFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("store.sqlite")
    }

    private func sets(_ count: Int, from start: Int) -> [FactSet] {
        (start..<start + count).map { StoreSamples.set(StoreSamples.fact("\($0)")) }
    }

    private func code(_ body: () async throws -> Void) async throws -> TransactionStoreError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return try #require(error as? TransactionStoreError).code
        }
    }

    /// An open store of three customers, and beside it the closed file of one with 40.
    private func opened() async throws -> SQLiteTransactionStore {
        let store = try SQLiteTransactionStore.open(path: path)
        _ = try await store.apply(sets(3, from: 1))
        let other = try SQLiteTransactionStore.open(path: folder.file("other.sqlite"))
        _ = try await other.apply(sets(40, from: 500))
        try await other.close()
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        return store
    }

    /// Puts the other file in the place of the open one by one rename, as `mv` does.
    private func replace() {
        #expect(rename(folder.file("other.sqlite"), path) == 0)
    }

    @Test(arguments: [false, true])
    func theNewFileIsReadAndWrittenWithoutTheOldLog(isLogRemoved: Bool) async throws {
        let store = try await opened()
        replace()
        if isLogRemoved { for suffix in ["-wal", "-shm"] { #expect(unlink(path + suffix) == 0) } }
        #expect(try await store.customer(original: "539") != nil)
        #expect(try await store.customer(original: "1") == nil)
        #expect(try await store.counts().transactions == 40)
        _ = try await store.apply(sets(1, from: 600))
        #expect(try await store.counts().transactions == 41)
        try await store.close()
        let again = try SQLiteTransactionStore.open(path: path)
        #expect(try await again.counts().transactions == 41)
        #expect(try await again.customer(original: "1") == nil)
        try await again.close()
        let queue = try DatabaseQueue(path: path)
        #expect(try await queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
        try queue.close()
    }

    @Test func lookUpsReadTheNewFileSoon() async throws {
        let store = try await opened()
        #expect(try await store.customer(original: "1") != nil)
        replace()
        try await Task.sleep(for: .milliseconds(15))
        #expect(try await store.customer(original: "539") != nil)
        #expect(try await store.customer(original: "1") == nil)
        try await store.close()
    }

    @Test func lookUpsReadTheFileThatAWriteWentTo() async throws {
        let store = try await opened()
        #expect(try await store.customer(original: "1") != nil)
        replace()
        _ = try await store.apply(sets(1, from: 600))
        #expect(try await store.customer(original: "600") != nil)
        #expect(try await store.customer(original: "1") == nil)
        try await store.close()
    }

    /// Some find a connection to the old file, some have to open one, and that is the new one's.
    @Test func noLookUpFailsWhileTheFileIsReplaced() async throws {
        let store = try await opened()
        #expect(try await store.customer(original: "1") != nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                if number == 20 { replace() }
                group.addTask {
                    let both = try await store.customer(
                        [StoreSamples.original("1"), StoreSamples.original("539")], in: StoreSamples.scope)
                    #expect(both?.transactions.count == 1)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.counts().transactions == 40)
        try await store.close()
    }

    /// The ordinary restore: a backup is moved over the file, and the program is started again.
    @Test func theOldLogIsGoneWhenAProgramStopsThatHasNotNoticed() async throws {
        let store = try await opened()
        replace()
        try await store.close()
        let again = try SQLiteTransactionStore.open(path: path)
        #expect(try await again.counts().transactions == 40)
        #expect(try await again.customer(original: "1") == nil)
        try await again.close()
    }

    @Test func aFileBehindASymbolicLinkMayBeReplaced() async throws {
        let link = folder.file("link.sqlite")
        try await SQLiteTransactionStore.open(path: path).close()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let store = try SQLiteTransactionStore.open(path: link)
        _ = try await store.apply(sets(3, from: 1))
        let other = try SQLiteTransactionStore.open(path: folder.file("other.sqlite"))
        _ = try await other.apply(sets(40, from: 500))
        try await other.close()
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        replace()
        #expect(try await store.counts().transactions == 40)
        try await store.close()
    }

    /// The old file is not gone, and its last pages are in its log.
    @Test func aLinkThatLeadsToAnotherStoreLeavesTheFirstWhole() async throws {
        let link = folder.file("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try await SQLiteTransactionStore.open(path: path).close()
        let store = try SQLiteTransactionStore.open(path: link)
        _ = try await store.apply(sets(3, from: 1))
        let other = try SQLiteTransactionStore.open(path: folder.file("other.sqlite"))
        _ = try await other.apply(sets(40, from: 500))
        try await other.close()
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: folder.file("other.sqlite"))
        #expect(try await store.counts().transactions == 40)
        try await store.close()
        let first = try SQLiteTransactionStore.open(path: path)
        #expect(try await first.counts().transactions == 3)
        try await first.close()
    }

    @Test func aFileMayBeReplacedTwice() async throws {
        let store = try await opened()
        replace()
        _ = try await store.apply(sets(1, from: 600))
        let third = try SQLiteTransactionStore.open(path: folder.file("other.sqlite"))
        _ = try await third.apply(sets(7, from: 900))
        try await third.close()
        replace()
        #expect(try await store.counts().transactions == 7)
        _ = try await store.apply(sets(1, from: 1))
        #expect(try await store.counts().transactions == 8)
        try await store.close()
    }

    /// The log may hold what only its owner may write, and may be of another store.
    @Test func aLogOfUnknownOriginStaysAndNothingIsOpened() async throws {
        let store = try await opened()
        replace()
        try FileManager.default.removeItem(atPath: path + "-wal")
        try Data("the log of another store".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try await code { _ = try await store.apply(sets(1, from: 600)) } == .unavailable)
        #expect(try await code { _ = try await store.customer(original: "539") } == .unavailable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == Data("the log of another store".utf8))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == file)
        try FileManager.default.removeItem(atPath: path + "-wal")
        #expect(try await store.counts().transactions == 40)
        try await store.close()
    }

    @Test("Closing does not remove a log that another program put in the place of the store's own")
    func closingKeepsALogOfUnknownOrigin() async throws {
        let store = try await opened()
        try FileManager.default.removeItem(atPath: path + "-wal")
        try Data("the log of another store".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
        try await store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == Data("the log of another store".utf8))
    }

    @Test func anEmptyFileIsNotTakenForAStore() async throws {
        let store = try await opened()
        let away = folder.file("away.sqlite")
        #expect(rename(path, away) == 0)
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(try await code { _ = try await store.apply(sets(1, from: 4)) } == .unavailable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
        #expect(rename(away, path) == 0)
        _ = try await store.apply(sets(1, from: 4))
        #expect(try await store.counts().transactions == 4)
        try await store.close()
    }

    @Test func aRefusedFileMayBeReplacedByAGoodOne() async throws {
        let store = try await opened()
        let text = Data(String(repeating: "no database ", count: 500).utf8)
        try text.write(to: URL(fileURLWithPath: path + ".new"))
        #expect(rename(path + ".new", path) == 0)
        for _ in 0..<2 { #expect(try await code { _ = try await store.counts() } == .corrupt) }
        replace()
        #expect(try await store.counts().transactions == 40)
        try await store.close()
    }

    /// What is applied stands in the log first, and without its name it would be lost.
    @Test func aRemovedLogIsUnavailableAndClosingKeepsItsContent() async throws {
        let store = try await opened()
        #expect(unlink(path + "-wal") == 0)
        #expect(try await code { _ = try await store.apply(sets(1, from: 4)) } == .unavailable)
        #expect(try await code { _ = try await store.counts() } == .unavailable)
        try await store.close()
        let again = try SQLiteTransactionStore.open(path: path)
        #expect(try await again.counts().transactions == 3)
        try await again.close()
    }
}
