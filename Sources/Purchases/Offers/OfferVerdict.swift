/// Whether a customer is eligible for an offer, with the result of each rule.
public struct OfferVerdict: Hashable, Sendable {
    /// The three results. CSV files contain the raw values.
    public enum Eligibility: String, Hashable, Sendable, CaseIterable {
        /// Every rule is satisfied.
        case eligible
        /// A rule failed.
        case notEligible
        /// The known purchases do not decide it.
        case unknown
    }

    /// Not eligible if a rule failed; otherwise unknown if the result of a rule is unknown.
    public let eligibility: Eligibility
    /// The result of every rule that applies, in a fixed order.
    public let reasons: [OfferReason]
    /// When the last rule that depends on time is (or will be) satisfied, in milliseconds since 1970. Nil if no rule
    /// sets a start, or if a rule that does not depend on time failed.
    public let eligibleFrom: Int64?
    /// When the first rule that depends on time stops being satisfied; nil if none does, or if a rule that does not
    /// depend on time failed.
    public let eligibleUntil: Int64?
    /// When the verdict changes if nothing is bought or refunded first; nil if time alone does not change it.
    public let changesAt: Int64?

    /// The rules that failed or are unknown.
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
            // A barred customer can become an unknown one at a date that is not known.
            changesAt = isPossible && !isUnknown ? from.flatMap { $0 > now ? $0 : nil } : nil
        }
    }
}

/// One rule about offers and its result for a customer.
public struct OfferReason: Hashable, Sendable {
    /// The rules. CSV files contain the raw values.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// The customer has had no introductory offer in the group (Apple, "Implementing introductory offers in your
        /// app").
        case noIntroductoryOfferBefore
        /// The customer bought a subscription in the group before.
        case subscribedBefore
        /// The last subscription of the group has ended, and billing is not being retried (Apple, eligibleWinBackOfferIds:
        /// neither in the grace period nor in billing retry).
        case lapsed
        /// The customer paid for at least this many consecutive months in the group, counting the most recent ones
        /// (customerEligibilityPaidSubscriptionDurationInMonths).
        case paidMonths
        /// At least this many months have passed since the last subscription of the group ended
        /// (customerEligibilityTimeSinceLastSubscribedInMonths).
        case minimumMonthsSince
        /// At most this many months have passed since then.
        case maximumMonthsSince
        /// At least this many months have passed since the customer last redeemed this offer
        /// (customerEligibilityWaitBetweenOffersInMonths). Any win-back offer of the group counts if the rules configure
        /// it.
        case monthsBetweenOffers
        /// The offer has begun and has not ended.
        case offerDates
        /// The offer is available in the customer's storefront: that of the newest purchase that states one.
        case storefront
        /// The group of every subscription is known.
        case groupsKnown
        /// The dates of every subscription of the group are known.
        case datesKnown
        /// The history is recent enough to show that the subscription was not renewed.
        case historyCurrent
    }

    /// The result of one rule.
    public enum Outcome: String, Hashable, Sendable {
        /// The rule is satisfied at the moment of the verdict.
        case satisfied
        /// The rule is not satisfied at that moment. If `from` is later, the rule is satisfied from then on.
        case failed
        /// The known purchases do not decide it.
        case unknown
    }

    /// The rule that was checked.
    public let rule: Rule
    /// The result at the moment of the verdict.
    public let outcome: Outcome
    /// The transaction that decided, if one did.
    public let transactionId: String?
    /// When the rule starts being satisfied, and when it stops, in milliseconds since 1970; nil if it has no such
    /// bound.
    public let from: Int64?
    /// The first moment at which the rule is no longer satisfied, in milliseconds since 1970-01-01T00:00:00Z; nil if
    /// there is none.
    public let until: Int64?
    /// The number of months found, for rules that count months.
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
