import Foundation
import Testing
import VerifyReceiptServer

extension ServerTests {
    /// The rules of HTTP for a request (RFC 9110, RFC 9112), with any body.
    @Suite(.serialized) struct HTTPRules {
        private static func post(_ path: String, _ headers: [String], version: String = "1.1") -> String {
            let all = headers + ["Content-Length: 2"]
            return "POST \(path) HTTP/\(version)\r\n" + all.map { $0 + "\r\n" }.joined() + "\r\n{}"
        }

        // MARK: Host (RFC 9112, 3.2)

        @Test(arguments: [
            [], ["Host: a.example", "Host: a.example"], ["Host: a.example", "host: b.example"], ["Host: a b"],
            ["Host: a/b"], ["Host: user@a.example"],
        ])
        func aRequestWithoutExactlyOneValidHostGets400(headers: [String]) async throws {
            try await TestServer.run { server in
                // A target in absolute form stands in for one wrong Host, not for none or two.
                let targets =
                    ["/verifyReceipt", "/none"] + (headers.count == 1 ? [] : ["http://c.example/verifyReceipt"])
                for path in targets {
                    let text = try await Wire.run {
                        let wire = try Wire(port: server.port)
                        wire.send(Self.post(path, headers))
                        return try wire.readToEnd()
                    }
                    #expect(text.hasPrefix("HTTP/1.1 400 "), "\(path) \(headers) \(text)")
                    #expect(text.contains("application/problem+json"))
                    #expect(text.lowercased().contains("connection: close\r\n"))
                }
            }
        }

        @Test(arguments: ["a.example", "A.EXAMPLE:8080", "[::1]:80", "127.0.0.1", ""])
        func aValidHostIsAccepted(host: String) async throws {
            try await TestServer.run { server in
                let answer = try await Wire.ask(server.port, Self.post("/verifyReceipt", ["Host: \(host)"]))
                #expect(answer.verifyStatus == 21002)
            }
        }

        @Test func http10NeedsNoHost() async throws {
            try await TestServer.run { server in
                let answer = try await Wire.ask(server.port, Self.post("/verifyReceipt", [], version: "1.0"))
                #expect(answer.verifyStatus == 21002)
            }
        }

        /// RFC 9112, 3.2.2: the host of an absolute-form target counts, and the header Host does not.
        @Test(arguments: [
            ("http://sandbox.itunes.apple.com/verifyReceipt", "buy.itunes.apple.com", 21008),
            ("http://buy.itunes.apple.com/verifyReceipt", "sandbox.itunes.apple.com", 0),
            ("HTTPS://SANDBOX.itunes.apple.com:443/verifyReceipt?x", "buy.itunes.apple.com", 21008),
        ])
        func theHostOfAnAbsoluteTargetBeatsTheHeader(target: String, host: String, status: Int) async throws {
            try await TestServer.run { server in
                let body = Sent.body()
                let answer = try await Wire.ask(
                    server.port,
                    "POST \(target) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
                #expect(answer.verifyStatus == status)
            }
        }

        // MARK: Methods and codings

        @Test func connectGets405WithTheReason() async throws {
            try await TestServer.run { server in
                let text = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send("CONNECT buy.itunes.apple.com:443 HTTP/1.1\r\nHost: buy.itunes.apple.com:443\r\n\r\n")
                    return try wire.readToEnd()
                }
                #expect(text.hasPrefix("HTTP/1.1 405 "), "\(text)")
                #expect(text.lowercased().contains("allow: post\r\n"))
                #expect(text.contains("CONNECT") && text.contains("proxy"))
            }
        }

        /// RFC 9110, 15.5.16 and 12.5.3.
        @Test(
            arguments: ["gzip", "GZIP", "br", "identity, gzip", "deflate"],
            ["/verifyReceipt", "/sandbox/verifyReceipt"])
        func anEncodedBodyGets415(coding: String, path: String) async throws {
            try await TestServer.run { server in
                let answer = try await Wire.ask(
                    server.port, Sent.post(Sent.body(), path: path, headers: ["Content-Encoding: \(coding)"]))
                #expect(answer.status == 415)
                #expect(answer.headers["accept-encoding"] == "identity")
                #expect(answer.headers["content-type"] == "application/problem+json")
            }
        }

        /// RFC 9112, 6.1: the content of such a body is not the JSON that a verdict could be about.
        @Test(
            "A transfer coding other than chunked gets 501",
            arguments: [
                ["Transfer-Encoding: gzip, chunked"], ["Transfer-Encoding: GZIP,chunked"],
                ["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"],
            ], ["/verifyReceipt", "/sandbox/verifyReceipt", "/none"])
        func unknownTransferCoding(headers: [String], path: String) async throws {
            try await TestServer.run { server in
                let text = try await Wire.run {
                    let wire = try Wire(port: server.port)
                    wire.send(Self.chunked(path, headers))
                    return try wire.readToEnd()
                }
                #expect(text.hasPrefix("HTTP/1.1 501 "), "\(text)")
                #expect(text.contains("application/problem+json") && !text.contains("21002"), "\(text)")
                #expect(text.lowercased().contains("connection: close\r\n"))
                let lines = server.log.text.split(separator: "\n").filter { $0.contains(#""httpStatus":501"#) }
                #expect(lines.allSatisfy { $0.contains(#""level":"info""#) }, "\(lines)")
            }
        }

        @Test(arguments: ["chunked", "Chunked"])
        func chunkedIsRead(coding: String) async throws {
            try await TestServer.run { server in
                let request = Self.chunked("/verifyReceipt", ["Transfer-Encoding: \(coding)"])
                let answer = try await Wire.ask(server.port, request)
                #expect(answer.verifyStatus == 21002)
            }
        }

        private static func chunked(_ path: String, _ headers: [String]) -> String {
            let all = ["Host: a.example"] + headers
            return "POST \(path) HTTP/1.1\r\n" + all.map { $0 + "\r\n" }.joined() + "\r\n2\r\n{}\r\n0\r\n\r\n"
        }

        @Test func identityIsNoEncoding() async throws {
            try await TestServer.run { server in
                for coding in ["identity", "Identity", ""] {
                    let answer = try await Wire.ask(
                        server.port, Sent.post(Sent.body(), headers: ["Content-Encoding: \(coding)"]))
                    #expect(answer.verifyStatus == 0)
                }
            }
        }
    }
}
