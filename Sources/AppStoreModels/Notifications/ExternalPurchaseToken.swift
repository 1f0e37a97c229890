/// A token for purchases outside of the App Store (App Store Server Notifications 2.21, externalPurchaseToken).
public struct ExternalPurchaseToken: AppStoreModel, JSONModel {
    /// The identifier of the token; begins with `SANDBOX` in the sandbox.
    public var externalPurchaseId: String?

    /// When the token was created, in milliseconds since 1970-01-01 00:00 UTC.
    public var tokenCreationDate: Int64?

    /// The App Store's number for the app; may be absent in the sandbox.
    public var appAppleId: Int64?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// When a custom-link token ends. Documented by Apple, absent from its libraries. In milliseconds since 1970-01-01
    /// 00:00 UTC.
    public var tokenExpirationDate: Int64?

    /// The kind of a custom-link token, `SERVICES` or `ACQUISITION`. Documented by Apple, absent from its libraries.
    public var tokenType: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("externalPurchaseId", &externalPurchaseId)
        try visitor.date("tokenCreationDate", &tokenCreationDate)
        try visitor.member("appAppleId", &appAppleId)
        try visitor.member("bundleId", &bundleId)
        try visitor.date("tokenExpirationDate", &tokenExpirationDate)
        try visitor.member("tokenType", &tokenType)
    }
}
