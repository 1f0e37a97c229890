/// Consumption data for a refund request in the older form, which Apple deprecated (App Store Server API,
/// ConsumptionRequestV1). For consumables and auto-renewable subscriptions, and for Advanced Commerce transactions.
public struct ConsumptionRequestV1: Codable, Hashable, Sendable {
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
    public var appAccountToken: String? {
        get { token.isEmpty ? nil : token }
        set { token = newValue ?? "" }
    }

    private var token: String

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
        token = appAccountToken ?? ""
        self.accountTenure = accountTenure
        self.playTime = playTime
        self.lifetimeDollarsRefunded = lifetimeDollarsRefunded
        self.lifetimeDollarsPurchased = lifetimeDollarsPurchased
        self.userStatus = userStatus
        self.refundPreference = refundPreference
    }

    private enum CodingKeys: String, CodingKey {
        case customerConsented, consumptionStatus, platform, sampleContentProvided, deliveryStatus
        case token = "appAccountToken"
        case accountTenure, playTime, lifetimeDollarsRefunded, lifetimeDollarsPurchased, userStatus, refundPreference
    }
}
