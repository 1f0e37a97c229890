/// The response to an Advanced Commerce request: the state after it. The response to a refund request may lack
/// renewal information.
public struct AdvancedCommerceResponse: AppStoreModel, JSONModel {
    /// Transaction information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedTransactionInfo: String?

    /// Renewal information signed by the App Store, in JWS compact form. Verify it before use.
    public var signedRenewalInfo: String?

    /// JSON members that this package does not know. They are preserved when the value is written.
    public var unknownMembers = UnknownMembers()

    /// A value without members.
    public init() {}

    package mutating func visit<Visitor: PayloadVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.member("signedTransactionInfo", &signedTransactionInfo)
        try visitor.member("signedRenewalInfo", &signedRenewalInfo)
    }
}
