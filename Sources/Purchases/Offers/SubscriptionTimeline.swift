public import AppStoreModels

/// One period of a subscription, as long as it gave access.
struct SubscriptionPeriodSpan {
    let entry: PurchaseHistory.Entry
    /// Milliseconds since 1970.
    let start: Int64
    /// The expiry, or before it a refund or the beginning of the period that an upgrade put in its place. Not part of it.
    let end: Int64
    let seats: PeriodSeats
    /// When the next period of the subscription begins; nil for the one that ends last. A period that ended within this one
    /// does not follow it: it was refunded, or it belonged to another level of service for a time.
    let nextStart: Int64?

    var transaction: JWSTransactionDecodedPayload { entry.transaction }
    var isShared: Bool { transaction.inAppOwnershipType == .familyShared }
    /// Whether the period was refunded or taken back. An upgrade that took its place is neither, whatever date it left.
    var isRevoked: Bool { transaction.revocationDate != nil && transaction.isUpgraded != true }
}

/// The seats of a period of a multiseat subscription (App Store Server API 1.23).
///
/// A period can have several transactions, none of which replaces another. Its seats are the sum of their `quantity` less
/// `revokedSeatQuantity`; a transaction that is refunded as a whole has none.
struct PeriodSeats {
    /// The transactions of the period.
    private(set) var transactionIds: [String] = []
    private var sum: Int64 = 0
    private var isStated = false

    init(_ transaction: JWSTransactionDecodedPayload) {
        if let id = transaction.transactionId { transactionIds = [id] }
        isStated = transaction.multiSeatInfo != nil
        guard transaction.revocationDate == nil else { return }
        sum = max(
            0, Int64(transaction.quantity ?? 1) - max(0, Int64(transaction.multiSeatInfo?.revokedSeatQuantity ?? 0)))
    }

    mutating func add(_ other: PeriodSeats) {
        transactionIds += other.transactionIds
        isStated = isStated || other.isStated
        sum += other.sum
    }

    /// Nil if no transaction of the period has seats.
    var count: Int64? { isStated ? sum : nil }
}

extension PurchaseHistory {
    /// The seats of the period that a transaction is of, by transaction id. Transactions of subscriptions without seats are
    /// left out.
    package var seats: [String: Int64] {
        guard entries.contains(where: { $0.transaction.multiSeatInfo != nil }) else { return [:] }
        var seats: [String: Int64] = [:]
        for span in SubscriptionTimeline.all(of: self).flatMap(\.spans) {
            guard let count = span.seats.count else { continue }
            for id in span.seats.transactionIds { seats[id] = count }
        }
        return seats
    }
}

/// The periods of one subscription group, in order. `group` is nil for those of which nobody says the group.
struct SubscriptionTimeline {
    let group: String?
    let spans: [SubscriptionPeriodSpan]
    /// Transactions without dates that can be used; what they did is unknown.
    let undated: [PurchaseHistory.Entry]

    /// Those of the customer's own purchases.
    var own: [SubscriptionPeriodSpan] { spans.filter { !$0.isShared } }

    /// The customer's own period that ends last, of those that had begun at a time.
    func lastOwn(at now: Int64) -> SubscriptionPeriodSpan? {
        own.filter { $0.start <= now }.max { $0.end < $1.end }
    }

    /// The periods of each subscription that had begun at a time. Own and shared ones are apart.
    func subscriptions(begunBy now: Int64) -> [[SubscriptionPeriodSpan]] {
        struct Key: Hashable {
            let id: String?
            let isShared: Bool
        }
        let begun = spans.filter { $0.start <= now }
        return Array(Dictionary(grouping: begun) { Key(id: $0.entry.subscriptionId, isShared: $0.isShared) }.values)
    }

    /// By group ascending, the unknown one last.
    static func all(of history: PurchaseHistory) -> [SubscriptionTimeline] {
        let entries = newest(history.entries).filter { $0.transaction.isSubscription }
        let known = history.knownGroups
        let grouped = Dictionary(grouping: entries) { entry -> String? in
            entry.transaction.subscriptionGroupIdentifier ?? entry.transaction.productId.flatMap { known[$0] }
        }
        let order = grouped.keys.sorted { left, right in
            guard let left, let right else { return left != nil }
            return left < right
        }
        return order.map { SubscriptionTimeline(group: $0, entries: grouped[$0] ?? []) }
    }

    /// One entry per transaction id: the one that was signed last.
    static func newest(_ entries: [PurchaseHistory.Entry]) -> [PurchaseHistory.Entry] {
        var places: [String: Int] = [:]
        var result: [PurchaseHistory.Entry] = []
        for entry in entries {
            guard let id = entry.transaction.transactionId, let place = places[id] else {
                if let id = entry.transaction.transactionId { places[id] = result.count }
                result.append(entry)
                continue
            }
            let known = result[place].transaction.signedDate ?? .min
            if entry.transaction.signedDate ?? .min > known { result[place] = entry }
        }
        return result
    }

    private init(group: String?, entries: [PurchaseHistory.Entry]) {
        self.group = group
        var dated: [Dated] = []
        var undated: [PurchaseHistory.Entry] = []
        for entry in entries {
            guard let start = entry.transaction.purchaseDate, var end = entry.transaction.expiresDate,
                PacificTime.range.contains(start), PacificTime.range.contains(end)
            else {
                undated.append(entry)
                continue
            }
            if let revocation = entry.transaction.revocationDate { end = min(end, revocation) }
            // Receipts before 2015 gave restored transactions the date of the restoration.
            dated.append((entry, min(start, end), end, PeriodSeats(entry.transaction)))
        }
        dated = Self.mergingSharedPeriods(dated)
        dated.sort { left, right in
            if left.start != right.start { return left.start < right.start }
            if left.end != right.end { return left.end < right.end }
            return Self.id(left.entry) < Self.id(right.entry)
        }
        // From the last to the first, so that what took the place of an upgraded period is at hand: by ownership the next
        // period, and the next one of another product than that.
        var ends = dated.map(\.end)
        var next: [InAppOwnershipType?: (nearest: Int, other: Int?)] = [:]
        for place in dated.indices.reversed() {
            func product(_ place: Int) -> String? { dated[place].entry.transaction.productId }
            let ownership = dated[place].entry.transaction.inAppOwnershipType
            let known = next[ownership]
            let successor = known.flatMap { product($0.nearest) != product(place) ? $0.nearest : $0.other }
            if dated[place].entry.transaction.isUpgraded == true {
                // Without its successor no date tells when it was replaced; it gives nothing.
                ends[place] = min(ends[place], dated[successor ?? place].start)
            }
            next[ownership] = (place, successor)
        }
        var spans: [SubscriptionPeriodSpan] = []
        var later = [String: LaterPeriods]()
        for place in dated.indices.reversed() {
            let (entry, start, _, seats) = dated[place]
            var nextStart: Int64?
            if let id = entry.subscriptionId {
                nextStart = later[id, default: LaterPeriods()].nextStart(start: start, end: ends[place])
            }
            spans.append(
                SubscriptionPeriodSpan(
                    entry: entry, start: start, end: ends[place], seats: seats, nextStart: nextStart))
        }
        self.spans = spans.reversed()
        self.undated = undated
    }

    private typealias Dated = (entry: PurchaseHistory.Entry, start: Int64, end: Int64, seats: PeriodSeats)

    /// The periods of one subscription that begin later than those still to come, which are asked in the order of their start,
    /// the last one first.
    private struct LaterPeriods {
        /// The nearest period is at the end. Of two, the farther one ends later: it would not be asked for otherwise.
        private var periods: [(start: Int64, end: Int64)] = []
        /// Periods that begin at one time do not follow each other; this is the latest end of those.
        private var together: (start: Int64, end: Int64)?

        /// The start of the nearest period that begins and ends later; nil if there is none. Adds the period itself.
        mutating func nextStart(start: Int64, end: Int64) -> Int64? {
            if let known = together, known.start != start {
                while let nearest = periods.last, nearest.end <= known.end { periods.removeLast() }
                periods.append(known)
                together = nil
            }
            together = (start, max(end, together?.end ?? end))
            var (low, high) = (0, periods.count)
            while low < high {
                let middle = (low + high) / 2
                if periods[middle].end > end { low = middle + 1 } else { high = middle }
            }
            return low > 0 ? periods[low - 1].start : nil
        }
    }

    /// Makes one period of the transactions that represent it together (App Store Server API 1.23,
    /// additionalTransactionReason): adding seats in a period makes one more transaction, and none of them replaces another.
    /// The period is revoked only if each of them is. Those that the App Store signed before the seats were added do not have
    /// the member.
    private static func mergingSharedPeriods(_ dated: [Dated]) -> [Dated] {
        struct Period: Hashable {
            let subscription: String?
            let product: String?
            let expiresDate: Int64?
            let ownership: InAppOwnershipType?

            init(_ entry: PurchaseHistory.Entry) {
                subscription = entry.subscriptionId
                product = entry.transaction.productId
                expiresDate = entry.transaction.expiresDate
                ownership = entry.transaction.inAppOwnershipType
            }
        }
        let shared = Set(
            dated.lazy.filter { $0.entry.transaction.additionalTransactionReason != nil }.map { Period($0.entry) })
        guard !shared.isEmpty else { return dated }
        var places: [Period: Int] = [:]
        var result: [Dated] = []
        for other in dated {
            let period = Period(other.entry)
            guard shared.contains(period) else {
                result.append(other)
                continue
            }
            guard let place = places[period] else {
                places[period] = result.count
                result.append(other)
                continue
            }
            let known = result[place]
            var seats = known.seats
            seats.add(other.seats)
            result[place] = (
                represents(known.entry, before: other.entry) ? known.entry : other.entry, min(known.start, other.start),
                max(known.end, other.end), seats
            )
        }
        return result
    }

    /// Which of two transactions stands for the period that they share: one that was not revoked, one that was upgraded, the one
    /// that began it.
    private static func represents(_ left: PurchaseHistory.Entry, before right: PurchaseHistory.Entry) -> Bool {
        let (one, other) = (left.transaction, right.transaction)
        let revocations = (one.revocationDate ?? .max, other.revocationDate ?? .max)
        if revocations.0 != revocations.1 { return revocations.0 > revocations.1 }
        if (one.isUpgraded == true) != (other.isUpgraded == true) { return one.isUpgraded == true }
        let starts = (one.purchaseDate ?? .max, other.purchaseDate ?? .max)
        if starts.0 != starts.1 { return starts.0 < starts.1 }
        return id(left) <= id(right)
    }

    private static func id(_ entry: PurchaseHistory.Entry) -> (Int, String) {
        let id = entry.transaction.transactionId ?? ""
        // Ids are decimal numbers: the longer is the greater.
        return (id.utf8.count, id)
    }
}

extension PurchaseHistory {
    /// The subscription group of each product, by a transaction of the product or by ``groups``.
    package var knownGroups: [String: String] {
        var known = groups
        for entry in SubscriptionTimeline.newest(entries) where entry.transaction.isSubscription {
            guard let product = entry.transaction.productId, let group = entry.transaction.subscriptionGroupIdentifier
            else { continue }
            // A product belongs to one group for ever (App Store Connect Help, subscription groups).
            known[product] = group
        }
        return known
    }
}

extension JWSTransactionDecodedPayload {
    /// Whether the transaction is of an auto-renewable subscription. Only those expire, apart from non-renewing ones, which
    /// say their type.
    package var isSubscription: Bool {
        guard let type else { return expiresDate != nil }
        return type == .autoRenewableSubscription
    }
}

/// A period of an auto-renewable subscription, as the rules about entitlements and offers count it.
public struct SubscriptionTimelinePeriod: Hashable, Sendable {
    /// `subscriptionGroupIdentifier`; nil if nothing states the group.
    public let group: String?
    /// The transaction of the period. Of seats that share a period, the transaction that represents them.
    public let transaction: JWSTransactionDecodedPayload
    /// When the period begins, in milliseconds since 1970-01-01T00:00:00Z.
    public let start: Int64
    /// When it ends or ended, in milliseconds since 1970-01-01T00:00:00Z: at its expiry, or before it at a refund or an upgrade.
    public let end: Int64
    /// Whether the customer has it through Family Sharing.
    public let isFamilyShared: Bool
}

extension PurchaseHistory {
    /// The periods of all auto-renewable subscriptions: by group, the unknown one last, and then by start. Transactions without
    /// dates are left out.
    public var subscriptionPeriods: [SubscriptionTimelinePeriod] {
        SubscriptionTimeline.all(of: self).flatMap { timeline in
            timeline.spans.map { span in
                SubscriptionTimelinePeriod(
                    group: timeline.group, transaction: span.transaction, start: span.start, end: span.end,
                    isFamilyShared: span.isShared)
            }
        }
    }
}
