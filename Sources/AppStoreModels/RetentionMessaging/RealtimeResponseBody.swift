/// The answer to a request for a message: exactly one member (Retention Messaging API, RealtimeResponseBody).
public struct RealtimeResponseBody: OptionalMembers {
    /// A text.
    public var message: Message?

    /// Another plan to switch to.
    public var alternateProduct: AlternateProduct?

    /// A promotional offer.
    public var promotionalOffer: PromotionalOffer?

    /// An Advanced Commerce offer or change of plan.
    public var advancedCommerceInfo: AdvancedCommerceInfo?

    /// A value without members. Nil values are omitted from the JSON.
    public init() {}

    /// A text, with an image if the message has one.
    public struct Message: OptionalMembers {
        /// The UUID text that identifies the message.
        public var messageIdentifier: String?

        /// A value without members. Nil values are omitted from the JSON.
        public init() {}
    }

    /// Another plan to switch to.
    public struct AlternateProduct: OptionalMembers {
        /// The UUID text that identifies the message.
        public var messageIdentifier: String?

        /// The product to switch to.
        public var productId: String?

        /// The billing plan of the product.
        public var billingPlanType: BillingPlanType?

        /// A value without members. Nil values are omitted from the JSON.
        public init() {}
    }

    /// A promotional offer. Set one of the two signatures.
    public struct PromotionalOffer: OptionalMembers {
        /// The UUID text that identifies the message.
        public var messageIdentifier: String?

        /// The signature of the offer as JWS.
        public var promotionalOfferSignatureV2: String?

        /// The signature of the offer in its older form.
        public var promotionalOfferSignatureV1: PromotionalOfferSignatureV1?

        /// A value without members. Nil values are omitted from the JSON.
        public init() {}
    }

    /// An Advanced Commerce offer or change of plan.
    public struct AdvancedCommerceInfo: OptionalMembers {
        /// The UUID text that identifies the message.
        public var messageIdentifier: String?

        /// Standard base64 of the JSON wrapper around a signed MODIFY_SUBSCRIPTION request with one changed item.
        public var advancedCommerceData: String?

        /// A value without members. Nil values are omitted from the JSON.
        public init() {}
    }
}
