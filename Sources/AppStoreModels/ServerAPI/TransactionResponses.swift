/// One page of a customer's transaction history, at most 20 transactions (App Store Server API, HistoryResponse).
public struct HistoryResponse: AppStoreModel, JSONModel {
    /// The token for the next page, or for later changes if `hasMore` is false.
    public var revision: String?

    /// Whether there are more pages.
    public var hasMore: Bool?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The App Store's identifier of the app; absent in the sandbox.
    public var appAppleId: Int64?

    /// The server environment that the data belongs to.
    public var environment: Environment?

    /// Transactions signed by the App Store, in JWS compact form. Verify each before use.
    public var signedTransactions: [String]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("revision", &revision)
        try visitor.member("hasMore", &hasMore)
        try visitor.member("bundleId", &bundleId)
        try visitor.member("appAppleId", &appAppleId)
        try visitor.member("environment", &environment)
        try visitor.member("signedTransactions", &signedTransactions)
    }
}

/// A single transaction (App Store Server API, TransactionInfoResponse).
public struct TransactionInfoResponse: AppStoreModel, JSONModel {
    /// Transaction information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedTransactionInfo: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("signedTransactionInfo", &signedTransactionInfo)
    }
}

/// The purchase or download of the app itself (App Store Server API 1.17, AppTransactionInfoResponse).
public struct AppTransactionInfoResponse: AppStoreModel, JSONModel {
    /// The app transaction signed by the App Store, in JWS compact form. Verify it before use.
    public var signedAppTransactionInfo: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("signedAppTransactionInfo", &signedAppTransactionInfo)
    }
}
