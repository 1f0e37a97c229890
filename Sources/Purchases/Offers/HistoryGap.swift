internal import AppStoreModels

/// A place in the history before which periods of the same subscription are missing.
struct HistoryGap {
    /// The first known period after the gap.
    let entry: PurchaseHistory.Entry
    /// When that period begins: the missing periods had ended by then. Nil if its date is unknown.
    let end: Int64?
}

extension PurchaseHistory {
    /// The places where periods of the customer's own subscriptions in a group are missing, as far as the known periods
    /// show it.
    func gaps(_ timeline: SubscriptionTimeline) -> [HistoryGap] {
        guard !coverage.isEmpty else { return [] }
        var gaps: [HistoryGap] = []
        let dated = Dictionary(grouping: timeline.own, by: \.entry.subscriptionId)
        for (id, spans) in dated {
            guard let id, let coverage = coverage[id] else { continue }
            gaps += Self.gaps(
                spans, hasBeginning: timeline.begun.contains(id), wholeThrough: coverage.wholeThrough ?? .min)
        }
        for (id, undated) in Dictionary(grouping: timeline.ownUndated, by: \.subscriptionId) where dated[id] == nil {
            guard let id, coverage[id] != nil, !timeline.begun.contains(id), let entry = undated.first else { continue }
            gaps.append(HistoryGap(entry: entry, end: nil))
        }
        return gaps.sorted { ($0.end ?? .max, $0.entry.id) < ($1.end ?? .max, $1.entry.id) }
    }

    /// - Parameters:
    ///   - spans: the periods of one subscription, in order.
    ///   - hasBeginning: whether the first period is the start of the subscription.
    ///   - wholeThrough: the date until which the history is complete.
    private static func gaps(
        _ spans: [SubscriptionPeriodSpan], hasBeginning: Bool, wholeThrough: Int64
    ) -> [HistoryGap] {
        var covered: Int64?
        var gaps: [HistoryGap] = []
        for span in spans {
            let isMissing: Bool
            if let covered {
                isMissing = span.transaction.transactionReason == .renewal && !span.canRenew(periodUntil: covered)
            } else {
                isMissing = !hasBeginning
            }
            if isMissing, span.start > wholeThrough { gaps.append(HistoryGap(entry: span.entry, end: span.start)) }
            covered = max(covered ?? .min, span.end, span.transaction.expiresDate ?? .min)
        }
        return gaps
    }

    /// Until when it is known whether the subscription of a period was renewed; nil if no document states it.
    func currentThrough(_ span: SubscriptionPeriodSpan) -> Int64? { currentThrough(span.entry) }

    /// Until when it is known whether a later purchase followed; nil if no document states it.
    func currentThrough(_ entry: Entry) -> Int64? {
        guard let id = entry.subscriptionId, let coverage = coverage[id] else { return completeThrough }
        return coverage.currentThrough
    }
}

extension SubscriptionPeriodSpan {
    /// Whether the period can be the renewal of a period with this end: Apple retries billing for at most 60 days.
    func canRenew(periodUntil end: Int64) -> Bool {
        start <= end || start.subtractingSaturated(end) <= PurchaseHistory.billingRetry + PurchaseHistory.tolerance
    }
}

extension PurchaseHistory {
    /// A gap of one second between two dates does not count, because Apple cuts some dates off to seconds.
    static let tolerance: Int64 = 1_000
}

extension PurchaseHistory.Entry {
    var subscriptionId: String? { transaction.purchaseId }

    fileprivate var id: String { transaction.transactionId ?? "" }

    /// Whether this is the first period of its subscription, by its id; or by its date, if it was restored under
    /// another id.
    var isBeginning: Bool {
        let original = transaction.originalTransactionId
        if original == nil || original == transaction.transactionId { return true }
        guard let begun = transaction.originalPurchaseDate, let date = transaction.purchaseDate else { return false }
        return date.subtractingSaturated(begun) <= PurchaseHistory.tolerance
    }
}
