/// The answer to a request for a message: exactly one member (Retention Messaging API, RealtimeResponseBody).
public struct RealtimeResponseBody: Codable, Hashable, Sendable {
    /// A text.
    public var message: Message?

    /// Another plan to switch to.
    public var alternateProduct: AlternateProduct?

    /// A promotional offer.
    public var promotionalOffer: PromotionalOffer?

    /// An Advanced Commerce offer or change of plan.
    public var advancedCommerceInfo: AdvancedCommerceInfo?

    /// Nil values are omitted from the JSON.
    public init(
        message: Message? = nil, alternateProduct: AlternateProduct? = nil, promotionalOffer: PromotionalOffer? = nil,
        advancedCommerceInfo: AdvancedCommerceInfo? = nil
    ) {
        self.message = message
        self.alternateProduct = alternateProduct
        self.promotionalOffer = promotionalOffer
        self.advancedCommerceInfo = advancedCommerceInfo
    }

    /// A text, with an image if the message has one.
    public struct Message: Codable, Hashable, Sendable {
        /// The UUID text that identifies the message.
        public var messageIdentifier: String?

        /// Nil values are omitted from the JSON.
        public init(messageIdentifier: String? = nil) {
            self.messageIdentifier = messageIdentifier
        }
    }

    /// Another plan to switch to.
    public struct AlternateProduct: Codable, Hashable, Sendable {
        /// The UUID text that identifies the message.
        public var messageIdentifier: String?

        /// The product to switch to.
        public var productId: String?

        /// The billing plan of the product.
        public var billingPlanType: BillingPlanType?

        /// Nil values are omitted from the JSON.
        public init(
            messageIdentifier: String? = nil, productId: String? = nil, billingPlanType: BillingPlanType? = nil
        ) {
            self.messageIdentifier = messageIdentifier
            self.productId = productId
            self.billingPlanType = billingPlanType
        }
    }

    /// A promotional offer. Set one of the two signatures.
    public struct PromotionalOffer: Codable, Hashable, Sendable {
        /// The UUID text that identifies the message.
        public var messageIdentifier: String?

        /// The signature of the offer as JWS.
        public var promotionalOfferSignatureV2: String?

        /// The signature of the offer in its older form.
        public var promotionalOfferSignatureV1: PromotionalOfferSignatureV1?

        /// Nil values are omitted from the JSON.
        public init(
            messageIdentifier: String? = nil, promotionalOfferSignatureV2: String? = nil,
            promotionalOfferSignatureV1: PromotionalOfferSignatureV1? = nil
        ) {
            self.messageIdentifier = messageIdentifier
            self.promotionalOfferSignatureV2 = promotionalOfferSignatureV2
            self.promotionalOfferSignatureV1 = promotionalOfferSignatureV1
        }
    }

    /// An Advanced Commerce offer or change of plan.
    public struct AdvancedCommerceInfo: Codable, Hashable, Sendable {
        /// The UUID text that identifies the message.
        public var messageIdentifier: String?

        /// Standard base64 of the JSON wrapper around a signed MODIFY_SUBSCRIPTION request with one changed item.
        public var advancedCommerceData: String?

        /// Nil values are omitted from the JSON.
        public init(messageIdentifier: String? = nil, advancedCommerceData: String? = nil) {
            self.messageIdentifier = messageIdentifier
            self.advancedCommerceData = advancedCommerceData
        }
    }
}
