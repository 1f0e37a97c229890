/// The status of all auto-renewable subscriptions of a customer (App Store Server API, StatusResponse).
public struct StatusResponse: AppStoreModel, JSONModel {
    /// The server environment that the data belongs to.
    public var environment: Environment?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The App Store's identifier of the app; absent in the sandbox.
    public var appAppleId: Int64?

    /// One element for each subscription group.
    public var data: [SubscriptionGroupIdentifierItem]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("environment", &environment)
        try visitor.member("bundleId", &bundleId)
        try visitor.member("appAppleId", &appAppleId)
        try visitor.member("data", &data)
    }
}

/// The subscriptions of a customer in one group (App Store Server API, SubscriptionGroupIdentifierItem).
public struct SubscriptionGroupIdentifierItem: AppStoreModel, JSONModel {
    /// The identifier of the group.
    public var subscriptionGroupIdentifier: String?

    /// The latest state of each subscription in the group.
    public var lastTransactions: [LastTransactionsItem]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("subscriptionGroupIdentifier", &subscriptionGroupIdentifier)
        try visitor.member("lastTransactions", &lastTransactions)
    }
}

/// The latest state of one subscription (App Store Server API, LastTransactionsItem).
public struct LastTransactionsItem: AppStoreModel, JSONModel {
    /// The status; it is not signed, unlike the two JWS.
    public var status: SubscriptionStatus?

    /// The transaction identifier of the original purchase.
    public var originalTransactionId: String?

    /// Transaction information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedTransactionInfo: String?

    /// Renewal information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedRenewalInfo: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("status", &status)
        try visitor.member("originalTransactionId", &originalTransactionId)
        try visitor.member("signedTransactionInfo", &signedTransactionInfo)
        try visitor.member("signedRenewalInfo", &signedRenewalInfo)
    }
}
