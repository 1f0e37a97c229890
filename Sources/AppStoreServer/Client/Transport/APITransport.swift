/// Sends requests to Apple. Use ``AsyncHTTPClientTransport``; a test can replace it.
///
/// `send` returns HTTP answers of every status. It must not follow redirects. It must respect the timeout and the maximum
/// answer size of the request, and end when the task is canceled.
public protocol APITransport: Sendable {
    /// Sends one request and reads the answer to its end.
    /// - Throws: ``APITransportError``, or `CancellationError`. Other errors count as an interrupted connection.
    func send(_ request: APITransportRequest) async throws -> APITransportResponse
}

/// One HTTP request.
public struct APITransportRequest: Sendable, CustomStringConvertible, CustomReflectable {
    /// The method, in upper case.
    public var method: String

    /// The absolute URL, percent-encoded.
    public var url: String

    /// The header fields. They include the bearer token, so never log them.
    public var headers: [(name: String, value: String)]

    /// The body; nil for none.
    public var body: [UInt8]?

    /// How long the answer may take, until its last byte.
    public var timeout: Duration

    /// The largest body of the answer, in bytes.
    public var maximumResponseSize: Int

    /// A request with these values.
    public init(
        method: String, url: String, headers: [(name: String, value: String)], body: [UInt8]?, timeout: Duration,
        maximumResponseSize: Int
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.maximumResponseSize = maximumResponseSize
    }

    /// The method alone, because the URL contains a transaction id and the header fields contain the token.
    public var description: String { "\(method) request" }

    /// Shows only the description.
    public var customMirror: Mirror { Mirror(self, children: ["method": method]) }
}

/// One HTTP answer.
public struct APITransportResponse: Sendable {
    /// The HTTP status.
    public var status: Int

    /// The header field `Retry-After`, if there is one.
    public var retryAfter: String?

    /// The body.
    public var body: [UInt8]

    /// An answer with these values.
    public init(status: Int, retryAfter: String? = nil, body: [UInt8]) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// Why there is no answer.
public enum APITransportError: Error, Sendable, Hashable {
    /// No connection could be opened, so Apple has not received the request. Any request can be sent again.
    case notConnected(String)
    /// The connection broke, or the answer was not HTTP. Apple may have processed the request: before you retry a
    /// change, check whether it was made.
    case interrupted(String)
    /// The answer took too long. Apple may have processed the request: before you retry a change, check whether it was
    /// made.
    case timedOut
    /// The answer is larger than the request allows. Request less.
    case responseTooLarge

    /// Two errors of the same kind are equal.
    public static func == (left: Self, right: Self) -> Bool { left.kind == right.kind }

    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    private enum Kind { case notConnected, interrupted, timedOut, responseTooLarge }

    private var kind: Kind {
        switch self {
        case .notConnected: .notConnected
        case .interrupted: .interrupted
        case .timedOut: .timedOut
        case .responseTooLarge: .responseTooLarge
        }
    }
}
