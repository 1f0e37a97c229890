internal import AppStoreModels
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix

/// Posts notifications as the App Store does, and returns Apple's name of the result.
struct NotificationSender: Sendable {
    let client: HTTPClient
    let timeout: TimeAmount

    /// Posts a JSON body. Status 200 to 206 means received (Reference.md S5.4).
    func send(_ body: [UInt8], to url: String) async -> SendAttemptResult {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json; charset=UTF-8")
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await client.execute(request, timeout: timeout)
            // The body is not needed, but the connection is reusable only after it has been read.
            _ = try await response.body.collect(upTo: 1 << 20)
            return (200...206).contains(response.status.code) ? .success : .unsuccessfulHTTPResponseCode
        } catch let error as HTTPClientError {
            return Self.result(error)
        } catch  where error is NIOConnectionError || error is IOError {
            return .socketIssue
        } catch {
            return .other
        }
    }

    private static func result(_ error: HTTPClientError) -> SendAttemptResult {
        switch error {
        case .readTimeout, .writeTimeout, .connectTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout: .timedOut
        case .tlsHandshakeTimeout: .tlsIssue
        case .redirectCycleDetected, .redirectLimitReached: .circularRedirect
        case .remoteConnectionClosed: .prematureClose
        default: .other
        }
    }
}
