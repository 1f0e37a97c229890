public import AppStoreModels

/// What a chain says about a subscription at one moment.
public struct SubscriptionState: Hashable, Sendable {
    /// The moment, in milliseconds since 1970-01-01T00:00:00Z.
    public let date: Int64
    /// The status in Apple's terms.
    public let status: SubscriptionStatus
    /// The index in ``SubscriptionChain/transactions`` of the period that decides: the one that runs, else the newest
    /// one that had begun.
    public let transactionIndex: Int
    /// When the access ends or ended, in milliseconds since 1970: the end of the paid periods, or of the grace period
    /// while it lasts. Nil for a free subscription, which never expires.
    public let accessEnds: Int64?
    /// Whether a renewal info decided; what it says is only as fresh as the document that held it.
    public let restsOnRenewalInfo: Bool

    /// Whether the customer has access: active, or in the billing grace period.
    public var hasAccess: Bool { status == .active || status == .billingGracePeriod }
}

extension SubscriptionChain {
    /// The state at a given time; nil if the subscription had not begun then, or no date of it is known.
    ///
    /// - A period that has begun and neither expired, nor was revoked, nor upgraded away: active. A period ends at its
    ///   expiry date, which itself is no longer part of it.
    /// - Else, if the newest period that had begun was revoked by then: revoked.
    /// - Else, if a renewal info says that billing is being retried: grace period while its date lies ahead, billing
    ///   retry after it. Nothing else makes these two.
    /// - Else: expired (Reference.md V9.3).
    ///
    /// The chain knows nothing of renewals after it was recorded: "expired" means that no period in it covers the time.
    public func state(at date: Int64) -> SubscriptionState? {
        var running: (index: Int, end: Int64)?
        var newest: (index: Int, end: Int64)?
        for (index, transaction) in transactions.enumerated() {
            guard let start = transaction.periodStart, start <= date, let end = coverageEnds[index] else {
                continue
            }
            newest = (index, end)
            // Of two that run at once, the one that lasts longer gives access longer.
            if end > date, end >= running?.end ?? .min { running = (index, end) }
        }
        if let running {
            let ends = running.end == .max ? nil : running.end
            return SubscriptionState(
                date: date, status: .active, transactionIndex: running.index, accessEnds: ends,
                restsOnRenewalInfo: false)
        }
        guard let newest else { return nil }
        let (status, ends, restsOnRenewalInfo) = ended(newest.index, newest.end, date)
        return SubscriptionState(
            date: date, status: status, transactionIndex: newest.index, accessEnds: ends,
            restsOnRenewalInfo: restsOnRenewalInfo)
    }

    private func ended(_ index: Int, _ end: Int64, _ date: Int64) -> (SubscriptionStatus, Int64, Bool) {
        if let revocation = transactions[index].payload.revocationDate, revocation <= date {
            return (.revoked, end, false)
        }
        // It speaks of the newest period of all: for a moment before that one it says nothing.
        guard let info = renewalInfo?.payload, info.isInBillingRetryPeriod == true, index == transactions.indices.last
        else { return (.expired, end, false) }
        if let grace = info.gracePeriodExpiresDate, grace > date { return (.billingGracePeriod, grace, true) }
        return (.billingRetry, end, true)
    }

    /// The period that runs at a given time.
    public func currentTransaction(at date: Int64) -> MappedTransaction? {
        guard let state = state(at: date), state.status == .active else { return nil }
        return transactions[state.transactionIndex]
    }
}
