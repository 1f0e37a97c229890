/// One page of a customer's refunds, at most 20, ascending by revocation date. A page may be empty (App Store Server
/// API, RefundHistoryResponse).
public struct RefundHistoryResponse: AppStoreModel, JSONModel {
    /// Refunded transactions signed by the App Store, in JWS compact form. Verify each before use.
    public var signedTransactions: [String]?

    /// The token for the next page, or for later refunds if `hasMore` is false.
    public var revision: String?

    /// Whether there are more pages.
    public var hasMore: Bool?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("signedTransactions", &signedTransactions)
        try visitor.member("revision", &revision)
        try visitor.member("hasMore", &hasMore)
    }
}

/// The newest refunds of a customer, at most 50 (App Store Server API, Get Refund History V1, deprecated).
public struct RefundLookupResponse: AppStoreModel, JSONModel {
    /// Refunded transactions signed by the App Store, in JWS compact form. Verify each before use.
    public var signedTransactions: [String]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("signedTransactions", &signedTransactions)
    }
}

/// The purchases of one order (App Store Server API, OrderLookupResponse).
public struct OrderLookupResponse: AppStoreModel, JSONModel {
    /// Whether the order is one of this app.
    public var status: OrderLookupStatus?

    /// The order's transactions signed by the App Store, in JWS compact form; absent for an invalid order. Verify each
    /// before use.
    public var signedTransactions: [String]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("status", &status)
        try visitor.member("signedTransactions", &signedTransactions)
    }
}

/// Whether an order identifier is valid for the app (App Store Server API, OrderLookupStatus).
public struct OrderLookupStatus: OpenEnum {
    /// The value in the JSON.
    public let rawValue: Int32

    /// Any raw value, known to this package or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The order is one of this app.
    public static let valid = Self(rawValue: 0)
    /// The order is unknown, or without In-App Purchases of this app.
    public static let invalid = Self(rawValue: 1)

    /// The values this package knows.
    public static let knownValues: [Self] = [.valid, .invalid]
}
