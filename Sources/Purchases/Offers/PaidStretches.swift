internal import AppStoreModels

/// Whether a period was paid for.
enum PeriodPayment {
    case paid
    case free
    /// No document states a price, or this version does not know the offer's terms.
    case unknown
}

extension JWSTransactionDecodedPayload {
    /// Whether the customer paid for the period of the transaction:
    /// - Free: a free trial, a price of 0, or a full refund. A refund without a type is a full one: it is older than
    ///   the field.
    /// - Paid: a price, or an offer with a paid mode. After a prorated refund, the time before it stays paid.
    /// - Unknown: everything else, unless `countsUnpricedAsPaid` is set.
    /// - Parameters:
    ///   - countsUnpricedAsPaid: see ``PurchaseHistory/countsUnpricedPeriodsAsPaid``.
    ///   - refund: the transaction that states the refund of the purchase, which may be a copy; nil if none does.
    func payment(countsUnpricedAsPaid: Bool, refund: JWSTransactionDecodedPayload?) -> PeriodPayment {
        if let refund {
            guard let type = refund.revocationType, type != .refundFull else { return .free }
            guard type == .refundProrated else { return .unknown }
        }
        if offerDiscountType == .freeTrial { return .free }
        if let price { return price > 0 ? .paid : price == 0 ? .free : .unknown }
        if let mode = offerDiscountType { return mode == .payAsYouGo || mode == .payUpFront ? .paid : .unknown }
        return offerType == nil && countsUnpricedAsPaid ? .paid : .unknown
    }
}

/// Consecutive paid periods without a lapse.
struct PaidStretch {
    /// Whole months, see ``PurchaseHistory/MonthLength``.
    let months: Int64
    let lastTransactionId: String?
    /// When it ends, in milliseconds since 1970.
    let end: Int64
}

extension SubscriptionTimeline {
    /// The customer's most recent stretch of paid periods before a time. A period with an unknown payment may or may
    /// not have been paid. So the result is the shortest and the longest possible stretch; nil for a stretch without a
    /// period.
    ///
    /// A period continues the stretch if it begins by the end of the one before. It may be of another product: an
    /// upgrade or downgrade within the group does not end the stretch. A renewal that succeeded after a failed billing
    /// (`transactionReason` RENEWAL) continues it too, but the days between do not count. Receipts do not state the reason, so
    /// their later periods may or may not continue it. A pause of more than 60 days, the time of billing retries, ends the
    /// stretch; so does a free period.
    ///
    /// Months are counted from the beginning to the end of each run without a gap, and then summed. The lengths of the
    /// periods do not count: four weeks and a few days are one month, not one period.
    func latestPaidStretch(
        until now: Int64, countsUnpricedAsPaid: Bool, monthLength: PurchaseHistory.MonthLength
    ) -> (shortest: PaidStretch?, longest: PaidStretch?) {
        // Both end with the current period; only `possible` includes unknown periods before it, and those before a pause that
        // billing may explain.
        var certain = StretchCounter(monthLength: monthLength, countsUnstatedRenewals: false)
        var possible = StretchCounter(monthLength: monthLength, countsUnstatedRenewals: true)
        var shortest: PaidStretch?
        var longest: PaidStretch?
        let entries = ownEntries
        for (span, refund) in zip(own, entries.refunds) where span.start <= now && span.end > span.start {
            let refund = refund.map { entries[$0].transaction }
            switch span.transaction.payment(countsUnpricedAsPaid: countsUnpricedAsPaid, refund: refund) {
            case .paid:
                certain.add(span, until: now)
                possible.add(span, until: now)
                (shortest, longest) = (certain.stretch, possible.stretch)
            case .free:
                certain.reset()
                possible.reset()
            case .unknown:
                // If the period was paid, the most recent stretch ends with it; if not, the stretch before it stays.
                certain.add(span, until: now)
                possible.add(span, until: now)
                if let known = shortest, certain.months < known.months { shortest = certain.stretch }
                if possible.months > longest?.months ?? -1 { longest = possible.stretch }
                certain.reset()
            }
        }
        return (shortest, longest)
    }
}

private struct StretchCounter {
    let monthLength: PurchaseHistory.MonthLength
    /// Whether a period that may be a late renewal counts as one if no document states the reason.
    let countsUnstatedRenewals: Bool
    private var monthsBefore: Int64 = 0
    private var run: (start: Int64, end: Int64)?
    private var last: String?

    init(monthLength: PurchaseHistory.MonthLength, countsUnstatedRenewals: Bool) {
        self.monthLength = monthLength
        self.countsUnstatedRenewals = countsUnstatedRenewals
    }

    var months: Int64 { monthsBefore + (run.map { monthLength.wholeMonths(from: $0.start, to: $0.end) } ?? 0) }

    var stretch: PaidStretch? {
        run.map { PaidStretch(months: months, lastTransactionId: last, end: $0.end) }
    }

    mutating func add(_ span: SubscriptionPeriodSpan, until now: Int64) {
        let end = min(span.end, now)
        last = span.transaction.transactionId
        if let known = run {
            if span.start <= known.end.addingSaturated(PurchaseHistory.tolerance) {
                run = (known.start, max(known.end, end))
                return
            }
            let isLateRenewal =
                span.isRenewal(ifUnstated: countsUnstatedRenewals) && span.canRenew(periodUntil: known.end)
            monthsBefore = isLateRenewal ? months : 0
        }
        run = (span.start, end)
    }

    mutating func reset() {
        (monthsBefore, run, last) = (0, nil, nil)
    }
}

extension SubscriptionPeriodSpan {
    /// Whether the period renews an earlier one.
    /// - Parameter ifUnstated: the answer if no document states the reason. The first period of a subscription renews none.
    fileprivate func isRenewal(ifUnstated: Bool) -> Bool {
        guard let reason = transaction.transactionReason else { return ifUnstated && !entry.isBeginning }
        return reason == .renewal
    }
}
