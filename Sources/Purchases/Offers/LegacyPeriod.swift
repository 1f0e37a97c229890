package import AppStoreModels

/// A period of an auto-renewable subscription in the terms of verifyReceipt replies.
///
/// Its rules are those of verifyReceipt. They differ from ``PurchaseHistory/entitlements(at:)``:
/// - There is one cancellation for refunds, revocations and upgrades, and it counts as soon as it is stated.
/// - A period ends at `expires_date`. A grace period does not count in this format. An iOS 6 receipt gets 21006 by its
///   `expires_date`, also while the grace period grants access (Reference.md V12).
/// - The level of service does not count.
package struct LegacyPeriod: Hashable, Sendable {
    /// The original transaction id, else the transaction id.
    package let subscriptionId: String?
    package let transactionId: String?
    package let productId: String?
    /// `purchase_date`, in milliseconds since 1970 like all dates here.
    package let start: Int64?
    /// `expires_date`
    package let end: Int64?
    /// `cancellation_date`
    package let cancellationDate: Int64?
    /// Whether another product of the group replaced the period.
    package let isUpgraded: Bool
    /// Whether the period has several transactions, for example for added seats (`additionalTransactionReason`).
    package let sharesPeriod: Bool

    package init(
        subscriptionId: String?, transactionId: String?, productId: String?, start: Int64?, end: Int64?,
        cancellationDate: Int64?, isUpgraded: Bool, sharesPeriod: Bool
    ) {
        self.subscriptionId = subscriptionId
        self.transactionId = transactionId
        self.productId = productId
        self.start = start
        self.end = end
        self.cancellationDate = cancellationDate
        self.isUpgraded = isUpgraded
        self.sharesPeriod = sharesPeriod
    }

    package enum State: Hashable, Sendable {
        case running
        case expired
        case cancelled
    }

    /// A cancellation counts even before the end of the period (Reference.md V2.1). An upgraded period does not run.
    package func state(at now: Int64) -> State {
        if cancellationDate != nil { return .cancelled }
        guard let end, end > now, !isUpgraded else { return .expired }
        return .running
    }

    package func isRunning(at now: Int64) -> Bool { state(at: now) == .running }

    /// The order of periods: by the end, then by the start. A canceled period ended at its cancellation. An upgraded one ended
    /// before, and its cancellation may be a later refund, so only its start counts.
    private var dates: (Int64, Int64) {
        let start = self.start ?? .min
        return isUpgraded ? (start, start) : (min(end ?? .min, cancellationDate ?? .max), start)
    }
}

// MARK: The reply to an iOS 6 receipt

extension LegacyPeriod {
    /// The place of the period of its subscription that decides the status of an iOS 6 receipt; nil if no period counts.
    ///
    /// It is a period that is current and not canceled, or else any. Of several, the one that ends last decides; a canceled
    /// period ended at its cancellation. Periods that ended by an upgrade do not count. If one period has several ids, the
    /// smallest id is the purchase; the others are restored copies.
    ///
    /// Other documents can state the transaction of the receipt under another original transaction id. Then the periods under
    /// both ids count.
    package static func deciding(among periods: [LegacyPeriod], for submitted: LegacyPeriod, at now: Int64) -> Int? {
        let subscriptionIds = Self.subscriptionIds(of: submitted, among: periods)
        let counting = periods.indices.filter { place in
            let period = periods[place]
            return subscriptionIds.contains(period.subscriptionId) && period.end != nil && !period.isUpgraded
        }
        let running = counting.filter { periods[$0].isRunning(at: now) }
        return (running.isEmpty ? counting : running).max { left, right in
            let (one, other) = (periods[left], periods[right])
            if one.dates != other.dates { return one.dates < other.dates }
            return TransactionIdOrder.compare(one.transactionId, other.transactionId) == .after
        }
    }

    /// The ids of the subscription of an iOS 6 receipt: that in the receipt, and that of its resolved transaction.
    fileprivate static func subscriptionIds(
        of submitted: LegacyPeriod, among periods: [LegacyPeriod]
    ) -> Set<String?> {
        let resolved = submitted.transactionId.flatMap { id in periods.first { $0.transactionId == id } }
        return [submitted.subscriptionId, (resolved ?? submitted).subscriptionId]
    }

    /// Whether the period has another cancellation or another end than a receipt for it states.
    /// - Parameter document: the period as the receipt states it.
    package func hasChanged(since document: LegacyPeriod) -> Bool {
        cancellationDate != document.cancellationDate || end != document.end
    }

    /// Whether the receipt for this period of the subscription replaces the submitted one as `latest_receipt`. It is the receipt
    /// for the period that decides, or at least for a later purchase that was not refunded.
    package func isLatestReceipt(inPlaceOf submitted: LegacyPeriod, deciding: LegacyPeriod) -> Bool {
        guard deciding.transactionId != submitted.transactionId else { return false }
        if transactionId == deciding.transactionId { return true }
        return (start ?? .min) > (submitted.start ?? .max) && cancellationDate == nil
    }
}

extension [StoredRenewalInfo] {
    /// The renewal info in the reply to an iOS 6 receipt, without data that the newest period of the subscription contradicts.
    ///
    /// If the subscription has two original transaction ids (``LegacyPeriod/deciding(among:for:at:)``), it is that of the
    /// period that decides, or else the other one.
    /// - Parameters:
    ///   - submitted: the period in the receipt.
    ///   - deciding: the period that decides the status.
    ///   - periods: all periods of the reply.
    package func info(
        for submitted: LegacyPeriod, deciding: LegacyPeriod, beside periods: [LegacyPeriod]
    ) -> JWSRenewalInfoDecodedPayload? {
        let ids = LegacyPeriod.subscriptionIds(of: submitted, among: periods)
        let infos = filter { ids.contains($0.payload.originalTransactionId) }
        let info = infos.first { $0.payload.originalTransactionId == deciding.subscriptionId } ?? infos.first
        return info?.info(besideOwn: periods.lazy.filter { ids.contains($0.subscriptionId) })
    }
}

// MARK: exclude-old-transactions

extension LegacyPeriod {
    /// Whether each period is the current one of its subscription. Nil, which stands for a purchase of another type, and
    /// a period without an id are current, because nothing replaces them.
    ///
    /// The current period is one that runs at `now`, before one that ended, was refunded or was upgraded. Of several, the
    /// one that ends last wins, then the one with the newest id. A canceled period ended at its cancellation, and an upgraded
    /// one before the period that replaced it. If the period has several transactions because seats were added, all of them
    /// are current.
    package static func areCurrent(_ periods: [LegacyPeriod?], at now: Int64) -> [Bool] {
        var current: [String: (place: Int, period: LegacyPeriod)] = [:]
        for (place, period) in periods.enumerated() {
            guard let period, let id = period.subscriptionId else { continue }
            if let known = current[id], !known.period.isOutlived(by: period, at: now) { continue }
            current[id] = (place: place, period: period)
        }
        // A document from before the seats were added, and every receipt, lacks `additionalTransactionReason`. One transaction
        // that has it shows that the period has several.
        var together: Set<SharedPeriod> = []
        for period in periods {
            if let period, period.sharesPeriod { together.insert(period.shared) }
        }
        return periods.indices.map { place in
            guard let period = periods[place], let id = period.subscriptionId, let known = current[id] else {
                return true
            }
            if place == known.place { return true }
            return !together.isEmpty && period.shared == known.period.shared && together.contains(period.shared)
        }
    }

    private struct SharedPeriod: Hashable {
        let subscriptionId: String?
        let mark: PeriodMark
    }

    private var shared: SharedPeriod {
        SharedPeriod(subscriptionId: subscriptionId, mark: PeriodMark(productId: productId, end: end))
    }

    /// Whether another period of the subscription takes precedence: it runs and this one does not, or it ends later.
    private func isOutlived(by other: LegacyPeriod, at now: Int64) -> Bool {
        let (mine, others) = (isRunning(at: now), other.isRunning(at: now))
        guard mine == others else { return others }
        if dates != other.dates { return other.dates > dates }
        return TransactionIdOrder.compare(transactionId, other.transactionId) == .before
    }
}

// MARK: pending_renewal_info

extension StoredRenewalInfo {
    /// The renewal info without data that the newest of the periods contradicts.
    ///
    /// A renewal info may be older than the newest period, for example if a recovery notification was missed and a
    /// newer receipt states the period. Then it describes the end of an older period, and `expiration_intent`,
    /// `is_in_billing_retry_period` and `grace_period_expires_date` are omitted, because clients grant or deny access
    /// by them. Data about future renewals stays as the last known state: whether and to which product the subscription
    /// renews, a price increase, an offer.
    package func info(beside periods: some Sequence<LegacyPeriod>) -> JWSRenewalInfoDecodedPayload {
        guard let id = payload.originalTransactionId else { return payload }
        return info(besideOwn: periods.lazy.filter { $0.subscriptionId == id })
    }

    /// As ``info(beside:)``, for the periods of this subscription.
    fileprivate func info(besideOwn periods: some Sequence<LegacyPeriod>) -> JWSRenewalInfoDecodedPayload {
        var info = payload
        guard info.statesHowAPeriodEnded, let period = LegacyPeriod.newest(among: periods),
            !info.isAbout(periodFrom: period.start, to: period.end, signedDate: statedDate, isExact: isSigned)
        else { return info }
        info.expirationIntent = nil
        info.isInBillingRetryPeriod = nil
        info.gracePeriodExpiresDate = nil
        return info
    }
}

extension LegacyPeriod {
    /// The newest period by its start date, until its end or early end.
    fileprivate static func newest(among periods: some Sequence<LegacyPeriod>) -> (start: Int64, end: Int64)? {
        periods.lazy.compactMap { period -> (start: Int64, end: Int64)? in
            guard let start = period.start, let expiry = period.end else { return nil }
            return (start: start, end: min(expiry, period.cancellationDate ?? .max))
        }.max { ($0.start, $0.end) < ($1.start, $1.end) }
    }
}

extension JWSRenewalInfoDecodedPayload {
    fileprivate var statesHowAPeriodEnded: Bool {
        expirationIntent != nil || isInBillingRetryPeriod == true || gracePeriodExpiresDate != nil
    }
}
