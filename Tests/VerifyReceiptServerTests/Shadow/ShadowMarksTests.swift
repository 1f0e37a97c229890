import Foundation
import TestSupport
import Testing
import VerifyReceiptServer

extension ServerTests {
    /// Which requests shadow mode sends on.
    @Suite(.serialized) struct ShadowMarking {
        /// A header from any sender does not prevent a comparison.
        @Test(arguments: ["1", foreign, foreign + ", 1", Array(repeating: foreign, count: 40).joined(separator: ",")])
        func aClientCannotEscape(header: String) async throws {
            try await withShadowing { server, live in
                let request = Sent.post(Sent.body(), headers: ["\(ShadowForwarder.markHeader): \(header)"])
                #expect(try await Wire.ask(server.port, request).verifyStatus == 0)
                try await live.waitForRequests(1)
                let marks = try Self.marks(live.received[0])
                #expect(marks.count <= 16 && marks.last != foreign)
                // The next server gets the path of the request, and nothing else.
                #expect(marks.dropLast().allSatisfy { $0 == foreign })
            }
        }

        /// Two servers that shadow each other, or one that shadows itself, would ask for ever.
        @Test func aRequestWithOurOwnMarkIsNotForwardedAndCounted() async throws {
            try await withShadowing { server, live in
                _ = try await Wire.ask(server.port, Sent.post(Sent.body()))
                try await live.waitForRequests(1)
                let own = try #require(try Self.marks(live.received[0]).last)
                for marks in [own, "\(own), \(foreign)", "\(foreign),\(own)"] {
                    let request = Sent.post(Sent.body(), headers: ["\(ShadowForwarder.markHeader): \(marks)"])
                    #expect(try await Wire.ask(server.port, request).verifyStatus == 0)
                }
                try await eventually("they are counted") {
                    server.server.metricsText.contains("shadow_requests_total{state=\"returned\"} 3\n")
                }
                #expect(server.server.metricsText.contains("shadow_requests_total{state=\"submitted\"} 1\n"))
                #expect(live.received.count == 1)
            }
        }

        @Test func onlyAnswersOfTheEndpointAreCompared() async throws {
            try await withShadowing { server, live in
                _ = try await Wire.ask(server.port, Sent.get("/verifyReceipt"))
                _ = try await Wire.ask(server.port, Sent.post("{}", path: "/other"))
                _ = try await Wire.ask(server.port, Sent.post(Sent.body()))
                _ = try await Wire.ask(server.port, Sent.post("{}", path: "/sandbox/verifyReceipt"))
                try await live.waitForRequests(2)
                #expect(live.received.map(\.path).sorted() == ["/sandbox/verifyReceipt", "/verifyReceipt"])
                #expect(server.server.metricsText.contains("shadow_requests_total{state=\"submitted\"} 2\n"))
            }
        }

        @Test func everyServerHasAMarkOfItsOwn() async throws {
            var marks: Set<String> = []
            for _ in 0..<2 {
                let mark = try await withShadowing { server, live in
                    _ = try await Wire.ask(server.port, Sent.post(Sent.body()))
                    try await live.waitForRequests(1)
                    return try #require(try Self.marks(live.received[0]).last)
                }
                marks.insert(mark)
            }
            #expect(marks.count == 2)
        }

        private static func marks(_ request: LiveServiceStub.Received) throws -> [String] {
            let name = ShadowForwarder.markHeader.lowercased() + ":"
            let line = request.head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix(name) }
            return try #require(line).dropFirst(name.count).split(separator: ",").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }

        private func withShadowing<Result: Sendable>(
            _ body: @Sendable (TestServer, LiveServiceStub) async throws -> Result
        ) async throws -> Result {
            let live = try await LiveServiceStub(.answer(#"{"status":0}"#))
            let shadow = try ShadowConfiguration(base: live.url)
            let result = try await TestServer.run(.testing { $0.shadow = shadow }) { server in
                try await body(server, live)
            }
            try await live.stop()
            return result
        }
    }
}

/// The mark of another server.
private let foreign = String(repeating: "0f", count: 16)
