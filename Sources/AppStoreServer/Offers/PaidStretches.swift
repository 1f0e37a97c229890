internal import AppStoreModels

/// Whether a period was paid for.
enum PeriodPayment {
    case paid
    case free
    /// Nobody states a price, or the terms are unknown to this version.
    case unknown
}

extension SubscriptionPeriodSpan {
    /// - A free trial, a price of 0 and a full refund: not paid. Refunds without a type are older than the field and were
    ///   full ones.
    /// - A price, or an offer that is paid by its mode: paid. A refund in part leaves the time before it paid.
    /// - Everything else is unknown, unless the history says how to count it.
    func payment(countsUnpricedAsPaid: Bool) -> PeriodPayment {
        if isRevoked {
            guard let type = transaction.revocationType, type != .refundFull else { return .free }
            guard type == .refundProrated else { return .unknown }
        }
        if transaction.offerDiscountType == .freeTrial { return .free }
        if let price = transaction.price { return price > 0 ? .paid : price == 0 ? .free : .unknown }
        if let mode = transaction.offerDiscountType {
            return mode == .payAsYouGo || mode == .payUpFront ? .paid : .unknown
        }
        return transaction.offerType == nil && countsUnpricedAsPaid ? .paid : .unknown
    }
}

/// A stretch of paid periods without a lapse.
struct PaidStretch {
    /// Whole calendar months, see ``PacificTime``.
    let months: Int64
    let firstTransactionId: String?
    let lastTransactionId: String?
}

extension SubscriptionTimeline {
    /// The longest stretch of paid periods of the customer up to a time.
    ///
    /// A period belongs to the stretch if it begins by the end of the one before, whatever the product: going up or down
    /// within the group does not end it. Nor does a renewal that succeeded late (`transactionReason` RENEWAL after a failed
    /// billing): the subscription had not ended, but the days between are not counted. After 60 days it cannot be that, so
    /// that something is missing in between, which ends the stretch. A free period ends it.
    ///
    /// Months are those from the beginning to the end of each run without a gap, added up, whatever the length of the
    /// periods: four weeks and a few days are one month, not one period.
    /// - Parameter countsUnknownAsPaid: what a period counts as of which nobody knows whether it was paid.
    func longestPaidStretch(
        until now: Int64, countsUnpricedAsPaid: Bool, countsUnknownAsPaid: Bool
    ) -> PaidStretch? {
        var stretches = StretchCounter()
        for span in own where span.start <= now && span.end > span.start {
            switch span.payment(countsUnpricedAsPaid: countsUnpricedAsPaid) {
            case .paid: stretches.add(span, until: now)
            case .unknown where countsUnknownAsPaid: stretches.add(span, until: now)
            case .free, .unknown: stretches.finish()
            }
        }
        stretches.finish()
        return stretches.longest
    }
}

private struct StretchCounter {
    private(set) var longest: PaidStretch?
    private var first: String?
    private var last: String?
    private var months: Int64 = 0
    private var run: (start: Int64, end: Int64)?

    mutating func add(_ span: SubscriptionPeriodSpan, until now: Int64) {
        let end = min(span.end, now)
        if let known = run {
            if span.start <= known.end + PurchaseHistory.tolerance {
                run = (known.start, max(known.end, end))
                last = span.transaction.transactionId
                return
            }
            let isLateRenewal =
                span.transaction.transactionReason == .renewal && span.canRenew(periodUntil: known.end)
            if isLateRenewal { endRun() } else { finish() }
        }
        if first == nil, last == nil { first = span.transaction.transactionId }
        last = span.transaction.transactionId
        run = (span.start, end)
    }

    private mutating func endRun() {
        if let run { months += PacificTime.wholeMonths(from: run.start, to: run.end) }
        run = nil
    }

    mutating func finish() {
        guard run != nil else { return }
        endRun()
        if months > longest?.months ?? -1 {
            longest = PaidStretch(months: months, firstTransactionId: first, lastTransactionId: last)
        }
        (months, first, last) = (0, nil, nil)
    }
}
