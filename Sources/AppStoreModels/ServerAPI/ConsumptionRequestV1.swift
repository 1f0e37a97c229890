/// Consumption data for a refund request in the older form, which Apple deprecated (App Store Server API,
/// ConsumptionRequestV1). For consumables and auto-renewable subscriptions, and for Advanced Commerce transactions.
public struct ConsumptionRequestV1: Hashable, Sendable {
    /// Whether the customer agreed to send the data. Apple accepts only true.
    public var customerConsented: Bool

    /// How much was consumed.
    public var consumptionStatus: ConsumptionStatus

    /// Where it was consumed.
    public var platform: Platform

    /// Whether the customer could try the content before the purchase.
    public var sampleContentProvided: Bool

    /// Whether the purchase was delivered in working order.
    public var deliveryStatus: DeliveryStatusV1

    /// The UUID text that links the purchase to an account of the developer. If it is nil, the JSON has an empty text,
    /// because Apple rejects a request without the member.
    public var appAccountToken: String?

    /// The age of the customer's account.
    public var accountTenure: AccountTenure

    /// How long the customer used the app.
    public var playTime: PlayTime

    /// The amount that was refunded to the customer.
    public var lifetimeDollarsRefunded: LifetimeDollarsRefunded

    /// The amount that the customer spent.
    public var lifetimeDollarsPurchased: LifetimeDollarsPurchased

    /// The state of the customer's account.
    public var userStatus: UserStatus

    /// The developer's preference for the refund; omitted from the JSON if nil.
    public var refundPreference: RefundPreferenceV1?

    /// Values that are not given are sent as undeclared.
    public init(
        customerConsented: Bool, consumptionStatus: ConsumptionStatus = .undeclared, platform: Platform = .undeclared,
        sampleContentProvided: Bool, deliveryStatus: DeliveryStatusV1, appAccountToken: String? = nil,
        accountTenure: AccountTenure = .undeclared, playTime: PlayTime = .undeclared,
        lifetimeDollarsRefunded: LifetimeDollarsRefunded = .undeclared,
        lifetimeDollarsPurchased: LifetimeDollarsPurchased = .undeclared, userStatus: UserStatus = .undeclared,
        refundPreference: RefundPreferenceV1? = nil
    ) {
        self.customerConsented = customerConsented
        self.consumptionStatus = consumptionStatus
        self.platform = platform
        self.sampleContentProvided = sampleContentProvided
        self.deliveryStatus = deliveryStatus
        self.appAccountToken = appAccountToken
        self.accountTenure = accountTenure
        self.playTime = playTime
        self.lifetimeDollarsRefunded = lifetimeDollarsRefunded
        self.lifetimeDollarsPurchased = lifetimeDollarsPurchased
        self.userStatus = userStatus
        self.refundPreference = refundPreference
    }
}

extension ConsumptionRequestV1: Codable {
    private enum CodingKeys: String, CodingKey {
        case customerConsented, consumptionStatus, platform, sampleContentProvided, deliveryStatus, appAccountToken
        case accountTenure, playTime, lifetimeDollarsRefunded, lifetimeDollarsPurchased, userStatus, refundPreference
    }

    /// Reads the JSON that `encode(to:)` writes.
    /// - Throws: `DecodingError` if a member except `refundPreference` is missing, or has a wrong type.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        customerConsented = try values.decode(Bool.self, forKey: .customerConsented)
        consumptionStatus = try values.decode(ConsumptionStatus.self, forKey: .consumptionStatus)
        platform = try values.decode(Platform.self, forKey: .platform)
        sampleContentProvided = try values.decode(Bool.self, forKey: .sampleContentProvided)
        deliveryStatus = try values.decode(DeliveryStatusV1.self, forKey: .deliveryStatus)
        let token = try values.decode(String.self, forKey: .appAccountToken)
        appAccountToken = token.isEmpty ? nil : token
        accountTenure = try values.decode(AccountTenure.self, forKey: .accountTenure)
        playTime = try values.decode(PlayTime.self, forKey: .playTime)
        lifetimeDollarsRefunded = try values.decode(LifetimeDollarsRefunded.self, forKey: .lifetimeDollarsRefunded)
        lifetimeDollarsPurchased = try values.decode(LifetimeDollarsPurchased.self, forKey: .lifetimeDollarsPurchased)
        userStatus = try values.decode(UserStatus.self, forKey: .userStatus)
        refundPreference = try values.decodeIfPresent(RefundPreferenceV1.self, forKey: .refundPreference)
    }

    /// Writes every member, except `refundPreference` if it is nil.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(customerConsented, forKey: .customerConsented)
        try values.encode(consumptionStatus, forKey: .consumptionStatus)
        try values.encode(platform, forKey: .platform)
        try values.encode(sampleContentProvided, forKey: .sampleContentProvided)
        try values.encode(deliveryStatus, forKey: .deliveryStatus)
        try values.encode(appAccountToken ?? "", forKey: .appAccountToken)
        try values.encode(accountTenure, forKey: .accountTenure)
        try values.encode(playTime, forKey: .playTime)
        try values.encode(lifetimeDollarsRefunded, forKey: .lifetimeDollarsRefunded)
        try values.encode(lifetimeDollarsPurchased, forKey: .lifetimeDollarsPurchased)
        try values.encode(userStatus, forKey: .userStatus)
        try values.encodeIfPresent(refundPreference, forKey: .refundPreference)
    }
}
