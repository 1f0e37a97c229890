import Foundation
import TestSupport
import Testing
import VerifyReceiptServer

extension ServerTests {
    /// HTTP/2 connections whose clients acknowledge nothing.
    @Suite(.serialized) struct IdleHTTP2 {
        @Test func silenceAfterTLSIsCut() async throws {
            try await expectCut("headers", headers: .milliseconds(300)) { _ in }
        }

        @Test func silenceAfterThePrefaceIsCut() async throws {
            try await expectCut("headers", headers: .milliseconds(300)) { client in
                try await client.send(SilentHTTP2Client.preface)
            }
        }

        /// Hummingbird's GOAWAY and PING stay without an answer.
        @Test func silenceAfterAnAnswerIsCut() async throws {
            try await expectCut("idle", idle: .milliseconds(300)) { client in
                try await client.send(SilentHTTP2Client.preface + SilentHTTP2Client.request("{}"))
                try await eventually("it is answered") { client.hasAnswer }
            }
        }

        /// PING of the client is no request.
        @Test func pingsDoNotKeepAConnection() async throws {
            // Who ends it is open: our timer, or the framework, which takes so many of them for an attack.
            try await expectCut(nil, idle: .milliseconds(300)) { client in
                try await client.send(SilentHTTP2Client.preface + SilentHTTP2Client.request("{}"))
                try await eventually("it is answered") { client.hasAnswer }
                let ping = SilentHTTP2Client.frame(type: 6, Array(repeating: 1, count: 8))
                while client.isOpen {
                    try? await client.send(ping)
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
        }

        @Test func aRequestThatIsAnsweredSlowlyKeepsItsConnection() async throws {
            let files = try TestCertificate()
            let configuration = Self.configuration(files) {
                $0.headers = .milliseconds(300)
                $0.idle = .milliseconds(300)
            }
            // A busy machine may cut the client before its request has come, which says nothing.
            try await eventually("a request comes in time") {
                let store = PuppetStore()
                store.become(.waits)
                return try await TestServer.run(configuration, store: store) { server in
                    let busy = try await SilentHTTP2Client(port: server.port, trusting: files)
                    let request = SilentHTTP2Client.preface + SilentHTTP2Client.request(Sent.body())
                    guard (try? await busy.send(request)) != nil else { return false }
                    try await eventually("the request works, or is late") { store.calls > 0 || !busy.isOpen }
                    guard store.calls > 0 else { return false }
                    // One that came later is cut; the first is still there.
                    let idle = try await SilentHTTP2Client(port: server.port, trusting: files)
                    try await idle.waitForEnd()
                    #expect(busy.isOpen)
                    store.become(.works)
                    try await eventually("it is answered") { busy.hasAnswer }
                    try await busy.waitForEnd()
                    return true
                }
            }
        }

        /// While the server stops, a client that does not acknowledge is not waited for.
        @Test func stoppingDoesNotWaitForAnAcknowledgement() async throws {
            let files = try TestCertificate()
            let configuration = Self.configuration(files) {
                $0.headers = .seconds(3_600)
                $0.idle = .seconds(1)
                $0.shutdown = .seconds(3_600)
            }
            let client = try await TestServer.run(configuration) { server in
                let client = try await SilentHTTP2Client(port: server.port, trusting: files)
                try await client.send(SilentHTTP2Client.preface)
                try await eventually("the server speaks") { !client.received.isEmpty }
                return client
            }
            // The server has returned.
            try await client.waitForEnd()
        }

        private static func configuration(
            _ files: TestCertificate, _ change: (inout VerifyReceiptServerConfiguration.Timeouts) -> Void
        ) -> VerifyReceiptServerConfiguration {
            .testing {
                $0.listeners[0].tls = files.tls
                change(&$0.timeouts)
            }
        }

        private func expectCut(
            _ phase: String?, headers: Duration = .seconds(3_600), idle: Duration = .seconds(3_600),
            _ client: @Sendable (SilentHTTP2Client) async throws -> Void
        ) async throws {
            let files = try TestCertificate()
            let configuration = Self.configuration(files) {
                $0.headers = headers
                $0.idle = idle
            }
            // A busy machine may cut a client before it has sent what it wanted to, which says nothing.
            try await eventually("what a client sends comes in time") {
                try await TestServer.run(configuration) { server in
                    let connection = try await SilentHTTP2Client(port: server.port, trusting: files)
                    guard (try? await client(connection)) != nil else { return false }
                    try await connection.waitForEnd()
                    try await eventually("its place is free") { server.metric("connections") == 0 }
                    guard let phase else { return true }
                    #expect(
                        server.server.metricsText.contains("legacy_receipts_timeouts_total{phase=\"\(phase)\"} 1\n"))
                    return true
                }
            }
        }
    }
}
