import Foundation
import SQLiteTransactionStore
import TestSupport
import Testing
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    /// Bodies and answers that stay in memory because of their clients.
    @Suite(.serialized) struct Memory {
        /// A few clients that stop in the middle of a large body do not shut the others out.
        @Test func smallBodiesHaveAReserve() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.limits.bufferedBytes = 4 << 20 }
            try await TestServer.run(configuration) { server in
                let stalled = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: \(3 << 20)\r\n\r\n")
                    wire.send(String(repeating: " ", count: (3 << 20) - 64))
                    return UncheckedBox(wire)
                }
                try await eventually("it is in memory") { Self.buffered(server) == (3 << 20) - 64 }
                // A large one finds no room any more, a small one does.
                let large = try await Wire.ask(server.port, Sent.post(String(repeating: " ", count: 1 << 20)))
                #expect(large.status == 503 && large.verifyStatus == 21005)
                #expect(try await Wire.ask(server.port, Sent.post(Sent.body())).verifyStatus == 0)
                stalled.value.close()
                try await eventually("nothing is held") { Self.buffered(server) == 0 }
            }
        }

        @Test(arguments: ["Content-Length: 3145728", "Transfer-Encoding: chunked"])
        func largeBodyThatStopsIsCut(length: String) async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.bodyStep = .milliseconds(300) }
            try await TestServer.run(configuration) { server in
                let text = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\n\(length)\r\n\r\n")
                    if length.contains("chunked") { wire.send("40000\r\n") }
                    wire.send(String(repeating: " ", count: 0x3_0000))
                    return try wire.readToEnd()
                }
                #expect(text.hasPrefix("HTTP/1.1 408 "))
                #expect(server.server.metricsText.contains("phase=\"body_rate\"} 1\n"))
                try await eventually("nothing is held") { Self.buffered(server) == 0 }
            }
        }

        /// Small bodies have the whole time of `timeouts.body`.
        @Test func smallBodyMayPause() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.timeouts.bodyStep = .milliseconds(200) }
            try await TestServer.run(configuration) { server in
                let answer = try await Wire.run {
                    let body = Sent.body()
                    let paused = try Wire(port: server.port)
                    paused.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
                    paused.send(String(body.prefix(100)))
                    // A large one that began later is cut meanwhile.
                    let large = try Wire(port: server.port)
                    large.send("POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
                    #expect(try large.readResponse().status == 408)
                    paused.send(String(body.dropFirst(100)))
                    return try paused.readResponse()
                }
                #expect(answer.verifyStatus == 0)
            }
        }

        @Test func unreadAnswersAreCounted() async throws {
            try await TestServer.run { server in
                let wire = try await Wire.run {
                    let wire = try Wire(port: server.port, receiveBuffer: 4_096)
                    // Answers pile up until no buffer of the system takes more.
                    let requests = String(repeating: Sent.post(Sent.body()), count: 40)
                    for _ in 0..<200 where wire.send(requests, timeout: 3) == false { break }
                    return UncheckedBox(wire)
                }
                try await eventually("an answer is held") { Self.buffered(server) > 0 }
                wire.value.reset()
                try await eventually("nothing is held") { Self.buffered(server) == 0 }
            }
        }

        @Test func answerWithoutRoomIs503With21005() async throws {
            // The body fits in, the answer beside it does not.
            let size = Sent.body().utf8.count
            let configuration = VerifyReceiptServerConfiguration.testing { $0.limits.bufferedBytes = size + 1_000 }
            try await TestServer.run(configuration) { server in
                let answer = try await Wire.ask(server.port, Sent.post(Sent.body()))
                #expect(answer.status == 503 && answer.verifyStatus == 21005)
                #expect(answer.headers["retry-after"] != nil)
                try await eventually("nothing is held") { Self.buffered(server) == 0 }
                #expect(try await Wire.ask(server.port, Sent.post("{}")).verifyStatus == 21002)
            }
        }

        /// Two bytes of JSON become more than thirty of memory: what they become is reserved, not what was sent.
        @Test(arguments: ["[0,", "[],", #"{"":0},"#, #"[[0]],"#])
        func aNotificationReservesTheMemoryOfItsValues(piece: String) async throws {
            let folder = try TemporaryFolder()
            let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
            let element = piece == "[0," ? "0," : piece
            let count = (1 << 20) / element.utf8.count
            let body = #"{"a":["# + String(repeating: element, count: count) + #"0],"signedPayload":"x"}"#
            var configuration = VerifyReceiptServerConfiguration.testing { $0.limits.bufferedBytes = 8 << 20 }
            configuration.notifications.version1 = true
            configuration.endpoint.accountSecrets = [SharedSecret("0123456789abcdef0123456789abcdef")]
            try await TestServer.run(configuration, store: store) { server in
                for version in ["v1", "v2"] {
                    let answer = try await Wire.ask(server.port, Sent.post(body, path: "/notifications/\(version)"))
                    #expect(answer.status == 503, "\(version)")
                    #expect(answer.headers["retry-after"] != nil)
                }
                try await eventually("nothing is held") { Self.buffered(server) == 0 }
                // The same size costs little as one text.
                let text = #"{"signedPayload":""# + String(repeating: "a", count: 1 << 19) + #""}"#
                let answer = try await Wire.ask(server.port, Sent.post(text, path: "/notifications/v2"))
                #expect(answer.status == 400)
            }
            try await store.close()
        }

        /// What is inside of a JWS is read to learn which app it is of, before its signature is known to be good.
        @Test func aPayloadOfManyValuesIsRefusedUnread() async throws {
            let folder = try TemporaryFolder()
            let store = try SQLiteTransactionStore.open(path: folder.path + "/store.sqlite")
            let payload = "[" + String(repeating: "0,", count: 80_000) + "0]"
            let jws = "e30." + Data(payload.utf8).base64EncodedString().replacing("=", with: "") + ".e30"
            try await TestServer.run(store: store) { server in
                let answer = try await Wire.ask(
                    server.port, Sent.post(#"{"signedPayload":"\#(jws)"}"#, path: "/notifications/v2"))
                #expect(answer.status == 403)
                #expect(server.log.text.contains("more values than a notification has"))
            }
            try await store.close()
        }

        private static func buffered(_ server: TestServer) -> Int {
            let name = "legacy_receipts_buffered_bytes "
            let line = server.server.metricsText.split(separator: "\n").first { $0.hasPrefix(name) }
            return line.flatMap { Int($0.dropFirst(name.count)) } ?? -1
        }
    }
}
