import Foundation
import Testing
import VerifyReceipt
import VerifyReceiptServer

extension ServerTests {
    @Suite(.serialized) struct Secrecy {
        /// Sends secrets and receipts in every place of a request and looks for them in the log at its most talkative.
        @Test func noSecretAndNoReceiptIsLogged() async throws {
            let secret = "s3cr3t-0123456789abcdef"
            let receipt = Sent.receipt
            let configuration = VerifyReceiptServerConfiguration.testing {
                $0.endpoint.apps = [
                    AppConfiguration(bundleId: Sent.bundleId, sharedSecrets: [SharedSecret("right-\(secret)")])
                ]
            }
            let requests = [
                Sent.post(Sent.body(password: "right-\(secret)")), Sent.post(Sent.body(password: secret)),
                Sent.post("{\"password\":\"\(secret)\",\"receipt-data\":\"\(receipt)"),
                Sent.post("{\"password\":\"\(secret)\""), Sent.post("\(secret)"), Sent.post("{\"\(secret)\":1}"),
                Sent.post("password=\(secret)&receipt-data=\(receipt)"),
                Sent.post("{\"receipt-data\":\"\(secret)\"}"), Sent.post("{\"receipt-data\":[\"\(secret)\"]}"),
                Sent.post(Sent.body(), path: "/verifyReceipt?password=\(secret)"),
                Sent.post(Sent.body(), path: "/\(secret)"), Sent.post("{}", path: "/verifyReceipt#\(secret)"),
                Sent.post(Sent.body(), headers: ["Authorization: Bearer \(secret)", "Cookie: a=\(secret)"]),
                Sent.post(Sent.body(), headers: ["User-Agent: \(secret)", "\(secret): x"]),
                Sent.post(Sent.body(), headers: ["X-Request-Id: {\(secret)}"]),
                Sent.get("/verifyReceipt?receipt-data=\(secret)"), Sent.get("/x", method: "GET", host: secret),
                Sent.get("/x", method: secret), "\(secret)\r\n\r\n", "GET \(secret)\r\n\r\n",
                "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: \(secret)\r\n\r\n",
                "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(secret)\r\n\r\n",
                "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n\(secret)",
            ]
            let log = try await TestServer.run(configuration, logLevel: .trace) { server in
                for request in requests {
                    try await Wire.run {
                        let wire = try Wire(port: server.port)
                        wire.send(request)
                        wire.halfClose()
                        _ = try wire.readToEnd()
                    }
                }
                return server.log.text
            }
            #expect(log.contains("\"status\":21004"))
            #expect(log.contains("\"status\":0"))
            #expect(!log.contains("s3cr3t"))
            // Any twelve characters of the receipt would be too much.
            let characters = Array(receipt)
            for start in stride(from: 0, to: characters.count - 12, by: 12) {
                #expect(!log.contains(String(characters[start..<(start + 12)])))
            }
        }

        @Test func everyLineOfTheLogIsJSONWithTimeLevelAndMessage() async throws {
            let log = try await TestServer.run { server in
                _ = try await Wire.ask(server.port, Sent.post(Sent.body()))
                return server.log.text
            }
            let lines = log.split(separator: "\n")
            #expect(lines.count >= 3)
            for line in lines {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                for key in ["time", "level", "message"] { #expect(object?[key] is String, "\(line)") }
            }
            let request = try #require(lines.first { $0.contains("\"message\":\"request\"") })
            let object = try #require(JSONSerialization.jsonObject(with: Data(request.utf8)) as? [String: Any])
            #expect(object["httpStatus"] as? Int == 200)
            #expect(object["status"] as? Int == 0)
            #expect((object["receipt"] as? String)?.count == 12)
            #expect(object["bundleId"] as? String == Sent.bundleId)
            #expect(object["durationMs"] is Double)
            #expect(object["peer"] as? String == "127.0.0.1")
        }
    }
}
