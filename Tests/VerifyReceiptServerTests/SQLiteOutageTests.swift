import Foundation
import SQLiteTransactionStore
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// A store file that vanishes or becomes read-only under the server, seen by its clients.
@Suite("SQLite outages seen through the server")
struct SQLiteOutageTests {
    private final class Time: Sendable {
        let now = Mutex<Int64>(1_717_243_200_789)
    }

    private static func ask(_ server: TestServer) async throws -> Int? {
        try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus
    }

    private static func readiness(_ server: TestServer) async throws -> Int {
        try await Wire.ask(server.adminPort, Sent.get("/readyz")).status
    }

    @Test func aStoreFileThatIsMovedAwayIs21005UntilItIsBack() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/store.sqlite"
        let store = try SQLiteTransactionStore.open(path: path)
        try await TestServer.run(store: store) { server in
            #expect(try await Self.ask(server) == 0)
            for _ in 0..<2 {
                #expect(rename(path, path + ".away") == 0)
                try await eventually("it is noticed") { try await Self.ask(server) == 21005 }
                try await eventually("it is not ready") { try await Self.readiness(server) == 503 }
                #expect(rename(path + ".away", path) == 0)
                #expect(try await Self.ask(server) == 0)
                try await eventually("it is ready again") { try await Self.readiness(server) == 200 }
            }
            #expect(!FileManager.default.fileExists(atPath: path + ".away"))
        }
        // It is written to as before.
        try await store.checkReadiness()
        try await store.close()
    }

    @Test func aReadOnlyStoreChangesNoAnswerAndStoresAgainWhenWritable() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        let time = Time()
        let clock: @Sendable () -> Int64 = { time.now.withLock { $0 } }
        try await TestServer.run(store: store, clock: clock) { server in
            try await store.pragma("query_only = 1")
            for _ in 0..<3 { #expect(try await Self.ask(server) == 0) }
            #expect(try await store.counts().transactions == 0)
            try await store.pragma("query_only = 0")
            // Writing is tried again after a pause, and no answer waits long for it.
            try await eventually("it learns again") {
                time.now.withLock { $0 += 60_000 }
                #expect(try await Self.ask(server) == 0)
                return try await store.counts().transactions > 0
            }
        }
        try await store.close()
    }

    @Test func aReadOnlyStoreTakesNoNotificationUntilItCan() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
        try await TestServer.run(ServerTests.Notifications.configuration(), store: store) { server in
            let request = try ServerTests.Notifications.post(ServerTests.Notifications.draft())
            try await store.pragma("query_only = 1")
            #expect(try await Wire.ask(server.port, request).status == 503)
            #expect(try await store.counts().notifications == 0)
            try await store.pragma("query_only = 0")
            #expect(try await Wire.ask(server.port, request).status == 200)
            #expect(try await store.counts().notifications == 1)
        }
        try await store.close()
    }
}
