/// The object in most notifications (App Store Server Notifications 2.21, data).
public struct NotificationData: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
    public init(
        environment: Environment? = nil,
        appAppleId: Int64? = nil,
        bundleId: String? = nil,
        bundleVersion: String? = nil,
        signedTransactionInfo: String? = nil,
        signedRenewalInfo: String? = nil,
        status: SubscriptionStatus? = nil,
        consumptionRequestReason: ConsumptionRequestReason? = nil
    ) {
        self.environment = environment
        self.appAppleId = appAppleId
        self.bundleId = bundleId
        self.bundleVersion = bundleVersion
        self.signedTransactionInfo = signedTransactionInfo
        self.signedRenewalInfo = signedRenewalInfo
        self.status = status
        self.consumptionRequestReason = consumptionRequestReason
    }
}

extension NotificationData {
    private enum CodingKeys: String, CodingKey {
        case environment, appAppleId, bundleId, bundleVersion, signedTransactionInfo, signedRenewalInfo, status,
            consumptionRequestReason
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        environment = try values.value(.environment)
        appAppleId = try values.value(.appAppleId)
        bundleId = try values.value(.bundleId)
        bundleVersion = try values.value(.bundleVersion)
        signedTransactionInfo = try values.value(.signedTransactionInfo)
        signedRenewalInfo = try values.value(.signedRenewalInfo)
        status = try values.value(.status)
        consumptionRequestReason = try values.value(.consumptionRequestReason)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(environment, forKey: .environment)
        try values.encodeIfPresent(appAppleId, forKey: .appAppleId)
        try values.encodeIfPresent(bundleId, forKey: .bundleId)
        try values.encodeIfPresent(bundleVersion, forKey: .bundleVersion)
        try values.encodeIfPresent(signedTransactionInfo, forKey: .signedTransactionInfo)
        try values.encodeIfPresent(signedRenewalInfo, forKey: .signedRenewalInfo)
        try values.encodeIfPresent(status, forKey: .status)
        try values.encodeIfPresent(consumptionRequestReason, forKey: .consumptionRequestReason)
        try unknownMembers.encode(to: encoder)
    }
}
