/// Extends the renewal date of one subscription (App Store Server API, ExtendRenewalDateRequest). A customer can get
/// at most two extensions in 365 days.
public struct ExtendRenewalDateRequest: Codable, Hashable, Sendable {
    /// The number of days, 1 to 90.
    public var extendByDays: Int32

    /// The reason for the extension.
    public var extendReasonCode: ExtendReasonCode

    /// The developer's identifier of the request, at most 128 characters. Reuse it only to retry.
    public var requestIdentifier: String

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(extendByDays: Int32, extendReasonCode: ExtendReasonCode, requestIdentifier: String) {
        self.extendByDays = extendByDays
        self.extendReasonCode = extendReasonCode
        self.requestIdentifier = requestIdentifier
    }
}

/// The result of an extension (App Store Server API, ExtendRenewalDateResponse).
public struct ExtendRenewalDateResponse: AppStoreModel, JSONModel {
    /// The transaction identifier of the original purchase.
    public var originalTransactionId: String?

    /// The identifier of the subscription period that was extended.
    public var webOrderLineItemId: String?

    /// Whether the date was extended.
    public var success: Bool?

    /// The new renewal date. In milliseconds since 1970-01-01 00:00 UTC.
    public var effectiveDate: Int64?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("originalTransactionId", &originalTransactionId)
        try visitor.member("webOrderLineItemId", &webOrderLineItemId)
        try visitor.member("success", &success)
        try visitor.date("effectiveDate", &effectiveDate)
    }
}

/// The reason for an extension (App Store Server API, extendReasonCode).
public struct ExtendReasonCode: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No reason is stated.
    public static let undeclared = Self(rawValue: 0)
    /// For customer satisfaction.
    public static let customerSatisfaction = Self(rawValue: 1)
    /// Another reason.
    public static let other = Self(rawValue: 2)
    /// A service issue or outage.
    public static let serviceIssueOrOutage = Self(rawValue: 3)

    /// The values this package knows.
    public static let knownValues: [Self] = [.undeclared, .customerSatisfaction, .other, .serviceIssueOrOutage]
}
