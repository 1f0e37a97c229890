internal import AppStoreModels
package import ProductCatalog

extension PurchaseHistory {
    /// Whether the customer may have an introductory offer, a free trial included, in a subscription group.
    ///
    /// Introductory offers are for new and returning subscribers who have not had one for any product of the group
    /// (Apple, "Implementing introductory offers in your app"). A refunded offer counts as had. A current subscriber is
    /// not eligible until the subscription ends. The verdict is unknown while a subscription of an unknown group is
    /// current, if the end of a subscription is unknown, or if a subscription was assigned to the customer: Apple does
    /// not document whether the offer of an assigned subscription counts as the customer's.
    ///
    /// A refund ends a subscription also if no document states the end of its period. After that, only its offer still counts. An
    /// unsigned document can lack everything that shows a subscription. Its purchase may be one, unless the type of the product is
    /// known or a receipt states the product without an end.
    ///
    /// The verdict covers the history only: it does not include purchases after ``completeThrough``. If periods of a
    /// subscription are missing (``Coverage``), one of them may have had the offer.
    /// - Parameters:
    ///   - group: `subscriptionGroupIdentifier`.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    public func introductoryEligibility(group: String, at now: Int64) -> OfferVerdict {
        introductoryEligibility(group: group, introductoryPurchases(at: now), at: now)
    }

    /// The groups whose introductory offers a customer can ask about, ascending: those of the customer's subscriptions, and
    /// those with an offer in the catalog, because a customer without a subscription of a group may be eligible.
    /// - Parameter offering: ``ProductCatalog/introductoryOfferGroups``; empty without a catalog.
    package func introductoryGroups(offering: Set<String>) -> [String] { offering.union(subscriptionGroups).sorted() }

    /// The verdicts of several groups, in their order. The purchases can be of thousands of groups.
    package func introductoryEligibilities(_ groups: [String], at now: Int64) -> [OfferVerdict] {
        let purchases = introductoryPurchases(at: now)
        return groups.map { introductoryEligibility(group: $0, purchases, at: now) }
    }

    private func introductoryEligibility(
        group: String, _ purchases: IntroductoryPurchases, at now: Int64
    ) -> OfferVerdict {
        introductoryEligibility(
            purchases.timelines[group], purchases.possible[group] ?? [], groupsKnown: purchases.groupsKnown, at: now)
    }

    /// The purchases that the verdicts depend on, by group.
    private struct IntroductoryPurchases {
        let timelines: [String?: SubscriptionTimeline]
        /// See ``possibleSubscriptions``.
        let possible: [String?: [Entry]]
        /// Whether a purchase of an unknown group stands in the way. It does so in every group.
        let groupsKnown: OfferReason
    }

    private func introductoryPurchases(at now: Int64) -> IntroductoryPurchases {
        let timelines = SubscriptionTimeline.all(of: self)
        let possible = possibleSubscriptions
        let unplaced = timelines.first { $0.group == nil }
        return IntroductoryPurchases(
            timelines: Dictionary(timelines.map { ($0.group, $0) }, uniquingKeysWith: { first, _ in first }),
            possible: possible, groupsKnown: groupsKnown(unplaced, possible[String?.none] ?? [], at: now))
    }

    private func groupsKnown(_ unplaced: SubscriptionTimeline?, _ withoutEnd: [Entry], at now: Int64) -> OfferReason {
        let stray = withoutEnd.first { $0.mayHaveHadOffer || !$0.isRefunded(by: now) }
        if let open = unplaced.flatMap({ doubt($0, at: now) }) ?? stray {
            return OfferReason(.groupsKnown, .unknown, transactionId: open.transaction.transactionId)
        }
        if let unplaced, let reason = openReason(unplaced, at: now) { return reason }
        return OfferReason(.groupsKnown, .satisfied)
    }

    /// - Parameters:
    ///   - timeline: the subscriptions of the group.
    ///   - withoutEnd: see ``possibleSubscriptions``.
    ///   - groupsKnown: whether the group of every other purchase is known.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    private func introductoryEligibility(
        _ timeline: SubscriptionTimeline?, _ withoutEnd: [Entry], groupsKnown: OfferReason, at now: Int64
    ) -> OfferVerdict {
        var reasons = [introductoryReason(timeline, withoutEnd), groupsKnown]
        if let undated = ((timeline?.ownUndated ?? []) + withoutEnd).first(where: { !$0.isRefunded(by: now) }) {
            reasons.append(OfferReason(.datesKnown, .unknown, transactionId: undated.transaction.transactionId))
        }
        if let timeline, !timeline.own.isEmpty { reasons += lapseReasons(timeline, at: now) }
        if completeThrough == nil { reasons.append(OfferReason(.historyCurrent, .unknown)) }
        return OfferVerdict(reasons, at: now)
    }

    /// The products of all groups in which the customer cannot have an introductory offer, ascending.
    ///
    /// A product without a known group is in a group too. So a used offer, or a subscription that has not ended, counts for its
    /// product and for the products that the subscription had before or after.
    /// - Parameters:
    ///   - catalog: gives further products of the known groups.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    package func productsWithoutIntroductoryOffer(catalog: ProductCatalog?, at now: Int64) -> [String] {
        let purchases = introductoryPurchases(at: now)
        let all = Set(purchases.timelines.keys).union(purchases.possible.keys).compactMap(\.self)
        let groups = Set(
            all.filter { introductoryEligibility(group: $0, purchases, at: now).eligibility == .notEligible })
        let unplaced = SubscriptionTimeline.apart(
            purchases.timelines[String?.none], with: purchases.possible[String?.none] ?? []
        )
        .filter { timeline, withoutEnd in
            introductoryEligibility(timeline, withoutEnd, groupsKnown: purchases.groupsKnown, at: now).eligibility
                == .notEligible
        }
        .flatMap { timeline, withoutEnd -> [Entry] in
            (timeline?.spans.map(\.entry) ?? []) + (timeline?.undated ?? []) + withoutEnd
        }
        guard !groups.isEmpty || !unplaced.isEmpty else { return [] }
        let known = knownGroups
        let placed = entries.filter { entry in
            entry.transaction.isSubscription && entry.group(known).map { groups.contains($0) } == true
        }
        let possible = groups.flatMap { purchases.possible[$0] ?? [] }
        var products = Set((unplaced + placed + possible).compactMap(\.transaction.productId))
        products.formUnion(known.filter { groups.contains($0.value) }.keys)
        if let catalog {
            products.formUnion(
                catalog.productIds.filter { groups.contains(catalog.product($0)?.subscriptionGroupIdentifier ?? "") })
        }
        return products.sorted()
    }

    private func introductoryReason(_ timeline: SubscriptionTimeline?, _ withoutEnd: [Entry]) -> OfferReason {
        let own = (timeline?.ownEntries ?? []) + withoutEnd
        if let used = own.first(where: { $0.transaction.offerType == .introductory }) {
            return OfferReason(
                .noIntroductoryOfferBefore, .failed, transactionId: used.transaction.transactionId)
        }
        let missing = timeline.flatMap { gaps($0).first?.entry }
        if let open = own.first(where: \.mayBeIntroductory) ?? missing ?? timeline?.assigned {
            return OfferReason(.noIntroductoryOfferBefore, .unknown, transactionId: open.transaction.transactionId)
        }
        return OfferReason(.noIntroductoryOfferBefore, .satisfied)
    }

    /// A subscription of an unknown group that has not ended: it may be one of this group.
    private func openReason(_ timeline: SubscriptionTimeline, at now: Int64) -> OfferReason? {
        let reasons = lapseReasons(timeline, at: now).filter { $0.outcome != .satisfied }
        guard let first = reasons.first else { return nil }
        return OfferReason(
            .groupsKnown, .unknown, transactionId: first.transactionId,
            from: reasons.allSatisfy({ $0.from != nil }) ? reasons.compactMap(\.from).max() : nil)
    }

    /// A subscription of an unknown group that had, or may have had, an introductory offer, or that may continue.
    private func doubt(_ timeline: SubscriptionTimeline, at now: Int64) -> Entry? {
        let stated = timeline.ownEntries.first(where: \.mayHaveHadOffer)
        return stated ?? gaps(timeline).first?.entry ?? timeline.ownUndated.first { !$0.isRefunded(by: now) }
            ?? timeline.assigned
    }

    /// A subscription of a group, or of an unknown group, without a stated type and end. It is in no timeline, and it may
    /// continue.
    func subscriptionWithoutEnd(in group: String?) -> Entry? {
        let ownership = OfferOwnership(entries)
        let found = SubscriptionTimeline.newest(entries).filter {
            $0.isSubscriptionWithoutEnd && !ownership.isShared($0)
        }
        guard !found.isEmpty else { return nil }
        let known = knownGroups
        return found.first { $0.group(known) == group }
    }

    /// The same by group, with the purchases that only unsigned documents state and that may be subscriptions.
    private var possibleSubscriptions: [String?: [Entry]] {
        let types = ProductTypes(entries)
        let ownership = OfferOwnership(entries)
        // A receipt states the end and the line item of a subscription.
        let otherProducts = Set(
            entries.lazy.filter {
                $0.isSigned && $0.isWithoutTypeAndEnd && !$0.isShared && !$0.isSubscriptionWithoutEnd
            }
            .compactMap(\.transaction.productId))
        let possible = SubscriptionTimeline.newest(entries).filter { entry in
            guard entry.isWithoutTypeAndEnd, !ownership.isShared(entry) else { return false }
            if entry.isSubscriptionWithoutEnd { return true }
            guard !entry.isSigned else { return false }
            if let type = types.type(of: entry) { return type == .autoRenewableSubscription }
            return entry.transaction.productId.map { !otherProducts.contains($0) } ?? true
        }
        guard !possible.isEmpty else { return [:] }
        let known = knownGroups
        return Dictionary(grouping: possible) { $0.group(known) }
    }
}

extension PurchaseHistory.Entry {
    var isShared: Bool { transaction.inAppOwnershipType == .familyShared }

    fileprivate var isWithoutTypeAndEnd: Bool { transaction.type == nil && transaction.expiresDate == nil }

    /// Only subscriptions have a `webOrderLineItemId`.
    fileprivate var isSubscriptionWithoutEnd: Bool {
        isWithoutTypeAndEnd && transaction.webOrderLineItemId.map { $0 != "0" } == true
    }

    /// Whether the purchase was refunded by a time: it has ended then.
    fileprivate func isRefunded(by now: Int64) -> Bool {
        transaction.isRevoked && transaction.revocationDate.map { $0 <= now } == true
    }

    /// Whether a document states an introductory offer, or none states that there was no such offer.
    fileprivate var mayHaveHadOffer: Bool { transaction.offerType == .introductory || mayBeIntroductory }

    /// Whether no document states if there was an introductory offer.
    fileprivate var mayBeIntroductory: Bool {
        guard let type = transaction.offerType else { return !statesOffers }
        return !type.isKnown
    }
}
