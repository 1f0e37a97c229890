public import AppStoreModels

/// A customer's order of one product.
public struct SandboxOrder: Sendable {
    /// Which offer applies.
    public enum Redemption: Sendable {
        /// The introductory offer, if the product has one and the customer is eligible.
        case automatic
        /// No offer.
        case withoutOffer
        /// The introductory offer, if the developer's signed decision allows it (Reference.md S6.3).
        case introductory(signedEligibility: String)
        /// A promotional offer with the developer's signature in the older form (Reference.md S6.1).
        case promotionalV1(PromotionalOfferSignatureV1)
        /// A promotional offer with the developer's JWS (Reference.md S6.2).
        case promotionalV2(offerIdentifier: String, signature: String)
        /// An offer code; its reference name.
        case offerCode(String)
        /// A win-back offer.
        case winBack(String)
    }

    /// The buyer's name. A new customer downloads the app first.
    public var customer: String
    /// The product, which must be in the sandbox's catalog.
    public var productId: String
    /// The quantity, 1 to 10; consumables and non-renewing subscriptions only.
    public var quantity: Int32
    /// The number of seats of a multiseat subscription. The developer manages the invitations.
    public var seats: Int32?
    /// Whether an organization or group assigns the purchase to the customer at no cost.
    public var isAssigned: Bool
    /// A UUID that connects the purchase with the developer's own account.
    public var appAccountToken: String?
    /// The offer to redeem. ``Redemption/automatic`` redeems the introductory offer if the customer is eligible.
    public var redemption: Redemption
    /// The developer's time, for the age of an offer's signature; nil for the sandbox's time. Milliseconds since 1970.
    public var wallClock: Int64?

    /// Creates an order. By default, it redeems the introductory offer if the customer is eligible.
    public init(
        customer: String, productId: String, quantity: Int32 = 1, appAccountToken: String? = nil,
        redemption: Redemption = .automatic, wallClock: Int64? = nil, seats: Int32? = nil, isAssigned: Bool = false
    ) {
        self.customer = customer
        self.productId = productId
        self.quantity = quantity
        self.seats = seats
        self.isAssigned = isAssigned
        self.appAccountToken = appAccountToken
        self.redemption = redemption
        self.wallClock = wallClock
    }
}
