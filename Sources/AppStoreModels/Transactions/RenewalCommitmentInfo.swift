/// The renewal of a commitment billed monthly (App Store Server API 1.21, renewalCommitmentInfo).
public struct RenewalCommitmentInfo: AppStoreModel, JSONModel {
    /// The product to which the commitment will renew.
    public var commitmentAutoRenewProductId: String?

    /// Whether the commitment will renew.
    public var commitmentAutoRenewStatus: AutoRenewStatus?

    /// How the customer will pay for the next commitment.
    public var commitmentRenewalBillingPlanType: RenewalBillingPlanType?

    /// When the commitment renews. In milliseconds since 1970-01-01 00:00 UTC.
    public var commitmentRenewalDate: Int64?

    /// The price of the next commitment. In milliunits of the currency: 10.99 is 10990.
    public var commitmentRenewalPrice: Int64?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("commitmentAutoRenewProductId", &commitmentAutoRenewProductId)
        try visitor.member("commitmentAutoRenewStatus", &commitmentAutoRenewStatus)
        try visitor.member("commitmentRenewalBillingPlanType", &commitmentRenewalBillingPlanType)
        try visitor.date("commitmentRenewalDate", &commitmentRenewalDate)
        try visitor.member("commitmentRenewalPrice", &commitmentRenewalPrice)
    }
}
