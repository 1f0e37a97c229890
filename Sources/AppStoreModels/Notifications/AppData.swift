/// The app for which a guardian withdrew consent (App Store Server Notifications 2.21, appData).
public struct AppData: AppStoreModel, JSONModel {
    /// The App Store's number for the app; may be absent in the sandbox.
    public var appAppleId: Int64?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The server environment of the notification.
    public var environment: Environment?

    /// An ``AppTransaction`` as compact JWS.
    public var signedAppTransactionInfo: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("appAppleId", &appAppleId)
        try visitor.member("bundleId", &bundleId)
        try visitor.member("environment", &environment)
        try visitor.member("signedAppTransactionInfo", &signedAppTransactionInfo)
    }
}
