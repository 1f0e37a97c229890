internal import AppStoreModels

/// The rules of a win-back offer, as App Store Connect has them (App Store Connect API, WinBackOffer.Attributes). Months are
/// calendar months in US Pacific time, by which the App Store counts periods: 31 January and one month is the last day of
/// February.
public struct WinBackOffer: Hashable, Sendable {
    /// The identifier of the offer.
    public var offerIdentifier: String
    /// `subscriptionGroupIdentifier` of the product that is offered.
    public var group: String
    /// The product that is offered.
    public var productId: String?
    /// `paidSubscriptionDurationInMonths`: for how many consecutive months the customer has paid at least.
    public var minimumPaidMonths: Int
    /// `timeSinceLastSubscribedInMonths`, minimum: eligible from so many months after the last subscription ended.
    public var minimumMonthsSince: Int
    /// … maximum: no longer eligible when so many months have passed; nil for no bound.
    public var maximumMonthsSince: Int?
    /// `waitBetweenOffersInMonths`: eligible from so many months after the last win-back offer of the group ended; nil for
    /// none.
    public var monthsBetweenOffers: Int?

    /// The largest number of months that is counted with; a greater one counts as this.
    public static let maximumMonths = 1_200

    public init(
        offerIdentifier: String, group: String, productId: String? = nil, minimumPaidMonths: Int,
        minimumMonthsSince: Int, maximumMonthsSince: Int?, monthsBetweenOffers: Int? = nil
    ) {
        self.offerIdentifier = offerIdentifier
        self.group = group
        self.productId = productId
        self.minimumPaidMonths = minimumPaidMonths
        self.minimumMonthsSince = minimumMonthsSince
        self.maximumMonthsSince = maximumMonthsSince
        self.monthsBetweenOffers = monthsBetweenOffers
    }
}

extension PurchaseHistory {
    /// Whether the customer may have a win-back offer.
    ///
    /// `eligibleWinBackOfferIds` of a renewal information is the App Store's own answer; this one needs no network, can be
    /// asked of any time, and says why.
    /// - Parameters:
    ///   - offer: the rules of the offer.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z; periods that begin after it are passed over.
    public func eligibility(for offer: WinBackOffer, at now: Int64) -> OfferVerdict {
        let timelines = SubscriptionTimeline.all(of: self)
        var reasons: [OfferReason] = []
        // A subscription of an unknown group may be a later one, a paid one, or a win-back offer of this group.
        if let unplaced = timelines.first(where: { $0.group == nil }),
            let entry = (unplaced.own.map(\.entry) + unplaced.undated).first(where: { !$0.isShared })
        {
            reasons.append(OfferReason(.groupsKnown, .unknown, transactionId: entry.transaction.transactionId))
        }
        let timeline = timelines.first { $0.group == offer.group }
        if let undated = timeline?.undated.first(where: { !$0.isShared }) {
            reasons.append(OfferReason(.datesKnown, .unknown, transactionId: undated.transaction.transactionId))
        }
        let own = timeline?.own.filter { $0.start <= now } ?? []
        guard let timeline, let last = own.max(by: { $0.end < $1.end }) else {
            let outcome: OfferReason.Outcome = reasons.isEmpty ? .failed : .unknown
            return OfferVerdict([OfferReason(.subscribedBefore, outcome)] + reasons, at: now)
        }
        let id = last.transaction.transactionId
        reasons.insert(OfferReason(.subscribedBefore, .satisfied, transactionId: id), at: 0)
        reasons += lapseReasons(timeline, at: now)
        if completeThrough == nil { reasons.append(OfferReason(.historyCurrent, .unknown)) }
        let gap = gaps(timeline).last
        reasons.append(paidMonths(offer, timeline, gap, at: now))
        reasons += timeReasons(offer, lastEnd: last.end, transactionId: id, at: now)
        if let wait = offer.monthsBetweenOffers { reasons.append(offerReason(wait, own, gap, at: now)) }
        return OfferVerdict(reasons, at: now)
    }

    private func paidMonths(
        _ offer: WinBackOffer, _ timeline: SubscriptionTimeline, _ gap: HistoryGap?, at now: Int64
    ) -> OfferReason {
        func longest(countsUnknown: Bool) -> PaidStretch? {
            timeline.longestPaidStretch(
                until: now, countsUnpricedAsPaid: countsUnpricedPeriodsAsPaid, countsUnknownAsPaid: countsUnknown)
        }
        let wanted = Int64(offer.minimumPaidMonths)
        let known = longest(countsUnknown: false)
        if (known?.months ?? 0) >= wanted {
            return OfferReason(
                .paidMonths, .satisfied, transactionId: known?.lastTransactionId, months: known?.months ?? 0)
        }
        let possible = longest(countsUnknown: true)
        if (possible?.months ?? 0) >= wanted {
            return OfferReason(
                .paidMonths, .unknown, transactionId: possible?.lastTransactionId, months: known?.months ?? 0)
        }
        // What is missing may have been paid.
        return OfferReason(
            .paidMonths, gap == nil ? .failed : .unknown,
            transactionId: gap.map(\.entry.transaction.transactionId) ?? known?.lastTransactionId,
            months: known?.months ?? 0)
    }

    private func timeReasons(
        _ offer: WinBackOffer, lastEnd: Int64, transactionId: String?, at now: Int64
    ) -> [OfferReason] {
        var reasons = [
            OfferReason.from(
                Self.after(offer.minimumMonthsSince, lastEnd), at: now, .minimumMonthsSince,
                transactionId: transactionId)
        ]
        if let maximum = offer.maximumMonthsSince {
            let until = Self.after(maximum, lastEnd)
            reasons.append(
                OfferReason(
                    .maximumMonthsSince, now < until ? .satisfied : .failed, transactionId: transactionId,
                    until: until))
        }
        return reasons
    }

    /// What is missing may have been a win-back offer, which had ended by the end of the gap at the latest.
    private func offerReason(
        _ wait: Int, _ own: [SubscriptionPeriodSpan], _ gap: HistoryGap?, at now: Int64
    ) -> OfferReason {
        let redeemed = own.filter { $0.transaction.offerType == .winBack }.max { $0.end < $1.end }
        let known = redeemed.map { Self.after(wait, $0.end) }
        if let redeemed, let known, now < known {
            return OfferReason(
                .monthsBetweenOffers, .failed, transactionId: redeemed.transaction.transactionId, from: known)
        }
        if let gap {
            let id = gap.entry.transaction.transactionId
            guard let end = gap.end else { return OfferReason(.monthsBetweenOffers, .unknown, transactionId: id) }
            let possible = Self.after(wait, end)
            if now < possible {
                return OfferReason(.monthsBetweenOffers, .unknown, transactionId: id, from: possible)
            }
        }
        return OfferReason(
            .monthsBetweenOffers, .satisfied, transactionId: redeemed?.transaction.transactionId, from: known)
    }

    private static func after(_ months: Int, _ date: Int64) -> Int64 {
        PacificTime.adding(months: Int64(max(0, min(months, WinBackOffer.maximumMonths))), to: date)
    }
}
