internal import AppStoreModels
internal import Encodings

extension PurchaseHistory {
    /// How long the App Store retries billing after a subscription expires, in milliseconds: 60 days (App Store Server
    /// Notifications, GRACE_PERIOD_EXPIRED).
    static let billingRetry: Int64 = 60 * Int64.millisecondsPerDay

    /// Whether the customer's own subscription of a group has ended: `lapsed`, and `historyCurrent` if the history ends
    /// before it. Empty without a period that has begun.
    func lapseReasons(_ timeline: SubscriptionTimeline, at now: Int64) -> [OfferReason] {
        guard let last = timeline.lastOwn(at: now) else { return [] }
        let id = last.transaction.transactionId
        if last.end > now { return [OfferReason(.lapsed, .failed, transactionId: id, from: last.end)] }
        let info = renewalInfo(of: last)
        var reasons: [OfferReason] = []
        if let (retried, end) = lastRetried(timeline, at: now) {
            reasons.append(.from(end, at: now, .lapsed, transactionId: retried.transaction.transactionId))
        } else if last.isRevoked || info?.statesNoRetry(after: last.end) == true {
            reasons.append(OfferReason(.lapsed, .satisfied, transactionId: id, from: last.end))
        } else {
            // No document states why it ended. Billing may be retried until this date.
            let end = last.end + Self.billingRetry
            let outcome: OfferReason.Outcome = now >= end ? .satisfied : .unknown
            reasons.append(OfferReason(.lapsed, outcome, transactionId: id, from: outcome == .unknown ? end : last.end))
        }
        if completeThrough != nil, let open = mayHaveGoneOn(timeline, at: now) {
            reasons.append(OfferReason(.historyCurrent, .unknown, transactionId: open.transaction.transactionId))
        }
        return reasons
    }

    /// The customer's own subscription whose billing is retried until the latest date, if it is retried now or if it is the one
    /// that ended last. Another subscription of the group may have ended after it.
    private func lastRetried(
        _ timeline: SubscriptionTimeline, at now: Int64
    ) -> (span: SubscriptionPeriodSpan, end: Int64)? {
        let last = timeline.lastOwn(at: now)
        let periods = lastPeriods(timeline, at: now).filter { !$0.isRevoked }
        return periods.compactMap { span -> (span: SubscriptionPeriodSpan, end: Int64)? in
            guard let info = renewalInfo(of: span), info.isInBillingRetryPeriod == true else { return nil }
            let end = max(span.end + Self.billingRetry, info.gracePeriodExpiresDate ?? 0)
            let isLast = span.transaction.transactionId == last?.transaction.transactionId
            return end > now || isLast ? (span: span, end: end) : nil
        }.max { $0.end < $1.end }
    }

    /// The last known period of each of the customer's own subscriptions. Two Apple Accounts of one customer have one each.
    private func lastPeriods(_ timeline: SubscriptionTimeline, at now: Int64) -> [SubscriptionPeriodSpan] {
        timeline.own.last(begunBy: now, by: \.entry.subscriptionId).sorted { $0.key < $1.key }.map(\.value)
    }

    /// The last known period of a subscription that may have been renewed since.
    private func mayHaveGoneOn(_ timeline: SubscriptionTimeline, at now: Int64) -> SubscriptionPeriodSpan? {
        let open = lastPeriods(timeline, at: now).filter { !$0.isRevoked && (currentThrough($0) ?? .min) < $0.end }
        return open.max { left, right in
            let (one, other) = (left.transaction.transactionId ?? "", right.transaction.transactionId ?? "")
            return left.end == right.end ? TransactionIdOrder.precedes(one, other) : left.end < right.end
        }
    }

    /// The newest renewal information of a subscription, if it is about this period.
    func renewalInfo(of span: SubscriptionPeriodSpan) -> JWSRenewalInfoDecodedPayload? {
        guard let id = span.entry.subscriptionId else { return nil }
        let newest = renewalInfos.filter { $0.originalTransactionId == id }
            .max { ($0.signedDate ?? .min) < ($1.signedDate ?? .min) }
        guard let newest, newest.isAbout(periodFrom: span.start, to: span.end, signedDate: newest.signedDate)
        else { return nil }
        // Renewal information from after the start of the next period is about that period.
        if let nextStart = span.nextStart, newest.signedDate ?? .min >= nextStart { return nil }
        return newest
    }
}

extension JWSRenewalInfoDecodedPayload {
    /// Whether billing is certainly not being retried after an expiry: auto-renewal was off, or the information was
    /// signed after the expiry and states it.
    fileprivate func statesNoRetry(after expiry: Int64) -> Bool {
        if isInBillingRetryPeriod == true { return false }
        if autoRenewStatus == .off { return true }
        return (signedDate ?? .min) >= expiry && isInBillingRetryPeriod == false
    }
}
