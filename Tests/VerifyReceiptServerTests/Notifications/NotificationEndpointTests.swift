import AppStoreModels
import Foundation
import ReceiptForge
import SQLiteTransactionStore
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    @Suite(.serialized) struct Notifications {
        static func configuration(
            _ change: (inout VerifyReceiptServerConfiguration) -> Void = { _ in }
        ) -> VerifyReceiptServerConfiguration {
            .testing {
                $0.signedDataTrust = Signed.trust
                $0.endpoint.apps = [AppConfiguration(bundleId: Signed.bundleId, appleId: Signed.appleId)]
                $0.endpoint.unknownBundleIds = .refused
                change(&$0)
            }
        }

        static func draft(_ type: String = "DID_RENEW", _ subtype: String? = nil) throws -> NotificationDraft {
            try NotificationDraft(type, subtype, Subscription("530001234567000"))
        }

        static func post(_ draft: NotificationDraft, path: String = "/notifications/v2") throws -> String {
            Sent.post("{\"signedPayload\":\"\(try draft.signed())\"}", path: path)
        }

        /// What a notification about a subscription gets.
        @inline(never)
        static func status(_ server: TestServer) async throws -> Int {
            try await Wire.ask(server.port, post(draft())).status
        }

        static func withStore<Value: Sendable>(
            _ body: @Sendable (SQLiteTransactionStore) async throws -> Value
        ) async throws -> Value {
            let folder = try TemporaryFolder()
            let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
            let value = try await body(store)
            try await store.close()
            return value
        }

        @Test func notificationIsStoredAndCountedOnce() async throws {
            try await Self.withStore { store in
                try await TestServer.run(Self.configuration(), store: store) { server in
                    let draft = try Self.draft()
                    for _ in 0..<3 {
                        let answer = try await Wire.ask(server.port, Self.post(draft))
                        #expect(answer.status == 200 && answer.body == "{}")
                        #expect(answer.headers["content-type"] == "application/json")
                    }
                    #expect(try await store.hasProcessed(notificationUUID: draft.uuid.lowercased()))
                    #expect(try await store.counts().notifications == 1)
                    let metrics = server.server.metricsText
                    let name = "legacy_receipts_notifications_total"
                    #expect(metrics.contains(#"\#(name){version="v2",type="DID_RENEW",outcome="accepted"} 1"#))
                    #expect(metrics.contains(#"\#(name){version="v2",type="DID_RENEW",outcome="repeated"} 2"#))
                    #expect(metrics.contains("legacy_receipts_notification_duration_seconds_count 3\n"))
                    #expect(metrics.contains("legacy_receipts_notification_verification_duration_seconds_count 3\n"))
                }
            }
        }

        @Test func answerWaitsForTheStore() async throws {
            let store = PuppetStore()
            store.become(.waits)
            try await TestServer.run(Self.configuration(), store: store) { server in
                let wire = try Wire(port: server.port)
                wire.send(try Self.post(Self.draft()))
                try await eventually("the store is called") { store.calls == 1 }
                #expect(!wire.hasSomething)
                store.become(.works)
                let box = UncheckedBox(wire)
                #expect(try await Wire.run { try box.value.readResponse().status } == 200)
            }
        }

        @Test(arguments: [TransactionStoreError.Code.unavailable, .busy, .notWritable, .corrupt, .closed, .engine])
        func aFailingStoreRequestsARetry(code: TransactionStoreError.Code) async throws {
            let store = PuppetStore()
            try await TestServer.run(Self.configuration(), store: store) { server in
                store.become(.fails(code))
                let request = try Self.post(Self.draft())
                let answer = try await Wire.ask(server.port, request)
                #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
                store.become(.works)
                #expect(try await Wire.ask(server.port, request).status == 200)
            }
        }

        @Test func aFullQueueRequestsARetry() async throws {
            let store = PuppetStore()
            store.become(.waits)
            let configuration = Self.configuration {
                $0.limits.concurrentRequests = 1
                $0.limits.waitingRequests = 0
                $0.limits.suspendedRequests = 0
            }
            try await TestServer.run(configuration, store: store) { server in
                let wire = try Wire(port: server.port)
                wire.send(try Self.post(Self.draft()))
                try await eventually("the store is called") { store.calls == 1 }
                let answer = try await Wire.ask(server.port, Self.post(Self.draft()))
                #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
                store.become(.works)
                let box = UncheckedBox(wire)
                #expect(try await Wire.run { try box.value.readResponse().status } == 200)
            }
        }

        @Test(arguments: [
            "", "not JSON", "[]", "{}", "{\"signedPayload\":null}", "{\"signedPayload\":1}",
            "{\"signedPayload\":\"\"}", "{\"signedPayload\":\"a.b\"}", "{\"signedPayload\":\"a.b.c.d\"}",
            "{\"signedPayload\":\"a.b.c\"", String(repeating: "[", count: 100_000),
        ])
        func bodyThatIsNoNotificationGets400(body: String) async throws {
            try await TestServer.run(Self.configuration(), store: PuppetStore()) { server in
                let answer = try await Wire.ask(server.port, Sent.post(body, path: "/notifications/v2"))
                #expect(answer.status == 400)
                #expect(answer.headers["content-type"] == "application/problem+json")
            }
        }

        @Test func aForgedNotificationGets403AndIsNotStored() async throws {
            let jws = try Self.draft().signed()
            let parts = jws.split(separator: ".").map(String.init)
            let other = try Self.draft("REFUND").signed().split(separator: ".").map(String.init)
            var xcode = try Self.draft()
            xcode.content.data?.environment = .xcode
            var nameless = try Self.draft()
            nameless.content.data = nil
            var foreign = try Self.draft()
            foreign.content.data?.appAppleId = 99
            let payloads = try [
                "a.b.c", "e30.e30.e30", [parts[0], other[1], parts[2]].joined(separator: "."), xcode.signed(),
                nameless.signed(), foreign.signed(),
            ]
            let store = PuppetStore()
            try await TestServer.run(Self.configuration(), store: store) { server in
                for payload in payloads {
                    let body = "{\"signedPayload\":\"\(payload)\"}"
                    let answer = try await Wire.ask(server.port, Sent.post(body, path: "/notifications/v2"))
                    #expect(answer.status == 403)
                }
            }
            #expect(store.calls == 0)
        }

        /// The App Store may not send a notification again after such a status (Reference.md S5.4).
        @Test("A status from 400 to 499 answers only what must never be delivered again")
        func statusesThatEndADelivery() async throws {
            var foreign = try Self.draft()
            foreign.content.data?.appAppleId = 99
            // Apple signed it, and a later version may be able to read it.
            var unreadable = try Self.draft()
            unreadable.content.data?.signedTransactionInfo = try TestSignedDataAuthority.standard.sign(
                payload: Array(
                    #"{"transactionId":"1","bundleId":"\#(Signed.bundleId)","environment":"Production","quantity":"many"}"#
                        .utf8))
            let store = PuppetStore()
            try await TestServer.run(Self.configuration(), store: store) { [foreign, unreadable] server in
                for body in ["{}", #"{"signedPayload":"a.b.c"}"#] {
                    let answer = try await Wire.ask(server.port, Sent.post(body, path: "/notifications/v2"))
                    #expect((400...499).contains(answer.status))
                }
                let refused = try await Wire.ask(server.port, Self.post(foreign)).status
                #expect((400...499).contains(refused))
                let again = try await Wire.ask(server.port, Self.post(unreadable)).status
                #expect(again == 503)
                for code in [TransactionStoreError.Code.unavailable, .busy, .notWritable, .corrupt, .closed, .engine] {
                    store.become(.fails(code))
                    let failed = try await Self.status(server)
                    #expect((500...599).contains(failed))
                }
            }
        }

        @Test func aSignatureWithoutTrustAnchorGets403() async throws {
            let store = PuppetStore()
            let configuration = Self.configuration { $0.signedDataTrust = .apple }
            try await TestServer.run(configuration, store: store) { server in
                let status = try await Self.status(server)
                #expect(status == 403)
            }
            #expect(store.calls == 0)
        }

        /// Strangers could fill the store, and the delivery ledger, with genuine notifications of their own apps.
        @Test(arguments: [EndpointConfiguration.UnknownBundleIds.refused, .accepted])
        func whereAppsAreConfiguredOnlyTheirsAreTakenIn(rule: EndpointConfiguration.UnknownBundleIds) async throws {
            try await Self.withStore { store in
                let configuration = Self.configuration {
                    $0.endpoint.apps = [AppConfiguration(bundleId: "com.example.other")]
                    $0.endpoint.unknownBundleIds = rule
                }
                try await TestServer.run(configuration, store: store) { server in
                    let found = try await Self.status(server)
                    #expect(found == 403)
                }
                #expect(try await store.changes(after: 0, limit: 10).isEmpty)
                #expect(try await store.counts().notifications == 0)
            }
        }

        @Test func whereNoAppIsConfiguredEveryAppsAreTakenInUnlessRefused() async throws {
            for (rule, status) in [(EndpointConfiguration.UnknownBundleIds.refused, 403), (.accepted, 200)] {
                let configuration = Self.configuration {
                    $0.endpoint.apps = []
                    $0.endpoint.unknownBundleIds = rule
                }
                try await TestServer.run(configuration, store: PuppetStore()) { server in
                    let found = try await Self.status(server)
                    #expect(found == status)
                }
            }
        }

        @Test(arguments: ["TEST", "FROM_THE_FUTURE"])
        func aNotificationWithoutCustomerIsKept(type: String) async throws {
            try await Self.withStore { store in
                try await TestServer.run(Self.configuration(), store: store) { server in
                    var draft = NotificationDraft(bare: type, at: 1_717_243_200_000)
                    draft.content.data = NotificationData {
                        $0.environment = .sandbox
                        $0.bundleId = Signed.bundleId
                    }
                    let answer = try await Wire.ask(server.port, Self.post(draft))
                    #expect(answer.status == 200)
                    let isKept = try await store.hasProcessed(notificationUUID: draft.uuid.lowercased())
                    #expect(isKept)
                    let label = type == "TEST" ? "TEST" : "other"
                    #expect(server.server.metricsText.contains(#"version="v2",type="\#(label)",outcome="accepted"} 1"#))
                }
            }
        }
    }
}
