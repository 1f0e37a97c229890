package import AppStoreModels

/// How the renewal of one subscription stands, by its signed transactions and its signed renewal information.
///
/// The state is that of the resolved purchases (``PurchaseHistory/subscriptions(at:)``) at the date of the newest signed
/// document that shows whether the subscription went on. Unsigned documents do not count.
package struct RenewalState: Sendable {
    /// The transaction of the period that decides.
    package let transactionId: String
    /// The transactions of the period before it.
    package let previousTransactionIds: [String]
    private let status: SubscriptionStatus
    private let isRenewal: Bool
    /// Of the renewal information about the period.
    private let priceIncrease: PriceIncreaseStatus?
    private let hasGracePeriod: Bool
    /// Whether the App Store states that the subscription expired. That a known period is over is not enough, because
    /// the App Store may be renewing it.
    private let statesExpiry: Bool
    /// Whether the state is that at a time, not that at the date of a document.
    private let countsTime: Bool

    /// Nil if there is no signed renewal information about the subscription, or no signed period of it.
    package init?(of originalTransactionId: String, in customer: Customer) {
        guard let statedDate = customer.signedRenewalInfo(of: originalTransactionId)?.statedDate else { return nil }
        let history = Self.history(of: originalTransactionId, in: customer)
        let date = max(statedDate, history.coverage[originalTransactionId]?.currentThrough ?? statedDate)
        self.init(originalTransactionId, customer, history, date, countsTime: false)
    }

    /// The state at a time, by all that is known. Nil if no signed period had begun.
    package init?(of originalTransactionId: String, in customer: Customer, at date: Int64) {
        let history = Self.history(of: originalTransactionId, in: customer)
        self.init(originalTransactionId, customer, history, date, countsTime: true)
    }

    private init?(
        _ originalTransactionId: String, _ customer: Customer, _ history: PurchaseHistory, _ date: Int64,
        countsTime: Bool
    ) {
        let standing = history.subscriptions(at: date).first { $0.subscriptionId == originalTransactionId }
        guard let standing, let id = standing.transactionId else { return nil }
        transactionId = id
        status = standing.status
        isRenewal = customer.transactions.first { $0.payload.transactionId == id }?.isRenewal ?? false
        priceIncrease = standing.renewalInfo?.priceIncreaseStatus
        hasGracePeriod = standing.renewalInfo?.gracePeriodExpiresDate != nil
        statesExpiry = standing.restsOnRenewalInfo || standing.renewalInfo?.expirationIntent != nil
        self.countsTime = countsTime

        let earlier = history.entries.map(\.transaction).filter {
            $0.isSubscription && ($0.purchaseDate ?? .max) < standing.periodStart
        }
        let end = earlier.max { ($0.purchaseDate ?? .min) < ($1.purchaseDate ?? .min) }?.expiresDate
        previousTransactionIds = earlier.filter { $0.expiresDate == end }.compactMap(\.transactionId)
    }

    /// The signed documents about the subscription.
    private static func history(of originalTransactionId: String, in customer: Customer) -> PurchaseHistory {
        var history = customer.purchaseHistory(catalog: nil)
        if customer.signedRenewalInfo(of: originalTransactionId) == nil { history.renewalInfos.removeAll() }
        history.entries.removeAll { !$0.isSigned || $0.subscriptionId != originalTransactionId }
        // A subscription stays in its group, which receipts do not state. The group of a row does not count here.
        let group = history.entries.lazy.filter(\.isGroupSigned)
            .compactMap(\.transaction.subscriptionGroupIdentifier).min()
        for place in history.entries.indices {
            history.entries[place].transaction.subscriptionGroupIdentifier = group
            history.entries[place].isGroupSigned = true
        }
        return history
    }

    /// Whether another state has the same status of the same period.
    package func equals(_ other: RenewalState?) -> Bool {
        transactionId == other?.transactionId && status == other?.status
    }

    /// When the newest signed period begins or began; nil if there is none.
    package static func newestStart(in customer: Customer) -> Int64? {
        let periods = customer.transactions.filter { $0.isSigned && $0.payload.isSubscription }
        return periods.compactMap(\.payload.purchaseDate).max()
    }

    /// When time can next change the state, after a date: at the end of a period, of a grace period, or of billing
    /// retry. Nil if it cannot.
    package static func nextEnd(of originalTransactionId: String, in customer: Customer, after date: Int64) -> Int64? {
        var ends = customer.transactions.filter(\.isSigned).compactMap(\.payload.expiresDate)
        let info = customer.signedRenewalInfo(of: originalTransactionId)?.payload
        if info?.isInBillingRetryPeriod == true {
            if let last = ends.max() { ends.append(last.addingSaturated(PurchaseHistory.billingRetry)) }
            if let grace = info?.gracePeriodExpiresDate { ends.append(grace) }
        }
        return ends.filter { $0 > date }.min()
    }

    /// What is known from before.
    package struct Known: Sendable {
        /// The status of the period; active if nothing else was stated.
        package let status: SubscriptionStatus
        /// The last status of the period before it.
        package let previousStatus: SubscriptionStatus
        /// The last status of a price increase of the subscription; nil if there was none.
        package let priceIncrease: PriceIncreaseStatus?
        /// Whether the period is known as expired only because it was over.
        package let isEndedByTime: Bool

        package init(
            status: SubscriptionStatus, previousStatus: SubscriptionStatus, priceIncrease: PriceIncreaseStatus?,
            isEndedByTime: Bool = false
        ) {
            self.status = status
            self.previousStatus = previousStatus
            self.priceIncrease = priceIncrease
            self.isEndedByTime = isEndedByTime
        }
    }

    /// What changed. The App Store has a notification for each of these changes, but other documents show them too.
    ///
    /// | status | known before | change |
    /// |---|---|---|
    /// | grace period | another status | `gracePeriodEntered` |
    /// | billing retry | another status | `gracePeriodExpired` if there was a grace period, else `billingFailed` |
    /// | expired, as the App Store states | another status | `expired` |
    /// | active, by a renewal | the period before in its grace period or in billing retry | `billingRecovered` |
    ///
    /// Of the state at a time:
    ///
    /// | status | known before | change |
    /// |---|---|---|
    /// | expired, but the App Store does not state it | another status | `endedByTime` |
    /// | active | ended by time | `billingRecovered` |
    ///
    /// A price increase counts until the subscription ends. Time does not change it.
    package func changes(since known: Known) -> [RenewalChange] {
        var changes: [RenewalChange] = []
        let wasUnpaid = [SubscriptionStatus.billingGracePeriod, .billingRetry].contains(known.previousStatus)
        switch status {
        case .billingGracePeriod where known.status != status: changes.append(.gracePeriodEntered)
        case .billingRetry where known.status != status:
            let hadGracePeriod = hasGracePeriod || known.status == .billingGracePeriod
            changes.append(hadGracePeriod ? .gracePeriodExpired : .billingFailed)
        case .expired where known.status != status && statesExpiry: changes.append(.expired)
        case .expired where known.status != status && countsTime: changes.append(.endedByTime)
        case .active where known.isEndedByTime || isRenewal && wasUnpaid: changes.append(.billingRecovered)
        default: break
        }
        if !countsTime, status != .expired, status != .revoked, priceIncrease != known.priceIncrease {
            switch priceIncrease {
            case .pending?: changes.append(.priceIncreasePending)
            case .consentedOrNotified?: changes.append(.priceIncreaseAccepted)
            default: break
            }
        }
        return changes
    }
}

/// A change in the renewal of a subscription.
package enum RenewalChange: Hashable, Sendable, CaseIterable {
    /// The renewal failed, and access continues.
    case gracePeriodEntered
    /// The renewal failed without a grace period.
    case billingFailed
    /// The grace period ended without a renewal.
    case gracePeriodExpired
    /// A renewal that had failed succeeded. The transaction is that of the new period.
    case billingRecovered
    /// The subscription expired.
    case expired
    /// The period is over, and no document states what became of the subscription.
    case endedByTime
    /// The customer must agree to a price increase.
    case priceIncreasePending
    /// The customer agreed to a price increase, or it needs no consent.
    case priceIncreaseAccepted
}

extension TransactionFact {
    /// When time can first end what the fact states, so that a store must look at the purchase (``RenewalState/nextEnd(of:in:after:)``
    /// then states the next date). Nil if time cannot end it, also because a refund or an upgrade has ended it.
    package var lookDate: Int64? { isPlainPurchase ? payload.expiresDate : nil }
}

extension RenewalInfoFact {
    /// At once, if billing is being retried: the look finds out how long. Nil if it is not.
    package var lookDate: Int64? {
        origin.kind == .signedTransaction && payload.isInBillingRetryPeriod == true ? origin.signedDate : nil
    }
}

extension Customer {
    /// The renewal info of a subscription, if a document with a verified signature states it.
    package func signedRenewalInfo(of originalTransactionId: String) -> StoredRenewalInfo? {
        renewalInfos.first { $0.payload.originalTransactionId == originalTransactionId && $0.isSigned }
    }

    /// The transactions of the subscription period of each transaction, if it has several: added seats have a transaction of
    /// their own.
    package var sharedPeriods: [String: [String]] {
        var members: [PeriodMark: [String]] = [:]
        for transaction in transactions {
            guard let id = transaction.payload.transactionId, let end = transaction.payload.expiresDate else {
                continue
            }
            members[PeriodMark(productId: transaction.payload.productId, end: end), default: []].append(id)
        }
        var periods: [String: [String]] = [:]
        for ids in members.values where ids.count > 1 {
            for id in ids { periods[id] = ids }
        }
        return periods
    }
}
