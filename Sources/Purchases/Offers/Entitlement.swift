public import AppStoreModels

/// Whether a customer has, or had, access to one thing that the app sells, at one moment.
/// ``PurchaseHistory/entitlements(at:)`` defines what counts as one thing.
public struct Entitlement: Hashable, Sendable {
    /// The type of the product; nil if neither a document nor the catalog states it.
    public let type: ProductType?
    /// `subscriptionGroupIdentifier` of auto-renewable subscriptions; nil if nothing states the group.
    public let group: String?
    /// The name in the catalog for the content that the product unlocks.
    public let name: String?
    /// Apple's status; a non-consumable is active until it is revoked. Nil if the status is unknown because the type of
    /// the product, or the end of a non-renewing subscription, is.
    public let status: SubscriptionStatus?
    /// The product of the purchase that decides. The members below describe the same purchase.
    public let productId: String?
    /// The level of service of the product within its group, 1 is the highest; nil if the catalog does not state it.
    public let level: Int?
    /// That of the purchase that decides; nil if no document states it.
    public let originalTransactionId: String?
    /// The transaction that decides; for a subscription, that of its period.
    public let transactionId: String?
    /// The seats of the subscription that decides (``SubscriptionStanding/seats``); nil if it has none.
    public let seats: Int64?
    /// Whether the customer has it through Family Sharing.
    public let isFamilyShared: Bool
    /// When the access ends or ended, in milliseconds since 1970-01-01T00:00:00Z. If several subscriptions of the group give
    /// access, the end of the last one. For a non-renewing subscription, the end of the last term that follows without a gap.
    /// Nil if it never ends, and if the status is unknown.
    public let accessEnds: Int64?
    /// When the status or the purchase that decides changes if no purchase, refund or renewal happens first; nil if time alone
    /// changes neither.
    public let changesAt: Int64?
    /// Whether the history is recent enough to be sure: that of the subscription that gives access, or of all if none does. If
    /// not, the customer may have bought or renewed since.
    public let isCurrent: Bool
    /// All subscriptions of the group, the best first; empty for other types of products.
    public let subscriptions: [SubscriptionStanding]

    /// Whether the customer has access: active, or in the billing grace period.
    public var hasAccess: Bool { status?.givesAccess ?? false }
}

extension Collection<Entitlement> {
    /// Whether at least one entitlement gives access.
    package var giveAccess: Bool { contains(where: \.hasAccess) }
}

/// The standing of one subscription.
public struct SubscriptionStanding: Hashable, Sendable {
    /// Apple's status.
    public let status: SubscriptionStatus
    /// Nil if no document states it.
    public let originalTransactionId: String?
    /// The transaction of the period that decides: the current one, and of several the one with the highest level of
    /// service. Without a current period, it is the one that ended last.
    public let transactionId: String?
    /// The product of the period that decides; nil if no document states it.
    public let productId: String?
    /// The seats of the period: the sum of `quantity` of its transactions less `revokedSeatQuantity`. Nil if the
    /// subscription has no seats.
    public let seats: Int64?
    /// Whether the customer has it through Family Sharing.
    public let isFamilyShared: Bool
    /// When the period begins, in milliseconds since 1970.
    public let periodStart: Int64
    /// When the period ends or ended, in milliseconds since 1970: at its expiry, or before it at a refund or an upgrade.
    public let periodEnd: Int64
    /// When the access ends or ended, in milliseconds since 1970: the end of the last current period, or of the grace
    /// period.
    public let accessEnds: Int64
    /// When the status changes if no purchase, refund or renewal happens first; nil if time alone does not change it.
    public let changesAt: Int64?
    /// The products that the subscription gives access to, the one that decides first. There are several only after a reversed
    /// refund, after an upgrade that only unsigned documents state, and after one that replaced a renewal charged ahead of time: the
    /// period before the renewal runs to its end. Empty without access.
    package let products: [SubscribedProduct]
    /// The last statement about the renewal of the period; nil if there is none.
    public let renewalInfo: JWSRenewalInfoDecodedPayload?
    /// Whether renewal information decided the status.
    public let restsOnRenewalInfo: Bool
    /// Whether the history is recent enough to be sure. If not, the subscription may have been renewed, billed or
    /// canceled since.
    public let isCurrent: Bool

    /// Whether the customer has access: active, or in the billing grace period.
    public var hasAccess: Bool { status.givesAccess }
}

/// A product that a subscription gives access to at one moment.
package struct SubscribedProduct: Hashable, Sendable {
    package let productId: String
    /// The transaction of the current period; of several, the one that comes first by the rules of
    /// ``PurchaseHistory/entitlements(at:)``.
    package let transactionId: String?
    /// When the access to this product ends, in milliseconds since 1970: the end of its last current period, or of the grace
    /// period.
    package let accessEnds: Int64
}

extension PurchaseHistory {
    /// The entitlements of the customer. All answers of this package about access use them. Consumables and purchases
    /// that have not begun are left out.
    ///
    /// There is one entitlement for each of these, in this order:
    /// - a subscription group, by its identifier, also with several subscriptions, and with family members who share
    ///   one. The best subscription decides, in this order: access, the highest level of service (``Product/level``),
    ///   the better status, the latest end, bought before shared;
    /// - subscriptions without a known group that share a product or an original transaction id, because they must be
    ///   in one group;
    /// - the non-renewing subscriptions that unlock the same (``Product/entitlement``, else the product), by their
    ///   terms;
    /// - a non-consumable product, also with several transactions;
    /// - a product of unknown type.
    ///
    /// The status of an auto-renewable subscription (Reference.md V9.3):
    /// - Active if a period is current. A period ends at its expiry, at a refund, or when an upgrade replaces it.
    ///   Several can be current only after a reversed refund: then the one with the highest level of service decides,
    ///   then the one that ends last.
    /// - Else revoked, if the last period was refunded or revoked.
    /// - Else in the grace period or in billing retry, if the renewal information states that billing is being
    ///   retried. The grace period lasts until its date, billing retry until 60 days after the expiry. Renewal
    ///   information that was signed before the period began does not count, because it describes an older period.
    /// - Else expired.
    /// - Parameter now: milliseconds since 1970-01-01T00:00:00Z.
    public func entitlements(at now: Int64) -> [Entitlement] {
        subscriptionEntitlements(at: now) + singlePurchaseEntitlements(at: now)
    }

    /// The standing of each subscription that has begun, in the order of ``entitlements(at:)``. Each original
    /// transaction id occurs once: with the better standing, if the customer has both bought and family-shared periods
    /// of it.
    /// - Parameter now: milliseconds since 1970-01-01T00:00:00Z.
    public func subscriptions(at now: Int64) -> [SubscriptionStanding] {
        PurchaseHistory.subscriptions(of: subscriptionEntitlements(at: now)).map(\.standing)
    }

    /// ``subscriptions(at:)``, each with the entitlement that it belongs to.
    /// - Parameter entitlements: all of one customer at one moment.
    package static func subscriptions(
        of entitlements: [Entitlement]
    ) -> [(entitlement: Entitlement, standing: SubscriptionStanding)] {
        var seen: Set<String> = []
        return entitlements.flatMap { entitlement in
            entitlement.subscriptions.filter { seen.insert($0.subscriptionId).inserted }.map { (entitlement, $0) }
        }
    }

    private func subscriptionEntitlements(at now: Int64) -> [Entitlement] {
        SubscriptionTimeline.all(of: self).flatMap { timeline -> [Entitlement] in
            let subscriptions = timeline.subscriptions(begunBy: now)
            let groups = timeline.group == nil ? Self.connected(subscriptions) : [subscriptions]
            return groups.compactMap { subscriptions in
                let standings = subscriptions.compactMap { standing($0, at: now) }.sorted(by: isBetter)
                guard let best = standings.first else { return nil }
                return Entitlement(
                    type: .autoRenewableSubscription, group: timeline.group, name: product(best.productId).entitlement,
                    status: best.status, productId: best.productId, level: product(best.productId).level,
                    originalTransactionId: best.originalTransactionId, transactionId: best.transactionId,
                    seats: best.seats, isFamilyShared: best.isFamilyShared,
                    accessEnds: standings.filter(\.hasAccess).map(\.accessEnds).max() ?? best.accessEnds,
                    // Another current period of the subscription may decide next.
                    changesAt: best.status == .active ? best.periodEnd : best.changesAt,
                    isCurrent: best.hasAccess ? best.isCurrent : standings.allSatisfy(\.isCurrent),
                    subscriptions: standings)
            }
        }
    }

    /// Divides subscriptions without a known group into sets that must be one group (``GroupMark``). The sets are in the order of
    /// their smallest product ids.
    private static func connected(_ subscriptions: [[SubscriptionPeriodSpan]]) -> [[[SubscriptionPeriodSpan]]] {
        let sets = CommonMarks.groups(count: subscriptions.count) { place in
            subscriptions[place].flatMap { GroupMark.all(of: $0.entry) }
        }
        // Several sets can have purchases without a product id. Their subscriptions keep the order independent of the documents.
        func order(_ places: [Int]) -> (String, String, Int) {
            let names = places.flatMap { subscriptions[$0] }.map { span in
                (span.transaction.productId ?? "", span.entry.subscriptionId ?? "", span.isShared ? 1 : 0)
            }
            return names.min { $0 < $1 } ?? ("", "", 0)
        }
        return sets.map { (order: order($0), places: $0) }.sorted { $0.order < $1.order }
            .map { set in set.places.map { subscriptions[$0] } }
    }

    private func product(_ id: String?) -> Product { id.flatMap { products[$0] } ?? Product() }

    /// - Parameters:
    ///   - spans: the periods of one subscription that have begun.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    func standing(_ spans: [SubscriptionPeriodSpan], at now: Int64) -> SubscriptionStanding? {
        // A reversed refund can leave two current periods. They are compared like subscriptions of one group: the
        // higher level decides, then the one that ends last. An upgraded period that begins together with its successor
        // ends at once; the successor comes after it.
        let running = spans.indices.filter { spans[$0].end > now }
        func rank(_ place: Int) -> (Int, Int64, Int) {
            (-(product(spans[place].transaction.productId).level ?? .max), spans[place].end, place)
        }
        let current = running.sorted { rank($0) > rank($1) }
        guard let last = current.first ?? spans.indices.max(by: { (spans[$0].end, $0) < (spans[$1].end, $1) })
        else { return nil }
        let span = spans[last]
        let stated = renewalInfo(of: span)
        func outcome(
            _ status: SubscriptionStatus, ends: Int64, changesAt: Int64?, byInfo: Bool = false
        ) -> SubscriptionStanding {
            let products: [SubscribedProduct] =
                switch status {
                case .active: Self.products(current.map { spans[$0] })
                case .billingGracePeriod: Self.products([span], ends: ends)
                default: []
                }
            return SubscriptionStanding(
                status: status, originalTransactionId: span.transaction.originalTransactionId,
                transactionId: span.transaction.transactionId, productId: span.transaction.productId,
                seats: span.seats.count, isFamilyShared: span.isShared, periodStart: span.start, periodEnd: span.end,
                accessEnds: ends, changesAt: changesAt, products: products, renewalInfo: stated,
                restsOnRenewalInfo: byInfo,
                isCurrent: status == .active || status == .revoked || (currentThrough(span) ?? .min) >= span.end)
        }
        if let ends = running.map({ spans[$0].end }).max() { return outcome(.active, ends: ends, changesAt: ends) }
        if span.isRevoked { return outcome(.revoked, ends: span.end, changesAt: nil) }
        guard let info = stated, info.isInBillingRetryPeriod == true else {
            return outcome(.expired, ends: span.end, changesAt: nil)
        }
        if let grace = info.gracePeriodExpiresDate, grace > now {
            return outcome(.billingGracePeriod, ends: grace, changesAt: grace, byInfo: true)
        }
        let retryEnds = span.end + Self.billingRetry
        return now < retryEnds
            ? outcome(.billingRetry, ends: span.end, changesAt: retryEnds, byInfo: true)
            : outcome(.expired, ends: span.end, changesAt: nil, byInfo: true)
    }

    /// - Parameters:
    ///   - spans: the periods that give access, the one that decides first.
    ///   - end: when the access ends; nil if it ends with the periods.
    private static func products(_ spans: [SubscriptionPeriodSpan], ends end: Int64? = nil) -> [SubscribedProduct] {
        var ends: [String: Int64] = [:]
        for span in spans {
            guard let id = span.transaction.productId else { continue }
            ends[id] = max(ends[id] ?? .min, end ?? span.end)
        }
        var products: [SubscribedProduct] = []
        for span in spans {
            guard let id = span.transaction.productId, let accessEnds = ends.removeValue(forKey: id) else { continue }
            products.append(
                SubscribedProduct(
                    productId: id, transactionId: span.transaction.transactionId, accessEnds: accessEnds))
        }
        return products
    }

    private func isBetter(_ left: SubscriptionStanding, _ right: SubscriptionStanding) -> Bool {
        if left.hasAccess != right.hasAccess { return left.hasAccess }
        if left.hasAccess {
            // A product without a known level ranks below the others.
            let (level, other) = (product(left.productId).level ?? .max, product(right.productId).level ?? .max)
            if level != other { return level < other }
        }
        if left.rank != right.rank { return left.rank < right.rank }
        if left.accessEnds != right.accessEnds { return left.accessEnds > right.accessEnds }
        if left.isFamilyShared != right.isFamilyShared { return !left.isFamilyShared }
        return left.subscriptionId < right.subscriptionId
    }
}

extension SubscriptionStatus {
    fileprivate var givesAccess: Bool { self == .active || self == .billingGracePeriod }
}

extension SubscriptionStanding {
    /// The original transaction id; for a transaction without one, its own id.
    package var subscriptionId: String { originalTransactionId ?? transactionId ?? "" }

    /// When the access ended, in milliseconds since 1970; nil while the customer has it.
    package var accessEnded: Int64? { hasAccess ? nil : accessEnds }

    fileprivate var rank: Int {
        switch status {
        case .active: 0
        case .billingGracePeriod: 1
        case .billingRetry: 2
        case .expired: 3
        default: 4
        }
    }
}

// MARK: Products that do not renew

extension PurchaseHistory {
    /// The subject of an entitlement.
    private struct Subject: Hashable {
        let type: ProductType?
        /// Whether `name` is an entitlement of the catalog, not a product.
        let isEntitlement: Bool
        let name: String

        var order: (Int, String, Int, String) {
            let place =
                switch type {
                case .nonRenewingSubscription?: 0
                case .nonConsumable?: 1
                default: 2
                }
            return (place, name, isEntitlement ? 0 : 1, type?.rawValue ?? "")
        }
    }

    private func singlePurchaseEntitlements(at now: Int64) -> [Entitlement] {
        var purchases: [Subject: [SinglePurchase]] = [:]
        for purchase in singlePurchases() where purchase.date <= now {
            let productId = purchase.entry.transaction.productId
            let name = purchase.type == .nonRenewingSubscription ? purchase.product.entitlement : nil
            let subject = Subject(type: purchase.type, isEntitlement: name != nil, name: name ?? productId ?? "")
            purchases[subject, default: []].append(purchase)
        }
        return purchases.sorted { $0.key.order < $1.key.order }.compactMap { entitlement($0.value, at: now) }
    }

    /// The purchases that do not renew, without consumables, each with its restored copies, in no order.
    func singlePurchases() -> [SinglePurchase] {
        let types = ProductTypes(entries)
        func productType(of entry: Entry) -> ProductType? { types.type(of: entry) }
        let others = SubscriptionTimeline.newest(entries).filter { entry in
            let type = productType(of: entry)
            return !entry.transaction.isSubscription && type != .autoRenewableSubscription && type != .consumable
        }
        // A restored transaction counts as the purchase that it restores.
        let known = KnownTypes(others)
        let candidates = others.map { entry in
            PurchaseCopies.Candidate(
                entry.transaction, lineItem: entry.transaction.webOrderLineItemId, type: productType(of: entry),
                neverExpires: known.neverExpires(entry.transaction))
        }
        return PurchaseCopies.purchases(candidates).compactMap { places in
            let copies = places.map { others[$0] }
            let type = SinglePurchase.deciding(copies).lazy.compactMap { productType(of: $0) }.first
            return SinglePurchase(copies, type: type, product: product(copies.first?.transaction.productId))
        }
    }

    /// - Parameters:
    ///   - purchases: the purchases of one entitlement, none of them in the future.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    func entitlement(_ purchases: [SinglePurchase], at now: Int64) -> Entitlement? {
        let begun = purchases.filter { $0.start <= now }.sorted { $0.isBetter(than: $1, at: now) }
        guard let best = begun.first else { return nil }
        let status = best.status(at: now)
        var ends = best.end
        if status == .active {
            // Add the terms that follow without a gap and are already bought.
            for purchase in purchases.sorted(by: { $0.start < $1.start }) {
                guard let end = ends, purchase.start <= end, purchase.endIsKnown else { continue }
                ends = purchase.end.map { max(end, $0) }
            }
        }
        let known = purchases.flatMap(\.copies).compactMap { currentThrough($0) }.max()
        let transaction = best.entry.transaction
        return Entitlement(
            type: best.type, group: nil, name: best.product.entitlement, status: status,
            productId: transaction.productId, level: best.product.level,
            originalTransactionId: transaction.originalTransactionId, transactionId: transaction.transactionId,
            seats: nil, isFamilyShared: best.entry.isShared, accessEnds: ends,
            changesAt: status == .active ? best.end : nil,
            isCurrent: status == .active || status == .revoked
                || status == .expired && (known ?? .min) >= (ends ?? .max),
            subscriptions: [])
    }
}

/// The types of the products of a history: all purchases of a product have one type.
struct ProductTypes {
    private var signed: [String: ProductType] = [:]
    private var recorded: [String: ProductType] = [:]

    init(_ entries: [PurchaseHistory.Entry]) {
        for entry in entries {
            guard let id = entry.transaction.productId, let type = entry.transaction.type else { continue }
            if entry.isSigned {
                TypeOrder.keep(type, in: &signed[id])
            } else {
                TypeOrder.keep(type, in: &recorded[id])
            }
        }
    }

    /// A history already contains the types of the catalog.
    func type(of entry: PurchaseHistory.Entry) -> ProductType? {
        let (own, product) = (entry.transaction.type, entry.transaction.productId)
        return TypeOrder.type(
            signed: (entry.isSigned ? own : nil) ?? product.flatMap { signed[$0] }, catalog: nil,
            recorded: own ?? product.flatMap { recorded[$0] }, isSigned: entry.isSigned)
    }
}

/// A purchase that does not renew, with its restored copies.
struct SinglePurchase {
    /// The copy that was made first.
    let entry: PurchaseHistory.Entry
    let copies: [PurchaseHistory.Entry]
    let type: ProductType?
    let product: PurchaseHistory.Product
    /// When it was bought, in milliseconds since 1970 like all dates here.
    let date: Int64
    /// When the access begins.
    let start: Int64
    /// When the access ends: at the end of the term, or at a revocation before it. Nil if it never ends or the end is
    /// unknown.
    let end: Int64?
    /// Whether an absent end means that the access never ends.
    let endIsKnown: Bool
    private let revocationDate: Int64?

    /// - Parameters:
    ///   - copies: the transactions of one purchase.
    ///   - type: the type of the product; nil if it is unknown.
    ///   - product: the product.
    init?(_ copies: [PurchaseHistory.Entry], type: ProductType?, product: PurchaseHistory.Product) {
        let deciding = Self.deciding(copies)
        guard let entry = deciding.first else { return nil }
        self.entry = entry
        self.copies = copies
        self.type = type
        self.product = product
        let term = deciding.lazy.compactMap(\.term).first
        date = deciding.compactMap(\.transaction.firstBought).min() ?? .min
        start = term?.start ?? date
        revocationDate = deciding.compactMap(\.transaction.revocationDate).min()
        var termEnd: Int64?
        switch type {
        case .nonConsumable?: endIsKnown = true
        case .nonRenewingSubscription? where product.isFreeSubscription: endIsKnown = true
        case .nonRenewingSubscription?:
            termEnd = term?.end ?? deciding.lazy.compactMap(\.transaction.expiresDate).first
            endIsKnown = termEnd != nil
        default: endIsKnown = false
        }
        end = [termEnd, revocationDate].compactMap { $0 }.min()
    }

    /// The copies that count, the one that was made first before the others. Unsigned documents do not count for a signed purchase.
    static func deciding(_ copies: [PurchaseHistory.Entry]) -> [PurchaseHistory.Entry] {
        let signed = copies.filter(\.isSigned)
        return (signed.isEmpty ? copies : signed).sorted { $0.copyOrder < $1.copyOrder }
    }

    func status(at now: Int64) -> SubscriptionStatus? {
        if let revocationDate, revocationDate <= now { return .revoked }
        guard endIsKnown else { return nil }
        guard let end else { return .active }
        return end > now ? .active : .expired
    }

    func isBetter(than other: SinglePurchase, at now: Int64) -> Bool {
        let (rank, otherRank) = (self.rank(at: now), other.rank(at: now))
        if rank != otherRank { return rank < otherRank }
        if end != other.end { return (end ?? .max) > (other.end ?? .max) }
        if entry.isShared != other.entry.isShared { return other.entry.isShared }
        return entry.copyOrder < other.entry.copyOrder
    }

    private func rank(at now: Int64) -> Int {
        switch status(at: now) {
        case .active?: 0
        case nil: 1
        case .expired?: 2
        default: 3
        }
    }
}

extension PurchaseHistory.Entry {
    /// The original comes before its restored copies.
    fileprivate var copyOrder: TransactionPlace { TransactionPlace(transaction) }
}
