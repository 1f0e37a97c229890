/// The object that most notifications carry (App Store Server Notifications 2.21, data).
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

    /// Why the customer asks for a refund; CONSUMPTION_REQUEST only.
    public var consumptionRequestReason: ConsumptionRequestReason?

    /// Every field is absent unless given.
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

/// The result of extending many subscriptions (App Store Server Notifications 2.21, summary).
public struct Summary: Codable, Hashable, Sendable {
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

    /// The storefronts asked for, ISO 3166-1 alpha-3.
    public var storefrontCountryCodes: [String]?

    /// How many subscriptions were extended.
    public var succeededCount: Int64?

    /// How many were not.
    public var failedCount: Int64?

    /// Every field is absent unless given.
    public init(
        environment: Environment? = nil,
        appAppleId: Int64? = nil,
        bundleId: String? = nil,
        productId: String? = nil,
        requestIdentifier: String? = nil,
        storefrontCountryCodes: [String]? = nil,
        succeededCount: Int64? = nil,
        failedCount: Int64? = nil
    ) {
        self.environment = environment
        self.appAppleId = appAppleId
        self.bundleId = bundleId
        self.productId = productId
        self.requestIdentifier = requestIdentifier
        self.storefrontCountryCodes = storefrontCountryCodes
        self.succeededCount = succeededCount
        self.failedCount = failedCount
    }
}

/// A token for purchases outside of the App Store (App Store Server Notifications 2.21, externalPurchaseToken).
public struct ExternalPurchaseToken: Codable, Hashable, Sendable {
    /// The identifier of the token; begins with `SANDBOX` in the sandbox.
    public var externalPurchaseId: String?

    /// When the token was made. In milliseconds since 1970-01-01 00:00 UTC.
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

    /// Every field is absent unless given.
    public init(
        externalPurchaseId: String? = nil,
        tokenCreationDate: Int64? = nil,
        appAppleId: Int64? = nil,
        bundleId: String? = nil,
        tokenExpirationDate: Int64? = nil,
        tokenType: String? = nil
    ) {
        self.externalPurchaseId = externalPurchaseId
        self.tokenCreationDate = tokenCreationDate
        self.appAppleId = appAppleId
        self.bundleId = bundleId
        self.tokenExpirationDate = tokenExpirationDate
        self.tokenType = tokenType
    }
}

extension ExternalPurchaseToken {
    /// Reads Apple's JSON; unknown members are ignored and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        externalPurchaseId = try values.value(.externalPurchaseId)
        tokenCreationDate = try values.milliseconds(.tokenCreationDate)
        appAppleId = try values.value(.appAppleId)
        bundleId = try values.value(.bundleId)
        tokenExpirationDate = try values.milliseconds(.tokenExpirationDate)
        tokenType = try values.value(.tokenType)
    }
}

/// The app that consent was withdrawn for (App Store Server Notifications 2.21, appData).
public struct AppData: Codable, Hashable, Sendable {
    /// The App Store's number for the app; may be absent in the sandbox.
    public var appAppleId: Int64?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The server environment of the notification.
    public var environment: Environment?

    /// An ``AppTransaction`` as compact JWS.
    public var signedAppTransactionInfo: String?

    /// Every field is absent unless given.
    public init(
        appAppleId: Int64? = nil,
        bundleId: String? = nil,
        environment: Environment? = nil,
        signedAppTransactionInfo: String? = nil
    ) {
        self.appAppleId = appAppleId
        self.bundleId = bundleId
        self.environment = environment
        self.signedAppTransactionInfo = signedAppTransactionInfo
    }
}
