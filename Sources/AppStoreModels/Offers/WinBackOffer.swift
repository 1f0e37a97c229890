/// A win-back offer: for customers whose subscription in a group has ended.
public struct WinBackOffer: Hashable, Sendable {
    /// The identifier of the offer, unique in the subscription group.
    public var offerIdentifier: String
    /// `subscriptionGroupIdentifier` of the product that is offered.
    public var group: String
    /// The product that is offered.
    public var productId: String?
    /// The eligible customers, dates and storefronts.
    public var rules: WinBackRules

    /// An offer for customers who match `rules`. With `productId`, the offer comes before offers of other products in the
    /// list of a customer whose last subscription was of that product.
    public init(offerIdentifier: String, group: String, productId: String? = nil, rules: WinBackRules) {
        self.offerIdentifier = offerIdentifier
        self.group = group
        self.productId = productId
        self.rules = rules
    }
}

/// The rules of a win-back offer in App Store Connect (App Store Connect API, WinBackOffer.Attributes).
public struct WinBackRules: Hashable, Sendable {
    /// The rank of an offer among other offers (App Store Connect API, priority of WinBackOffer.Attributes).
    public enum Priority: String, Hashable, Sendable, CaseIterable {
        /// `HIGH` in App Store Connect. The offer comes before all offers of normal priority.
        case high
        /// `NORMAL` in App Store Connect.
        case normal
    }

    /// The redeemed offers from which the wait between offers counts.
    public enum WaitScope: String, Hashable, Sendable, CaseIterable {
        /// Offers with the identifier of this offer, as in App Store Connect.
        case offer
        /// All win-back offers of the subscription group.
        case group
    }

    /// `customerEligibilityPaidSubscriptionDurationInMonths`: the minimum number of consecutive months that the
    /// customer paid for most recently.
    public var minimumPaidMonths: Int
    /// `customerEligibilityTimeSinceLastSubscribedInMonths`, minimum: the number of months after the end of the last
    /// subscription from which the customer is eligible.
    public var minimumMonthsSince: Int
    /// … maximum: the number of months until which the customer is eligible; nil for no limit.
    public var maximumMonthsSince: Int?
    /// `customerEligibilityWaitBetweenOffersInMonths`: the number of months after the last redemption of an
    /// offer (see ``waitScope``) from which the customer is eligible again; nil for no wait.
    public var monthsBetweenOffers: Int?
    /// The redeemed offers from which ``monthsBetweenOffers`` counts.
    public var waitScope: WaitScope
    /// When the offer begins, in milliseconds since 1970-01-01T00:00:00Z; nil for no limit.
    public var startDate: Int64?
    /// When the offer ends, in milliseconds since 1970-01-01T00:00:00Z; this millisecond is not part of it. Nil for no bound.
    public var endDate: Int64?
    /// The storefronts that have the offer, as ISO 3166-1 alpha-3 codes such as `USA`; nil for all.
    public var storefronts: Set<String>?
    /// The rank of the offer among other offers.
    public var priority: Priority

    /// The largest number of months; the rules treat a greater one as this.
    public static let maximumMonths = 1_200

    /// Rules without conditions except the given ones. By default each customer is eligible when the subscription has
    /// ended.
    public init(
        minimumPaidMonths: Int = 0, minimumMonthsSince: Int = 0, maximumMonthsSince: Int? = nil,
        monthsBetweenOffers: Int? = nil, waitScope: WaitScope = .offer, startDate: Int64? = nil, endDate: Int64? = nil,
        storefronts: Set<String>? = nil, priority: Priority = .normal
    ) {
        self.minimumPaidMonths = minimumPaidMonths
        self.minimumMonthsSince = minimumMonthsSince
        self.maximumMonthsSince = maximumMonthsSince
        self.monthsBetweenOffers = monthsBetweenOffers
        self.waitScope = waitScope
        self.startDate = startDate
        self.endDate = endDate
        self.storefronts = storefronts
        self.priority = priority
    }
}
