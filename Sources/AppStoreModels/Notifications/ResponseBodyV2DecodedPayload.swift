/// The content of a version 2 notification (App Store Server Notifications 2.23, responseBodyV2DecodedPayload).
///
/// Apple sends exactly one of ``data``, ``summary``, ``externalPurchaseToken`` and ``appData``. Verify each signed
/// string inside before you use it.
public struct ResponseBodyV2DecodedPayload: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
    public init(
        notificationType: NotificationTypeV2? = nil,
        subtype: Subtype? = nil,
        notificationUUID: String? = nil,
        data: NotificationData? = nil,
        version: String? = nil,
        signedDate: Int64? = nil,
        summary: Summary? = nil,
        externalPurchaseToken: ExternalPurchaseToken? = nil,
        appData: AppData? = nil,
        unclaimInfo: UnclaimInfo? = nil
    ) {
        self.notificationType = notificationType
        self.subtype = subtype
        self.notificationUUID = notificationUUID
        self.data = data
        self.version = version
        self.signedDate = signedDate
        self.summary = summary
        self.externalPurchaseToken = externalPurchaseToken
        self.appData = appData
        self.unclaimInfo = unclaimInfo
    }
}

extension ResponseBodyV2DecodedPayload {
    private enum CodingKeys: String, CodingKey {
        case notificationType, subtype, notificationUUID, data, version, signedDate, summary, externalPurchaseToken,
            appData, unclaimInfo
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        notificationType = try values.value(.notificationType)
        subtype = try values.value(.subtype)
        notificationUUID = try values.value(.notificationUUID)
        data = try values.value(.data)
        version = try values.value(.version)
        signedDate = try values.milliseconds(.signedDate)
        summary = try values.value(.summary)
        externalPurchaseToken = try values.value(.externalPurchaseToken)
        appData = try values.value(.appData)
        unclaimInfo = try values.value(.unclaimInfo)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(notificationType, forKey: .notificationType)
        try values.encodeIfPresent(subtype, forKey: .subtype)
        try values.encodeIfPresent(notificationUUID, forKey: .notificationUUID)
        try values.encodeIfPresent(data, forKey: .data)
        try values.encodeIfPresent(version, forKey: .version)
        try values.encodeIfPresent(signedDate, forKey: .signedDate)
        try values.encodeIfPresent(summary, forKey: .summary)
        try values.encodeIfPresent(externalPurchaseToken, forKey: .externalPurchaseToken)
        try values.encodeIfPresent(appData, forKey: .appData)
        try values.encodeIfPresent(unclaimInfo, forKey: .unclaimInfo)
        try unknownMembers.encode(to: encoder)
    }
}
