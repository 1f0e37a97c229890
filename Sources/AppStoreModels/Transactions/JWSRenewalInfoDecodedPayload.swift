/// The next renewal of a subscription (App Store Server API 1.23, JWSRenewalInfoDecodedPayload).
///
/// The names of the properties are the names of the JSON members. An unknown field is nil; there are no default
/// values.
public struct JWSRenewalInfoDecodedPayload: AppStoreModel, Payload {
    /// The reason why the subscription expired; only after its end.
    public var expirationIntent: ExpirationIntent?

    /// The identifier of the first transaction of the subscription.
    public var originalTransactionId: String?

    /// The product that will renew.
    public var autoRenewProductId: String?

    /// The product of the current or last period.
    public var productId: String?

    /// Whether the subscription will renew.
    public var autoRenewStatus: AutoRenewStatus?

    /// Whether the App Store still tries to bill an expired subscription.
    public var isInBillingRetryPeriod: Bool?

    /// Whether the customer agreed to a price increase.
    public var priceIncreaseStatus: PriceIncreaseStatus?

    /// When the billing grace period ends. In milliseconds since 1970-01-01 00:00 UTC.
    public var gracePeriodExpiresDate: Int64?

    /// The type of the offer that applies to the next renewal.
    public var offerType: OfferType?

    /// The identifier of the offer that applies to the next renewal.
    public var offerIdentifier: String?

    /// The payment mode of the offer that applies to the next renewal.
    public var offerDiscountType: OfferDiscountType?

    /// The duration of that offer, an ISO 8601 duration such as `P1M`.
    public var offerPeriod: String?

    /// When the App Store signed this payload. In milliseconds since 1970-01-01 00:00 UTC.
    public var signedDate: Int64?

    /// The server environment in which the purchase was made and signed.
    public var environment: Environment?

    /// The start of the most recent run of subscription periods, ignoring lapses under 60 days. In milliseconds since
    /// 1970-01-01 00:00 UTC.
    public var recentSubscriptionStartDate: Int64?

    /// The end of the most recent period, when it renews. In milliseconds since 1970-01-01 00:00 UTC.
    public var renewalDate: Int64?

    /// The currency of ``renewalPrice``, ISO 4217.
    public var currency: String?

    /// The price at the next renewal. For several seats, the average price of one seat. In milliunits of the currency:
    /// 10.99 is 10990.
    public var renewalPrice: Int64?

    /// The win-back offers that the customer may redeem, best first.
    public var eligibleWinBackOfferIds: [String]?

    /// The token with which the app links the coming renewal to its own user account. It is a UUID as text, unchanged
    /// in case and form.
    public var appAccountToken: String?

    /// The identifier of the app download, unique per Apple Account and app.
    public var appTransactionId: String?

    /// The data of Advanced Commerce; absent for all other subscriptions.
    public var advancedCommerceInfo: AdvancedCommerceRenewalInfo?

    /// How the customer will pay for the next period (App Store Server API 1.21).
    public var renewalBillingPlanType: RenewalBillingPlanType?

    /// The commitment that follows (App Store Server API 1.21).
    public var commitmentInfo: RenewalCommitmentInfo?

    /// The number of seats that will renew (App Store Server API 1.23).
    public var renewalQuantity: Int32?

    /// The seats at the next renewal (App Store Server API 1.23).
    public var multiSeatInfo: RenewalMultiSeatInfo?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package typealias Field = RenewalInfoField
    package static let names = PayloadNames(of: Self.self)

    /// The table of the members. All code that handles every member is a visitor of this table.
    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("expirationIntent", Field.expirationIntent, &expirationIntent)
        try visitor.member("originalTransactionId", Field.originalTransactionId, &originalTransactionId)
        try visitor.member("autoRenewProductId", Field.autoRenewProductId, &autoRenewProductId)
        try visitor.member("productId", Field.productId, &productId)
        try visitor.member("autoRenewStatus", Field.autoRenewStatus, &autoRenewStatus)
        try visitor.member("isInBillingRetryPeriod", Field.isInBillingRetryPeriod, &isInBillingRetryPeriod)
        try visitor.member("priceIncreaseStatus", Field.priceIncreaseStatus, &priceIncreaseStatus)
        try visitor.date("gracePeriodExpiresDate", Field.gracePeriodExpiresDate, &gracePeriodExpiresDate)
        try visitor.member("offerType", Field.offerType, &offerType)
        try visitor.member("offerIdentifier", Field.offerIdentifier, &offerIdentifier)
        try visitor.member("offerDiscountType", Field.offerDiscountType, &offerDiscountType)
        try visitor.member("offerPeriod", Field.offerPeriod, &offerPeriod)
        try visitor.date("signedDate", Field.signedDate, &signedDate)
        try visitor.member("environment", Field.environment, &environment)
        try visitor.date("recentSubscriptionStartDate", Field.recentSubscriptionStartDate, &recentSubscriptionStartDate)
        try visitor.date("renewalDate", Field.renewalDate, &renewalDate)
        try visitor.member("currency", Field.currency, &currency)
        try visitor.member("renewalPrice", Field.renewalPrice, &renewalPrice)
        try visitor.member("eligibleWinBackOfferIds", Field.eligibleWinBackOfferIds, &eligibleWinBackOfferIds)
        try visitor.member("appAccountToken", Field.appAccountToken, &appAccountToken)
        try visitor.member("appTransactionId", Field.appTransactionId, &appTransactionId)
        try visitor.member("advancedCommerceInfo", Field.advancedCommerceInfo, &advancedCommerceInfo)
        try visitor.member("renewalBillingPlanType", Field.renewalBillingPlanType, &renewalBillingPlanType)
        try visitor.member("commitmentInfo", Field.commitmentInfo, &commitmentInfo)
        try visitor.member("renewalQuantity", Field.renewalQuantity, &renewalQuantity)
        try visitor.member("multiSeatInfo", Field.multiSeatInfo, &multiSeatInfo)
    }

    package init(written bytes: UnsafeBufferPointer<UInt8>, texts: inout CommonTexts) throws(PayloadReadingError) {
        try self.init(members: bytes, texts: &texts)
    }

    package mutating func write(to writer: inout JSONWriter) { writeMembers(to: &writer) }

    package mutating func presentFields() -> UInt64 { PresentFields.bits(of: &self) }
}

/// Every field of ``JWSRenewalInfoDecodedPayload`` (App Store Server API 1.23; Reference.md S5.2).
///
/// Each case has Apple's name of its field, and stands for the property of the same name. The documentation of that
/// property states what the field means.
public enum RenewalInfoField: UInt8, PayloadField {
    case expirationIntent, originalTransactionId, autoRenewProductId, productId, autoRenewStatus
    case isInBillingRetryPeriod, priceIncreaseStatus, gracePeriodExpiresDate, offerType, offerIdentifier
    case offerDiscountType, offerPeriod, signedDate, environment, recentSubscriptionStartDate, renewalDate, currency
    case renewalPrice, eligibleWinBackOfferIds, appAccountToken, appTransactionId, advancedCommerceInfo
    case renewalBillingPlanType, commitmentInfo, renewalQuantity, multiSeatInfo

    /// Apple's name of the field, which is its JSON key.
    public var name: StaticString { JWSRenewalInfoDecodedPayload.names[self] }
}

extension JWSRenewalInfoDecodedPayload {
    /// The time before the end of a period when the App Store begins to bill the next one: 24 hours.
    private static let billingLead: Int64 = 86_400_000

    /// Whether the information can describe the end of this period instead of an older one.
    ///
    /// Information that was signed before the period began describes the end of the previous period. A recovery may
    /// leave the dates unchanged; then the new period begins when billing first failed. While a period runs, its own
    /// renewal has not failed yet. Billing retry then refers to an older period, unless the end is near.
    /// - Parameters:
    ///   - start: the start of the period, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - end: the end of the period, as known now.
    ///   - signedDate: when the information was signed or recorded; nil if unknown, which counts as too old.
    ///   - isExact: whether `signedDate` is exact. A record without a date is at least as new as its purchases.
    package func isAbout(periodFrom start: Int64, to end: Int64, signedDate: Int64?, isExact: Bool = true) -> Bool {
        guard let signedDate, signedDate >= start else { return false }
        guard isExact, isInBillingRetryPeriod == true, signedDate < end else { return true }
        return end.subtractingSaturated(signedDate) <= Self.billingLead
    }
}
