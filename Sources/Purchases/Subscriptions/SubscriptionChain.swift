import AppStoreModels

/// One subscription over the years: the transactions that share an original transaction id, in order.
///
/// Free (Newsstand) subscriptions form chains too; they never expire.
public struct SubscriptionChain: Sendable, Equatable {
    /// What the transactions share. For a transaction without one, its own id.
    public let originalTransactionId: String
    /// The transactions by purchase date, then by number. One whose purchase date lies after its expiry (see
    /// ``MappingNote/purchasedAfterExpiry``) takes its place by the expiry. Duplicates are merged: the first one stays and takes over a
    /// revocation or an upgrade that only the other knows.
    public let transactions: [MappedTransaction]
    /// What a recorded document says about the next renewal, if there is one.
    public let renewalInfo: MappedRenewalInfo?
    /// By transaction: when the access that it gives ends. Nil if no date tells.
    let coverageEnds: [Int64?]

    init(originalTransactionId: String, transactions: [MappedTransaction], renewalInfo: MappedRenewalInfo?) {
        self.originalTransactionId = originalTransactionId
        self.transactions = transactions
        self.renewalInfo = renewalInfo
        coverageEnds = Self.coverageEnds(transactions)
    }

    /// A stretch of time without a paid period between two that are paid.
    public struct Gap: Hashable, Sendable {
        /// When the last period before it ended, in milliseconds since 1970-01-01T00:00:00Z.
        public let from: Int64
        /// When the next period began.
        public let to: Int64

        public init(from: Int64, to: Int64) {
            self.from = from
            self.to = to
        }
    }
}

extension SubscriptionChain {
    /// Groups the auto-renewable and free subscriptions among some transactions into chains; other products are passed
    /// over. The chains come in the order in which their first transactions stand in `transactions`.
    ///
    /// - Parameters:
    ///   - transactions: of one customer, in any order.
    ///   - renewalInfos: what is said of the next renewals, by the newest document that has some: a renewal info of a
    ///     recorded document has no date of its own, so that an older one cannot be told from a newer one. The first about
    ///     each subscription counts.
    public static func chains(
        of transactions: some Sequence<MappedTransaction>, renewalInfos: some Sequence<MappedRenewalInfo> = []
    ) -> [SubscriptionChain] {
        var order: [String] = []
        var groups: [String: [MappedTransaction]] = [:]
        for transaction in transactions where transaction.isSubscription {
            guard let id = transaction.payload.originalTransactionId ?? transaction.payload.transactionId else {
                continue
            }
            if groups[id] == nil { order.append(id) }
            groups[id, default: []].append(transaction)
        }
        var infos: [String: MappedRenewalInfo] = [:]
        for info in renewalInfos {
            guard let id = info.payload.originalTransactionId, infos[id] == nil else { continue }
            infos[id] = info
        }
        return order.map { id in
            SubscriptionChain(
                originalTransactionId: id, transactions: ordered(groups[id] ?? []), renewalInfo: infos[id])
        }
    }

    private static func ordered(_ transactions: [MappedTransaction]) -> [MappedTransaction] {
        var merged: [MappedTransaction] = []
        var indices: [PurchaseIdentity: Int] = [:]
        for transaction in transactions {
            let identity = PurchaseIdentity(transaction.payload)
            guard let identity, let index = indices[identity] else {
                if let identity { indices[identity] = merged.count }
                merged.append(transaction)
                continue
            }
            merged[index].takeOverState(of: transaction)
        }
        merged.concludeUpgrades()
        // The place in the input makes the order total, so that the result does not depend on the sorting algorithm.
        return merged.enumerated().sorted { left, right in
            let (one, other) = (left.element.periodStart ?? .min, right.element.periodStart ?? .min)
            if one != other { return one < other }
            let (id, otherId) = (left.element.payload.transactionId, right.element.payload.transactionId)
            switch TransactionIdOrder.compare(id, otherId) {
            case .before: return true
            case .after: return false
            case .same: return left.offset < right.offset
            }
        }.map(\.element)
    }

    /// The stretches without a paid period, in order: after each of them the customer came back, or billing succeeded
    /// late. Periods that were revoked or upgraded away count until their dates say.
    public var gaps: [Gap] {
        var result: [Gap] = []
        var end: Int64?
        for (index, transaction) in transactions.enumerated() {
            guard let start = transaction.periodStart, let periodEnd = coverageEnds[index] else { continue }
            // Where the beginning of a period is not known, neither is the gap before it.
            if let end, start > end, !transaction.notes.contains(.purchasedAfterExpiry) {
                result.append(Gap(from: end, to: start))
            }
            end = max(end ?? periodEnd, periodEnd)
        }
        return result
    }

    /// When the access that each transaction gives ends: its expiry, or before it a revocation or the start of the period
    /// that an upgrade put in its place.
    private static func coverageEnds(_ transactions: [MappedTransaction]) -> [Int64?] {
        var ends = [Int64?](repeating: nil, count: transactions.count)
        // From the last to the first, so that the next period of another product is always at hand.
        var next: (product: String?, start: Int64?, afterRun: Int64?)?
        for index in transactions.indices.reversed() {
            let payload = transactions[index].payload
            let successor = payload.productId == next?.product ? next?.afterRun : next?.start
            ends[index] = transactions[index].coverageEnd(successor: successor)
            next = (payload.productId, transactions[index].periodStart, successor)
        }
        return ends
    }
}

extension MappedTransaction {
    fileprivate var isSubscription: Bool {
        payload.type == .autoRenewableSubscription || isFreeSubscription
    }

    /// When the period began, as far as it is known: not after its end.
    var periodStart: Int64? {
        guard let start = payload.purchaseDate, let end = payload.expiresDate else { return payload.purchaseDate }
        return min(start, end)
    }

    fileprivate func coverageEnd(successor: Int64?) -> Int64? {
        if isFreeSubscription { return payload.revocationDate ?? .max }
        guard var end = payload.expiresDate else { return nil }
        if let revocation = payload.revocationDate { end = min(end, revocation) }
        // Without its successor, an upgraded period has no date left that tells when it was replaced; it gives nothing.
        if payload.isUpgraded == true { end = min(end, successor ?? periodStart ?? end) }
        return end
    }

    /// Takes a revocation or an upgrade from another record of the same transaction.
    fileprivate mutating func takeOverState(of other: MappedTransaction) {
        if payload.isUpgraded == nil, other.payload.isUpgraded != nil {
            payload.isUpgraded = other.payload.isUpgraded
            provenance.record(.isUpgraded, other.provenance[.isUpgraded])
        }
        if payload.isUpgraded == true {
            provenance.clear(&payload.revocationDate, .revocationDate)
            provenance.clear(&payload.revocationReason, .revocationReason)
            notes.removeAll { $0 == .cancellationMayBeUpgrade }
        } else if payload.revocationDate == nil, let date = other.payload.revocationDate {
            provenance.set(&payload.revocationDate, to: date, .revocationDate, other.provenance[.revocationDate])
            provenance.set(
                &payload.revocationReason, to: other.payload.revocationReason, .revocationReason,
                other.provenance[.revocationReason])
        }
    }
}
