public import AppStoreModels
internal import Encodings

/// One period of a subscription, for as long as it gave access.
struct SubscriptionPeriodSpan {
    let entry: PurchaseHistory.Entry
    /// Milliseconds since 1970.
    let start: Int64
    /// The expiry, or before it a refund or the start of the period that replaced it in an upgrade. Not part of the
    /// period.
    let end: Int64
    let seats: PeriodSeats
    /// When the next period of the subscription begins; nil for the one that ends last. A period that ended within this
    /// one is not the next one: it was refunded, or it was of another level of service for a time.
    let nextStart: Int64?

    var transaction: JWSTransactionDecodedPayload { entry.transaction }
    var isShared: Bool { entry.isShared }
    var isRevoked: Bool { transaction.isRevoked }
}

extension [SubscriptionPeriodSpan] {
    /// For each value of a key, the period that ends last of those that have begun at a time.
    func last(begunBy now: Int64, by key: (SubscriptionPeriodSpan) -> String?) -> [String: SubscriptionPeriodSpan] {
        var last: [String: SubscriptionPeriodSpan] = [:]
        for span in self where span.start <= now {
            guard let value = key(span) else { continue }
            if let known = last[value], known.end > span.end { continue }
            last[value] = span
        }
        return last
    }
}

/// The product and the end of a period. All transactions of one subscription with the same mark are about one period: the
/// first one, those for added seats, and restored copies.
struct PeriodMark: Hashable {
    private let productId: String?
    /// In seconds since 1970, because receipts have no milliseconds.
    private let end: Int64?

    /// - Parameters:
    ///   - productId: the product of the transaction.
    ///   - end: its `expiresDate`, in milliseconds since 1970.
    init(productId: String?, end: Int64?) {
        self.productId = productId
        self.end = end?.flooredQuotient(1_000)
    }
}

/// The seats of a period of a multiseat subscription (App Store Server API 1.23).
///
/// A period can have several transactions, and none replaces another. Its seats are the sum of their `quantity` less
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
    /// The seats of each transaction's period, by transaction id. Transactions of subscriptions without seats are left
    /// out.
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

/// A product id or a subscription that shows that purchases are of one group, even if no document names the group. A product
/// never changes its group, and a subscription stays in its group when its product changes. A missing product id shows nothing.
enum GroupMark: Hashable {
    case product(String)
    /// An original transaction id.
    case subscription(String)

    static func all(of entry: PurchaseHistory.Entry) -> [GroupMark] {
        [entry.transaction.productId.map(GroupMark.product), entry.subscriptionId.map(GroupMark.subscription)]
            .compactMap(\.self)
    }
}

/// The periods of one subscription group, in order. `group` is nil for subscriptions whose group no document states.
struct SubscriptionTimeline {
    let group: String?
    let spans: [SubscriptionPeriodSpan]
    /// Transactions without usable dates; their effect is unknown.
    let undated: [PurchaseHistory.Entry]
    /// The subscriptions whose first period is known. That of a family member shows nothing about those of the customer.
    let begun: Set<String>
    private let ownership: OfferOwnership

    /// Those of the customer's own purchases.
    var own: [SubscriptionPeriodSpan] { spans.filter { ownership.isOwn($0.entry) } }

    /// The undated transactions of the customer's own purchases.
    var ownUndated: [PurchaseHistory.Entry] { undated.filter { ownership.isOwn($0) } }

    /// All transactions of the customer's own purchases, the undated ones last.
    var ownEntries: [PurchaseHistory.Entry] { own.map(\.entry) + ownUndated }

    /// A transaction of a subscription that was assigned to the customer.
    var assigned: PurchaseHistory.Entry? {
        let dated = spans.first { ownership.isAssigned($0.entry) }?.entry
        return dated ?? undated.first { ownership.isAssigned($0) }
    }

    /// The customer's own period that ends last, of those that have begun at a time.
    func lastOwn(at now: Int64) -> SubscriptionPeriodSpan? {
        own.filter { $0.start <= now }.max { $0.end < $1.end }
    }

    /// The periods of each subscription that have begun at a time. Bought and shared periods are separate.
    func subscriptions(begunBy now: Int64) -> [[SubscriptionPeriodSpan]] {
        Array(Dictionary(grouping: spans.filter { $0.start <= now }) { Line($0.entry) }.values)
    }

    /// Ascending by group, the unknown group last.
    static func all(of history: PurchaseHistory) -> [SubscriptionTimeline] {
        let entries = newest(history.entries).filter { $0.transaction.isSubscription }
        let known = history.knownGroups
        let grouped = Dictionary(grouping: entries) { $0.group(known) }
        let order = grouped.keys.sorted { left, right in
            guard let left, let right else { return left != nil }
            return left < right
        }
        let ownership = OfferOwnership(history.entries)
        // Only the gaps depend on it, and without coverage there are none.
        let beginnings = history.coverage.isEmpty ? [] : history.entries.filter(\.isBeginning)
        let begun = Set(beginnings.lazy.filter { !ownership.isShared($0) }.compactMap(\.subscriptionId))
        return order.map { SubscriptionTimeline(group: $0, entries: grouped[$0] ?? [], begun, ownership) }
    }

    /// Divides purchases of unknown groups into sets. The purchases of a set must be of one group (``GroupMark``).
    /// - Parameters:
    ///   - timeline: the subscriptions of unknown groups; nil if there are none.
    ///   - others: purchases of unknown groups that are in no timeline.
    static func apart(
        _ timeline: SubscriptionTimeline?, with others: [PurchaseHistory.Entry]
    ) -> [(timeline: SubscriptionTimeline?, others: [PurchaseHistory.Entry])] {
        let (spans, undated) = (timeline?.spans ?? [], timeline?.undated ?? [])
        let entries = spans.map(\.entry) + undated + others
        let groups = CommonMarks.groups(count: entries.count) { GroupMark.all(of: entries[$0]) }
        let dated = spans.count + undated.count
        return groups.map { places in
            let own = timeline.map { timeline in
                SubscriptionTimeline(
                    timeline, spans: places.filter { $0 < spans.count }.map { spans[$0] },
                    undated: places.filter { spans.count..<dated ~= $0 }.map { undated[$0 - spans.count] })
            }
            return (timeline: own, others: places.filter { $0 >= dated }.map { entries[$0] })
        }
    }

    /// A part of a timeline, with whole subscriptions.
    private init(
        _ timeline: SubscriptionTimeline, spans: [SubscriptionPeriodSpan], undated: [PurchaseHistory.Entry]
    ) {
        group = timeline.group
        begun = timeline.begun
        ownership = timeline.ownership
        self.spans = spans
        self.undated = undated
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

    private init(
        group: String?, entries: [PurchaseHistory.Entry], _ begun: Set<String>, _ ownership: OfferOwnership
    ) {
        self.group = group
        self.begun = begun
        self.ownership = ownership
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
            return TransactionIdOrder.precedes(
                left.entry.transaction.transactionId ?? "", right.entry.transaction.transactionId ?? "")
        }
        // From the last to the first, so that the successor of an upgraded period is already known. `next` has the next period
        // of the same subscription, and the next one of another product than that.
        var ends = dated.map(\.end)
        var next: [Line: (nearest: Int, other: Int?)] = [:]
        for place in dated.indices.reversed() {
            func product(_ place: Int) -> String? { dated[place].entry.transaction.productId }
            let entry = dated[place].entry
            let line = Line(entry)
            let known = next[line]
            let successor = known.flatMap { product($0.nearest) != product(place) ? $0.nearest : $0.other }
            if entry.transaction.isUpgraded == true {
                // Without a successor no date states when the period was replaced; it gives no access.
                ends[place] = min(ends[place], dated[successor ?? place].start)
            }
            next[line] = (place, successor)
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

    /// The periods of one subscription that are bought, or those that are shared. As in UpgradeRule, a purchase whose
    /// ownership is not stated is the customer's.
    private struct Line: Hashable {
        let subscription: String?
        let isShared: Bool

        init(_ entry: PurchaseHistory.Entry) {
            subscription = entry.subscriptionId
            isShared = entry.isShared
        }
    }

    private typealias Dated = (entry: PurchaseHistory.Entry, start: Int64, end: Int64, seats: PeriodSeats)

    /// The periods of one subscription that begin later than the one being added. Periods are added in descending order
    /// of their start.
    private struct LaterPeriods {
        /// The nearest period is the last element. The ends decrease: a period that ends before a nearer one is never
        /// the answer.
        private var periods: [(start: Int64, end: Int64)] = []
        /// The periods with the same start as the last one added, which do not follow each other; `end` is the latest
        /// of their ends.
        private var together: (start: Int64, end: Int64)?

        /// The start of the nearest period that begins and ends later than the given period; nil if there is none. Adds
        /// the given period.
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

    /// Merges the transactions that represent one period together (App Store Server API 1.23,
    /// additionalTransactionReason). Adding seats in a period creates another transaction, and none of them replaces
    /// another. The period is revoked only if each of them is. Transactions that the App Store signed before the seats
    /// were added do not have the member.
    private static func mergingSharedPeriods(_ dated: [Dated]) -> [Dated] {
        struct Period: Hashable {
            let line: Line
            let mark: PeriodMark

            init(_ entry: PurchaseHistory.Entry) {
                line = Line(entry)
                mark = PeriodMark(productId: entry.transaction.productId, end: entry.transaction.expiresDate)
            }
        }
        let shared = Set(
            dated.lazy.filter { $0.entry.transaction.sharesPeriod }.map { Period($0.entry) })
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

    /// Which of two transactions represents the period that they share: one that was not revoked, then one that was
    /// upgraded, then the one that began it.
    private static func represents(_ left: PurchaseHistory.Entry, before right: PurchaseHistory.Entry) -> Bool {
        let (one, other) = (left.transaction, right.transaction)
        let revocations = (one.revocationDate ?? .max, other.revocationDate ?? .max)
        if revocations.0 != revocations.1 { return revocations.0 > revocations.1 }
        if (one.isUpgraded == true) != (other.isUpgraded == true) { return one.isUpgraded == true }
        let starts = (one.purchaseDate ?? .max, other.purchaseDate ?? .max)
        if starts.0 != starts.1 { return starts.0 < starts.1 }
        return !TransactionIdOrder.precedes(other.transactionId ?? "", one.transactionId ?? "")
    }
}

extension PurchaseHistory {
    /// The subscription group of each product (`SubscriptionGroups`). ``groups`` has the groups that the catalog states.
    package var knownGroups: [String: String] {
        let subscriptions = SubscriptionTimeline.newest(entries).filter { $0.transaction.isSubscription }
        return SubscriptionGroups.ofProducts(subscriptions.map(\.groupStatement), catalog: groups)
    }
}

extension PurchaseHistory.Entry {
    fileprivate var groupStatement: SubscriptionGroups.Statement {
        SubscriptionGroups.Statement(
            productId: transaction.productId, subscriptionId: subscriptionId,
            group: transaction.subscriptionGroupIdentifier, isGroupSigned: isGroupSigned, isSigned: isSigned)
    }

    /// The subscription group that counts for a subscription.
    /// - Parameter known: ``PurchaseHistory/knownGroups``.
    package func group(_ known: [String: String]) -> String? { groupStatement.group(known) }
}

extension JWSTransactionDecodedPayload {
    /// Whether the transaction is for an auto-renewable subscription. In addition, only non-renewing subscriptions
    /// expire, and they state their type.
    package var isSubscription: Bool { Self.isSubscription(type, expiresDate: expiresDate) }

    /// The same for a transaction in another form. Legacy documents state an end only for auto-renewable subscriptions
    /// (Reference.md V3.5).
    package static func isSubscription(_ type: ProductType?, expiresDate: Int64?) -> Bool {
        guard let type else { return expiresDate != nil }
        return type == .autoRenewableSubscription
    }

    /// Whether the transaction shares its period with others: it added seats (App Store Server API 1.23,
    /// additionalTransactionReason). None of them replaces another.
    @inlinable
    package var sharesPeriod: Bool {
        // Inline for the same reason as `legacyOffer`.
        @inline(__always) get { additionalTransactionReason != nil }
    }

    /// The elapsed part of the transaction's own period at a time, in whole percent from 0 to 100; nil without an expiry.
    package func elapsedPercentage(at date: Int64) -> Int64? {
        guard let start = purchaseDate, let end = expiresDate, end > start else { return nil }
        let elapsed = Double(date) - Double(start)
        return Int64(max(0, min(100, elapsed / (Double(end) - Double(start)) * 100)).rounded(.down))
    }
}

/// A period of an auto-renewable subscription, as the rules about entitlements and offers count it.
public struct SubscriptionTimelinePeriod: Hashable, Sendable {
    /// `subscriptionGroupIdentifier`; nil if nothing states the group.
    public let group: String?
    /// The transaction of the period. If several transactions share the period (seats), the one that represents them.
    public let transaction: JWSTransactionDecodedPayload
    /// When the period begins, in milliseconds since 1970-01-01T00:00:00Z.
    public let start: Int64
    /// When it ends or ended, in milliseconds since 1970-01-01T00:00:00Z: at its expiry, or before it at a refund or an upgrade.
    public let end: Int64
    /// Whether the customer has it through Family Sharing.
    public let isFamilyShared: Bool
}

extension PurchaseHistory {
    /// The periods of all auto-renewable subscriptions, by group and then by start; the unknown group comes last.
    /// Transactions without dates are left out.
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
