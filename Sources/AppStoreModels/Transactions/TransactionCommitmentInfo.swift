/// The commitment behind a subscription billed monthly (App Store Server API 1.21, transactionCommitmentInfo).
public struct TransactionCommitmentInfo: Codable, Hashable, Sendable {
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

    /// A value with these fields. Each field is nil by default.
    public init(
        billingPeriodNumber: Int32? = nil,
        totalBillingPeriods: Int32? = nil,
        commitmentExpiresDate: Int64? = nil,
        commitmentPrice: Int64? = nil
    ) {
        self.billingPeriodNumber = billingPeriodNumber
        self.totalBillingPeriods = totalBillingPeriods
        self.commitmentExpiresDate = commitmentExpiresDate
        self.commitmentPrice = commitmentPrice
    }
}

extension TransactionCommitmentInfo {
    private enum CodingKeys: String, CodingKey {
        case billingPeriodNumber, totalBillingPeriods, commitmentExpiresDate, commitmentPrice
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        billingPeriodNumber = try values.value(.billingPeriodNumber)
        totalBillingPeriods = try values.value(.totalBillingPeriods)
        commitmentExpiresDate = try values.milliseconds(.commitmentExpiresDate)
        commitmentPrice = try values.value(.commitmentPrice)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(billingPeriodNumber, forKey: .billingPeriodNumber)
        try values.encodeIfPresent(totalBillingPeriods, forKey: .totalBillingPeriods)
        try values.encodeIfPresent(commitmentExpiresDate, forKey: .commitmentExpiresDate)
        try values.encodeIfPresent(commitmentPrice, forKey: .commitmentPrice)
        try unknownMembers.encode(to: encoder)
    }
}

extension TransactionCommitmentInfo: JSONWritable, PayloadValue {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("billingPeriodNumber", billingPeriodNumber)
        writer.member("totalBillingPeriods", totalBillingPeriods)
        writer.member("commitmentExpiresDate", commitmentExpiresDate)
        writer.member("commitmentPrice", commitmentPrice)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}
