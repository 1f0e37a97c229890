import Foundation
import TestSupport
import Testing
import VerifyReceiptServer

extension ServerTests {
    /// The timeouts are shortened; the tests wait for what happens, never for a time.
    @Suite(.serialized) struct SlowClients {
        /// Bytes that drip in do not extend the time.
        @Test func drippingHeadersAreCut() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.headers = .milliseconds(400) }
            try await expectCut("headers", configuration, answers: "HTTP/1.1 408 ") { wire in
                drip("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nX-Long: " + String(repeating: "x", count: 4_000), wire)
            }
        }

        @Test func silenceAfterConnectingIsCut() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.headers = .milliseconds(200) }
            try await expectCut("headers", configuration) { _ in }
        }

        @Test func drippingBodyIsCut() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.body = .milliseconds(400) }
            try await expectCut("body", configuration, answers: "HTTP/1.1 408 ") { wire in
                wire.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
                drip(String(repeating: " ", count: 4_000), wire)
            }
        }

        @Test func idleConnectionIsCut() async throws {
            // Long enough for the first byte to arrive on a busy machine.
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.idle = .seconds(1) }
            try await expectCut("idle", configuration, answers: "21002") { wire in wire.send(Sent.post("{}")) }
        }

        /// RFC 9110, 15.5.9. A client that has sent nothing of a request gets no answer to it.
        @Test func timeoutsAreAnsweredWith408AndClose() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.timeouts.headers = .milliseconds(300)
                $0.timeouts.body = .milliseconds(300)
                $0.timeouts.idle = .milliseconds(300)
            }
            try await TestServer.run(configuration) { server in
                let head = "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\n"
                for begun in [
                    "POST /verif", head, head + "Content-Length: 10\r\n\r\n{",
                    head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{",
                ] {
                    let text = try await late(server.port) { wire in
                        wire.send(begun)
                        return try wire.readToEnd()
                    }
                    let (answer, _) = try unwrap(HTTPText.first(in: Array(text.utf8)))
                    #expect(answer.status == 408)
                    #expect(answer.headers["connection"] == "close")
                    #expect(answer.headers["content-type"] == "application/problem+json")
                }
                // The second request of a connection is late.
                let text = try await late(server.port) { wire in
                    wire.send(Sent.post("{}"))
                    #expect(try wire.readResponse().verifyStatus == 21002)
                    wire.send("POST /verif")
                    return try wire.readToEnd()
                }
                #expect(text.hasPrefix("HTTP/1.1 408 "))
            }
        }

        /// The answer to a client that is late. On a busy machine the server may close the connection before the request
        /// arrives; such a round says nothing.
        @inline(never)
        private func late(
            _ port: Int, _ client: @escaping @Sendable (Wire) throws -> String
        ) async throws -> String {
            var text = ""
            try await eventually("something of a request comes in time") {
                text = (try? await Wire.run { try client(try Wire(port: port)) }) ?? ""
                return !text.isEmpty
            }
            return text
        }

        @Test func silentTLSHandshakeIsCut() async throws {
            let files = try TestCertificate()
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.timeouts.handshake = .milliseconds(200)
                $0.listeners[0].tls = files.tls
            }
            try await expectCut("handshake", configuration) { _ in }
        }

        @Test func clientThatNeverReadsIsCut() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.write = .milliseconds(300) }
            try await TestServer.run(configuration) { server in
                try await Wire.run {
                    let wire = try Wire(port: server.port, receiveBuffer: 4_096)
                    // Answers pile up until no buffer of the system takes more, and the server ends the connection.
                    let requests = String(repeating: Sent.post(Sent.body()), count: 40)
                    while wire.send(requests, timeout: Wire.timeout) {}
                }
                try await eventually("it is cut") { server.metric("connections") == 0 }
                #expect(server.server.metricsText.contains("phase=\"write\""))
            }
        }

        /// A client that sends and then closes its half is still answered (`curl` with a pipe, old Java clients).
        @Test func halfClosedClientIsAnswered() async throws {
            try await TestServer.run { server in
                let text = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send(Sent.post(Sent.body()))
                    wire.halfClose()
                    return try wire.readToEnd()
                }
                #expect(text.contains("\"status\":0"))
            }
        }

        @Test(arguments: [
            "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"receipt", "POST /verify",
            "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{}", "",
        ])
        func halfClosedInTheMiddleEndsTheConnection(sent: String) async throws {
            try await TestServer.run { server in
                let text = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send(sent)
                    wire.halfClose()
                    return try wire.readToEnd()
                }
                #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 400"))
                try await eventually("it is closed") { server.metric("connections") == 0 }
                let next = try await Wire.ask(server.port, Sent.post(Sent.body()))
                #expect(next.verifyStatus == 0)
            }
        }

        @Test func manySlowClientsDoNotStopOthers() async throws {
            try await TestServer.run { server in
                let answer = try await Wire.run {
                    let slow = try (0..<300).map { _ in try Wire(port: server.port) }
                    for (index, wire) in slow.enumerated() {
                        wire.send(index % 2 == 0 ? "POST /verify" : Sent.post(Sent.body()).dropLast(10).description)
                    }
                    let wire = try Wire(port: server.port)
                    wire.send(Sent.post(Sent.body()))
                    let answer = try wire.readResponse()
                    for wire in slow { wire.close() }
                    return answer
                }
                #expect(answer.verifyStatus == 0)
            }
        }

        private func expectCut(
            _ phase: String, _ configuration: VerifyReceiptServerConfiguration, answers: String? = nil,
            _ client: @escaping @Sendable (Wire) -> Void
        ) async throws {
            try await eventually("something of a request comes in time") {
                try await TestServer.run(configuration) { server in
                    let text = try await Wire.run {
                        let wire = try Wire(port: server.port)
                        client(wire)
                        return try wire.readToEnd()
                    }
                    // A busy machine may cut a client before anything of it has come, which says nothing of its answer.
                    if answers != nil, text.isEmpty { return false }
                    if let answers { #expect(text.contains(answers)) } else { #expect(text.isEmpty) }
                    #expect(
                        server.server.metricsText.contains("legacy_receipts_timeouts_total{phase=\"\(phase)\"} 1\n"))
                    try await eventually("it is closed") { server.metric("connections") == 0 }
                    return true
                }
            }
        }
    }
}

/// One byte after the other until the server answers or closes the connection.
private func drip(_ text: String, _ wire: Wire) {
    for byte in text.utf8 {
        guard wire.send([byte]), !wire.hasSomething else { return }
        usleep(10_000)
    }
}
