/// The object in most notifications (App Store Server Notifications 2.21, data).
public struct NotificationData: AppStoreModel, JSONModel {
    /// The server environment of the notification.
    public var environment: Environment?

    /// The App Store's number for the app; may be absent in the sandbox.
    public var appAppleId: Int64?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The build of the app.
    public var bundleVersion: String?

    /// A ``JWSTransactionDecodedPayload`` as compact JWS.
    public var signedTransactionInfo: String?

    /// A ``JWSRenewalInfoDecodedPayload`` as compact JWS; auto-renewable subscriptions only.
    public var signedRenewalInfo: String?

    /// The status of the subscription when the notification was signed.
    public var status: SubscriptionStatus?

    /// Why the customer requests a refund; CONSUMPTION_REQUEST only.
    public var consumptionRequestReason: ConsumptionRequestReason?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("environment", &environment)
        try visitor.member("appAppleId", &appAppleId)
        try visitor.member("bundleId", &bundleId)
        try visitor.member("bundleVersion", &bundleVersion)
        try visitor.member("signedTransactionInfo", &signedTransactionInfo)
        try visitor.member("signedRenewalInfo", &signedRenewalInfo)
        try visitor.member("status", &status)
        try visitor.member("consumptionRequestReason", &consumptionRequestReason)
    }
}
