/// The result of extending many subscriptions (App Store Server Notifications 2.21, summary).
public struct Summary: AppStoreModel, JSONModel {
    /// The server environment of the notification.
    public var environment: Environment?

    /// The App Store's number for the app; may be absent in the sandbox.
    public var appAppleId: Int64?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The product whose subscriptions were extended.
    public var productId: String?

    /// The identifier that the developer gave to the request.
    public var requestIdentifier: String?

    /// The requested storefronts, ISO 3166-1 alpha-3.
    public var storefrontCountryCodes: [String]?

    /// The number of extended subscriptions.
    public var succeededCount: Int64?

    /// The number of subscriptions that were not extended.
    public var failedCount: Int64?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("environment", &environment)
        try visitor.member("appAppleId", &appAppleId)
        try visitor.member("bundleId", &bundleId)
        try visitor.member("productId", &productId)
        try visitor.member("requestIdentifier", &requestIdentifier)
        try visitor.member("storefrontCountryCodes", &storefrontCountryCodes)
        try visitor.member("succeededCount", &succeededCount)
        try visitor.member("failedCount", &failedCount)
    }
}
