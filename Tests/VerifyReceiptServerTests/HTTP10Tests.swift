import Testing
import VerifyReceiptServer

extension ServerTests {
    /// RFC 9112, 9.3. The suite waits for connections that end, long before `timeouts.idle`.
    @Suite(.serialized) struct HTTP10 {
        @Test(arguments: [
            post("1.0"), post("1.0", "Connection: close\r\n"), post("1.0", "Connection: TE\r\n"),
            post("1.1", "Connection: Close\r\n"),
        ])
        func connectionEndsAfterTheAnswer(request: String) async throws {
            try await TestServer.run { server in
                let text = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send(request)
                    return try wire.readToEnd()
                }
                #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix(#"{"status":21002}"#))
                #expect(text.lowercased().contains("connection: close\r\n"))
            }
        }

        @Test(arguments: ["GET /none HTTP/1.0\r\n\r\n", "PUT /verifyReceipt HTTP/1.0\r\n\r\n"])
        func connectionEndsAfterARefusal(request: String) async throws {
            try await TestServer.run { server in
                let text = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send(request)
                    return try wire.readToEnd()
                }
                #expect(text.hasPrefix("HTTP/1.1 "))
            }
        }

        @Test(arguments: [post("1.0", "Connection: Keep-Alive\r\n"), post("1.1")])
        func connectionStaysOpenOnRequest(request: String) async throws {
            try await TestServer.run { server in
                try await Wire.run {
                    let wire = try Wire(port: server.port)
                    for _ in 0..<2 {
                        wire.send(request)
                        #expect(try wire.readResponse().verifyStatus == 21002)
                    }
                }
            }
        }
    }
}

private func post(_ version: String, _ headers: String = "") -> String {
    "POST /verifyReceipt HTTP/\(version)\r\nHost: x\r\nContent-Length: 2\r\n\(headers)\r\n{}"
}
