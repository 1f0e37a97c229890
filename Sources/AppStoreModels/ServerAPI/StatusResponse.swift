/// The status of all auto-renewable subscriptions of a customer (App Store Server API, StatusResponse).
public struct StatusResponse: Codable, Hashable, Sendable {
    /// The server environment that the data belongs to.
    public var environment: Environment?

    /// The bundle identifier of the app.
    public var bundleId: String?

    /// The App Store's identifier of the app; absent in the sandbox.
    public var appAppleId: Int64?

    /// One element for each subscription group.
    public var data: [SubscriptionGroupIdentifierItem]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        environment: Environment? = nil,
        bundleId: String? = nil,
        appAppleId: Int64? = nil,
        data: [SubscriptionGroupIdentifierItem]? = nil
    ) {
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.data = data
    }
}

extension StatusResponse {
    private enum CodingKeys: String, CodingKey {
        case environment, bundleId, appAppleId, data
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        environment = try values.value(.environment)
        bundleId = try values.value(.bundleId)
        appAppleId = try values.value(.appAppleId)
        data = try values.value(.data)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(environment, forKey: .environment)
        try values.encodeIfPresent(bundleId, forKey: .bundleId)
        try values.encodeIfPresent(appAppleId, forKey: .appAppleId)
        try values.encodeIfPresent(data, forKey: .data)
        try unknownMembers.encode(to: encoder)
    }
}

/// The subscriptions of a customer in one group (App Store Server API, SubscriptionGroupIdentifierItem).
public struct SubscriptionGroupIdentifierItem: Codable, Hashable, Sendable {
    /// The identifier of the group.
    public var subscriptionGroupIdentifier: String?

    /// The latest state of each subscription in the group.
    public var lastTransactions: [LastTransactionsItem]?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        subscriptionGroupIdentifier: String? = nil,
        lastTransactions: [LastTransactionsItem]? = nil
    ) {
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.lastTransactions = lastTransactions
    }
}

extension SubscriptionGroupIdentifierItem {
    private enum CodingKeys: String, CodingKey {
        case subscriptionGroupIdentifier, lastTransactions
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        subscriptionGroupIdentifier = try values.value(.subscriptionGroupIdentifier)
        lastTransactions = try values.value(.lastTransactions)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(subscriptionGroupIdentifier, forKey: .subscriptionGroupIdentifier)
        try values.encodeIfPresent(lastTransactions, forKey: .lastTransactions)
        try unknownMembers.encode(to: encoder)
    }
}

/// The latest state of one subscription (App Store Server API, LastTransactionsItem).
public struct LastTransactionsItem: Codable, Hashable, Sendable {
    /// The status; it is not signed, unlike the two JWS.
    public var status: SubscriptionStatus?

    /// The transaction identifier of the original purchase.
    public var originalTransactionId: String?

    /// Transaction information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedTransactionInfo: String?

    /// Renewal information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedRenewalInfo: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        status: SubscriptionStatus? = nil,
        originalTransactionId: String? = nil,
        signedTransactionInfo: String? = nil,
        signedRenewalInfo: String? = nil
    ) {
        self.status = status
        self.originalTransactionId = originalTransactionId
        self.signedTransactionInfo = signedTransactionInfo
        self.signedRenewalInfo = signedRenewalInfo
    }
}

extension LastTransactionsItem {
    private enum CodingKeys: String, CodingKey {
        case status, originalTransactionId, signedTransactionInfo, signedRenewalInfo
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        status = try values.value(.status)
        originalTransactionId = try values.value(.originalTransactionId)
        signedTransactionInfo = try values.value(.signedTransactionInfo)
        signedRenewalInfo = try values.value(.signedRenewalInfo)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(status, forKey: .status)
        try values.encodeIfPresent(originalTransactionId, forKey: .originalTransactionId)
        try values.encodeIfPresent(signedTransactionInfo, forKey: .signedTransactionInfo)
        try values.encodeIfPresent(signedRenewalInfo, forKey: .signedRenewalInfo)
        try unknownMembers.encode(to: encoder)
    }
}
