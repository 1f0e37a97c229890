import Foundation
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    @Suite(.serialized) struct Limits {
        static let limit = 3 << 20

        @Test func declaredLengthAboveTheLimitGets413BeforeTheBody() async throws {
            try await TestServer.run { server in
                // Not one byte of the body is sent.
                let answer = try await Wire.ask(
                    server.port,
                    "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: \(Self.limit + 1)\r\n\r\n")
                #expect(answer.status == 413)
                #expect(answer.headers["connection"] == "close")
                #expect(answer.headers["content-type"] == "application/problem+json")
            }
        }

        @Test func clientThatSendsFirstAndReadsAfterwardsSees413() async throws {
            try await TestServer.run { server in
                let answer = try await Wire.ask(
                    server.port, Sent.post(String(repeating: " ", count: Self.limit + (4 << 20))))
                #expect(answer.status == 413)
            }
        }

        @Test func chunkedBodyAboveTheLimitGets413() async throws {
            try await TestServer.run { server in
                let answer = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                    let chunk = "10000\r\n" + String(repeating: " ", count: 0x1_0000) + "\r\n"
                    for _ in 0...48 { wire.send(chunk) }
                    return try wire.readResponse()
                }
                #expect(answer.status == 413)
            }
        }

        /// The limit counts what has come together with the piece that comes.
        @Test(arguments: [(0, 200), (1, 413), (2, 413)])
        func chunkedBodyThatPassesTheLimitWithItsLastPieceGets413(excess: Int, status: Int) async throws {
            try await TestServer.run { server in
                let answer = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                    let body = Array(Sent.body().utf8)
                    let bytes = body + [UInt8](repeating: UInt8(ascii: " "), count: Self.limit - body.count)
                    for start in stride(from: 0, to: bytes.count, by: 0x1_0000) {
                        let piece = bytes[start..<min(start + 0x1_0000, bytes.count)]
                        wire.send(Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Array("\r\n".utf8))
                    }
                    for _ in 0..<excess { wire.send("1\r\n \r\n") }
                    wire.send("0\r\n\r\n")
                    return try wire.readResponse()
                }
                #expect(answer.status == status)
                if status == 200 { #expect(answer.verifyStatus == 0) }
            }
        }

        @Test func bodyOfExactlyTheLimitIsRead() async throws {
            try await TestServer.run { server in
                let receipt = Sent.body()
                let body = receipt + String(repeating: " ", count: Self.limit - receipt.utf8.count)
                let answer = try await Wire.ask(server.port, Sent.post(body))
                #expect(answer.status == 200)
                #expect(answer.verifyStatus == 0)
            }
        }

        @Test func expectContinueIsAnsweredBeforeTheBody() async throws {
            try await TestServer.run { server in
                try await Wire.run {
                    let wire = try Wire(port: server.port)
                    let body = Sent.body()
                    wire.send(
                        "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                            + "Content-Length: \(body.utf8.count)\r\n\r\n")
                    // The interim response; the final one cannot come before the body.
                    try wire.waitFor("HTTP/1.1 100")
                    wire.send(body)
                    #expect(try wire.readResponse().verifyStatus == 0)
                }
                let refused = try await Wire.ask(
                    server.port,
                    "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\n"
                )
                #expect(refused.status == 413)
            }
        }

        @Test func headersAboveTheLimitAreRefused() async throws {
            try await TestServer.run { server in
                let long = try await Wire.ask(
                    server.port, Sent.post("{}", headers: ["X-Long: " + String(repeating: "x", count: 40_000)]))
                #expect(long.status == 400)
                let many = try await Wire.ask(
                    server.port, Sent.post("{}", headers: (0..<200).map { "X-\($0): y" }))
                #expect(many.status == 400)
            }
        }

        @Test func memoryForBodiesIsBounded() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.limits.bufferedBytes = 1 << 20 }
            try await TestServer.run(configuration) { server in
                let refused = try await Wire.ask(server.port, Sent.post(String(repeating: " ", count: 2 << 20)))
                #expect(refused.status == 503)
                #expect(refused.verifyStatus == 21005)
                // What was taken was given back.
                let served = try await Wire.ask(server.port, Sent.post(Sent.body()))
                #expect(served.verifyStatus == 0)
                try await eventually("no byte is held") {
                    server.server.metricsText.contains("legacy_receipts_buffered_bytes 0\n")
                }
            }
        }

        @Test func fullQueueGets503With21005() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.limits.concurrentRequests = 1
                $0.limits.waitingRequests = 1
                $0.limits.suspendedRequests = 0
            }
            let store = PuppetStore()
            store.become(.waits)
            try await TestServer.run(configuration, store: store) { server in
                async let first = Wire.ask(server.port, Sent.post(Sent.body()))
                try await eventually("the first works") { store.calls > 0 }
                async let second = Wire.ask(server.port, Sent.post(Sent.body()))
                try await eventually("the second waits") { server.metric("requests_waiting") == 1 }
                let third = try await Wire.ask(server.port, Sent.post(Sent.body()))
                #expect(third.status == 503)
                #expect(third.body == #"{"status":21005}"#)
                #expect(third.headers["retry-after"] != nil)
                #expect(third.headers["content-type"] == "application/json")
                store.become(.works)
                #expect(try await first.verifyStatus == 0)
                #expect(try await second.verifyStatus == 0)
                let later = try await Wire.ask(server.port, Sent.post(Sent.body()))
                #expect(later.verifyStatus == 0)
            }
        }

        @Test func workOfADisconnectedClientIsDropped() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.limits.concurrentRequests = 1
                $0.limits.waitingRequests = 8
                $0.limits.suspendedRequests = 0
                // A write that is given up is not tried again at once, so that requests would differ in what they cost.
                $0.endpoint.learnsFromReceipts = false
            }
            let store = PuppetStore()
            store.become(.waits)
            try await TestServer.run(configuration, store: store) { server in
                async let first = Wire.ask(server.port, Sent.post(Sent.body()))
                try await eventually("the first works") { store.calls > 0 }
                try await Wire.run {
                    let wires = try (0..<4).map { _ in try Wire(port: server.port) }
                    for wire in wires { wire.send(Sent.post(Sent.body())) }
                    // Their requests must have been read before they go.
                    let deadline = ContinuousClock.now + .seconds(120)
                    while server.metric("requests_waiting") != 4, .now < deadline { usleep(10_000) }
                    for wire in wires { wire.reset() }
                }
                try await eventually("the connections are gone") { server.metric("connections") == 1 }
                store.become(.works)
                #expect(try await first.verifyStatus == 0)
                try await eventually("all are dropped") {
                    server.server.metricsText.contains("legacy_receipts_requests_abandoned_total 4\n")
                }
                let calls = store.calls
                _ = try await Wire.ask(server.port, Sent.post(Sent.body()))
                // What one request costs is what the four cost together: nothing.
                #expect(calls <= store.calls - calls)
            }
        }

        /// In a process of its own (tools/test.sh): with the other tests beside it, it would need more files than many systems
        /// allow.
        @Test(.enabled(if: ProcessInfo.processInfo.environment["LEGACY_RECEIPTS_MANY_CONNECTIONS"] != nil))
        func aThousandConnectionsAreServed() async throws {
            try await TestServer.run { server in
                let statuses = try await Wire.run {
                    let wires = try (0..<1_000).map { _ in try Wire(port: server.port) }
                    let request = Sent.post(Sent.body())
                    for wire in wires { wire.send(request) }
                    return try wires.map { try $0.readResponse().verifyStatus }
                }
                #expect(statuses.count == 1_000)
                #expect(statuses.allSatisfy { $0 == 0 })
                try await eventually("all are closed") { server.metric("connections") == 0 }
            }
        }
    }
}

extension Wire {
    /// Reads until the text has come.
    func waitFor(_ text: String) throws {
        while !peek().contains(text) { try more() }
    }
}
