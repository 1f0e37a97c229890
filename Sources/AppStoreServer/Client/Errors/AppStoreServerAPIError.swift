public import AppStoreModels

/// Why a call of the App Store Server API failed.
public struct AppStoreServerAPIError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure, for a program to branch on.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Apple refused the request and said why: see `code`.
        case refused
        /// HTTP 401: the token was not accepted. The key, its identifiers or the bundle identifier are wrong, or the app has
        /// no release in production yet, which answers 401 to every call until then.
        case unauthorized
        /// HTTP 429: too many requests; see `retryAfter`.
        case rateLimited
        /// Another HTTP status, without a reason from Apple.
        case unexpectedStatus
        /// The answer took too long.
        case timedOut
        /// No connection came about, so Apple has not seen the request.
        case notConnected
        /// The connection broke, so Apple may have seen the request.
        case interrupted
        /// The answer is larger than the client allows.
        case responseTooLarge
        /// The answer says success, but is not what the API describes.
        case invalidResponse
        /// The request cannot be sent as it is.
        case invalidRequest
        /// The client's own rate budget would be kept waiting longer than it is allowed to.
        case rateBudgetExhausted
        /// A page says that there are more, but gives no new token.
        case pagingStalled
        /// The token could not be made.
        case tokenFailure
    }

    /// The kind of failure.
    public var reason: Reason

    /// The endpoint that was called.
    public var endpoint: APIEndpoint

    /// The environment that was asked.
    public var environment: Environment

    /// The HTTP status; nil if there was no answer.
    public var httpStatus: Int?

    /// Apple's number for the error.
    public var code: APIErrorCode?

    /// Apple's text for the error, at most 1,000 characters.
    public var message: String?

    /// The earliest time for the next request, in milliseconds since 1970-01-01 00:00 UTC.
    public var retryAfter: Int64?

    /// What else is known, for a person.
    public var detail: String?

    /// How many times the request was sent; 0 if it was not.
    public var attempts: Int

    init(
        _ reason: Reason, endpoint: APIEndpoint, environment: Environment, httpStatus: Int? = nil,
        code: APIErrorCode? = nil, message: String? = nil, retryAfter: Int64? = nil, detail: String? = nil,
        attempts: Int = 0
    ) {
        self.reason = reason
        self.endpoint = endpoint
        self.environment = environment
        self.httpStatus = httpStatus
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.detail = detail
        self.attempts = attempts
    }

    /// One line for a person, without identifiers of customers.
    public var description: String {
        var parts = ["\(endpoint.rawValue) (\(environment.rawValue)): \(reason.rawValue)"]
        if let httpStatus { parts.append("HTTP \(httpStatus)") }
        if let code { parts.append(code.description) }
        if let message { parts.append(message) }
        if let detail { parts.append(detail) }
        if attempts > 1 { parts.append("after \(attempts) attempts") }
        return parts.joined(separator: ", ")
    }
}
