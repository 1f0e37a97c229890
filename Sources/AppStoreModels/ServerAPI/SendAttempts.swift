/// One attempt to send a notification (App Store Server API, sendAttemptItem).
public struct SendAttemptItem: AppStoreModel, JSONModel {
    /// The date of the attempt. In milliseconds since 1970-01-01 00:00 UTC.
    public var attemptDate: Int64?

    /// The result of the attempt.
    public var sendAttemptResult: SendAttemptResult?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.date("attemptDate", &attemptDate)
        try visitor.member("sendAttemptResult", &sendAttemptResult)
    }
}

/// The result of an attempt to send a notification (App Store Server API, sendAttemptResult).
public struct SendAttemptResult: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The server answered with a status of success.
    public static let success = Self(rawValue: "SUCCESS")
    /// No answer in time.
    public static let timedOut = Self(rawValue: "TIMED_OUT")
    /// The TLS certificate, protocol or cipher was not acceptable.
    public static let tlsIssue = Self(rawValue: "TLS_ISSUE")
    /// The server's redirects form a loop.
    public static let circularRedirect = Self(rawValue: "CIRCULAR_REDIRECT")
    /// No answer.
    public static let noResponse = Self(rawValue: "NO_RESPONSE")
    /// A network error.
    public static let socketIssue = Self(rawValue: "SOCKET_ISSUE")
    /// The character set of the answer is not supported.
    public static let unsupportedCharset = Self(rawValue: "UNSUPPORTED_CHARSET")
    /// The answer was not valid HTTP.
    public static let invalidResponse = Self(rawValue: "INVALID_RESPONSE")
    /// The connection was closed while sending.
    public static let prematureClose = Self(rawValue: "PREMATURE_CLOSE")
    /// The HTTP status was not a success status.
    public static let unsuccessfulHTTPResponseCode = Self(rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
    /// Another error.
    public static let other = Self(rawValue: "OTHER")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .success, .timedOut, .tlsIssue, .circularRedirect, .noResponse, .socketIssue, .unsupportedCharset,
        .invalidResponse, .prematureClose, .unsuccessfulHTTPResponseCode, .other,
    ]
}

/// The response to a request for a test notification (App Store Server API, SendTestNotificationResponse).
public struct SendTestNotificationResponse: AppStoreModel, JSONModel {
    /// The token of the test notification, valid for 6 months.
    public var testNotificationToken: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("testNotificationToken", &testNotificationToken)
    }
}

/// The result of a test notification (App Store Server API, CheckTestNotificationResponse).
public struct CheckTestNotificationResponse: AppStoreModel, JSONModel {
    /// The notification signed by the App Store, in JWS compact form. Verify it before use.
    public var signedPayload: String?

    /// The attempts to send it.
    public var sendAttempts: [SendAttemptItem]?

    /// The result of the first attempt. Deprecated by Apple in favor of `sendAttempts`.
    public var firstSendAttemptResult: SendAttemptResult?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("signedPayload", &signedPayload)
        try visitor.member("sendAttempts", &sendAttempts)
        try visitor.member("firstSendAttemptResult", &firstSendAttemptResult)
    }
}
