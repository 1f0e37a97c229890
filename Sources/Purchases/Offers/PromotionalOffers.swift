public import AppStoreModels

/// A customer's situation in one subscription group, for a decision about promotional offers.
///
/// Apple allows a promotional offer for every customer who has or had a subscription; the developer decides who gets one.
public struct PromotionalCandidate: Hashable, Sendable {
    /// CSV files contain the raw values.
    public enum Situation: String, Hashable, Sendable, CaseIterable {
        /// The subscription is active and will not renew.
        case autoRenewOff
        /// Billing failed and is being retried, in the grace period or after it.
        case billingRetry
        /// The subscription has ended.
        case lapsed
        /// The subscription is active and will renew.
        case renewing
        /// The last period was refunded or revoked.
        case revoked
        /// The history does not state whether the subscription renews or was renewed.
        case unknown
    }

    /// From the status and the renewal information of ``standing``. A subscription has lapsed only if the history is
    /// recent enough for all of the customer's own subscriptions in the group.
    public let situation: Situation
    /// `subscriptionGroupIdentifier`; nil for subscriptions without a known group.
    public let group: String?
    /// The best of the customer's own subscriptions in the group.
    public let standing: SubscriptionStanding

    /// Why the subscription ended or is about to end, as the App Store states it; nil if nothing states it.
    public var expirationIntent: ExpirationIntent? { standing.renewalInfo?.expirationIntent }

    /// Whether a promotional offer can keep or return the customer: auto-renewal is off, billing is being retried, or the
    /// subscription has lapsed.
    public var isCandidate: Bool {
        switch situation {
        case .autoRenewOff, .billingRetry, .lapsed: true
        case .renewing, .revoked, .unknown: false
        }
    }
}

extension PurchaseHistory {
    /// The customer's situation in each group with a subscription of the customer's own, in the order of
    /// ``entitlements(at:)``. Family-shared and assigned subscriptions do not count: only the purchaser can redeem an offer
    /// for them.
    /// - Parameter now: milliseconds since 1970-01-01T00:00:00Z.
    public func promotionalCandidates(at now: Int64) -> [PromotionalCandidate] {
        let ownership = OfferOwnership(entries)
        return entitlements(at: now).compactMap { entitlement in
            let own = entitlement.subscriptions.filter {
                !ownership.isShared($0) && !ownership.isAssigned(subscription: $0.subscriptionId)
            }
            guard let best = own.first else { return nil }
            return PromotionalCandidate(
                situation: Self.situation(of: best, among: own), group: entitlement.group, standing: best)
        }
    }

    private static func situation(
        of standing: SubscriptionStanding, among own: [SubscriptionStanding]
    ) -> PromotionalCandidate.Situation {
        switch standing.status {
        case .active:
            switch standing.renewalInfo?.autoRenewStatus {
            case .off?: .autoRenewOff
            case .on?: .renewing
            default: .unknown
            }
        case .billingGracePeriod, .billingRetry: .billingRetry
        // Another subscription of the group may have been renewed since.
        case .expired: own.allSatisfy(\.isCurrent) ? .lapsed : .unknown
        case .revoked: .revoked
        default: .unknown
        }
    }
}
