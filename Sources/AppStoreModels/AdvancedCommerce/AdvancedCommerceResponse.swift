/// The response to an Advanced Commerce request: the state after it. The response to a refund request may lack
/// renewal information.
public struct AdvancedCommerceResponse: Codable, Hashable, Sendable {
    /// Transaction information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedTransactionInfo: String?

    /// Renewal information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedRenewalInfo: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value with these fields. Each field is nil by default.
    public init(
        signedTransactionInfo: String? = nil,
        signedRenewalInfo: String? = nil
    ) {
        self.signedTransactionInfo = signedTransactionInfo
        self.signedRenewalInfo = signedRenewalInfo
    }
}

extension AdvancedCommerceResponse {
    private enum CodingKeys: String, CodingKey {
        case signedTransactionInfo, signedRenewalInfo
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        signedTransactionInfo = try values.value(.signedTransactionInfo)
        signedRenewalInfo = try values.value(.signedRenewalInfo)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(signedTransactionInfo, forKey: .signedTransactionInfo)
        try values.encodeIfPresent(signedRenewalInfo, forKey: .signedRenewalInfo)
        try unknownMembers.encode(to: encoder)
    }
}
