import Foundation
import PostgreSQLTransactionStore
import Synchronization
import TestDatabase
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// The database is stopped and started again while the server is under load.
@Suite(
    "PostgreSQL outages seen through the server", .timeLimit(.minutes(10)),
    .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"))
struct PostgreSQLServerOutageTests {
    /// What the clients saw.
    private final class Seen: Sendable {
        private let counts = Mutex<[String: Int]>([:])

        func add(_ what: String) { counts.withLock { $0[what, default: 0] += 1 } }
        func count(_ what: String) -> Int { counts.withLock { $0[what] ?? 0 } }
        var all: [String: Int] { counts.withLock { $0 } }
    }

    /// Sends each notification until it gets 200, as the App Store would, only sooner. The one in the middle is sent until the
    /// outage is seen, however late a busy machine begins it.
    private static func deliver(_ requests: [(request: String, uuid: String)], _ port: Int, _ seen: Seen) async throws {
        for (number, (request, _)) in requests.enumerated() {
            while true {
                let status = try await Wire.ask(port, request).status
                seen.add("notification \(status)")
                let mayGoOn = number != requests.count / 2 || seen.count("notification 503") > 3
                if status == 200, mayGoOn { break }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private static func ask(_ port: Int, _ seen: Seen, until isDone: @Sendable () -> Bool) async throws {
        while !isDone(), !Task.isCancelled {
            let answer = try await Wire.ask(port, Sent.post(Sent.body()))
            seen.add("receipt \(answer.status) \(answer.verifyStatus ?? -1)")
        }
    }

    @Test(arguments: ["stop", "crash"])
    func loadGoesOnWhenTheDatabaseIsBack(command: String) async throws {
        try await PostgreSQLServer.with { database in try await outage(of: database, command) }
    }

    private func outage(of database: PostgreSQLServer, _ command: String) async throws {
        let store = try await PostgreSQLTransactionStore.open(url: database.url)
        let lanes = try (0..<3).map { lane in
            try (0..<150).map { number in
                let subscription = Subscription(String(530_000_000_000_000 + lane * 1_000_000_000 + number * 1_000_000))
                let draft = try NotificationDraft("SUBSCRIBED", "INITIAL_BUY", subscription)
                return (try ServerTests.Notifications.post(draft), draft.uuid.lowercased())
            }
        }
        let seen = Seen()
        let configuration = ServerTests.Notifications.configuration { $0.endpoint.unknownBundleIds = .accepted }
        try await TestServer.run(configuration, store: store) { server in
            let finished = Seen()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in lanes {
                    group.addTask {
                        try await Self.deliver(lane, server.port, seen)
                        finished.add("lane")
                    }
                }
                group.addTask {
                    try await Self.ask(server.port, seen) { finished.count("lane") == lanes.count }
                }
                try await eventually("the load runs") { seen.count("notification 200") > 30 }
                try await database.control(command)
                try await eventually("clients get a retryable answer") {
                    seen.count("notification 503") > 3 && seen.count("receipt 200 21005") > 0
                }
                try await database.control("resume")
                try await group.waitForAll()
            }
        }
        #expect(Set(seen.all.keys) == ["notification 200", "notification 503", "receipt 200 0", "receipt 200 21005"])
        for (_, uuid) in lanes.joined() { #expect(try await store.hasProcessed(notificationUUID: uuid)) }
        #expect(try await store.counts().notifications == 450)
        try await store.close()
    }
}
