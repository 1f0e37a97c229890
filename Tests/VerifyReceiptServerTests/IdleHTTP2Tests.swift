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
            let store = PuppetStore()
            store.become(.waits)
            let files = try TestCertificate()
            let configuration = Self.configuration(files) {
                $0.headers = .milliseconds(300)
                $0.idle = .milliseconds(300)
            }
            try await TestServer.run(configuration, store: store) { server in
                let busy = try await SilentHTTP2Client(port: server.port, trusting: files)
                try await busy.send(SilentHTTP2Client.preface + SilentHTTP2Client.request(Sent.body()))
                try await eventually("the request works") { store.calls > 0 }
                // One that came later is cut; the first is still there.
                let idle = try await SilentHTTP2Client(port: server.port, trusting: files)
                try await idle.waitForEnd()
                #expect(busy.isOpen)
                store.become(.works)
                try await eventually("it is answered") { busy.hasAnswer }
                try await busy.waitForEnd()
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
            try await TestServer.run(configuration) { server in
                let connection = try await SilentHTTP2Client(port: server.port, trusting: files)
                try await client(connection)
                try await connection.waitForEnd()
                try await eventually("its place is free") { server.metric("connections") == 0 }
                guard let phase else { return }
                #expect(server.server.metricsText.contains("legacy_receipts_timeouts_total{phase=\"\(phase)\"} 1\n"))
            }
        }
    }
}
