/// The content of a version 2 notification (App Store Server Notifications 2.23, responseBodyV2DecodedPayload).
///
/// Apple sends exactly one of ``data``, ``summary``, ``externalPurchaseToken`` and ``appData``. Verify each signed
/// string inside before you use it.
public struct ResponseBodyV2DecodedPayload: AppStoreModel, JSONModel {
    /// What happened.
    public var notificationType: NotificationTypeV2?

    /// Details of what happened.
    public var subtype: Subtype?

    /// The identifier of the notification, UUID text; equal when Apple sends a notification again.
    public var notificationUUID: String?

    /// For all notifications except the three kinds below.
    public var data: NotificationData?

    /// The version of the notification, `2.0`.
    public var version: String?

    /// When the App Store signed this payload. In milliseconds since 1970-01-01 00:00 UTC.
    public var signedDate: Int64?

    /// For RENEWAL_EXTENSION with the subtype SUMMARY.
    public var summary: Summary?

    /// For EXTERNAL_PURCHASE_TOKEN.
    public var externalPurchaseToken: ExternalPurchaseToken?

    /// For RESCIND_CONSENT.
    public var appData: AppData?

    /// For UNCLAIM_SEATS.
    public var unclaimInfo: UnclaimInfo?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("notificationType", &notificationType)
        try visitor.member("subtype", &subtype)
        try visitor.member("notificationUUID", &notificationUUID)
        try visitor.member("data", &data)
        try visitor.member("version", &version)
        try visitor.date("signedDate", &signedDate)
        try visitor.member("summary", &summary)
        try visitor.member("externalPurchaseToken", &externalPurchaseToken)
        try visitor.member("appData", &appData)
        try visitor.member("unclaimInfo", &unclaimInfo)
    }
}
