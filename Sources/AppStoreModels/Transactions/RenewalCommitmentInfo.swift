/// The renewal of a commitment billed monthly (App Store Server API 1.21, renewalCommitmentInfo).
public struct RenewalCommitmentInfo: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
    public init(
        commitmentAutoRenewProductId: String? = nil,
        commitmentAutoRenewStatus: AutoRenewStatus? = nil,
        commitmentRenewalBillingPlanType: RenewalBillingPlanType? = nil,
        commitmentRenewalDate: Int64? = nil,
        commitmentRenewalPrice: Int64? = nil
    ) {
        self.commitmentAutoRenewProductId = commitmentAutoRenewProductId
        self.commitmentAutoRenewStatus = commitmentAutoRenewStatus
        self.commitmentRenewalBillingPlanType = commitmentRenewalBillingPlanType
        self.commitmentRenewalDate = commitmentRenewalDate
        self.commitmentRenewalPrice = commitmentRenewalPrice
    }
}

extension RenewalCommitmentInfo {
    private enum CodingKeys: String, CodingKey {
        case commitmentAutoRenewProductId, commitmentAutoRenewStatus, commitmentRenewalBillingPlanType,
            commitmentRenewalDate, commitmentRenewalPrice
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        commitmentAutoRenewProductId = try values.value(.commitmentAutoRenewProductId)
        commitmentAutoRenewStatus = try values.value(.commitmentAutoRenewStatus)
        commitmentRenewalBillingPlanType = try values.value(.commitmentRenewalBillingPlanType)
        commitmentRenewalDate = try values.milliseconds(.commitmentRenewalDate)
        commitmentRenewalPrice = try values.value(.commitmentRenewalPrice)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(commitmentAutoRenewProductId, forKey: .commitmentAutoRenewProductId)
        try values.encodeIfPresent(commitmentAutoRenewStatus, forKey: .commitmentAutoRenewStatus)
        try values.encodeIfPresent(commitmentRenewalBillingPlanType, forKey: .commitmentRenewalBillingPlanType)
        try values.encodeIfPresent(commitmentRenewalDate, forKey: .commitmentRenewalDate)
        try values.encodeIfPresent(commitmentRenewalPrice, forKey: .commitmentRenewalPrice)
        try unknownMembers.encode(to: encoder)
    }
}

extension RenewalCommitmentInfo: JSONWritable, PayloadValue {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("commitmentAutoRenewProductId", commitmentAutoRenewProductId)
        writer.member("commitmentAutoRenewStatus", commitmentAutoRenewStatus)
        writer.member("commitmentRenewalBillingPlanType", commitmentRenewalBillingPlanType)
        writer.member("commitmentRenewalDate", commitmentRenewalDate)
        writer.member("commitmentRenewalPrice", commitmentRenewalPrice)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}
