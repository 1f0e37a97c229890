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
        /// The answer took too long. Apple may have processed the request: before you retry a change, check whether it
        /// was made.
        case timedOut
        /// No connection could be opened, so Apple has not received the request. Try again.
        case notConnected
        /// The connection broke. Apple may have processed the request: before you retry a change, check whether it was
        /// made.
        case interrupted
        /// The answer is larger than the client allows. Request less, or raise the client's limit.
        case responseTooLarge
        /// The answer has a success status, but not the documented form. Check the base URL; a proxy may have answered.
        case invalidResponse
        /// The request cannot be sent as it is. Correct the argument that ``AppStoreServerAPIError/detail`` names.
        case invalidRequest
        /// The client's own rate budget would delay the request longer than allowed. Try again later, or send fewer
        /// requests.
        case rateBudgetExhausted
        /// Apple's answer announces more pages, but has no new token. Start over with the first page.
        case pagingStalled
        /// The token could not be created. Check the key.
        case tokenFailure
    }

    /// The kind of failure.
    public var reason: Reason

    /// The endpoint that was called.
    public var endpoint: APIEndpoint

    /// The environment of the client.
    public var environment: Environment

    /// The HTTP status; nil if there was no answer.
    public var httpStatus: Int?

    /// Apple's error number.
    public var code: APIErrorCode?

    /// Apple's error text, at most 1,000 characters.
    public var message: String?

    /// The earliest time for the next request, in milliseconds since 1970-01-01 00:00 UTC.
    public var retryAfter: Int64?

    /// Details, as text for a person.
    public var detail: String?

    /// How many times the request was sent; 0 if it was never sent.
    public var attempts = 0

    /// Whether Apple may have processed an attempt before the one that this error is about.
    var mayBeProcessedBefore = false

    /// Two errors are equal if their reasons and Apple's error numbers are equal.
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

    /// Whether the App Store does not accept the app or its key, so that a request about any other customer would fail too.
    package var concernsApp: Bool {
        if let code, code.concernsApp { return true }
        return httpStatus == 401 || (httpStatus == 403 && code?.name == nil)
    }

    /// Whether Apple may have processed the request all the same, in any attempt.
    package var mayBeProcessed: Bool {
        if mayBeProcessedBefore { return true }
        return switch reason {
        case .timedOut, .interrupted, .responseTooLarge, .invalidResponse: true
        // 503: the server did not process the request (RFC 9110, section 15.6.4).
        case .refused, .unexpectedStatus: httpStatus.map { $0 >= 500 && $0 != 503 } ?? false
        case .unauthorized, .rateLimited, .notConnected, .invalidRequest, .rateBudgetExhausted, .pagingStalled,
            .tokenFailure:
            false
        }
    }
}
