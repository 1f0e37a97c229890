internal import AppStoreModels

extension PurchaseHistory {
    /// How long the App Store goes on trying to bill an expired subscription, in milliseconds: 60 days (App Store Server
    /// Notifications, GRACE_PERIOD_EXPIRED).
    static let billingRetry: Int64 = 60 * 86_400_000

    /// Whether the customer's own subscription of a group has ended: `lapsed`, and `historyCurrent` where the history does
    /// not reach that far. There is at least one period.
    func lapseReasons(_ timeline: SubscriptionTimeline, at now: Int64) -> [OfferReason] {
        guard let last = timeline.own.filter({ $0.start <= now }).max(by: { $0.end < $1.end }) else { return [] }
        let id = last.transaction.transactionId
        if last.end > now { return [OfferReason(.lapsed, .failed, transactionId: id, from: last.end)] }
        let info = renewalInfo(of: last)
        var reasons: [OfferReason] = []
        if !last.isRevoked, let info, info.isInBillingRetryPeriod == true {
            let end = max(last.end + Self.billingRetry, info.gracePeriodExpiresDate ?? 0)
            reasons.append(.from(end, at: now, .lapsed, transactionId: id))
        } else if last.isRevoked || info?.saysNoRetry(after: last.end) == true {
            reasons.append(OfferReason(.lapsed, .satisfied, transactionId: id, from: last.end))
        } else {
            // Nobody says why it ended. Billing may be retried; after that time it is not.
            let end = last.end + Self.billingRetry
            let outcome: OfferReason.Outcome = now >= end ? .satisfied : .unknown
            reasons.append(OfferReason(.lapsed, outcome, transactionId: id, from: outcome == .unknown ? end : last.end))
        }
        if let completeThrough, completeThrough < last.end, !last.isRevoked {
            reasons.append(OfferReason(.historyCurrent, .unknown, transactionId: id))
        }
        return reasons
    }

    /// What was last said about the next renewal of a subscription.
    func renewalInfo(of span: SubscriptionPeriodSpan) -> JWSRenewalInfoDecodedPayload? {
        guard let id = span.transaction.originalTransactionId ?? span.transaction.transactionId else { return nil }
        return renewalInfos.filter { $0.originalTransactionId == id }
            .max { ($0.signedDate ?? .min) < ($1.signedDate ?? .min) }
    }
}

extension JWSRenewalInfoDecodedPayload {
    /// Whether the information excludes that billing is being retried after an expiry: the customer had turned renewal off,
    /// or it says so after the expiry.
    fileprivate func saysNoRetry(after expiry: Int64) -> Bool {
        if isInBillingRetryPeriod == true { return false }
        if autoRenewStatus == .off { return true }
        return (signedDate ?? .min) >= expiry && isInBillingRetryPeriod == false
    }
}
