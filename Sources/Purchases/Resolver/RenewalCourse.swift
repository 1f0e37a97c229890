package import AppStoreModels

/// The changes of a period since it was last granted: billing, expiry and price increases.
package struct RenewalCourse: Sendable {
    /// In order.
    private let changes: [RenewalChange]

    /// The course of one transaction.
    /// - Parameter changes: since the transaction was last granted, revoked or upgraded, in order. Changes of billing and expiry
    ///   count from the last recovery. An end by time counts only until another change corrects it.
    package init(_ changes: [RenewalChange]) {
        let recovery = changes.lastIndex(of: .billingRecovered) ?? changes.startIndex
        let last = changes.lastIndex { $0.billingStage != nil }
        self.changes = changes.indices.filter { place in
            changes[place].billingStage == nil
                || place >= recovery && (changes[place] != .endedByTime || place == last)
        }.map { changes[$0] }
    }

    /// The course of a period with several transactions.
    package init(of transactions: [RenewalCourse]) { changes = transactions.flatMap(\.changes) }

    /// The status of the period; active if nothing else is known. The latest stage counts.
    package var status: SubscriptionStatus {
        let billing = changes.filter { $0.billingStage != nil }
        return billing.max { ($0.billingStage ?? -1) < ($1.billingStage ?? -1) }?.status ?? .active
    }

    /// Whether the period is known as over only because of the time.
    package var isEndedByTime: Bool { changes.last(where: { $0.billingStage != nil }) == .endedByTime }

    /// Whether a change is new. Each change comes once, and none after a later one. For example, after an answer of the App Store
    /// Server API has shown the expiry, the notification about the failed renewal changes nothing.
    package func isNew(_ change: RenewalChange) -> Bool {
        if let stage = change.billingStage { return changes.allSatisfy { $0.billingStage ?? -1 < stage } }
        if let stage = change.priceStage { return changes.allSatisfy { $0.priceStage ?? -1 < stage } }
        return true
    }

    /// The last known status of a price increase of a subscription; nil if there was none.
    /// - Parameter transactions: all changes of each transaction, those of the newest transaction first.
    package static func priceIncrease(newestFirst transactions: [[RenewalChange]]) -> PriceIncreaseStatus? {
        transactions.lazy.compactMap { $0.compactMap(\.priceIncrease).last }.first
    }
}

extension RenewalChange {
    /// The statuses in the course of a period, which begins with a recovery.
    private static let course: [SubscriptionStatus] = [.active, .billingGracePeriod, .billingRetry, .expired]

    /// The place in the course of a period; nil for price increases.
    fileprivate var billingStage: Int? { status.flatMap { Self.course.firstIndex(of: $0) } }

    fileprivate var priceStage: Int? {
        priceIncrease.flatMap { [PriceIncreaseStatus.pending, .consentedOrNotified].firstIndex(of: $0) }
    }

    fileprivate var priceIncrease: PriceIncreaseStatus? {
        switch self {
        case .priceIncreasePending: .pending
        case .priceIncreaseAccepted: .consentedOrNotified
        default: nil
        }
    }

    /// The status of the period after the change; nil for price increases, which change none.
    package var status: SubscriptionStatus? {
        switch self {
        case .billingRecovered: .active
        case .gracePeriodEntered: .billingGracePeriod
        case .billingFailed, .gracePeriodExpired: .billingRetry
        case .expired, .endedByTime: .expired
        case .priceIncreasePending, .priceIncreaseAccepted: nil
        }
    }
}
