/// Extends the renewal dates of all active subscribers of a product (App Store Server API,
/// MassExtendRenewalDateRequest).
public struct MassExtendRenewalDateRequest: Codable, Hashable, Sendable {
    /// The number of days, 1 to 90.
    public var extendByDays: Int32

    /// The reason for the extension.
    public var extendReasonCode: ExtendReasonCode

    /// The developer's identifier of the request, at most 128 characters. Reuse it only to retry.
    public var requestIdentifier: String

    /// The subscription.
    public var productId: String

    /// ISO 3166-1 alpha-3 codes of the storefronts; nil for all. Apple rejects an empty list (4000027).
    public var storefrontCountryCodes: [String]?

    /// Parameters without a default are required. Nil values are omitted from the JSON.
    public init(
        extendByDays: Int32, extendReasonCode: ExtendReasonCode, requestIdentifier: String, productId: String,
        storefrontCountryCodes: [String]? = nil
    ) {
        self.extendByDays = extendByDays
        self.extendReasonCode = extendReasonCode
        self.requestIdentifier = requestIdentifier
        self.productId = productId
        self.storefrontCountryCodes = storefrontCountryCodes
    }
}

/// Apple accepted a mass extension, which takes hours to days (App Store Server API, MassExtendRenewalDateResponse).
public struct MassExtendRenewalDateResponse: AppStoreModel, JSONModel {
    /// The identifier in the request.
    public var requestIdentifier: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("requestIdentifier", &requestIdentifier)
    }
}

/// The progress of a mass extension (App Store Server API, MassExtendRenewalDateStatusResponse).
public struct MassExtendRenewalDateStatusResponse: AppStoreModel, JSONModel {
    /// The identifier in the request.
    public var requestIdentifier: String?

    /// Whether the extension of all subscriptions is complete.
    public var complete: Bool?

    /// The date of the completion. In milliseconds since 1970-01-01 00:00 UTC.
    public var completeDate: Int64?

    /// The number of extended dates, once complete.
    public var succeededCount: Int64?

    /// The number of dates that were not extended, once complete.
    public var failedCount: Int64?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("requestIdentifier", &requestIdentifier)
        try visitor.member("complete", &complete)
        try visitor.date("completeDate", &completeDate)
        try visitor.member("succeededCount", &succeededCount)
        try visitor.member("failedCount", &failedCount)
    }
}
