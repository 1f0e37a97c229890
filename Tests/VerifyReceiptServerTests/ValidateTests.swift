import Foundation
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    /// `POST /validate`, for hybrid apps.
    @Suite(.serialized) struct Validate {
        private static func configuration(
            _ change: (inout VerifyReceiptServerConfiguration) -> Void = { _ in }
        ) -> VerifyReceiptServerConfiguration {
            .testing {
                var app = AppConfiguration(bundleId: Sent.bundleId)
                app.answersValidations = true
                $0.endpoint.apps = [app]
                change(&$0)
            }
        }

        private static func body(_ receipt: String = Sent.receipt, type: String = "ios-appstore") -> String {
            let transaction = #"{"type":"\#(type)","appStoreReceipt":"\#(receipt)"}"#
            return #"{"id":"\#(Sent.bundleId)","type":"application","transaction":\#(transaction)}"#
        }

        private static func read(_ text: String) throws -> [String: Any] {
            try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }

        @Test func thereIsNothingAtThePathUntilAnAppTurnsItOn() async throws {
            try await TestServer.run { server in
                for path in ["/validate", "/sandbox/validate"] {
                    let answer = try await Wire.ask(server.port, Sent.post(Self.body(), path: path))
                    #expect(answer.status == 404)
                }
            }
        }

        @Test(arguments: [
            ("/validate", "localhost", true), ("/validate/?x=1", "localhost", true),
            ("/sandbox/validate", "localhost", false), ("/validate", "sandbox.itunes.apple.com", false),
        ])
        func pathAndHostChooseTheEnvironment(path: String, host: String, isOK: Bool) async throws {
            let answer = try await TestServer.run(Self.configuration()) { server in
                let body = Self.body()
                return try await Wire.ask(
                    server.port,
                    "POST \(path) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
            }
            #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
            let json = try Self.read(answer.body)
            #expect(json["ok"] as? Bool == isOK)
            #expect(json["code"] as? Int == (isOK ? nil : 6_777_017))
        }

        @Test func theRoleOfAListenerBeatsThePath() async throws {
            let configuration = Self.configuration { $0.listeners[0].role = .sandbox }
            let answer = try await TestServer.run(configuration) { server in
                try await Wire.ask(server.port, Sent.post(Self.body(), path: "/validate"))
            }
            #expect(try Self.read(answer.body)["ok"] as? Bool == false)
        }

        @Test func onlyPostIsAnswered() async throws {
            let answer = try await TestServer.run(Self.configuration()) { server in
                try await Wire.ask(server.port, Sent.get("/validate"))
            }
            #expect(answer.status == 405 && answer.headers["allow"] == "POST")
        }

        /// A web view sends a preflight first, and reads an answer only if that allows its origin.
        @Test func webViewsOfAnyOriginMaySendValidations() async throws {
            try await TestServer.run(Self.configuration()) { server in
                let question = try await Wire.ask(
                    server.port,
                    "OPTIONS /validate HTTP/1.1\r\nHost: localhost\r\nOrigin: capacitor://localhost\r\n"
                        + "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\n\r\n")
                #expect(question.status == 200 && question.body.isEmpty)
                #expect(question.headers["access-control-allow-methods"] == "POST")
                #expect(question.headers["access-control-allow-headers"]?.contains("Content-Type") == true)
                let sent = try await Wire.ask(server.port, Sent.post(Self.body(), path: "/validate"))
                let refused = try await Wire.ask(server.port, Sent.post("{", path: "/validate"))
                for answer in [question, sent, refused] {
                    #expect(answer.headers["access-control-allow-origin"] == "*")
                }
                // The question is no validation.
                #expect(
                    !server.server.metricsText.contains(
                        "validations_total{environment=\"production\",code=\"0\",app=\"none\"}"))
                let other = try await Wire.ask(server.port, Sent.post(Sent.body()))
                #expect(other.headers["access-control-allow-origin"] == nil)
            }
        }

        @Test func theBodyIsLimited() async throws {
            let configuration = Self.configuration { $0.limits.bodyBytes = 1_000 }
            let answer = try await TestServer.run(configuration) { server in
                try await Wire.ask(server.port, Sent.post(Self.body(), path: "/validate"))
            }
            #expect(answer.status == 413)
        }

        @Test func aStoreThatFailsIsHTTP503InTheFormOfThePlugin() async throws {
            let store = PuppetStore()
            store.become(.fails(.unavailable))
            let answer = try await TestServer.run(Self.configuration(), store: store) { server in
                try await Wire.ask(server.port, Sent.post(Self.body(), path: "/validate"))
            }
            #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
            let json = try Self.read(answer.body)
            #expect(json["ok"] as? Bool == false && json["code"] as? Int == 6_777_014)
            #expect(json["status"] as? Int == 503)
        }

        @Test func aFullQueueIsHTTP503InTheFormOfThePlugin() async throws {
            let store = PuppetStore()
            store.become(.waits)
            let configuration = Self.configuration {
                $0.limits.concurrentRequests = 1
                $0.limits.waitingRequests = 0
                $0.limits.suspendedRequests = 0
            }
            try await TestServer.run(configuration, store: store) { server in
                async let first = Wire.ask(server.port, Sent.post(Self.body(), path: "/validate"))
                try await eventually("the store is called") { store.calls > 0 }
                let second = try await Wire.ask(server.port, Sent.post(Self.body(), path: "/validate"))
                #expect(second.status == 503)
                #expect(try Self.read(second.body)["code"] as? Int == 6_777_014)
                store.become(.works)
                #expect(try await first.status == 200)
            }
        }

        @Test func theLogLineContainsOnlyTheHashOfTheReceipt() async throws {
            let log = try await TestServer.run(Self.configuration(), logLevel: .trace) { server in
                _ = try await Wire.ask(server.port, Sent.post(Self.body(), path: "/validate"))
                _ = try await Wire.ask(server.port, Sent.post(Self.body(type: "s3cr3t"), path: "/validate"))
                _ = try await Wire.ask(server.port, Sent.post(#"{"id":"s3cr3t""#, path: "/validate"))
                return server.log.text
            }
            #expect(!log.contains("s3cr3t"))
            let characters = Array(Sent.receipt)
            for start in stride(from: 0, to: characters.count - 12, by: 12) {
                #expect(!log.contains(String(characters[start..<(start + 12)])))
            }
            let lines = try log.split(separator: "\n").filter { $0.contains("\"message\":\"request\"") }
                .map { try Self.read(String($0)) }
            try #require(lines.count == 3)
            #expect(lines[0]["path"] as? String == "/validate" && lines[0]["status"] as? Int == 0)
            #expect((lines[0]["receipt"] as? String)?.count == 12)
            #expect(lines[0]["bundleId"] as? String == Sent.bundleId)
            #expect(lines[1]["status"] as? Int == 6_777_010 && lines[1]["reason"] != nil)
            #expect(lines[2]["status"] as? Int == 6_777_014 && lines[2]["httpStatus"] as? Int == 400)
        }

        @Test func validationsAreCountedByCodeAndApp() async throws {
            let text = try await TestServer.run(Self.configuration()) { server in
                _ = try await Wire.ask(server.port, Sent.post(Self.body(), path: "/validate"))
                _ = try await Wire.ask(server.port, Sent.post(Self.body("AAAA"), path: "/validate"))
                return server.server.metricsText
            }
            let name = "legacy_receipts_validations_total"
            #expect(text.contains("\(name){environment=\"production\",code=\"0\",app=\"\(Sent.bundleId)\"} 1\n"))
            #expect(text.contains("\(name){environment=\"production\",code=\"6777017\",app=\"none\"} 1\n"))
            #expect(text.contains(#"legacy_receipts_request_duration_seconds_count{environment="production"} 2"#))
        }
    }
}
