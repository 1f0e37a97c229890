import Foundation
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    /// `/readyz` says whether requests can be answered, not what else the store can do.
    @Suite(.serialized) struct ReadinessTests {
        private static func ready(_ server: TestServer) async throws -> Int {
            try await Wire.ask(server.adminPort, Sent.get("/readyz")).status
        }

        private static func writable(_ server: TestServer) async throws -> String? {
            let text = try await Wire.ask(server.adminPort, Sent.get("/metrics")).body
            let line = text.split(separator: "\n").first { $0.hasPrefix("legacy_receipts_store_writable ") }
            return line.map(String.init)
        }

        /// Another program holds the store for a bulk load, the disk is full, or it is a standby.
        @Test(arguments: [TransactionStoreError.Code.busy, .notWritable])
        func aStoreThatCanOnlyBeReadIsReady(code: TransactionStoreError.Code) async throws {
            let store = PuppetStore()
            store.become(.refusesWrites(code))
            try await TestServer.run(store: store) { server in
                let status = try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus
                #expect(status == 0)
                // The trial of a busy machine may take longer than the server waits for it.
                try await eventually("it is ready") { try await Self.ready(server) == 200 }
                let writable = try await Self.writable(server)
                #expect(writable == "legacy_receipts_store_writable 0")
                store.become(.works)
                try await eventually("it can be written to") {
                    try await Self.writable(server) == "legacy_receipts_store_writable 1"
                }
            }
        }

        /// Answers that never ask the store need none either.
        @Test(arguments: [
            (EndpointConfiguration.StoreFailure.receiptOnly, Freshness.Source.store), (.unavailable, .local),
        ])
        func anEndpointThatAnswersWithoutItsStoreIsReadyWithoutIt(
            whenStoreFails: EndpointConfiguration.StoreFailure, source: Freshness.Source
        ) async throws {
            let store = PuppetStore()
            store.become(.fails(.unavailable))
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.whenStoreFails = whenStoreFails
                $0.endpoint.freshness.source = source
            }
            try await TestServer.run(configuration, store: store) { server in
                let answer = try await Wire.ask(server.port, Sent.post(Sent.body()))
                #expect(answer.verifyStatus == 0)
                let ready = try await Self.ready(server)
                #expect(ready == 200)
                let writable = try await Self.writable(server)
                #expect(writable == "legacy_receipts_store_writable 0")
            }
        }

        @Test func oneAppThatNeedsTheStoreIsEnoughToBeUnready() async throws {
            let store = PuppetStore()
            store.become(.fails(.unavailable))
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.freshness.source = .local
                $0.endpoint.apps = [AppConfiguration(bundleId: Sent.bundleId, freshness: Freshness(source: .store))]
            }
            try await TestServer.run(configuration, store: store) { server in
                let status = try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus
                #expect(status == 21005)
                let ready = try await Self.ready(server)
                #expect(ready == 503)
            }
        }

        @Test func withoutAStoreReadinessOmitsTheStore() async throws {
            try await TestServer.run { server in
                let ready = try await Self.ready(server)
                #expect(ready == 200)
                let writable = try await Self.writable(server)
                #expect(writable == nil)
            }
        }
    }
}
