import AppStoreServer
import AppStoreSync
import Foundation
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    @Suite(.serialized) struct Endpoint {
        /// Reference.md V1.4: each is answered with HTTP 200 and this status, and the server continues.
        @Test(arguments: [
            ("", 21002), ("not JSON", 21002), ("receipt-data=Zm9vYmFy&password=x", 21002), ("[]", 21002),
            ("null", 21002), ("1", 21002), ("\"text\"", 21002), ("{}", 21002), ("{\"receipt-data\":null}", 21002),
            ("{\"receipt-data\":12}", 21002), ("{\"receipt-data\":{}}", 21002), ("{\"receipt-data\":\"\"}", 21002),
            ("{\"receipt-data\":\"Zm9vYmFy\"}", 21002), ("{\"receipt-data\":\"%%%\"}", 21002),
            ("{\"receipt-data\":\"Zm9v YmFy\"}", 21002), ("{\"receipt-data\":\"Zm9v\\r\\nYmFy\"}", 21002),
            ("{\"receipt-data\":\"\\ud800\"}", 21002), ("{\"receipt-data\":\"Zm9vYmFy\"", 21002),
            ("{\"receipt-data\":\"Zm9vYmFy\"}}", 21002), ("\u{FEFF}{\"receipt-data\":\"Zm9vYmFy\"}", 21002),
            (String(repeating: "[", count: 200_000), 21002),
            (String(repeating: "{\"a\":", count: 100_000), 21002),
        ])
        func malformedBodiesGet21002(body: String, status: Int) async throws {
            let answer = try await TestServer.run { server in
                let answer = try await Wire.ask(server.port, Sent.post(body))
                let next = try await Wire.ask(server.port, Sent.post(Sent.body()))
                #expect(next.verifyStatus == 0)
                return answer
            }
            #expect(answer.status == 200)
            #expect(answer.verifyStatus == status)
        }

        @Test func metricsCountRepeatedReceipts() async throws {
            try await TestServer.run { server in
                for _ in 0..<3 {
                    let answer = try await Wire.ask(server.port, Sent.post(Sent.body()))
                    #expect(answer.verifyStatus == 0)
                }
                let name = "legacy_receipts_receipt_cache_lookups_total"
                #expect(server.server.metricsText.contains("\(name){result=\"hit\"} 2\n"))
                #expect(server.server.metricsText.contains("\(name){result=\"miss\"} 1\n"))
            }
        }

        @Test func bodyThatIsNotUTF8Gets21002() async throws {
            let answer = try await TestServer.run { server in
                try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n")
                    wire.send([0xFF, 0xFE, 0x00, 0x7B, 0x80, 0x7D])
                    return try wire.readResponse()
                }
            }
            #expect(answer.verifyStatus == 21002)
        }

        @Test(arguments: [
            "application/json", "application/json; charset=utf-8", "application/x-www-form-urlencoded", "text/plain",
            "nonsense",
        ])
        func contentTypeOfTheRequestDoesNotMatter(type: String) async throws {
            let answer = try await TestServer.run { server in
                try await Wire.ask(server.port, Sent.post(Sent.body(), headers: ["Content-Type: \(type)"]))
            }
            #expect(answer.verifyStatus == 0)
        }

        @Test func genuineReceiptGets0() async throws {
            let answer = try await TestServer.run { server in
                try await Wire.ask(server.port, Sent.post(Sent.body()))
            }
            #expect(answer.verifyStatus == 0)
            #expect(answer.environment == "Production")
            #expect(answer.body.contains(Sent.bundleId))
        }

        @Test func storeThatFailsGets21005AndRecovers() async throws {
            let store = PuppetStore()
            try await TestServer.run(store: store) { server in
                #expect(try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 0)
                for code in [TransactionStoreError.Code.unavailable, .busy, .closed] {
                    store.become(.fails(code))
                    let answer = try await Wire.ask(server.port, Sent.post(Sent.body()))
                    #expect(answer.status == 200)
                    #expect([21005, 21009].contains(answer.verifyStatus ?? 0), "\(code)")
                }
                try await eventually("readiness tells it") {
                    try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 503
                }
                store.become(.works)
                #expect(try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 0)
                try await eventually("readiness is back") {
                    try await Wire.ask(server.adminPort, Sent.get("/readyz")).status == 200
                }
                #expect(server.server.metricsText.contains("legacy_receipts_store_failures_total 3\n"))
            }
        }

        @Test func storeThatFailsCanBeLeftOut() async throws {
            let store = PuppetStore()
            store.become(.fails(.unavailable))
            let configuration = VerifyReceiptServerConfiguration.testing { $0.endpoint.whenStoreFails = .receiptOnly }
            let answer = try await TestServer.run(configuration, store: store) { server in
                try await Wire.ask(server.port, Sent.post(Sent.body()))
            }
            #expect(answer.verifyStatus == 0)
        }

        @Test(arguments: [
            Int64.min, -62_135_596_800_001, -1, 0, 1, 2_147_483_648_000, 4_102_444_800_000, 253_402_300_800_000,
            Int64.max,
        ])
        func clockAtOddTimesStillAnswers(now: Int64) async throws {
            let clock = { @Sendable in now }
            let plain = try await TestServer.run(clock: clock) { server in
                try await Wire.ask(server.port, Sent.post(Sent.body()))
            }
            #expect(plain.status == 200)
            #expect(plain.verifyStatus == 0)
            try await Notifications.withStore { store in
                let outcomes = Mutex<Set<RefreshOutcome>>([])
                let refresher = AppStoreRefresher(
                    credentials: [try .testing()], verifier: try SignedDataVerifier(), store: store,
                    transport: EmptyAppStore(), timeout: .seconds(60), clock: clock,
                    onRefresh: { outcome in outcomes.withLock { _ = $0.insert(outcome) } })
                let configuration = VerifyReceiptServerConfiguration.testing {
                    $0.endpoint.freshness = Freshness(source: .appStore)
                    $0.endpoint.customerRefresher = refresher
                }
                let current = try await TestServer.run(configuration, store: store, clock: clock) { server in
                    try await Wire.ask(server.port, Sent.post(Sent.body()))
                }
                #expect(current.status == 200)
                #expect(current.verifyStatus == 0)
                #expect(outcomes.withLock { $0 } == [.nothingKnown])
            }
        }
    }
}

/// An App Store that knows no transaction.
private struct EmptyAppStore: APITransport {
    func send(_ request: APITransportRequest) -> APITransportResponse {
        let body = #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#
        return APITransportResponse(status: 404, body: Array(body.utf8))
    }
}
