/// The commitment behind a subscription billed monthly (App Store Server API 1.21, transactionCommitmentInfo).
public struct TransactionCommitmentInfo: AppStoreModel, JSONModel {
    /// The number of this billing period in the commitment, from 1.
    public var billingPeriodNumber: Int32?

    /// The number of billing periods of the commitment.
    public var totalBillingPeriods: Int32?

    /// When the commitment ends. In milliseconds since 1970-01-01 00:00 UTC.
    public var commitmentExpiresDate: Int64?

    /// The price of the whole commitment. In milliunits of the currency: 10.99 is 10990.
    public var commitmentPrice: Int64?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("billingPeriodNumber", &billingPeriodNumber)
        try visitor.member("totalBillingPeriods", &totalBillingPeriods)
        try visitor.date("commitmentExpiresDate", &commitmentExpiresDate)
        try visitor.member("commitmentPrice", &commitmentPrice)
    }
}
