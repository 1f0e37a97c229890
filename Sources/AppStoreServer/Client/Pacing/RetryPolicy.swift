/// The rules for retries.
///
/// The client retries a request if that is safe and likely to help:
/// - on every endpoint after a "not found" that Apple names "Retryable" (4040002, 4040004, 4040006): Apple did nothing;
/// - on every endpoint after 429, unless the wait is too long: Apple did nothing;
/// - on every endpoint after a failure to connect;
/// - on idempotent endpoints (``APIEndpoint/isIdempotent``) after 5000001, a broken connection, a timeout, or HTTP 500, 502,
///   503 or 504 without a code from Apple: Apple may have processed the request.
///
/// The client does not retry after 5000000: Apple does not name it "Retryable" and recommends a later attempt.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first one; 1 for no retries.
    public var maximumAttempts: Int

    /// The wait before the first retry. It doubles with each retry. A random factor between one half and one keeps many
    /// clients from retrying at the same time.
    public var firstDelay: Duration

    /// The longest wait between two attempts, except for `Retry-After`.
    public var maximumDelay: Duration

    /// The longest accepted `Retry-After`. If Apple requests a longer wait, the call fails, and the error contains the time.
    /// Apple counts rates by the hour, so it can request many minutes.
    public var maximumRetryAfter: Duration

    /// Random numbers from 0 to 1.
    public var random: @Sendable () -> Double

    /// A policy with these values.
    public init(
        maximumAttempts: Int = 4,
        firstDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(20),
        maximumRetryAfter: Duration = .seconds(60),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.maximumAttempts = maximumAttempts
        self.firstDelay = firstDelay
        self.maximumDelay = maximumDelay
        self.maximumRetryAfter = maximumRetryAfter
        self.random = random
    }

    /// Every request is sent once.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// How long to wait before the next attempt; nil for no further attempt.
    /// - Parameters:
    ///   - error: the failure of the attempt.
    ///   - attempt: the number of the attempt that failed.
    ///   - now: milliseconds since 1970.
    func delay(after error: AppStoreServerAPIError, attempt: Int, now: Int64) -> Duration? {
        guard attempt < maximumAttempts, isWorthwhile(error) else { return nil }
        let backoff = delay(beforeRetry: attempt)
        guard let retryAfter = error.retryAfter else { return backoff }
        // 503 may also have this header field (RFC 9110, section 15.6.4).
        let asked = Duration.milliseconds(max(0, retryAfter - now))
        return asked <= maximumRetryAfter ? max(asked, backoff) : nil
    }

    private func isWorthwhile(_ error: AppStoreServerAPIError) -> Bool {
        if let code = error.code, code.isRetryable { return code.httpStatus == 404 || error.endpoint.isIdempotent }
        switch error.reason {
        case .rateLimited, .notConnected: return true
        case .interrupted, .timedOut: return error.endpoint.isIdempotent
        case .unexpectedStatus:
            return error.endpoint.isIdempotent && [500, 502, 503, 504].contains(error.httpStatus)
        default: return false
        }
    }

    private func delay(beforeRetry number: Int) -> Duration {
        var delay = firstDelay
        var doublings = number - 1
        while doublings > 0, delay < maximumDelay {
            delay *= 2
            doublings -= 1
        }
        delay = min(delay, maximumDelay)
        return delay / 2 + delay * (min(max(random(), 0), 1) / 2)
    }
}
