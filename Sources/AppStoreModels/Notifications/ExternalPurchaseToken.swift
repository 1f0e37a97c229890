/// A token for purchases outside of the App Store (App Store Server Notifications 2.21, externalPurchaseToken).
public struct ExternalPurchaseToken: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
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
    private enum CodingKeys: String, CodingKey {
        case externalPurchaseId, tokenCreationDate, appAppleId, bundleId, tokenExpirationDate, tokenType
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        externalPurchaseId = try values.value(.externalPurchaseId)
        tokenCreationDate = try values.milliseconds(.tokenCreationDate)
        appAppleId = try values.value(.appAppleId)
        bundleId = try values.value(.bundleId)
        tokenExpirationDate = try values.milliseconds(.tokenExpirationDate)
        tokenType = try values.value(.tokenType)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(externalPurchaseId, forKey: .externalPurchaseId)
        try values.encodeIfPresent(tokenCreationDate, forKey: .tokenCreationDate)
        try values.encodeIfPresent(appAppleId, forKey: .appAppleId)
        try values.encodeIfPresent(bundleId, forKey: .bundleId)
        try values.encodeIfPresent(tokenExpirationDate, forKey: .tokenExpirationDate)
        try values.encodeIfPresent(tokenType, forKey: .tokenType)
        try unknownMembers.encode(to: encoder)
    }
}
