import Foundation
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    /// A store that takes calls and does not answer.
    @Suite(.serialized) struct StoreHang {
        /// A receipt of an app that needs no store.
        static let localReceipt: String =
            (try? forgeReceipts(count: 1, from: 1)[0]).map { Data($0).base64EncodedString() } ?? ""

        static func configuration(
            _ change: (inout VerifyReceiptServerConfiguration) -> Void = { _ in }
        ) -> VerifyReceiptServerConfiguration {
            .testing {
                $0.endpoint.apps = [
                    AppConfiguration(bundleId: Sent.bundleId),
                    AppConfiguration(bundleId: "com.example.bulk.app1", freshness: Freshness(source: .local)),
                ]
                $0.endpoint.learnsFromReceipts = false
                $0.timeouts.store = .milliseconds(700)
                change(&$0)
            }
        }

        static func ask(_ server: TestServer, _ receipt: String = Sent.receipt) async throws -> Int? {
            try await Wire.ask(server.port, Sent.post(Sent.body(receipt))).verifyStatus
        }

        static func ready(_ server: TestServer) async throws -> HTTPText {
            try await Wire.ask(server.adminPort, Sent.get("/readyz"))
        }

        @Test func aRequestThatWaitsForTheStoreKeepsNoPlace() async throws {
            let configuration = Self.configuration {
                $0.limits.concurrentRequests = 1
                $0.limits.waitingRequests = 1
                $0.timeouts.store = .seconds(60)
            }
            let store = PuppetStore()
            store.become(.waits)
            try await TestServer.run(configuration, store: store) { server in
                async let first = Self.ask(server)
                async let second = Self.ask(server)
                try await eventually("two wait for the store") { store.calls == 2 }
                for _ in 0..<5 { #expect(try await Self.ask(server, Self.localReceipt) == 0) }
                #expect(server.server.metricsText.contains("legacy_receipts_requests_suspended 2\n"))
                #expect(store.calls == 2)
                store.become(.works)
                #expect(try await first == 0)
                #expect(try await second == 0)
                try await eventually("nothing is in flight") {
                    let text = server.server.metricsText
                    return text.contains("legacy_receipts_requests_suspended 0\n")
                        && text.contains("legacy_receipts_requests_in_flight 0\n")
                }
            }
        }

        @Test func requestsThatNeedAHangingStoreFailAtTheDeadlineThenAtOnce() async throws {
            let store = PuppetStore()
            try await TestServer.run(Self.configuration(), store: store) { server in
                // A busy machine may take longer than the deadline.
                try await eventually("the store answers") { try await Self.ask(server) == 0 }
                store.become(.hangs)
                #expect(try await Self.ask(server) == 21005)
                let calls = store.calls
                for _ in 0..<40 {
                    #expect(try await Self.ask(server) == 21005)
                    #expect(try await Self.ask(server, Self.localReceipt) == 0)
                }
                #expect(store.calls - calls < 40)
                let readiness = try await Self.ready(server)
                #expect(readiness.status == 503 && readiness.body.contains("the store"))
                let metrics = try await Wire.ask(server.adminPort, Sent.get("/metrics")).body
                #expect(metrics.contains("legacy_receipts_store_reading_hangs 1\n"))
                #expect(metrics.contains("legacy_receipts_store_writable 0\n"))
                store.become(.works)
                try await eventually("the store is called again") { try await Self.ask(server) == 0 }
                try await eventually("it is ready again") { try await Self.ready(server).status == 200 }
                try await eventually("no call is left behind") {
                    server.server.metricsText.contains("legacy_receipts_store_abandoned_calls 0\n")
                }
                #expect(server.log.text.contains("the store does not answer in time"))
                #expect(server.log.text.contains("the store answers again"))
            }
        }

        @Test func receiptsAreAnsweredWhileTheStoreHangsAndReadinessReportsIt() async throws {
            let configuration = Self.configuration { $0.endpoint.whenStoreFails = .receiptOnly }
            let store = PuppetStore()
            try await TestServer.run(configuration, store: store) { server in
                try await eventually("the store is found to work") { try await Self.ready(server).body == "ok\n" }
                store.become(.hangs)
                for _ in 0..<20 { #expect(try await Self.ask(server) == 0) }
                try await eventually("the log states that the store does not answer") {
                    let readiness = try await Self.ready(server)
                    #expect(readiness.status == 200)
                    return readiness.body.hasPrefix("ok without the store: ")
                }
                store.become(.works)
                try await eventually("the store works") { try await Self.ready(server).body == "ok\n" }
            }
        }

        @Test func aNotificationGets503WhileTheStoreHangs() async throws {
            let store = PuppetStore()
            let configuration = Notifications.configuration { $0.timeouts.store = .milliseconds(700) }
            try await TestServer.run(configuration, store: store) { server in
                store.become(.hangs)
                for _ in 0..<20 { #expect(try await Notifications.status(server) == 503) }
                store.become(.works)
                try await eventually("it is taken in") { try await Notifications.status(server) == 200 }
            }
        }

        @Test(arguments: [PuppetStore.Mood.fails(.unavailable), .hangs])
        func anUnusableStoreIsReportedAtStart(mood: PuppetStore.Mood) async throws {
            let store = PuppetStore()
            store.become(mood)
            try await TestServer.run(Self.configuration(), store: store) { server in
                try await eventually("it is logged") {
                    server.log.text.contains(
                        "the store cannot be used yet: requests that need it get status 21005 until it can")
                }
                store.become(.works)
            }
            let longTimeouts = Self.configuration { $0.timeouts.store = .seconds(60) }
            let working = try await TestServer.run(longTimeouts, store: PuppetStore()) { server in
                let status = try await Self.ask(server)
                #expect(status == 0)
                return server.log
            }
            #expect(!working.text.contains("cannot be used yet"))
        }
    }
}
