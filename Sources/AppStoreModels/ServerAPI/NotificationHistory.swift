/// Selects notifications (App Store Server API, NotificationHistoryRequest). The history covers 180 days, and 30 days
/// in the sandbox.
public struct NotificationHistoryRequest: Codable, Hashable, Sendable {
    /// Only notifications sent after this time; Apple does not document whether those of exactly this time are included. In
    /// milliseconds since 1970-01-01 00:00 UTC.
    public var startDate: Int64

    /// Only notifications sent before this time; Apple does not document whether those of exactly this time are included. A
    /// future time counts as now. In milliseconds since 1970-01-01 00:00 UTC.
    public var endDate: Int64

    /// Only this type; not together with `transactionId`.
    public var notificationType: NotificationTypeV2?

    /// Only this subtype; needs `notificationType`.
    public var notificationSubtype: Subtype?

    /// Only the customer who has this transaction; not together with `notificationType`.
    public var transactionId: String?

    /// True for notifications that did not reach the server, or are still being retried.
    public var onlyFailures: Bool?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        startDate: Int64, endDate: Int64, notificationType: NotificationTypeV2? = nil,
        notificationSubtype: Subtype? = nil, transactionId: String? = nil, onlyFailures: Bool? = nil
    ) {
        self.startDate = startDate
        self.endDate = endDate
        self.notificationType = notificationType
        self.notificationSubtype = notificationSubtype
        self.transactionId = transactionId
        self.onlyFailures = onlyFailures
    }
}

/// One page of notifications, at most 20 (App Store Server API, NotificationHistoryResponse).
public struct NotificationHistoryResponse: AppStoreModel, JSONModel {
    /// The token for the next page, present only while there are more pages. It expires.
    public var paginationToken: String?

    /// Whether there are more pages.
    public var hasMore: Bool?

    /// The notifications.
    public var notificationHistory: [NotificationHistoryResponseItem]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("paginationToken", &paginationToken)
        try visitor.member("hasMore", &hasMore)
        try visitor.member("notificationHistory", &notificationHistory)
    }
}

/// A notification and the attempts to send it (App Store Server API, notificationHistoryResponseItem).
public struct NotificationHistoryResponseItem: AppStoreModel, JSONModel {
    /// The notification signed by the App Store, in JWS compact form. Verify it before use.
    public var signedPayload: String?

    /// The attempts to send it, at most 6.
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
