extension AppStoreServerAPIError {
    /// One sentence for a person: what is wrong, and what to do.
    ///
    /// Apple publishes no numbers for some errors (Reference.md S3.1). Their text, ``message``, is the only explanation.
    public var explanation: String {
        switch reason {
        case .refused:
            code?.meaning?.explanation
                ?? "Apple rejects the request with an error that this version does not list: follow the error's text."
        case .unauthorized:
            """
            Apple does not accept the key: check the key, its id, the issuer id and the bundle id; production also \
            rejects every key until the app has its first release.
            """
        case .rateLimited: "Apple received too many requests for the app: wait, and send fewer."
        case .unexpectedStatus:
            (httpStatus ?? 0) >= 500
                ? "Apple's server failed without a reason: try again later."
                : "The server answered without a reason: check its address and that the environment has this endpoint."
        case .timedOut:
            "The answer took too long, so Apple may have processed the request: check whether it did, or send it again."
        case .notConnected: "No connection to the server could be opened: check the network and try again."
        case .interrupted:
            "The connection broke, so Apple may have processed the request: check whether it did, or send it again."
        case .responseTooLarge: "The answer is larger than the client allows: request less."
        case .invalidResponse:
            "The answer does not have Apple's form: check the server's address; a proxy may have answered."
        case .invalidRequest: "The request cannot be sent as it is: correct \(detail ?? "its argument")."
        case .rateBudgetExhausted: "The client's own rate budget is used up: try again later."
        case .pagingStalled: "Apple announced more pages without a new token: start with the first page."
        case .tokenFailure: "The token could not be created: check the key."
        }
    }
}
