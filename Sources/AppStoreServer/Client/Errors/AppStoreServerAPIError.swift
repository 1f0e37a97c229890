public import AppStoreModels

/// Why a call of the App Store Server API failed.
public struct AppStoreServerAPIError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure, for a program to branch on.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Apple rejected the request with an error code. Branch on ``AppStoreServerAPIError/code``.
        case refused
        /// HTTP 401: the token was not accepted. Check the key, its identifiers and the bundle identifier; production
        /// also answers 401 to every call until the app has its first release.
        case unauthorized
        /// HTTP 429: too many requests. Wait until ``AppStoreServerAPIError/retryAfter``.
        case rateLimited
        /// Another HTTP status, without a reason from Apple. Try again later if it is 500 or above.
        case unexpectedStatus
        /// The answer took too long; Apple may have seen the request. Try again; look first whether a change was made.
        case timedOut
        /// No connection came about, so Apple has not seen the request. Try again.
        case notConnected
        /// The connection broke, so Apple may have seen the request. Try again; look first whether a change was made.
        case interrupted
        /// The answer is larger than the client allows. Ask for less, or raise the client's limit.
        case responseTooLarge
        /// The answer has a success status, but not the documented form. Check the base URL; a proxy may have answered.
        case invalidResponse
        /// The request cannot be sent as it is. Correct the argument that ``AppStoreServerAPIError/detail`` names.
        case invalidRequest
        /// The client's own rate budget would be kept waiting longer than it is allowed to. Try again later, or ask
        /// less often.
        case rateBudgetExhausted
        /// A page announces more pages, but has no new token. Begin again with the first page.
        case pagingStalled
        /// The token could not be made. Check the key.
        case tokenFailure
    }

    /// The kind of failure.
    public var reason: Reason

    /// The endpoint that was called.
    public var endpoint: APIEndpoint

    /// The environment of the request.
    public var environment: Environment

    /// The HTTP status; nil if there was no answer.
    public var httpStatus: Int?

    /// Apple's number for the error.
    public var code: APIErrorCode?

    /// Apple's text for the error, at most 1,000 characters.
    public var message: String?

    /// The earliest time for the next request, in milliseconds since 1970-01-01 00:00 UTC.
    public var retryAfter: Int64?

    /// Details for a person.
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

    /// Two errors with the same reason and the same number of Apple's are equal.
    public static func == (left: Self, right: Self) -> Bool { left.reason == right.reason && left.code == right.code }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(code)
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
