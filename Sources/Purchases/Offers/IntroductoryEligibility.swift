internal import AppStoreModels
package import ProductCatalog

extension PurchaseHistory {
    /// Whether the customer may have an introductory offer, a free trial included, in a subscription group.
    ///
    /// Introductory offers are for new and returning subscribers who have not had one for any product of the group
    /// (Apple, "Implementing introductory offers in your app"). A refunded offer counts as had. A current subscriber is
    /// not eligible until the subscription ends. While a subscription of an unknown group goes on, the verdict is unknown.
    ///
    /// The verdict covers the history only: it does not include purchases after ``completeThrough``. If periods of a
    /// subscription are missing (``Coverage``), one of them may have had the offer.
    /// - Parameters:
    ///   - group: `subscriptionGroupIdentifier`.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    public func introductoryEligibility(group: String, at now: Int64) -> OfferVerdict {
        let timelines = SubscriptionTimeline.all(of: self)
        let timeline = timelines.first { $0.group == group }
        let unplaced = timelines.first { $0.group == nil }
        var reasons = [introductoryReason(timeline)]
        if let unplaced, let doubt = doubt(unplaced) {
            reasons.append(OfferReason(.groupsKnown, .unknown, transactionId: doubt.transaction.transactionId))
        } else if let unplaced, let reason = openReason(unplaced, at: now) {
            reasons.append(reason)
        } else {
            reasons.append(OfferReason(.groupsKnown, .satisfied))
        }
        if let timeline, !timeline.own.isEmpty { reasons += lapseReasons(timeline, at: now) }
        if completeThrough == nil { reasons.append(OfferReason(.historyCurrent, .unknown)) }
        return OfferVerdict(reasons, at: now)
    }

    /// The products of all groups in which the customer cannot have an introductory offer, ascending.
    /// - Parameters:
    ///   - catalog: gives further products of these groups.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    package func productsWithoutIntroductoryOffer(catalog: ProductCatalog?, at now: Int64) -> [String] {
        let groups = Set(
            subscriptionGroups.filter { introductoryEligibility(group: $0, at: now).eligibility == .notEligible })
        guard !groups.isEmpty else { return [] }
        var products = Set(knownGroups.filter { groups.contains($0.value) }.keys)
        if let catalog {
            products.formUnion(
                catalog.productIds.filter { groups.contains(catalog.product($0)?.subscriptionGroupIdentifier ?? "") })
        }
        return products.sorted()
    }

    private func introductoryReason(_ timeline: SubscriptionTimeline?) -> OfferReason {
        let own = timeline.map { $0.own.map(\.entry) + $0.undated.filter { !$0.isShared } } ?? []
        if let used = own.first(where: { $0.transaction.offerType == .introductory }) {
            return OfferReason(
                .noIntroductoryOfferBefore, .failed, transactionId: used.transaction.transactionId)
        }
        if let open = own.first(where: \.mayBeIntroductory) ?? timeline.flatMap({ gaps($0).first?.entry }) {
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

    /// A subscription of an unknown group that had, or may have had, an introductory offer.
    private func doubt(_ timeline: SubscriptionTimeline) -> Entry? {
        let stated = (timeline.own.map(\.entry) + timeline.undated.filter { !$0.isShared }).first {
            $0.transaction.offerType == .introductory || $0.mayBeIntroductory
        }
        return stated ?? gaps(timeline).first?.entry
    }
}

extension PurchaseHistory.Entry {
    var isShared: Bool { transaction.inAppOwnershipType == .familyShared }

    /// Whether no document states if there was an introductory offer.
    fileprivate var mayBeIntroductory: Bool {
        guard let type = transaction.offerType else { return !statesOffers }
        return !type.isKnown
    }
}
