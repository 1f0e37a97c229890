internal import AppStoreModels
internal import Purchases

/// The access that one reply grants, by its status and its purchases.
struct ReplyGrants {
    /// How a client interprets the status. A greater value grants more.
    enum Verdict: Comparable {
        case refused, expired, accepted
    }

    let status: Int64
    let verdict: Verdict
    private let purchases: ReplyPurchases

    init(_ purchases: ReplyPurchases, status: Int64) {
        self.purchases = purchases
        self.status = status
        verdict = status == 0 ? .accepted : status == 21006 ? .expired : .refused
    }

    /// Whether the answer depends on the time.
    var hasPeriods: Bool { verdict == .accepted && purchases.hasPeriods }

    /// The purchases that this reply grants and the other does not.
    ///
    /// - Parameters:
    ///   - other: the other reply.
    ///   - side: the side of this reply.
    func notGranted(by other: ReplyGrants, side: EntitlementSide) -> [EntitlementDifference] {
        purchases.keys.compactMap { key in
            guard let state = state(key), state.isGranted, other.state(key)?.isGranted != true else { return nil }
            return difference(key, grantedBy: side, reason: other.reason(key, against: state), other)
        }
    }

    /// The difference for a status that rejects the receipt while the other one accepts it, without a purchase.
    func refusal(of side: EntitlementSide) -> EntitlementDifference {
        difference(nil, grantedBy: side, reason: .status, self)
    }

    private func state(_ key: ReplyPurchases.Key) -> ReplyPurchases.State? {
        verdict == .accepted ? purchases[key] : nil
    }

    private func reason(_ key: ReplyPurchases.Key, against grant: ReplyPurchases.State) -> EntitlementReason {
        guard verdict == .accepted else { return .status }
        switch purchases[key] {
        case nil: return .notListed
        case .cancelled?: return .cancelled
        default: return grant == .grantedByGrace ? .gracePeriod : .expired
        }
    }

    private func difference(
        _ key: ReplyPurchases.Key?, grantedBy side: EntitlementSide, reason: EntitlementReason, _ denier: ReplyGrants
    ) -> EntitlementDifference {
        EntitlementDifference(
            productId: (key?.productId).map { Redaction.text(.string($0), of: "product_id", isKnown: true) },
            originalTransactionId: (key?.originalTransactionId).flatMap { Redaction.id(.string($0)) },
            grantedBy: side, reason: reason, status: denier.status)
    }
}

/// The purchases of both replies, resolved once for the whole comparison.
struct ListedPurchases {
    /// The date of Apple's reply, in milliseconds since 1970-01-01T00:00:00Z; nil if it is unknown.
    let moment: Int64?
    /// Nil if the purchases of Apple's reply cannot be resolved.
    let apples: ReplyPurchases?
    /// Nil if the purchases of our reply cannot be resolved.
    let ours: ReplyPurchases?

    init(apples: JSONObject, ours: JSONObject, context: ComparisonContext) {
        moment = apples["receipt"]?["request_date_ms"]?.wholeNumber ?? context.now
        self.apples = ReplyPurchases(apples, at: moment)
        self.ours = ReplyPurchases(ours, at: moment)
    }

    /// Whether an entry of our reply is a running subscription period, and Apple's reply has neither its transaction nor
    /// another running one of the subscription. False if this is unknown.
    func isUnknownToApple(_ entry: JSONObject) -> Bool {
        guard moment != nil, let apples, let ours, let id = entry["transaction_id"]?.id,
            let original = ours.running[id]
        else { return false }
        return !apples.transactionIds.contains(id) && !apples.runningSubscriptions.contains(original)
    }

    /// Whether our reply has subscription periods, and all of them are over. False if this is unknown.
    var areOursOver: Bool {
        guard moment != nil, let ours else { return false }
        return ours.hasPeriods && ours.runningSubscriptions.isEmpty
    }
}

extension JSONValue {
    /// An id: text, or a whole number.
    var id: String? { string ?? integer.map { String($0) } }
}
