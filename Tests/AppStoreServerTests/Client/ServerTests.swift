import AppStoreModels
import AppStoreServer
import Foundation
import TestSupport
import Testing

/// The client against a server that delays, cuts, refuses and talks nonsense.
@Suite struct ServerTests {
    private let transaction = LocalServer.response("200 OK", #"{"signedTransactionInfo":"a.b.c"}"#)

    /// Runs a server and a client that does not wait between attempts.
    private func withServer(
        timeout: Duration = .seconds(30), maximumResponseSize: Int = 1 << 20, attempts: Int = 3,
        _ behaviors: [LocalServer.Behavior],
        _ body: (AppStoreServerAPIClient, LocalServer) async throws -> Void
    ) async throws {
        let server = try await LocalServer.start(behaviors)
        let transport = AsyncHTTPClientTransport()
        let client = try Sample.client(
            transport, baseURL: server.baseURL, retries: RetryPolicy(maximumAttempts: attempts), timeout: timeout,
            maximumResponseSize: maximumResponseSize)
        do {
            try await body(client, server)
        } catch {
            await transport.shutdown()
            await server.stop()
            throw error
        }
        await transport.shutdown()
        await server.stop()
    }

    @Test("A request arrives as it should, and its answer comes back")
    func exchange() async throws {
        let transaction = transaction
        try await withServer([.send(transaction)]) { client, server in
            let answer = try await client.getTransactionInfo("7")
            #expect(answer.signedTransactionInfo == "a.b.c")
            try await client.setAppAccountToken("7", UpdateAppAccountTokenRequest(appAccountToken: "x"))
            let lines = server.requests.map { $0.components(separatedBy: "\r\n") }
            #expect(lines[0].first == "GET /inApps/v1/transactions/7 HTTP/1.1")
            #expect(lines[1].first == "PUT /inApps/v1/transactions/7/appAccountToken HTTP/1.1")
            #expect(lines[1].last == #"{"appAccountToken":"x"}"#)
            #expect(lines[0].contains("Accept: application/json"))
            #expect(!lines[0].contains { $0.lowercased().hasPrefix("content-") })
            #expect(lines[1].contains("Content-Type: application/json"))
        }
    }

    @Test("Percent-encoding of the query arrives untouched")
    func encoding() async throws {
        let transaction = transaction
        try await withServer([.send(transaction)]) { client, server in
            _ = try await client.getTransactionHistory("a/b", revision: "x+y z")
            #expect(
                server.requests.first?.hasPrefix("GET /inApps/v2/history/a%2Fb?revision=x%2By%20z HTTP/1.1\r\n") == true
            )
        }
    }

    @Test("A picture is sent as it is")
    func picture() async throws {
        try await withServer([.send(LocalServer.response("200 OK", ""))]) { client, server in
            try await client.uploadImage("id", png: Array("PNG bytes".utf8), imageSize: .fullSize)
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("PUT /inApps/v1/messaging/image/id?imageSize=FULL_SIZE HTTP/1.1\r\n"))
            #expect(request.contains("Content-Type: image/png\r\n") && request.hasSuffix("\r\n\r\nPNG bytes"))
        }
    }

    @Test("A server that says nothing is given up after the timeout, and asked again where that is safe")
    func silence() async throws {
        try await withServer(timeout: .milliseconds(100), [.silence]) { client, server in
            var attempts = 0
            // On a busy machine an attempt may end before its request has come, which says nothing.
            try await eventually("each attempt sends its request in time") {
                let before = server.requests.count
                let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
                #expect(error.reason == .timedOut && error.httpStatus == nil && error.attempts == 3)
                let other = try #require(try await apiError { try await client.requestTestNotification() })
                #expect(other.reason == .timedOut && other.attempts == 1)
                attempts += 4
                #expect(server.requests.count <= attempts)
                return server.requests.count == before + 4
            }
        }
    }

    @Test("An answer that arrives too slowly ends at the timeout")
    func trickle() async throws {
        let start = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{"
        try await withServer(timeout: .milliseconds(200), attempts: 1, [.trickle(start)]) { client, _ in
            let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
            #expect(error.reason == .timedOut)
        }
    }

    @Test(
        "An answer that is cut is not taken for a whole one, and asked for again",
        arguments: [
            "", "HTTP/1.1 200 OK\r\nConte", "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"signedTransactionInfo\"",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        ])
    func cut(start: String) async throws {
        let transaction = transaction
        try await withServer([.sendAndClose(start), .sendAndClose(start), .send(transaction)]) { client, server in
            let answer = try await client.getTransactionInfo("1")
            #expect(answer.signedTransactionInfo == "a.b.c")
            #expect(server.requests.count == 3)
        }
    }

    @Test("After a cut connection, requests that must not be repeated are not repeated")
    func cutOnce() async throws {
        try await withServer([.sendAndClose("")]) { client, server in
            let error = try #require(try await apiError { try await client.requestTestNotification() })
            #expect(error.reason == .interrupted)
            #expect(server.requests.count == 1)
        }
    }

    @Test("Bytes that are not HTTP are a broken connection")
    func notHTTP() async throws {
        try await withServer(attempts: 1, [.sendAndClose("SSH-2.0-OpenSSH_9.9\r\n\r\n")]) { client, _ in
            let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
            #expect(error.reason == .interrupted)
        }
    }

    @Test("429 with Retry-After, then 500 without a reason, then an answer")
    func refusals() async throws {
        let transaction = transaction
        let busy = LocalServer.response(
            "429 Too Many Requests", #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#,
            headers: "Retry-After: 1760000005000\r\n")
        let broken = LocalServer.response("500 Internal Server Error", "<html>oops</html>")
        try await withServer([.send(busy), .send(broken), .send(transaction)]) {
            client, server in
            let answer = try await client.getTransactionInfo("1")
            #expect(answer.signedTransactionInfo == "a.b.c")
            #expect(server.requests.count == 3)
        }
    }

    @Test("401 without a body is an error with its status")
    func unauthorized() async throws {
        try await withServer([.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")]) {
            client, server in
            let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
            #expect(error.reason == .unauthorized && error.httpStatus == 401 && error.code == nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test("A redirect is not followed: the token goes to one host only")
    func redirect() async throws {
        try await withServer([.send("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")]
        ) { client, server in
            let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
            #expect(error.httpStatus == 302 && error.reason == .unexpectedStatus)
            #expect(server.requests.count == 1)
        }
    }

    @Test(
        "An answer larger than allowed is not read on, with and without its length",
        arguments: ["Content-Length: 2000000\r\n\r\n", "Connection: close\r\n\r\n"])
    func tooLarge(head: String) async throws {
        let body = String(repeating: " ", count: 2_000_000)
        try await withServer(maximumResponseSize: 1000, [.sendAndClose("HTTP/1.1 200 OK\r\n\(head)\(body)")]) {
            client, server in
            let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
            #expect(error.reason == .responseTooLarge)
            #expect(server.requests.count == 1)
        }
    }

    @Test("An answer of exactly the allowed size is read; one byte more is too much")
    func largest() async throws {
        let body = #"{"signedTransactionInfo":"a.b.c"}"# + String(repeating: " ", count: 967)
        try await withServer(
            maximumResponseSize: 1000,
            [.send(LocalServer.response("200 OK", body)), .send(LocalServer.response("200 OK", body + " "))]
        ) { client, _ in
            let answer = try await client.getTransactionInfo("1")
            #expect(answer.signedTransactionInfo == "a.b.c")
            let error = try await apiError { try await client.getTransactionInfo("1") }
            #expect(error?.reason == .responseTooLarge)
        }
    }

    @Test("A server that is not there is no connection")
    func refused() async throws {
        let server = try await LocalServer.start([.silence])
        await server.stop()
        let transport = AsyncHTTPClientTransport()
        let client = try Sample.client(
            transport, baseURL: server.baseURL, retries: RetryPolicy(maximumAttempts: 2))
        let error = try #require(try await apiError { try await client.requestTestNotification() })
        #expect(error.reason == .notConnected && error.attempts == 2, "\(error)")
        await transport.shutdown()
    }

    @Test("Cancelling a call ends it while the server says nothing")
    func cancellation() async throws {
        try await withServer([.silence]) { client, server in
            let task = Task { try await client.getTransactionInfo("1") }
            try await eventually("a request has come") { !server.requests.isEmpty }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(server.requests.count == 1)
        }
    }

    @Test("Many calls at once get each its own answer")
    func concurrency() async throws {
        try await withServer([.sendNumber]) {
            client, server in
            let answers = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<100 {
                    group.addTask { try await client.getTransactionInfo("\(number)").signedTransactionInfo }
                }
                return try await group.reduce(into: Set<String>()) { set, answer in
                    if let answer { set.insert(answer) }
                }
            }
            #expect(answers.count == 100 && server.requests.count == 100)
        }
    }

    @Test("A transport that is released without shutdown closes automatically")
    func letGo() async throws {
        let transaction = transaction
        let server = try await LocalServer.start([.send(transaction)])
        do {
            let client = try Sample.client(AsyncHTTPClientTransport(), baseURL: server.baseURL)
            _ = try await client.getTransactionInfo("1")
        }
        await server.stop()
    }
}
