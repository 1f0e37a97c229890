#if canImport(AsyncHTTPClient)
    public import AsyncHTTPClient
    internal import NIOCore
    internal import NIOPosix

    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Darwin)
        internal import Darwin
    #endif

    /// Carries requests with AsyncHTTPClient: HTTP/2 where the server has it, connections kept for the next request.
    public final class AsyncHTTPClientTransport: APITransport {
        private let client: HTTPClient
        private let isOwner: Bool

        /// A transport with an HTTP client of its own, which does not follow redirects.
        ///
        /// The threads are those that the process shares. Call ``shutdown()`` when it is no longer needed, or let go of the
        /// transport, which closes its connections then.
        public init() {
            var configuration = HTTPClient.Configuration()
            configuration.redirectConfiguration = .disallow
            configuration.timeout.connect = .seconds(10)
            // The API client decides whether to try again: here, an attempt would not count.
            configuration.connectionPool.retryConnectionEstablishment = false
            client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            isOwner = true
        }

        /// A transport with the caller's HTTP client, which the caller shuts down. It should not follow redirects.
        public init(client: HTTPClient) {
            self.client = client
            isOwner = false
        }

        deinit {
            if isOwner { client.shutdown { _ in } }
        }

        /// Closes the connections, if the HTTP client is the transport's own. Requests under way fail.
        public func shutdown() async {
            // It can only fail because it is closed already.
            if isOwner { try? await client.shutdown() }
        }

        /// Sends one request and reads the answer to its end.
        /// - Throws: ``APITransportError``, or `CancellationError`.
        public func send(_ request: APITransportRequest) async throws -> APITransportResponse {
            let client = self.client
            return try await withThrowingTaskGroup(of: APITransportResponse.self) { group in
                group.addTask { try await Self.exchange(request, by: client) }
                // AsyncHTTPClient's own deadline is not trusted to cover a body that trickles in.
                group.addTask {
                    try await Task.sleep(for: request.timeout)
                    throw APITransportError.timedOut
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        }

        private static func exchange(
            _ request: APITransportRequest, by client: HTTPClient
        ) async throws -> APITransportResponse {
            var outgoing = HTTPClientRequest(url: request.url)
            outgoing.method = .init(rawValue: request.method)
            for header in request.headers { outgoing.headers.add(name: header.name, value: header.value) }
            if let body = request.body { outgoing.body = .bytes(body) }
            do {
                let limit = TimeAmount.milliseconds(max(1, request.timeout.wholeMilliseconds))
                let response = try await client.execute(outgoing, timeout: limit)
                let body = try await read(response.body, upTo: request.maximumResponseSize)
                return APITransportResponse(
                    status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"),
                    body: body)
            } catch {
                throw translated(error)
            }
        }

        private static func read(_ body: HTTPClientResponse.Body, upTo maximum: Int) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            for try await chunk in body {
                guard chunk.readableBytes <= maximum - bytes.count else { throw APITransportError.responseTooLarge }
                bytes.append(contentsOf: chunk.readableBytesView)
            }
            return bytes
        }

        private static func translated(_ error: any Error) -> any Error {
            if Task.isCancelled || error is CancellationError { return CancellationError() }
            switch error {
            case let error as APITransportError: return error
            case let error as HTTPClientError: return translated(error)
            case is NIOConnectionError: return APITransportError.notConnected("No connection to the server.")
            case let error as IOError where error.errnoCode == ECONNREFUSED:
                return APITransportError.notConnected("The server refuses connections.")
            default:
                // The text of an unknown error could hold parts of the request; its type cannot.
                return APITransportError.interrupted("\(type(of: error))")
            }
        }

        private static func translated(_ error: HTTPClientError) -> any Error {
            switch error {
            case .cancelled: CancellationError()
            case .deadlineExceeded, .readTimeout, .writeTimeout: APITransportError.timedOut
            case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .socksHandshakeTimeout,
                .httpProxyHandshakeTimeout, .invalidURL, .emptyHost, .emptyScheme, .alreadyShutdown,
                .proxyAuthenticationRequired:
                APITransportError.notConnected(error.shortDescription)
            default: APITransportError.interrupted(error.shortDescription)
            }
        }
    }
#endif
