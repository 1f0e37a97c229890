public import AppStoreModels

/// A customer's subscription in one group. It keeps its original transaction id through renewals, plan changes and
/// resubscribing.
public struct SandboxSubscription: Sendable {
    /// The phase of a subscription.
    public enum Phase: Hashable, Sendable {
        /// Paid.
        case active
        /// Unpaid; the customer has access until the date.
        case gracePeriod(until: Int64)
        /// Unpaid; the App Store retries billing.
        case billingRetry
        /// Ended.
        case expired(ExpirationIntent)
        /// Refunded, or no longer shared.
        case revoked
    }

    /// A price that applies from the next renewal on.
    struct PriceIncrease: Hashable, Sendable {
        let price: Int64
        var status: PriceIncreaseStatus
    }

    /// An extension of the renewal date by the developer.
    struct Extension: Hashable, Sendable {
        let requestIdentifier: String
        let date: Int64
        let effectiveDate: Int64
    }

    /// An offer that also covers the next renewal.
    struct RunningOffer: Hashable, Sendable {
        let offer: SandboxOffer
        /// The number of transactions that it still covers.
        var remaining: Int
    }

    /// The seats of a multiseat subscription whose invitations the developer manages.
    struct Seats: Sendable {
        /// One person's seat.
        struct Claim: Sendable {
            let id: String
            let requestIdentifier: String
            var appTransactionId: String?
        }

        /// The most seats of one purchase in the sandbox.
        private static let maximum: Int32 = 1_000

        static func check(_ count: Int32) throws {
            try ensure((1...maximum).contains(count), .invalidRequest, "seats: must be 1 to \(maximum)")
        }

        /// The number of seats of the next period.
        var renewalQuantity: Int32
        var claims: [Claim] = []
    }

    /// The id of the first transaction.
    public let originalTransactionId: String
    /// The name of the customer.
    public let customer: String
    /// The subscription group.
    public let group: String
    /// The purchaser's subscription, if this is a family member's copy.
    public let sharedFrom: String?
    /// The transaction of the current or last period.
    public internal(set) var transactionId: String
    /// The product of the current or last period.
    public internal(set) var productId: String
    /// The product that will renew.
    public internal(set) var autoRenewProductId: String
    /// Whether it will renew.
    public internal(set) var isAutoRenewOn = true
    /// The state of payment and access, from which ``status`` follows.
    public internal(set) var phase = Phase.active
    /// The end of the current or last period; milliseconds since 1970.
    public internal(set) var expiresDate: Int64
    /// Whether charges fail.
    public internal(set) var isBillingFailing = false

    var start: Int64
    var renewals = 0
    var retryEnds: Int64?
    var runningOffer: RunningOffer?
    var renewalPrice: Int64?
    var priceIncrease: PriceIncrease?
    var extensions: [Extension] = []
    var appAccountToken: String?
    /// Nil without seats.
    var seats: Seats?

    /// The status in Apple's terms.
    public var status: SubscriptionStatus {
        switch phase {
        case .active: .active
        case .gracePeriod: .billingGracePeriod
        case .billingRetry: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// Whether the subscription has ended, so that only a new purchase can continue it.
    var hasEnded: Bool {
        switch phase {
        case .expired, .revoked: true
        case .active, .gracePeriod, .billingRetry: false
        }
    }

    var isUnpaid: Bool {
        switch phase {
        case .gracePeriod, .billingRetry: true
        case .active, .expired, .revoked: false
        }
    }
}
