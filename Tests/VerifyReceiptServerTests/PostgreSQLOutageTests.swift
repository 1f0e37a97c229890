import Foundation
import PostgreSQLTransactionStore
import Synchronization
import TestDatabase
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    /// A PostgreSQL server that goes away under load and comes back, seen by clients of the endpoint. Runs under
    /// `tools/postgres.sh run` only.
    @Suite(
        .serialized,
        .enabled(if: PostgreSQLServer.canStartOthers, "run the tests by 'tools/postgres.sh run swift test'"))
    struct PostgreSQLOutage {
        /// What clients have seen since the last ``begin()``.
        private final class Seen: Sendable {
            private let state = Mutex<(answers: [String: Int], isStopped: Bool)>(([:], false))

            var answers: [String: Int] { state.withLock { $0.answers } }
            var isStopped: Bool { state.withLock { $0.isStopped } }

            func begin() { state.withLock { $0.answers = [:] } }
            func stop() { state.withLock { $0.isStopped = true } }
            func add(_ answer: HTTPText) {
                // Every answer that uses the store states its source.
                let source = answer.headers["legacy-receipts-source"] ?? "none"
                let name = "\(answer.status) \(answer.verifyStatus ?? -1) \(source)"
                state.withLock { $0.answers[name, default: 0] += 1 }
            }
        }

        /// The configuration decides the answers meanwhile; the recovery is automatic.
        @Test(arguments: EndpointConfiguration.StoreFailure.allCases, ["stop", "crash"])
        func answersMeanwhileAndRecovers(
            whenStoreFails: EndpointConfiguration.StoreFailure, command: String
        ) async throws {
            try await PostgreSQLServer.with { database in
                try await outage(of: database, whenStoreFails, command)
            }
        }

        private func outage(
            of database: PostgreSQLServer, _ whenStoreFails: EndpointConfiguration.StoreFailure, _ command: String
        ) async throws {
            let store = try await PostgreSQLTransactionStore.open(url: database.url)
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.whenStoreFails = whenStoreFails
            }
            // 200 with a receipt's own answer, or with 21005: never anything else.
            let meanwhile = whenStoreFails == .unavailable ? "200 21005 receipt" : "200 0 receipt"
            let fromStore = "200 0 store"
            let seen = Seen()
            try await TestServer.run(configuration, store: store) { server in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            while !seen.isStopped { seen.add(try await Wire.ask(server.port, Sent.post(Sent.body()))) }
                        }
                    }
                    defer { seen.stop() }
                    for _ in 0..<2 {
                        try await eventually("the store answers") {
                            seen.answers[fromStore, default: 0] > 20
                        }
                        seen.begin()
                        try await database.control(command)
                        try await eventually("it is seen") { seen.answers[meanwhile, default: 0] > 20 }
                        // What readiness found is kept for a second. Where every answer is good, nothing is unready.
                        try await eventually("the store is known not to be there") {
                            try await Wire.ask(server.adminPort, Sent.get("/metrics")).body
                                .contains("legacy_receipts_store_writable 0\n")
                        }
                        let readiness = whenStoreFails == .unavailable ? 503 : 200
                        try await eventually("it is as ready as it can answer") {
                            try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == readiness
                        }
                        #expect(Set(seen.answers.keys).isSubset(of: [fromStore, meanwhile]), "\(seen.answers)")
                        seen.begin()
                        try await database.control("resume")
                        try await eventually("the store answers again") {
                            seen.answers[fromStore, default: 0] > 20
                        }
                        #expect(Set(seen.answers.keys).isSubset(of: [fromStore, meanwhile]), "\(seen.answers)")
                        try await eventually("it is ready again") {
                            try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 200
                        }
                    }
                    seen.stop()
                    try await group.waitForAll()
                }
            }
            try await store.close()
        }
    }
}
