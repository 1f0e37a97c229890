public import AppStoreModels

/// What a customer is entitled to in one subscription group at one moment: the best of the subscriptions in it.
public struct GroupEntitlement: Hashable, Sendable {
    /// `subscriptionGroupIdentifier`; nil for subscriptions of which nobody says the group.
    public let group: String?
    /// The one that decides: of the best status, and of those the one that lasts longest; bought before shared.
    public let best: SubscriptionStanding
    /// All subscriptions of the group, the best first.
    public let subscriptions: [SubscriptionStanding]
}

/// The standing of one subscription.
public struct SubscriptionStanding: Hashable, Sendable {
    /// In Apple's terms.
    public let status: SubscriptionStatus
    public let originalTransactionId: String?
    /// The period that decides: the one that runs, else the last one.
    public let transactionId: String?
    public let productId: String?
    /// Whether the customer has it through Family Sharing.
    public let isFamilyShared: Bool
    /// When the access ends or ended, in milliseconds since 1970: the end of the period, or of the grace period.
    public let accessEnds: Int64
    /// When the status becomes another one if nothing happens until then; nil if time alone does not change it.
    public let changesAt: Int64?
    /// What was last stated about the renewal of the period; nil if nothing was.
    public let renewalInfo: JWSRenewalInfoDecodedPayload?
    /// Whether a renewal information decided.
    public let restsOnRenewalInfo: Bool
    /// Whether the history reaches far enough to be sure. If not, the subscription may have been renewed, billed or
    /// cancelled since.
    public let isCurrent: Bool

    /// Whether the customer has access: active, or in the billing grace period.
    public var hasAccess: Bool { status == .active || status == .billingGracePeriod }
}

extension PurchaseHistory {
    /// What the customer is entitled to, by group ascending, those of unknown groups last. Groups in which no subscription
    /// had begun are left out.
    ///
    /// - A period that runs: active. It ends at its expiry, at a refund, or when an upgrade takes its place.
    /// - Else, if the last period was refunded or revoked: revoked.
    /// - Else, if the renewal information says that billing is being retried: grace period while its date lies ahead, then
    ///   billing retry until 60 days after the expiry. Nothing else makes these two, and one that was signed before the
    ///   period began does not: it speaks of an older one.
    /// - Else: expired (Reference.md V9.3).
    /// - Parameter now: milliseconds since 1970-01-01T00:00:00Z.
    public func entitlements(at now: Int64) -> [GroupEntitlement] {
        SubscriptionTimeline.all(of: self).compactMap { timeline in
            struct Key: Hashable {
                let id: String?
                let isShared: Bool
            }
            let begun = timeline.spans.filter { $0.start <= now }
            let subscriptions = Dictionary(grouping: begun) { span in
                Key(
                    id: span.entry.subscriptionId, isShared: span.isShared)
            }
            let standings = subscriptions.values.compactMap { standing($0, at: now) }.sorted(by: Self.isBetter)
            return standings.first.map {
                GroupEntitlement(group: timeline.group, best: $0, subscriptions: standings)
            }
        }
    }

    /// - Parameter spans: of one subscription, all of them begun.
    private func standing(_ spans: [SubscriptionPeriodSpan], at now: Int64) -> SubscriptionStanding? {
        // An upgraded period of the same moment as its successor is over at once; the successor stands behind it.
        guard let last = spans.indices.max(by: { (spans[$0].end, $0) < (spans[$1].end, $1) }) else { return nil }
        let span = spans[last]
        let stated = renewalInfo(of: span)
        func outcome(
            _ status: SubscriptionStatus, ends: Int64, changesAt: Int64?, byInfo: Bool = false
        ) -> SubscriptionStanding {
            SubscriptionStanding(
                status: status, originalTransactionId: span.transaction.originalTransactionId,
                transactionId: span.transaction.transactionId, productId: span.transaction.productId,
                isFamilyShared: span.isShared, accessEnds: ends, changesAt: changesAt, renewalInfo: stated,
                restsOnRenewalInfo: byInfo,
                isCurrent: status == .active || status == .revoked || (currentThrough(span) ?? .min) >= span.end)
        }
        if span.end > now { return outcome(.active, ends: span.end, changesAt: span.end) }
        if span.isRevoked { return outcome(.revoked, ends: span.end, changesAt: nil) }
        guard let info = stated, info.isInBillingRetryPeriod == true else {
            return outcome(.expired, ends: span.end, changesAt: nil)
        }
        if let grace = info.gracePeriodExpiresDate, grace > now {
            return outcome(.billingGracePeriod, ends: grace, changesAt: grace, byInfo: true)
        }
        let retryEnds = span.end + Self.billingRetry
        return now < retryEnds
            ? outcome(.billingRetry, ends: span.end, changesAt: retryEnds, byInfo: true)
            : outcome(.expired, ends: span.end, changesAt: nil, byInfo: true)
    }

    private static func isBetter(_ left: SubscriptionStanding, _ right: SubscriptionStanding) -> Bool {
        if left.rank != right.rank { return left.rank < right.rank }
        if left.accessEnds != right.accessEnds { return left.accessEnds > right.accessEnds }
        if left.isFamilyShared != right.isFamilyShared { return !left.isFamilyShared }
        return (left.originalTransactionId ?? "") < (right.originalTransactionId ?? "")
    }
}

extension SubscriptionStanding {
    fileprivate var rank: Int {
        switch status {
        case .active: 0
        case .billingGracePeriod: 1
        case .billingRetry: 2
        case .expired: 3
        default: 4
        }
    }
}
