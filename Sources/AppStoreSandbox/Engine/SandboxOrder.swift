public import AppStoreModels

/// What a customer wants to buy.
public struct SandboxOrder: Sendable {
    /// Which offer applies.
    public enum Redemption: Sendable {
        /// The introductory offer, if the product has one and the customer is eligible.
        case automatic
        /// None.
        case withoutOffer
        /// The introductory offer as far as the developer's signed decision allows it (Reference.md S6.3).
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

    /// Who buys; whoever is not known yet downloads the app first.
    public var customer: String
    public var productId: String
    /// How many; consumables and non-renewing subscriptions only.
    public var quantity: Int32
    /// For a multiseat subscription: how many seats. The developer manages the invitations.
    public var seats: Int32?
    /// Whether an organization or group assigns the purchase to the customer, who pays nothing.
    public var isAssigned: Bool
    /// A UUID text by which the app connects the purchase with its own account.
    public var appAccountToken: String?
    public var redemption: Redemption
    /// The time by the developer's clock, against which the age of an offer's signature is judged; the sandbox's own if nil.
    /// Milliseconds since 1970.
    public var wallClock: Int64?

    /// An order; the introductory offer applies where it can.
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
