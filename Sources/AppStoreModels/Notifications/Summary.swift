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

    /// The requested storefronts, ISO 3166-1 alpha-3.
    public var storefrontCountryCodes: [String]?

    /// The number of extended subscriptions.
    public var succeededCount: Int64?

    /// The number of subscriptions that were not extended.
    public var failedCount: Int64?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
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

extension Summary {
    private enum CodingKeys: String, CodingKey {
        case environment, appAppleId, bundleId, productId, requestIdentifier, storefrontCountryCodes, succeededCount,
            failedCount
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        environment = try values.value(.environment)
        appAppleId = try values.value(.appAppleId)
        bundleId = try values.value(.bundleId)
        productId = try values.value(.productId)
        requestIdentifier = try values.value(.requestIdentifier)
        storefrontCountryCodes = try values.value(.storefrontCountryCodes)
        succeededCount = try values.value(.succeededCount)
        failedCount = try values.value(.failedCount)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(environment, forKey: .environment)
        try values.encodeIfPresent(appAppleId, forKey: .appAppleId)
        try values.encodeIfPresent(bundleId, forKey: .bundleId)
        try values.encodeIfPresent(productId, forKey: .productId)
        try values.encodeIfPresent(requestIdentifier, forKey: .requestIdentifier)
        try values.encodeIfPresent(storefrontCountryCodes, forKey: .storefrontCountryCodes)
        try values.encodeIfPresent(succeededCount, forKey: .succeededCount)
        try values.encodeIfPresent(failedCount, forKey: .failedCount)
        try unknownMembers.encode(to: encoder)
    }
}
