import AppStoreServer
import AppStoreSync
import AppStoreTrust
import Foundation
import Synchronization
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

/// Answers with the request.
private final class EchoedLookUp: LookUpAnswers {
    let error: (any Error)?
    /// The first word of the questions that get no answer.
    let hangs: String?
    let asked = Mutex(0)

    init(error: (any Error)? = nil, hangs: String? = nil) { (self.error, self.hangs) = (error, hangs) }

    private func answer(_ text: String) async throws -> [UInt8] {
        asked.withLock { $0 += 1 }
        if let error { throw error }
        if let hangs, text.hasPrefix(hangs) { try await Task.sleep(for: .seconds(600)) }
        return Array("\"\(text)\"".utf8)
    }

    func customers(
        with id: String, tables: Set<String>?, at date: Int64, _ endpoint: EndpointConfiguration
    ) async throws -> [UInt8]? {
        let name = tables?.sorted().joined(separator: ",") ?? "customers"
        return id == "none" ? nil : try await answer("\(name) \(id) \(date)")
    }
    func inspection(
        of document: [UInt8], _ endpoint: EndpointConfiguration, signedData trust: SignedDataTrust
    ) async throws -> [UInt8] {
        try await answer("inspection \(String(decoding: document, as: UTF8.self))")
    }
    func page(
        _ question: InspectorLookUp, at date: Int64, _ endpoint: EndpointConfiguration,
        signedData trust: SignedDataTrust
    ) async throws -> InspectorAnswer {
        if case .failure(let reason) = question {
            return InspectorAnswer(html: Array("failure \(reason)".utf8), contentSecurityPolicy: "default-src 'none'")
        }
        return InspectorAnswer(html: try await answer("\(question)"), contentSecurityPolicy: "default-src 'none'")
    }
    func sign(
        _ signature: LookUpSignature, _ request: [UInt8], _ endpoint: EndpointConfiguration,
        _ credentials: [AppStoreCredentials]
    ) async throws -> [UInt8] {
        try await answer("\(signature.rawValue) \(String(decoding: request, as: UTF8.self))")
    }
}

extension ServerTests {
    @Suite("Look-up listener", .serialized) struct LookUpTests {
        private static let token = String(repeating: "t0ken", count: 8)

        private static func run(
            _ answers: EchoedLookUp = EchoedLookUp(), _ body: @Sendable (TestServer, Int) async throws -> Void
        ) async throws {
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.lookUp = .init(port: 0, tokens: [SharedSecret(token)])
                $0.limits.bodyBytes = 1_000
            }
            let now: @Sendable () -> Int64 = { 1_700_000_000_000 }
            try await TestServer.run(configuration, lookUpAnswers: answers, clock: now) { server in
                try await body(server, try #require(server.addresses.lookUpPort))
            }
        }

        private static func ask(
            _ port: Int, _ path: String, method: String = "GET", token: String? = Self.token, headers: [String] = [],
            body: String? = nil
        ) async throws -> HTTPText {
            var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Connection: close"] + headers
            if let token { lines.append("Authorization: Bearer \(token)") }
            if let body { lines.append("Content-Length: \(body.utf8.count)") }
            let request = lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
            return try await Wire.ask(port, request)
        }

        @Test("Customers, entitlements and documents are answered, each with its moment")
        func answers() async throws {
            try await Self.run { _, port in
                let customer = try await Self.ask(port, "/v1/customers/user%2F%C3%A4?at=5")
                #expect(customer.status == 200 && customer.body == "\"customers user/ä 5\"", "\(customer)")
                #expect(customer.headers["content-type"] == "application/json")
                #expect(customer.headers["cache-control"] == "no-store")
                let entitlements = try await Self.ask(port, "/v1/customers/7/entitlements")
                #expect(entitlements.body == "\"entitlements 7 1700000000000\"")
                let inspection = try await Self.ask(port, "/v1/inspect", method: "POST", body: "document")
                #expect(inspection.body == "\"inspection document\"")
                #expect(try await Self.ask(port, "/v1/customers/none").status == 404)
            }
        }

        @Test("Each kind of signature has its path, and a refusal its status")
        func signatures() async throws {
            try await Self.run { _, port in
                for kind in LookUpSignature.allCases {
                    let path = "/v1/signatures/\(kind.rawValue)"
                    let answer = try await Self.ask(port, path, method: "POST", body: "request")
                    #expect(answer.status == 200 && answer.body == "\"\(kind.rawValue) request\"")
                    let read = try await Self.ask(port, path)
                    #expect(read.status == 405)
                }
                let unknown = try await Self.ask(port, "/v1/signatures/other", method: "POST", body: "request")
                #expect(unknown.status == 404)
            }
            for (refusal, status) in [
                (LookUpRefusal.badRequest("a \"b\""), 400), (.notFound("a \"b\""), 404), (.notEligible("a \"b\""), 409),
                (.notNow("a \"b\""), 503),
            ] {
                try await Self.run(EchoedLookUp(error: refusal)) { _, port in
                    let path = "/v1/signatures/promotional-offer"
                    let answer = try await Self.ask(port, path, method: "POST", body: "request")
                    #expect(answer.status == status && answer.body == #"{"error":"a \"b\""}"# + "\n", "\(answer)")
                }
            }
        }

        @Test("Refusals of a signature are equal if they are of the same kind")
        func equalRefusals() {
            let kinds: [(String) -> LookUpRefusal] = [
                LookUpRefusal.badRequest, LookUpRefusal.notFound, LookUpRefusal.notEligible, LookUpRefusal.notNow,
            ]
            for kind in kinds { #expect(kind("a") == kind("b")) }
            #expect(Set(kinds.flatMap { [$0("a"), $0("b")] }).count == kinds.count)
        }

        @inline(never)
        private static func ask(_ port: Int, _ method: String, _ path: String, basic text: String) async throws -> Int {
            let header = "Authorization: Basic \(Data(text.utf8).base64EncodedString())"
            let body = method == "POST" ? "document" : nil
            return try await ask(port, path, method: method, token: nil, headers: [header], body: body).status
        }

        @Test("Each path takes the token as the password of Basic authentication too, with any user name")
        func password() async throws {
            try await Self.run { _, port in
                for (method, path) in [
                    ("GET", "/"), ("GET", "/v1/customers/7"), ("GET", "/v1/customers/7/entitlements"),
                    ("POST", "/v1/inspect"), ("POST", "/v1/signatures/promotional-offer"),
                ] {
                    for user in ["", "ada"] {
                        let status = try await Self.ask(port, method, path, basic: "\(user):\(Self.token)")
                        #expect(status == 200, "\(method) \(path)")
                    }
                    for wrong in ["ada:wrong", "\(Self.token):", Self.token] {
                        let status = try await Self.ask(port, method, path, basic: wrong)
                        #expect(status == 401, "\(method) \(path) \(wrong)")
                    }
                }
            }
        }

        @Test("Without the token there is no answer and no query")
        func unauthorized() async throws {
            let answers = EchoedLookUp()
            try await Self.run(answers) { server, port in
                for token in [nil, "", "wrong", Self.token + "x", String(Self.token.dropLast())] {
                    let answer = try await Self.ask(port, "/v1/customers/7", token: token)
                    #expect(answer.status == 401)
                    #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
                    let unknown = try await Self.ask(port, "/unknown", token: token)
                    #expect(unknown.status == 401)
                }
                #expect(answers.asked.withLock { $0 } == 0)
                #expect(server.server.metricsText.contains(#"legacy_receipts_look_ups_total{code="401"} 10"#))
            }
        }

        @Test("The look-up is on no other listener, and nothing else is on this one")
        func ownListener() async throws {
            try await Self.run { server, port in
                for other in [server.port, server.adminPort] {
                    let answer = try await Self.ask(other, "/v1/customers/7")
                    #expect(answer.status == 404)
                }
                for path in ["/verifyReceipt", "/metrics", "/v1/customers", "/v1/customers/7/x", "/v1/inspect/"] {
                    let answer = try await Self.ask(port, path)
                    #expect(answer.status == 404, "\(path)")
                }
            }
        }

        @Test("Invalid requests get an error that names the fault")
        func mistakes() async throws {
            try await Self.run { _, port in
                let long = String(repeating: "1", count: 1_025)
                for (path, method, status) in [
                    ("/v1/customers/", "GET", 400), ("/v1/customers/%FF", "GET", 400),
                    ("/v1/customers/\(long)", "GET", 400),
                    ("/v1/customers/7?at=x", "GET", 400), ("/v1/customers/7?at=-1", "GET", 400),
                    ("/v1/customers/7?to=1", "GET", 400), ("/v1/customers/7", "DELETE", 405),
                    ("/v1/inspect", "GET", 405),
                ] {
                    let answer = try await Self.ask(port, path, method: method)
                    #expect(answer.status == status, "\(path)")
                    #expect(answer.body.hasPrefix(#"{"error":""#), "\(path)")
                }
                let body = String(repeating: "x", count: 1_001)
                #expect(try await Self.ask(port, "/v1/inspect", method: "POST", body: body).status == 413)
            }
        }

        @Test("A body with a content coding is refused instead of read as it stands")
        func coding() async throws {
            let answers = EchoedLookUp()
            try await Self.run(answers) { _, port in
                for path in ["/v1/inspect", "/v1/signatures/promotional-offer", "/"] {
                    let answer = try await Self.ask(
                        port, path, method: "POST", headers: ["Content-Encoding: gzip"], body: "document=x")
                    #expect(answer.status == 415 && answer.headers["accept-encoding"] == "identity", "\(answer)")
                }
                #expect(answers.asked.withLock { $0 } == 0)
                let plain = try await Self.ask(
                    port, "/v1/inspect", method: "POST", headers: ["Content-Encoding: identity"], body: "document")
                #expect(plain.status == 200 && plain.body == "\"inspection document\"", "\(plain)")
            }
        }

        @Test(
            "A request that breaks a rule of HTTP is refused before its token is read, and gets no page",
            arguments: [
                ([], 400), (["Host: a.example", "Host: a.example"], 400),
                (["Host: a.example", "host: b.example"], 400), (["Host: a b"], 400),
                (["Host: a.example", "Transfer-Encoding: gzip, chunked"], 501),
            ] as [([String], Int)])
        func httpRules(headers: [String], status: Int) async throws {
            let answers = EchoedLookUp()
            try await Self.run(answers) { _, port in
                for (path, token) in [("/v1/customers/7", Self.token), ("/v1/customers/7", "wrong"), ("/", Self.token)]
                {
                    let isChunked = headers.contains { $0.hasPrefix("Transfer-Encoding") }
                    let lines =
                        ["GET \(path) HTTP/1.1", "Connection: close", "Authorization: Bearer \(token)"] + headers
                    let request = lines.joined(separator: "\r\n") + "\r\n\r\n" + (isChunked ? "0\r\n\r\n" : "")
                    let answer = try await Wire.ask(port, request)
                    #expect(answer.status == status && answer.body.hasPrefix(#"{"error":""#), "\(answer)")
                }
                #expect(answers.asked.withLock { $0 } == 0)
            }
        }

        @Test("HTTP/1.0 needs no Host, and the host of a target in absolute form counts")
        func oldAndAbsolute() async throws {
            try await Self.run { _, port in
                for head in [
                    "GET /v1/customers/7 HTTP/1.0\r\n",
                    "GET http://a.example/v1/customers/7 HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n",
                ] {
                    let answer = try await Wire.ask(port, head + "Authorization: Bearer \(Self.token)\r\n\r\n")
                    #expect(answer.status == 200, "\(answer)")
                }
            }
        }

        @Test("A client that waits for 100 (Continue) gets it, except before a body that is not read")
        func continues() async throws {
            try await Self.run { _, port in
                func head(_ length: Int, _ token: String) -> String {
                    "POST /v1/inspect HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                        + "Authorization: Bearer \(token)\r\nContent-Length: \(length)\r\n\r\n"
                }
                let read = head(8, Self.token)
                let answer = try await Wire.run {
                    let wire = try Wire(port: port)
                    wire.send(read)
                    while !wire.peek().contains("HTTP/1.1 100 Continue\r\n\r\n") { try wire.more() }
                    wire.send("document")
                    return try wire.readResponse()
                }
                #expect(answer.status == 200 && answer.body == "\"inspection document\"", "\(answer)")
                for (request, status) in [(head(8, "wrong"), 401), (head(1_001, Self.token), 413)] {
                    let text = try await Wire.run {
                        let wire = try Wire(port: port)
                        wire.send(request)
                        while !wire.peek().contains("\r\n\r\n") { try wire.more() }
                        return wire.peek()
                    }
                    #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
                }
            }
        }

        @Test("A store failure is 503 with its error code, any other failure 500 without details")
        func failures() async throws {
            let store = TransactionStoreError(.unavailable, "the message has an address")
            try await Self.run(EchoedLookUp(error: store)) { _, port in
                let answer = try await Self.ask(port, "/v1/customers/7")
                #expect(answer.status == 503 && answer.headers["retry-after"] == "1", "\(answer)")
                #expect(answer.body.contains("unavailable") && !answer.body.contains("address"))
            }
            try await Self.run(EchoedLookUp(error: TestFailure("secret"))) { _, port in
                let answer = try await Self.ask(port, "/v1/customers/7")
                #expect(answer.status == 500 && !answer.body.contains("secret"), "\(answer)")
            }
        }

        /// Sends this many requests, and waits until all are sent, not for their answers.
        @inline(never)
        private static func hang(
            _ count: Int, _ port: Int, _ request: String, _ answers: EchoedLookUp
        ) async throws -> [Wire] {
            let waiting = try (0..<count).map { _ in
                let wire = try Wire(port: port)
                wire.send(request)
                return wire
            }
            try await eventually("all are sent") { answers.asked.withLock { $0 } == count }
            return waiting
        }

        @Test("Questions that hang keep only their own places: the next one is refused at once")
        func hanging() async throws {
            let answers = EchoedLookUp(hangs: "customers")
            try await Self.run(answers) { _, port in
                let waiting = try await Self.hang(
                    8, port,
                    "GET /v1/customers/7 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(Self.token)\r\n\r\n",
                    answers)
                let answer = try await Self.ask(port, "/v1/customers/7")
                #expect(answer.status == 503 && answer.body.contains("too many"), "\(answer)")
                for wire in waiting { wire.close() }
            }
        }

        @Test("Introductory offers that wait for the App Store keep no customer from being looked up")
        func hangingAppStore() async throws {
            let answers = EchoedLookUp(hangs: LookUpSignature.introductoryEligibility.rawValue)
            try await Self.run(answers) { _, port in
                let path = "/v1/signatures/introductory-eligibility"
                let waiting = try await Self.hang(
                    4, port,
                    "POST \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(Self.token)\r\n"
                        + "Content-Length: 2\r\n\r\n{}", answers)
                let refused = try await Self.ask(port, path, method: "POST", body: "{}")
                #expect(refused.status == 503 && refused.body.contains("too many"), "\(refused)")
                let customer = try await Self.ask(port, "/v1/customers/7")
                #expect(customer.status == 200, "\(customer)")
                let offer = try await Self.ask(port, "/v1/signatures/promotional-offer", method: "POST", body: "{}")
                #expect(offer.status == 200, "\(offer)")
                for wire in waiting { wire.close() }
            }
        }

        @Test("The log has neither ids nor tokens, and a digest of the question")
        func log() async throws {
            try await Self.run { server, port in
                _ = try await Self.ask(port, "/v1/customers/user-4711")
                _ = try await Self.ask(port, "/v1/customers/user-4711", token: "not-the-token")
                let text = server.log.text
                #expect(text.contains("look-up") && text.contains("customers"))
                for secret in ["user-4711", Self.token, "not-the-token"] {
                    #expect(!text.contains(secret), "\(secret)")
                }
            }
        }

        @Test("The log has the request's id, which the answer has too, and the trace id of traceparent")
        func names() async throws {
            try await Self.run { server, port in
                let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
                let named = try await Self.ask(
                    port, "/v1/customers/7",
                    headers: ["X-Request-Id: ticket-4711", "traceparent: 00-\(trace)-00f067aa0ba902b7-01"])
                #expect(named.headers["x-request-id"] == "ticket-4711")
                let unnamed = try await Self.ask(port, "/v1/customers/7", token: "not-the-token")
                let name = try #require(unnamed.headers["x-request-id"])
                let lines = try server.log.text.split(separator: "\n").filter { $0.contains(#""message":"look-up""#) }
                    .map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
                try #require(lines.count == 2)
                #expect(lines[0]["requestId"] as? String == "ticket-4711" && lines[0]["traceId"] as? String == trace)
                #expect(lines[1]["requestId"] as? String == name && lines[1]["traceId"] == nil)
            }
        }

        @Test("A reload replaces the tokens")
        func reload() async throws {
            try await Self.run { server, port in
                let new = String(repeating: "n", count: 40)
                let remaining = try server.server.reload(
                    .testing { $0.lookUp = .init(port: 0, tokens: [SharedSecret(new)]) })
                #expect(!remaining.contains("look-up"))
                #expect(try await Self.ask(port, "/v1/customers/7").status == 401)
                #expect(try await Self.ask(port, "/v1/customers/7", token: new).status == 200)
            }
        }

        @Test("A configuration without a token, with a short one, or without a store is refused")
        func configuration() throws {
            let folder = try TemporaryFolder()
            try Data("abc\n".utf8).write(to: URL(fileURLWithPath: folder.path + "/short"))
            try Data((Self.token + "\n").utf8).write(to: URL(fileURLWithPath: folder.path + "/good"))
            func load(_ lines: String) throws -> VerifyReceiptServerConfiguration {
                let file = folder.path + "/serve.yaml"
                try Data(lines.utf8).write(to: URL(fileURLWithPath: file))
                return try ConfigurationSources(file: file).load()
            }
            for (lines, problem) in [
                ("look-up: {enabled: true}", "look-up.token-files"),
                ("look-up: {enabled: true, token-files: [short]}", "fewer than 32"),
                ("look-up: {enabled: true, token-files: [none]}", "cannot be read"),
                ("look-up: {enabled: true, token-files: [good]}\nstore: {url: none}", "needs a store"),
            ] {
                let error = #expect(throws: ConfigurationError.self) { try load(lines) }
                #expect("\(error.map { "\($0)" } ?? "")".contains(problem), "\(lines)")
            }
            let configuration = try load("look-up: {enabled: true, port: 1234, token-files: [good]}")
            #expect(configuration.lookUp == .init(port: 1234, tokens: [SharedSecret(Self.token)]))
            #expect(try load("log: {level: info}").lookUp == nil)
        }
    }
}
