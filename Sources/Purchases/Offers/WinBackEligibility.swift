public import AppStoreModels

extension WinBackOffer {
    /// The place of the priority in each order of offers.
    fileprivate var priorityRank: Int { rules.priority == .high ? 0 : 1 }
}

extension [WinBackOffer] {
    /// The order in which offers are listed for all customers: those of high priority first, else as given.
    package var highPriorityFirst: [WinBackOffer] {
        indices.sorted { (self[$0].priorityRank, $0) < (self[$1].priorityRank, $1) }.map { self[$0] }
    }
}

extension PurchaseHistory {
    /// The offers that the customer is eligible for at a time, the best first, as in `eligibleWinBackOfferIds`.
    ///
    /// The order is: high before normal priority, then offers of the product that the customer last subscribed to, then
    /// the identifiers ascending. (Apple: the order takes into account the offers of the customer's most recent
    /// subscription.)
    /// - Parameters:
    ///   - offers: with their rules.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    public func eligibleWinBackOffers(_ offers: [WinBackOffer], at now: Int64) -> [WinBackOffer] {
        let timelines = SubscriptionTimeline.all(of: self)
        func isOfLastProduct(_ offer: WinBackOffer) -> Bool {
            guard let productId = offer.productId else { return false }
            let timeline = timelines.first { $0.group == offer.group }
            return timeline?.lastOwn(at: now)?.transaction.productId == productId
        }
        func key(_ offer: WinBackOffer) -> (Int, Int, String, String) {
            (
                offer.priorityRank, isOfLastProduct(offer) ? 0 : 1, offer.offerIdentifier,
                offer.productId ?? ""
            )
        }
        return offers.filter { eligibility(for: $0, at: now).eligibility == .eligible }
            .map { (offer: $0, key: key($0)) }.sorted { $0.key < $1.key }.map(\.offer)
    }

    /// Whether the customer is eligible for a win-back offer.
    ///
    /// The App Store's own answer is `eligibleWinBackOfferIds` of the renewal information. This one needs no network,
    /// works for any time, and gives the reasons.
    /// - Parameters:
    ///   - offer: the rules of the offer.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z; periods that begin later are ignored.
    public func eligibility(for offer: WinBackOffer, at now: Int64) -> OfferVerdict {
        let timelines = SubscriptionTimeline.all(of: self)
        var reasons: [OfferReason] = []
        // A subscription of an unknown group may be a later one, a paid one, or a win-back offer of this group.
        let unplaced = timelines.first { $0.group == nil }
        let stray = unplaced?.own.first?.entry ?? unplaced?.ownUndated.first ?? subscriptionWithoutEnd(in: nil)
        if let stray {
            reasons.append(OfferReason(.groupsKnown, .unknown, transactionId: stray.transaction.transactionId))
        }
        let timeline = timelines.first { $0.group == offer.group }
        if let undated = timeline?.ownUndated.first ?? subscriptionWithoutEnd(in: offer.group) {
            reasons.append(OfferReason(.datesKnown, .unknown, transactionId: undated.transaction.transactionId))
        }
        guard let timeline, let last = timeline.lastOwn(at: now) else {
            let outcome: OfferReason.Outcome = reasons.isEmpty ? .failed : .unknown
            return OfferVerdict([OfferReason(.subscribedBefore, outcome)] + reasons, at: now)
        }
        let rules = offer.rules
        let id = last.transaction.transactionId
        reasons.insert(OfferReason(.subscribedBefore, .satisfied, transactionId: id), at: 0)
        reasons += lapseReasons(timeline, at: now)
        if completeThrough == nil { reasons.append(OfferReason(.historyCurrent, .unknown)) }
        let gap = gaps(timeline).last
        reasons.append(paidMonths(rules, timeline, gap, at: now))
        reasons += timeReasons(rules, lastEnd: last.end, transactionId: id, at: now)
        if let wait = rules.monthsBetweenOffers {
            reasons.append(waitReason(wait, offer, timeline.own.filter { $0.start <= now }, gap, at: now))
        }
        reasons += availabilityReasons(rules, at: now)
        return OfferVerdict(reasons, at: now)
    }

    private func paidMonths(
        _ rules: WinBackRules, _ timeline: SubscriptionTimeline, _ gap: HistoryGap?, at now: Int64
    ) -> OfferReason {
        let latest = timeline.latestPaidStretch(
            until: now, countsUnpricedAsPaid: countsUnpricedPeriodsAsPaid, monthLength: monthLength)
        let wanted = Int64(rules.minimumPaidMonths)
        let months = latest.shortest?.months ?? 0
        // A missing period after the stretch may be a later, shorter stretch.
        let mayBeLater =
            latest.shortest.map { stretch in gap?.end.map { $0 > stretch.end.addingSaturated(Self.tolerance) } ?? false
            } ?? false
        if months >= wanted, wanted <= 0 || !mayBeLater {
            return OfferReason(
                .paidMonths, .satisfied, transactionId: latest.shortest?.lastTransactionId, months: months)
        }
        if (latest.longest?.months ?? 0) >= wanted {
            return OfferReason(
                .paidMonths, .unknown, transactionId: latest.longest?.lastTransactionId, months: months)
        }
        // A missing period may have been paid.
        return OfferReason(
            .paidMonths, gap == nil ? .failed : .unknown,
            transactionId: gap.map(\.entry.transaction.transactionId) ?? latest.shortest?.lastTransactionId,
            months: months)
    }

    private func timeReasons(
        _ rules: WinBackRules, lastEnd: Int64, transactionId: String?, at now: Int64
    ) -> [OfferReason] {
        var reasons = [
            OfferReason.from(
                after(rules.minimumMonthsSince, lastEnd), at: now, .minimumMonthsSince, transactionId: transactionId)
        ]
        if let maximum = rules.maximumMonthsSince {
            let until = after(maximum, lastEnd)
            reasons.append(
                OfferReason(
                    .maximumMonthsSince, now < until ? .satisfied : .failed, transactionId: transactionId,
                    until: until))
        }
        return reasons
    }

    /// Whether the customer has waited long enough since the offer was last redeemed (App Store Connect Help, "Set
    /// up win-back offers").
    ///
    /// A redeemed offer without an identifier may be this one, and so may a missing period, which began before the end of
    /// the gap.
    private func waitReason(
        _ wait: Int, _ offer: WinBackOffer, _ own: [SubscriptionPeriodSpan], _ gap: HistoryGap?, at now: Int64
    ) -> OfferReason {
        let winBacks = own.filter { $0.transaction.offerType == .winBack }
        func isCounted(_ span: SubscriptionPeriodSpan) -> Bool? {
            guard offer.rules.waitScope == .offer else { return true }
            return span.transaction.offerIdentifier.map { $0 == offer.offerIdentifier }
        }
        let redeemed = Self.redemption(winBacks.filter { isCounted($0) == true })
        let known = redeemed.map { after(wait, $0.start) }
        if let redeemed, let known, now < known {
            return OfferReason(
                .monthsBetweenOffers, .failed, transactionId: redeemed.transaction.transactionId, from: known)
        }
        let unnamed = Self.redemption(winBacks.filter { isCounted($0) == nil })
        var open: [(entry: Entry, latest: Int64?)] = []
        if let unnamed { open.append((unnamed.entry, unnamed.start)) }
        if let gap { open.append((gap.entry, gap.end)) }
        for (entry, latest) in open {
            let id = entry.transaction.transactionId
            guard let latest else { return OfferReason(.monthsBetweenOffers, .unknown, transactionId: id) }
            let possible = after(wait, latest)
            if now < possible {
                return OfferReason(.monthsBetweenOffers, .unknown, transactionId: id, from: possible)
            }
        }
        return OfferReason(
            .monthsBetweenOffers, .satisfied, transactionId: redeemed?.transaction.transactionId, from: known)
    }

    /// The period with which an offer was last redeemed: the first of the latest periods that follow each other, because an
    /// offer can last several periods.
    private static func redemption(_ spans: [SubscriptionPeriodSpan]) -> SubscriptionPeriodSpan? {
        var latest: SubscriptionPeriodSpan?
        for span in spans.sorted(by: { $0.start > $1.start }) {
            guard let known = latest else {
                latest = span
                continue
            }
            // A renewal can be late while billing is retried. The same offer can be redeemed again sooner than that ends.
            let gap = known.transaction.transactionReason == .renewal ? billingRetry : tolerance
            guard span.end.addingSaturated(gap) >= known.start, known.transaction.transactionReason != .purchase,
                span.transaction.offerIdentifier == known.transaction.offerIdentifier
            else { break }
            latest = span
        }
        return latest
    }

    /// Whether the offer is available at the time and in the customer's storefront.
    private func availabilityReasons(_ rules: WinBackRules, at now: Int64) -> [OfferReason] {
        var reasons: [OfferReason] = []
        if rules.startDate != nil || rules.endDate != nil {
            let isRunning = (rules.startDate ?? .min) <= now && now < (rules.endDate ?? .max)
            reasons.append(
                OfferReason(
                    .offerDates, isRunning ? .satisfied : .failed, from: rules.startDate, until: rules.endDate))
        }
        if let storefronts = rules.storefronts {
            let stated = statedStorefront(at: now)
            var outcome = OfferReason.Outcome.unknown
            if let stated { outcome = storefronts.contains(stated.storefront) ? .satisfied : .failed }
            reasons.append(OfferReason(.storefront, outcome, transactionId: stated?.transactionId))
        }
        return reasons
    }

    /// The customer's storefront, which can change. The newest of the customer's own purchases that states one is the best evidence:
    /// the one with the latest date, then with the greatest id.
    private func statedStorefront(at now: Int64) -> (storefront: String, transactionId: String?)? {
        let ownership = OfferOwnership(entries)
        let transactions = SubscriptionTimeline.newest(entries).filter { ownership.isOwn($0) }.map(\.transaction)
        let stated = transactions.compactMap { transaction in
            transaction.storefront.map { (storefront: $0, place: TransactionPlace(transaction), of: transaction) }
        }.filter { ($0.of.purchaseDate ?? .max) <= now }
        let newest = stated.max { ($0.place, $0.storefront) < ($1.place, $1.storefront) }
        return newest.map { (storefront: $0.storefront, transactionId: $0.of.transactionId) }
    }

    private func after(_ months: Int, _ date: Int64) -> Int64 {
        monthLength.adding(months: Int64(max(0, min(months, WinBackRules.maximumMonths))), to: date)
    }
}
