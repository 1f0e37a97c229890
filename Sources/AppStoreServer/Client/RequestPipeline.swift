internal import AppStoreModels

/// One request without host and token.
struct APIRequest {
    enum Body {
        case none
        case json([UInt8])
        case png([UInt8])
    }

    let endpoint: APIEndpoint
    let pathAndQuery: String
    let body: Body
}

/// Runs right before an attempt, with the failure of the attempt before; nil before the first.
package typealias AttemptCheck = @Sendable (AppStoreServerAPIError?) async throws -> Void

/// Sends requests: rate budget, token, transport, errors, retries.
struct RequestPipeline: Sendable {
    let baseURL: String
    let environment: Environment
    let configuration: APIClientConfiguration
    let tokens: BearerTokenSource
    let transport: any APITransport
    let limiter: RateLimiter

    /// Sends a request until it succeeds or a retry cannot help, and returns the body of the answer.
    /// - Parameters:
    ///   - request: the request.
    ///   - check: runs right before each attempt, after all waits, with the failure of the attempt before. Its error
    ///     ends the call.
    func send(_ request: APIRequest, check: AttemptCheck = { _ in }) async throws -> [UInt8] {
        let clock = configuration.clock
        var attempt = 1
        var failureBefore: AppStoreServerAPIError?
        while true {
            try await waitForTurn(request.endpoint, attempts: attempt - 1, after: failureBefore)
            try await check(failureBefore)
            let start = clock.uptime()
            let (body, failed) = try await sendOnce(request, attempt: attempt)
            var failure = failed
            failure?.mayBeProcessedBefore = failureBefore?.mayBeProcessed ?? false
            let delay = failure.flatMap {
                configuration.retryPolicy.delay(after: $0, attempt: attempt, now: clock.now())
            }
            configuration.observer?(
                APIAttempt(
                    endpoint: request.endpoint, number: attempt, duration: clock.uptime() - start, error: failure,
                    retryDelay: delay))
            guard let failure else { return body }
            react(to: failure, sent: start)
            guard let delay else { throw failure }
            try await clock.sleep(delay)
            attempt += 1
            failureBefore = failure
        }
    }

    /// One attempt: returns the body or the error.
    /// - Throws: only `CancellationError`.
    private func sendOnce(
        _ request: APIRequest, attempt: Int
    ) async throws -> (body: [UInt8], failure: AppStoreServerAPIError?) {
        func failure(_ reason: AppStoreServerAPIError.Reason, _ detail: String? = nil) -> AppStoreServerAPIError {
            error(reason, request.endpoint, detail: detail, attempts: attempt)
        }
        guard let token = try? tokens.token() else { return ([], failure(.tokenFailure)) }
        do {
            let response = try await transport.send(outgoing(request, token: token))
            if 200..<300 ~= response.status { return (response.body, nil) }
            var error = ErrorReading.error(
                from: response, endpoint: request.endpoint, environment: environment, now: configuration.clock.now())
            error.attempts = attempt
            return ([], error)
        } catch let error as APITransportError {
            switch error {
            case .notConnected(let detail): return ([], failure(.notConnected, detail))
            case .interrupted(let detail): return ([], failure(.interrupted, detail))
            case .timedOut: return ([], failure(.timedOut))
            case .responseTooLarge: return ([], failure(.responseTooLarge))
            }
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            return ([], failure(.interrupted, "\(type(of: error))"))
        }
    }

    private func outgoing(_ request: APIRequest, token: String) -> APITransportRequest {
        var headers = [
            (name: "Authorization", value: "Bearer \(token)"),
            (name: "Accept", value: "application/json"),
            (name: "User-Agent", value: configuration.userAgent),
        ]
        var body: [UInt8]?
        switch request.body {
        case .none: break
        case .json(let bytes):
            headers.append((name: "Content-Type", value: "application/json"))
            body = bytes
        case .png(let bytes):
            headers.append((name: "Content-Type", value: "image/png"))
            body = bytes
        }
        return APITransportRequest(
            method: request.endpoint.method, url: baseURL + request.pathAndQuery, headers: headers, body: body,
            timeout: configuration.timeout, maximumResponseSize: configuration.maximumResponseSize)
    }

    private func waitForTurn(
        _ endpoint: APIEndpoint, attempts: Int, after failure: AppStoreServerAPIError?
    ) async throws {
        do {
            try Task.checkCancellation()
            try await limiter.waitForTurn(endpoint)
        } catch let exhausted as RateLimiter.Exhausted {
            var error = error(.rateBudgetExhausted, endpoint, attempts: attempts)
            error.retryAfter = configuration.clock.now() + exhausted.wait.wholeMilliseconds
            error.mayBeProcessedBefore = failure?.mayBeProcessed ?? false
            throw error
        }
    }

    /// The longest time for which one answer can block an endpoint. Apple counts rates by the hour.
    private static let longestBlock = Duration.seconds(3600)

    /// - Parameters:
    ///   - failure: the answer to the request.
    ///   - sent: when the request was sent.
    private func react(to failure: AppStoreServerAPIError, sent: Duration) {
        if failure.reason == .unauthorized { tokens.invalidate() }
        guard failure.reason == .rateLimited else { return }
        if let retryAfter = failure.retryAfter {
            let wait = Duration.milliseconds(max(0, retryAfter - configuration.clock.now()))
            limiter.block(failure.endpoint, for: min(wait, Self.longestBlock))
        }
        limiter.slowDown(failure.endpoint, sent: sent)
    }

    func error(
        _ reason: AppStoreServerAPIError.Reason, _ endpoint: APIEndpoint, detail: String? = nil, attempts: Int = 0
    ) -> AppStoreServerAPIError {
        AppStoreServerAPIError(
            reason: reason, endpoint: endpoint, environment: environment, detail: detail, attempts: attempts)
    }
}

// MARK: - Creating requests, reading answers

extension RequestPipeline {
    typealias Query = [(name: String, value: String)]

    /// Calls an endpoint and reads the JSON of the answer.
    func call<Response: JSONModel>(
        _ endpoint: APIEndpoint, _ parameters: String..., query: Query = [], body: (any Encodable)? = nil
    ) async throws -> Response {
        let bytes = try await send(try request(endpoint, parameters, query: query, body: body))
        return try decode(bytes, endpoint)
    }

    /// Calls an endpoint whose answer has no content.
    /// - Parameters:
    ///   - endpoint: the endpoint.
    ///   - parameters: the values in its path, in order.
    ///   - body: the body of the request; nil for none.
    ///   - check: as of ``send(_:check:)``.
    func perform(
        _ endpoint: APIEndpoint, _ parameters: String..., body: (any Encodable)? = nil,
        check: AttemptCheck = { _ in }
    ) async throws {
        _ = try await send(try request(endpoint, parameters, query: [], body: body), check: check)
    }

    /// Calls the endpoint that uploads an image.
    func perform(_ endpoint: APIEndpoint, _ parameters: String..., query: Query, png: [UInt8]) async throws {
        let pathAndQuery = try pathAndQuery(endpoint, parameters, query)
        _ = try await send(APIRequest(endpoint: endpoint, pathAndQuery: pathAndQuery, body: .png(png)))
    }

    private func request(
        _ endpoint: APIEndpoint, _ parameters: [String], query: Query, body: (any Encodable)?
    ) throws -> APIRequest {
        let pathAndQuery = try pathAndQuery(endpoint, parameters, query)
        guard let body else { return APIRequest(endpoint: endpoint, pathAndQuery: pathAndQuery, body: .none) }
        guard let json = try? DeterministicJSON.encode(body) else {
            throw error(.invalidRequest, endpoint, detail: "The request body cannot be written as JSON.")
        }
        return APIRequest(endpoint: endpoint, pathAndQuery: pathAndQuery, body: .json(json))
    }

    private func pathAndQuery(_ endpoint: APIEndpoint, _ parameters: [String], _ query: Query) throws -> String {
        guard let path = endpoint.path(parameters) else {
            throw error(.invalidRequest, endpoint, detail: "A path parameter is empty or would change the path.")
        }
        return path + PercentEncoding.query(query)
    }

    private func decode<Response: JSONModel>(_ bytes: [UInt8], _ endpoint: APIEndpoint) throws -> Response {
        do {
            let value = try JSONValue.parse(bytes)
            guard value.object != nil || value.array != nil else {
                throw JSONReadingError(code: .notAContainer, offset: 0)
            }
            return try value.decode()
        } catch let error as DecodingError {
            throw self.error(.invalidResponse, endpoint, detail: error.place)
        } catch {
            throw self.error(.invalidResponse, endpoint, detail: "The answer is not a JSON object. \(error)")
        }
    }
}

extension DecodingError {
    var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }

    /// Which member is wrong, without its value.
    fileprivate var place: String {
        guard let context else { return "The answer has an unexpected member." }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return "The answer has an unexpected value at \(path.isEmpty ? "its top" : path)."
    }
}
