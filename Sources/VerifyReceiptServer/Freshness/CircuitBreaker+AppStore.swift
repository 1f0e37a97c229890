import AppStoreServer

extension CircuitBreaker {
    /// Draws the conclusion from a question about one customer that failed. Only what the next customer's question would
    /// meet as well counts: a JWS that is not genuine or an id that the App Store refuses is one customer's matter.
    package func conclude(from error: any Error, now: Int64) {
        guard let error = error as? AppStoreServerAPIError else { return learnedNothing() }
        switch error.reason {
        case .rateLimited, .rateBudgetExhausted:
            if let until = error.retryAfter { held(now: now, until: until) } else { failed(now: now) }
        case .notConnected, .interrupted, .timedOut, .unauthorized: failed(now: now)
        case .refused, .unexpectedStatus:
            guard let status = error.httpStatus, status >= 500 else { return learnedNothing() }
            failed(now: now, until: error.retryAfter)
        case .responseTooLarge, .invalidResponse, .invalidRequest, .pagingStalled, .tokenFailure: learnedNothing()
        }
    }
}
