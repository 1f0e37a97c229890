/// Whether a customer may have an offer, with everything that led to it.
public struct OfferVerdict: Hashable, Sendable {
    public enum Eligibility: String, Hashable, Sendable, CaseIterable {
        case eligible
        case notEligible
        /// What is known does not decide it.
        case unknown
    }

    public let eligibility: Eligibility
    /// Every rule that was asked, in a fixed order.
    public let reasons: [OfferReason]
    /// When the last rule of time is (or will be) satisfied, in milliseconds since 1970; nil if the past does not bound it,
    /// or a rule that time does not change stands in the way.
    public let eligibleFrom: Int64?
    /// When the first rule of time ceases to be satisfied; nil if none does, or as above.
    public let eligibleUntil: Int64?
    /// When the verdict becomes another one if nothing is bought or refunded until then; nil if time alone does not
    /// change it.
    public let changesAt: Int64?

    /// The rules that do not speak for the customer: what stands in the way, or is not known.
    public var obstacles: [OfferReason] { reasons.filter { $0.outcome != .satisfied } }

    init(_ reasons: [OfferReason], at now: Int64) {
        self.reasons = reasons
        let isBarred = reasons.contains { $0.outcome == .failed && $0.from == nil && $0.until == nil }
        let isUnknown = reasons.contains { $0.outcome == .unknown && $0.from == nil }
        let from = reasons.compactMap(\.from).max()
        let until = reasons.compactMap(\.until).min()
        if reasons.contains(where: { $0.outcome == .failed }) {
            eligibility = .notEligible
        } else {
            eligibility = reasons.contains { $0.outcome == .unknown } ? .unknown : .eligible
        }
        let isPossible = !isBarred && (from ?? .min) < (until ?? .max)
        eligibleFrom = isPossible ? from : nil
        eligibleUntil = isPossible ? until : nil
        switch eligibility {
        case .eligible: changesAt = until
        case .notEligible, .unknown:
            // What will be unknown then is another verdict than what is barred now, but no day of it is known.
            changesAt = isPossible && !isUnknown ? from.flatMap { $0 > now ? $0 : nil } : nil
        }
    }
}

/// One rule about offers and what it says of a customer.
public struct OfferReason: Hashable, Sendable {
    /// The rules. Raw values stand in CSV files.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// No introductory offer was had in the group (Apple, "Implementing introductory offers in your app").
        case noIntroductoryOfferBefore
        /// There was a subscription in the group, bought by the customer.
        case subscribedBefore
        /// The last subscription of the group has ended, and billing is not being retried (Apple, eligibleWinBackOfferIds:
        /// neither in the grace period nor in billing retry).
        case lapsed
        /// The most recent consecutive months that were paid in the group are at least so many
        /// (customerEligibilityPaidSubscriptionDurationInMonths).
        case paidMonths
        /// At least so many months since the last subscription of the group ended
        /// (customerEligibilityTimeSinceLastSubscribedInMonths).
        case minimumMonthsSince
        /// At most so many months since then.
        case maximumMonthsSince
        /// At least so many months since this offer, when it was last redeemed, ended
        /// (customerEligibilityWaitBetweenOffersInMonths); any win-back offer of the group, if the rules say so.
        case monthsBetweenOffers
        /// The offer has begun and has not ended.
        case offerDates
        /// The customer's storefront has the offer: that of the newest purchase that states one.
        case storefront
        /// The group of every subscription is known.
        case groupsKnown
        /// The dates of every subscription of the group are known.
        case datesKnown
        /// The history reaches far enough to tell that the subscription was not renewed.
        case historyCurrent
    }

    public enum Outcome: String, Hashable, Sendable {
        case satisfied
        case failed
        case unknown
    }

    public let rule: Rule
    public let outcome: Outcome
    /// The transaction that decided, if one did.
    public let transactionId: String?
    /// From when the rule is satisfied, and until when, in milliseconds since 1970; nil where time does not bound it.
    public let from: Int64?
    public let until: Int64?
    /// What was found where the rule counts months.
    public let months: Int64?

    init(
        _ rule: Rule, _ outcome: Outcome, transactionId: String? = nil, from: Int64? = nil, until: Int64? = nil,
        months: Int64? = nil
    ) {
        self.rule = rule
        self.outcome = outcome
        self.transactionId = transactionId
        self.from = from
        self.until = until
        self.months = months
    }

    /// A rule that is satisfied from a date on.
    static func from(_ date: Int64, at now: Int64, _ rule: Rule, transactionId: String?) -> OfferReason {
        OfferReason(rule, now >= date ? .satisfied : .failed, transactionId: transactionId, from: date)
    }
}
