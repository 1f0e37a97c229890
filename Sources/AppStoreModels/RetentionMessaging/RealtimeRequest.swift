/// A request for a message, without its signature (Retention Messaging API, DecodedRealtimeRequestBody). Apple sends
/// all members. They are optional here, so a payload without one can still be read.
public struct DecodedRealtimeRequestBody: AppStoreModel, JSONModel {
    /// The transaction identifier of the original purchase.
    public var originalTransactionId: String?

    /// The App Store's identifier of the app.
    public var appAppleId: Int64?

    /// The subscription that the customer is about to cancel.
    public var productId: String?

    /// The locale of the device.
    public var userLocale: String?

    /// The UUID text that identifies Apple's request.
    public var requestIdentifier: String?

    /// The server environment that the data belongs to.
    public var environment: Environment?

    /// When Apple signed the request. In milliseconds since 1970-01-01 00:00 UTC.
    public var signedDate: Int64?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("originalTransactionId", &originalTransactionId)
        try visitor.member("appAppleId", &appAppleId)
        try visitor.member("productId", &productId)
        try visitor.member("userLocale", &userLocale)
        try visitor.member("requestIdentifier", &requestIdentifier)
        try visitor.member("environment", &environment)
        try visitor.date("signedDate", &signedDate)
    }
}
