import Foundation
import Testing
import VerifyReceipt
import VerifyReceiptServer

/// Everything that opens sockets: the tests of a suite run one after the other, because several of them at once would need
/// more cores than a small machine has. All of them in a row would wait for minutes after the other tests have ended.
@Suite(.timeLimit(.minutes(10)))
struct ServerTests {}

extension ServerTests {
    @Suite(.serialized) struct Routing {
        /// A receipt of production shows the environment of the request: 0 at production, 21008 at sandbox.
        @Test(arguments: [
            ("/verifyReceipt", "localhost", 0), ("/verifyReceipt", "buy.itunes.apple.com", 0),
            ("/verifyReceipt", "sandbox.itunes.apple.com", 21008),
            ("/verifyReceipt", "SANDBOX.itunes.apple.com.:443", 21008),
            ("/WebObjects/MZFinance.woa/wa/verifyReceipt", "localhost", 0),
            ("/WebObjects/MZFinance.woa/wa/verifyReceipt", "sandbox.itunes.apple.com", 21008),
            ("/sandbox/verifyReceipt", "localhost", 21008), ("/verifyReceipt/", "localhost", 0),
            ("//verifyReceipt", "localhost", 0), ("/verifyReceipt?x=/sandbox/", "localhost", 0),
            ("http://localhost/sandbox/verifyReceipt", "localhost", 21008),
        ])
        func pathAndHostChooseTheEnvironment(path: String, host: String, status: Int) async throws {
            let answer = try await TestServer.run { server in
                let body = Sent.body()
                let request =
                    "POST \(path) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body
                return try await Wire.ask(server.port, request)
            }
            #expect(answer.status == 200)
            #expect(answer.verifyStatus == status)
            #expect(answer.headers["content-type"] == "application/json")
        }

        @Test(arguments: [
            (VerifyReceiptServerConfiguration.Role.production, 0), (.sandbox, 21008),
        ])
        func roleOfAListenerBeatsPathAndHost(role: VerifyReceiptServerConfiguration.Role, status: Int) async throws {
            let configuration = VerifyReceiptServerConfiguration.testing { $0.listeners[0].role = role }
            try await TestServer.run(configuration) { server in
                for path in ["/verifyReceipt", "/sandbox/verifyReceipt", "/WebObjects/MZFinance.woa/wa/verifyReceipt"] {
                    let answer = try await Wire.ask(server.port, Sent.post(Sent.body(), path: path))
                    #expect(answer.verifyStatus == status, "\(path)")
                }
            }
        }

        @Test func listenersAnswerEachInItsRole() async throws {
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.listeners = [.init(port: 0, role: .production), .init(port: 0, role: .sandbox)]
            }
            try await TestServer.run(configuration) { server in
                let first = try await Wire.ask(server.addresses.ports[0], Sent.post(Sent.body()))
                let second = try await Wire.ask(server.addresses.ports[1], Sent.post(Sent.body()))
                #expect(first.verifyStatus == 0)
                #expect(second.verifyStatus == 21008)
            }
        }

        @Test(arguments: ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
        func otherMethodsGet21000AsJSON(method: String) async throws {
            let answer = try await TestServer.run { server in
                try await Wire.ask(server.port, Sent.get("/verifyReceipt", method: method))
            }
            #expect(answer.status == 200)
            #expect(answer.body == #"{"status":21000}"#)
            #expect(answer.headers["content-type"] == "application/json")
        }

        /// The HTTP parser knows a fixed list of methods: any other is no HTTP to it.
        @Test func anUnknownMethodGets400() async throws {
            let answer = try await TestServer.run { server in
                try await Wire.ask(server.port, Sent.get("/verifyReceipt", method: "FOO"))
            }
            #expect(answer.status == 400 && answer.body.isEmpty)
        }

        @Test func headHasTheHeaderOfGetAndNoBody() async throws {
            let text = try await TestServer.run { server in
                try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send(Sent.get("/verifyReceipt", method: "HEAD"))
                    return try wire.readToEnd()
                }
            }
            #expect(text.hasPrefix("HTTP/1.1 200 "))
            #expect(text.lowercased().contains("content-length: 16\r\n"))
            #expect(text.hasSuffix("\r\n\r\n"))
        }

        @Test(arguments: ["/", "/verifyreceipt", "/verifyReceipt/more", "/sandbox", "/sandbox/verifyReceipt/x", "*"])
        func unknownPathsGet404AsAProblem(path: String) async throws {
            let answer = try await TestServer.run { server in
                try await Wire.ask(server.port, Sent.post("{}", path: path))
            }
            #expect(answer.status == 404)
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(answer.verifyStatus == 404)
        }

        @Test func requestIdsAreTakenOrMade() async throws {
            try await TestServer.run { server in
                let own = try await Wire.ask(
                    server.port, Sent.post("{}", headers: ["X-Request-Id: abc-123_4.5"]))
                #expect(own.headers["x-request-id"] == "abc-123_4.5")
                for bad in ["with blank", "semi;colon", String(repeating: "x", count: 65), "\"quoted\""] {
                    let made = try await Wire.ask(server.port, Sent.post("{}", headers: ["X-Request-Id: \(bad)"]))
                    #expect(made.headers["x-request-id"]?.count == 16)
                }
                #expect(server.log.text.contains(#""requestId":"abc-123_4.5""#))
            }
        }

        @Test func requestIdsThatAreMadeDiffer() async throws {
            try await TestServer.run { server in
                let names = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    return try (0..<300).map { _ in
                        wire.send(Sent.post("{}"))
                        return try wire.readResponse().headers["x-request-id"] ?? ""
                    }
                }
                #expect(Set(names).count == 300)
                #expect(names.allSatisfy { $0.count == 16 && $0.allSatisfy(\.isHexDigit) })
            }
        }

        @Test func oneConnectionCarriesManyRequests() async throws {
            try await TestServer.run { server in
                try await Wire.run {
                    let wire = try Wire(port: server.port)
                    for _ in 0..<3 {
                        wire.send(Sent.post(Sent.body()))
                        #expect(try wire.readResponse().verifyStatus == 0)
                    }
                    // Pipelined (RFC 9112, 9.3.2): answered in their order.
                    wire.send(Sent.post(Sent.body()) + Sent.post("{}") + Sent.get("/verifyReceipt"))
                    #expect(try wire.readResponse().verifyStatus == 0)
                    #expect(try wire.readResponse().verifyStatus == 21002)
                    #expect(try wire.readResponse().verifyStatus == 21000)
                    #expect(try wire.readToEnd().isEmpty)
                }
            }
        }

        @Test func connectionCloseIsHonoredInAnyCase() async throws {
            try await TestServer.run { server in
                for word in ["close", "Close"] {
                    let text = try await Wire.run {
                        let wire = try Wire(port: server.port)
                        wire.send(Sent.post("{}", headers: ["Connection: \(word)"]))
                        return try wire.readToEnd()
                    }
                    #expect(text.contains("21002"))
                }
            }
        }
    }
}
