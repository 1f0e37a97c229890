package import AppStoreModels

/// The purchases in one verifyReceipt reply, and which of them a client grants at a moment.
///
/// The rules are those of ``PurchaseHistory/entitlements(at:)``, applied to each purchase and product, because that is
/// how clients store what they granted. Two rules come from the form of a reply (Reference.md V3.5):
/// - A list of the latest transactions replaces the periods of the submitted receipt.
/// - A reply states neither the type of a product nor the term of a non-renewing subscription. A purchase without an end is
///   granted unless it was revoked: the client knows the product.
package struct ReplyPurchases: Sendable {
    /// Identifies a purchase in two replies.
    package struct Key: Hashable, Sendable {
        package let productId: String?
        package let originalTransactionId: String?

        package init(productId: String?, originalTransactionId: String?) {
            self.productId = productId
            self.originalTransactionId = originalTransactionId
        }
    }

    /// Whether a purchase is granted.
    package enum State: Hashable, Sendable {
        case granted
        /// The period has ended, but the billing grace period has not.
        case grantedByGrace
        /// Refunded, revoked, or upgraded to another product.
        case cancelled
        /// Ended, or not begun.
        case ended

        package var isGranted: Bool { self == .granted || self == .grantedByGrace }

        /// Of two purchases with the same key, for example a bought one and a family-shared one, the better one counts.
        fileprivate var rank: Int {
            switch self {
            case .granted: 0
            case .grantedByGrace: 1
            case .ended: 2
            case .cancelled: 3
            }
        }
    }

    /// Limits the work, which is not linear in the number of entries.
    private static let maximumEntries = 10_000
    private static let maximumRenewals = 1_000

    /// Each once, in the order of the newest transactions.
    package private(set) var keys: [Key] = []
    private var states: [Key: State] = [:]
    /// Whether the result depends on the moment.
    package let hasPeriods: Bool
    /// The ids of all transactions.
    package let transactionIds: Set<String>
    /// The original transaction ids of the current subscription periods, by transaction id.
    package private(set) var running: [String: String] = [:]
    /// The original transaction ids of the subscriptions with a current period.
    package private(set) var runningSubscriptions: Set<String> = []

    /// Resolves the purchases of a reply. A reply with a status that grants nothing has none (Reference.md V2).
    ///
    /// Nil if they cannot be resolved: a value is malformed, two purchases have the same id, a purchase has no id or no
    /// dates, or the reply has too many entries.
    /// - Parameters:
    ///   - reply: the JSON object of the reply.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z; nil if unknown: then all periods count as ended.
    package init?(_ reply: JSONObject, at now: Int64?) {
        let lists = [reply["receipt"]?["in_app"], reply["latest_receipt_info"]]
        guard lists.compactMap({ $0?.array?.count }).reduce(0, +) <= Self.maximumEntries,
            reply["pending_renewal_info"]?.array?.count ?? 0 <= Self.maximumRenewals
        else { return nil }
        let customer: Customer
        do throws(RecordedReplyError) {
            let read = try RecordedReply(.object(reply)).asRead
            // Members in places where Apple has none can contain more.
            guard read.rows.count <= Self.maximumEntries, read.renewals.count <= Self.maximumRenewals,
                let resolved = Customer(resolving: read)
            else { return nil }
            customer = resolved
        } catch {
            switch error.code {
            case .nothingInside, .otherStore, .statusNotAccepted: break
            default: return nil
            }
            (hasPeriods, transactionIds) = (false, [])
            return
        }
        transactionIds = Set(customer.transactions.compactMap(\.payload.transactionId))
        hasPeriods =
            customer.transactions.contains { $0.payload.expiresDate != nil }
            || customer.renewalInfos.contains { $0.payload.gracePeriodExpiresDate != nil }
        let history = customer.purchaseHistory(catalog: nil)
        let timelines = SubscriptionTimeline.all(of: history)
        guard timelines.allSatisfy(\.undated.isEmpty) else { return nil }
        let now = now ?? .max
        for timeline in timelines {
            for spans in timeline.subscriptions(begunBy: now) { add(spans, of: history, at: now) }
        }
        for purchase in history.singlePurchases() { add(purchase, at: now) }
        var seen: Set<Key> = []
        keys = customer.transactions.map { Key($0.payload) }.filter { seen.insert($0).inserted }
        for key in keys where states[key] == nil { states[key] = .ended }
    }

    /// Whether the receipt of a reply has an auto-renewable subscription: only these have an end there (Reference.md V3.5).
    /// `hasAutoRenewable` is the same for the receipt itself.
    package static func receiptHasAutoRenewable(_ reply: JSONObject) -> Bool {
        let rows = reply["receipt"]?["in_app"]?.array ?? []
        return rows.contains { $0["expires_date"] != nil || $0["expires_date_ms"] != nil }
    }

    /// The state of a purchase; nil if the reply does not list it.
    package subscript(key: Key) -> State? { states[key] }

    private mutating func add(_ spans: [SubscriptionPeriodSpan], of history: PurchaseHistory, at now: Int64) {
        for span in spans where span.end > now {
            guard let id = span.transaction.transactionId, let original = span.entry.subscriptionId else { continue }
            running[id] = original
            runningSubscriptions.insert(original)
        }
        // Each product has the state of its period that ends last. The resolver says which products have access.
        let deciding = history.standing(spans, at: now)
        let withAccess = Set(deciding?.products.map(\.productId) ?? [])
        for (key, periods) in Dictionary(grouping: spans, by: { Key($0.transaction) }) {
            let last = periods.max { $0.end < $1.end }
            let isCancelled = last.map { $0.isRevoked || $0.transaction.isUpgraded == true } ?? false
            var state = isCancelled ? State.cancelled : .ended
            if let product = key.productId, withAccess.contains(product) {
                state = deciding?.status == .billingGracePeriod ? .grantedByGrace : .granted
            } else if let deciding, deciding.status == .revoked,
                periods.contains(where: { $0.transaction.transactionId == deciding.transactionId })
            {
                state = .cancelled
            }
            set(key, state)
        }
    }

    private mutating func add(_ purchase: SinglePurchase, at now: Int64) {
        let state: State =
            if purchase.date > now || purchase.start > now {
                .ended
            } else {
                switch purchase.status(at: now) {
                case .active?, nil: .granted
                case .revoked?: .cancelled
                default: .ended
                }
            }
        set(Key(purchase.entry.transaction), state)
    }

    private mutating func set(_ key: Key, _ state: State) {
        if let known = states[key], known.rank <= state.rank { return }
        states[key] = state
    }
}

extension ReplyPurchases.Key {
    fileprivate init(_ transaction: JWSTransactionDecodedPayload) {
        self.init(productId: transaction.productId, originalTransactionId: transaction.purchaseId)
    }
}
