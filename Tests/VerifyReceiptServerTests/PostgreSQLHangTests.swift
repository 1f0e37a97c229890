import Foundation
import PostgreSQLTransactionStore
import Synchronization
import TestDatabase
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

/// All processes of the database are suspended while the server is under load: connections stay open, and nothing comes.
@Suite(
    "PostgreSQL hangs seen through the server", .timeLimit(.minutes(10)),
    .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"))
struct PostgreSQLHangTests {
    private typealias Hang = ServerTests.StoreHang

    /// How clients were answered, and how long the slowest waited.
    private final class Seen: Sendable {
        private let state = Mutex<(answers: [String: Int], slowest: Duration, isStopped: Bool)>(([:], .zero, false))

        var answers: [String: Int] { state.withLock { $0.answers } }
        var slowest: Duration { state.withLock { $0.slowest } }
        var isStopped: Bool { state.withLock { $0.isStopped } }

        func begin() { state.withLock { ($0.answers, $0.slowest) = ([:], .zero) } }
        func stop() { state.withLock { $0.isStopped = true } }
        func add(_ name: String, _ duration: Duration) {
            state.withLock {
                $0.answers[name, default: 0] += 1
                $0.slowest = max($0.slowest, duration)
            }
        }
    }

    private static func load(_ port: Int, _ receipt: String, _ seen: Seen) async throws {
        while !seen.isStopped {
            let begin = ContinuousClock.now
            let answer = try await Wire.ask(port, Sent.post(Sent.body(receipt)))
            seen.add("\(answer.status) \(answer.verifyStatus ?? -1)", begin.duration(to: .now))
        }
    }

    @Test(arguments: EndpointConfiguration.StoreFailure.allCases)
    func answersThatNeedNoStoreDoNotNotice(whenStoreFails: EndpointConfiguration.StoreFailure) async throws {
        try await PostgreSQLServer.with { database in
            // A busy machine may take longer than the short limits to make the schema.
            try await PostgreSQLTransactionStore.open(url: database.url).close()
            let options = PostgreSQLTransactionStore.Options(statementTimeout: 1, lockTimeout: 1, answerTimeout: 1.25)
            let store = try PostgreSQLTransactionStore(url: database.address, options: options)
            let configuration = Hang.configuration {
                $0.endpoint.whenStoreFails = whenStoreFails
                $0.endpoint.learnsFromReceipts = true
                $0.endpoint.learningLimit = .milliseconds(250)
                $0.timeouts.store = .seconds(1)
            }
            try await TestServer.run(configuration, store: store) { server in
                try await Self.hang(database, server, whenStoreFails)
            }
            try await store.close()
        }
    }

    private static func hang(
        _ database: PostgreSQLServer, _ server: TestServer, _ whenStoreFails: EndpointConfiguration.StoreFailure
    ) async throws {
        let meanwhile = whenStoreFails == .unavailable ? "200 21005" : "200 0"
        let (local, stored) = (Seen(), Seen())
        try await withThrowingTaskGroup(of: Void.self) { group in
            // More than the places of the server, and more than the connections to the database.
            for _ in 0..<24 { group.addTask { try await load(server.port, Sent.receipt, stored) } }
            for _ in 0..<2 { group.addTask { try await load(server.port, Hang.localReceipt, local) } }
            defer {
                local.stop()
                stored.stop()
            }
            try await eventually("both are answered") {
                stored.answers["200 0", default: 0] > 50 && local.answers["200 0", default: 0] > 20
            }
            try await database.control("freeze")
            // The calls that were under way fail at the deadline.
            try await eventually("the hang is noticed") {
                server.server.metricsText.contains("legacy_receipts_store_reading_hangs 1\n")
            }
            local.begin()
            stored.begin()
            try await eventually("answers come at once") {
                guard stored.answers[meanwhile, default: 0] > 200, local.answers["200 0", default: 0] > 50 else {
                    return false
                }
                #expect(Set(stored.answers.keys) == [meanwhile])
                // All but the one that tries. A round in which the machine was busy for longer says nothing.
                guard local.slowest < .seconds(5) else {
                    local.begin()
                    stored.begin()
                    return false
                }
                return true
            }
            let readiness = try await Hang.ready(server)
            #expect(readiness.status == (whenStoreFails == .unavailable ? 503 : 200))
            #expect(readiness.body != "ok\n")
            try await database.control("thaw")
            try await eventually("the store is used again") {
                server.server.metricsText.contains("legacy_receipts_store_reading_hangs 0\n")
            }
            stored.begin()
            try await eventually("its answers are given") { stored.answers["200 0", default: 0] > 50 }
            try await eventually("it is ready again") { try await Hang.ready(server).body == "ok\n" }
            local.stop()
            stored.stop()
            try await group.waitForAll()
        }
    }
}
