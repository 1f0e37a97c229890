#if canImport(AsyncHTTPClient)
    internal import AsyncHTTPClient
    internal import NIOCore
    internal import NIOPosix

    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Darwin)
        internal import Darwin
    #endif

    /// Sends requests with AsyncHTTPClient. It uses HTTP/2 if the server supports it, and keeps connections open.
    public final class AsyncHTTPClientTransport: APITransport {
        private let client: HTTPClient

        /// A transport with its own HTTP client, which does not follow redirects.
        ///
        /// It uses the threads that the process shares. Call ``shutdown()`` when it is no longer needed. Releasing the
        /// transport also closes its connections.
        public init() {
            var configuration = HTTPClient.Configuration()
            configuration.redirectConfiguration = .disallow
            configuration.timeout.connect = .seconds(10)
            // The API client decides about retries. Retries here would not be counted.
            configuration.connectionPool.retryConnectionEstablishment = false
            client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }

        deinit { client.shutdown { _ in } }

        /// Closes the connections. Running requests fail.
        public func shutdown() async {
            // Fails only if the client is already closed.
            try? await client.shutdown()
        }

        /// Sends one request and reads the answer to its end.
        /// - Throws: ``APITransportError``, or `CancellationError`.
        public func send(_ request: APITransportRequest) async throws -> APITransportResponse {
            // AsyncHTTPClient's own deadline may not cover a body that arrives slowly.
            try await within(request.timeout, else: APITransportError.timedOut) { [client] in
                try await Self.exchange(request, by: client)
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
                // The text of an unknown error could contain parts of the request. Its type cannot.
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
