internal import AppStoreModels

/// The key of a purchase in both replies.
struct PurchaseKey: Hashable {
    let productId: String?
    let originalTransactionId: String?
}

/// An entry of `in_app` or `latest_receipt_info`, or an iOS 6 receipt, as far as access hangs on it
/// (Reference.md V3.5 and V4).
struct ListedPurchase {
    private enum Expiry {
        case never
        /// Milliseconds since 1970-01-01T00:00:00Z.
        case at(Int64)
        /// There is a date that cannot be read: nothing is granted by it.
        case unreadable
    }

    let key: PurchaseKey
    let transactionId: String?
    /// Whether there is a cancellation date: after a refund, the end of family sharing, or an upgrade.
    let isCancelled: Bool
    private let expiry: Expiry

    init(_ entry: JSONObject) {
        transactionId = Self.text(entry["transaction_id"])
        key = PurchaseKey(
            productId: Self.text(entry["product_id"]),
            originalTransactionId: Self.text(entry["original_transaction_id"]) ?? transactionId)
        let isUpgraded = entry["is_upgraded"] == .string("true") || entry["is_upgraded"] == .bool(true)
        isCancelled =
            isUpgraded || Self.isStated(entry["cancellation_date"]) || Self.isStated(entry["cancellation_date_ms"])
        expiry = Self.expiry(entry)
    }

    /// The entries of a list, or the one object of an iOS 6 reply; nil for anything else.
    static func list(_ value: JSONValue?) -> [ListedPurchase]? {
        switch value {
        case .array(let entries): entries.compactMap(\.object).map { ListedPurchase($0) }
        case .object(let entry): [ListedPurchase(entry)]
        default: nil
        }
    }

    /// Whether it is of a subscription that ends.
    var hasPeriod: Bool {
        if case .never = expiry { false } else { true }
    }

    /// Later periods compare greater.
    var end: Int64 {
        switch expiry {
        case .never: .max
        case .at(let date): date
        case .unreadable: .min
        }
    }

    /// - Parameter moment: milliseconds since 1970-01-01T00:00:00Z.
    func isActive(at moment: Int64) -> Bool {
        guard !isCancelled else { return false }
        switch expiry {
        case .never: return true
        case .at(let date): return date > moment
        case .unreadable: return false
        }
    }

    private static func expiry(_ entry: JSONObject) -> Expiry {
        // `expires_date` holds milliseconds in iOS 6 replies and text in the others.
        let names = ["expires_date_ms", "expires_date", "expires_date_formatted"]
        let stated = names.compactMap { entry[$0] }.filter { isStated($0) }
        guard !stated.isEmpty else { return .never }
        for value in stated {
            if let date = value.wholeNumber ?? value.string.flatMap({ GMTText($0)?.milliseconds }) { return .at(date) }
        }
        return .unreadable
    }

    private static func isStated(_ value: JSONValue?) -> Bool {
        guard let value else { return false }
        return !value.isNull && value != .string("")
    }

    static func text(_ value: JSONValue?) -> String? {
        value?.string ?? value?.integer.map { String($0) }
    }
}

/// The access that one reply grants at a date.
struct ReplyGrants {
    /// How a client takes the status; the greater one grants more.
    enum Verdict: Int, Comparable {
        case refused, expired, accepted

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    private struct State {
        var isActive = false
        var isByGrace = false
        /// Of the entry that ends last.
        var end = Int64.min
        var isCancelled = false
    }

    let status: Int64
    let verdict: Verdict
    /// Whether the answer hangs on the moment.
    private(set) var hasPeriods = false
    /// The keys in the order of the reply.
    private var order: [PurchaseKey] = []
    private var states: [PurchaseKey: State] = [:]

    /// - Parameter moment: milliseconds since 1970-01-01T00:00:00Z; without it, periods count as running.
    init(_ reply: JSONObject, status: Int64, moment: Int64?) {
        self.status = status
        verdict = status == 0 ? .accepted : status == 21006 ? .expired : .refused
        guard verdict == .accepted else { return }
        let moment = moment ?? .min
        // In the sandbox Apple sent lists that it had emptied (V3.5): then clients read `in_app`.
        let latest = ListedPurchase.list(reply["latest_receipt_info"]).flatMap { $0.isEmpty ? nil : $0 }
        for purchase in latest ?? [] { add(purchase, at: moment) }
        let known = Set((latest ?? []).compactMap(\.transactionId))
        for purchase in Self.submitted(reply["receipt"]?.object) {
            // `in_app` repeats the receipt, which may be older than a refund or a renewal.
            let isKnown = purchase.transactionId.map { known.contains($0) } ?? false
            guard !isKnown, latest == nil || !purchase.hasPeriod else { continue }
            add(purchase, at: moment)
        }
        addGracePeriods(reply["pending_renewal_info"]?.array ?? [], at: moment)
    }

    private static func submitted(_ receipt: JSONObject?) -> [ListedPurchase] {
        guard let receipt else { return [] }
        if let list = ListedPurchase.list(receipt["in_app"]) { return list }
        return receipt["transaction_id"] == nil ? [] : [ListedPurchase(receipt)]
    }

    private mutating func add(_ purchase: ListedPurchase, at moment: Int64) {
        hasPeriods = hasPeriods || purchase.hasPeriod
        var state = states[purchase.key] ?? newState(purchase.key)
        state.isActive = state.isActive || purchase.isActive(at: moment)
        if purchase.end >= state.end {
            state.end = purchase.end
            state.isCancelled = purchase.isCancelled
        }
        states[purchase.key] = state
    }

    private mutating func newState(_ key: PurchaseKey) -> State {
        order.append(key)
        return State()
    }

    /// A grace period prolongs the subscription (V3.6), unless its newest period was refunded.
    private mutating func addGracePeriods(_ renewals: [JSONValue], at moment: Int64) {
        for renewal in renewals {
            guard let end = renewal["grace_period_expires_date_ms"]?.wholeNumber else { continue }
            hasPeriods = true
            let key = PurchaseKey(
                productId: ListedPurchase.text(renewal["product_id"]),
                originalTransactionId: ListedPurchase.text(renewal["original_transaction_id"]))
            guard end > moment else { continue }
            var state = states[key] ?? newState(key)
            guard !state.isActive, !state.isCancelled else { continue }
            state.isActive = true
            state.isByGrace = true
            states[key] = state
        }
    }

    // MARK: Comparing

    /// The purchases that this reply grants and the other does not.
    ///
    /// - Parameter side: the side of this reply.
    func notGranted(by other: ReplyGrants, side: EntitlementSide) -> [EntitlementDifference] {
        order.compactMap { key in
            guard let state = states[key], state.isActive, other.states[key]?.isActive != true else { return nil }
            return difference(key, grantedBy: side, reason: other.reason(key, grantIsGrace: state.isByGrace), other)
        }
    }

    /// The difference for a status that rejects the receipt while the other one accepts it, without a purchase.
    func refusal(of side: EntitlementSide) -> EntitlementDifference {
        difference(nil, grantedBy: side, reason: .status, self)
    }

    private func reason(_ key: PurchaseKey, grantIsGrace: Bool) -> EntitlementReason {
        guard verdict == .accepted else { return .status }
        guard let state = states[key] else { return .notListed }
        if state.isCancelled { return .cancelled }
        return grantIsGrace ? .gracePeriod : .expired
    }

    private func difference(
        _ key: PurchaseKey?, grantedBy side: EntitlementSide, reason: EntitlementReason, _ denier: ReplyGrants
    ) -> EntitlementDifference {
        EntitlementDifference(
            productId: (key?.productId).map { Redaction.text(.string($0), of: "product_id", isKnown: true) },
            originalTransactionId: (key?.originalTransactionId).flatMap { Redaction.id(.string($0)) },
            grantedBy: side, reason: reason, status: denier.status)
    }
}
