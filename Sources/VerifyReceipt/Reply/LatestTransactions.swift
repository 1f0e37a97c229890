internal import AppStoreModels
internal import ProductCatalog
internal import Purchases
internal import TransactionStore

/// What the store contributed to one answer. An object, because it goes through many hands and a customer is large.
final class StoreKnowledge: Sendable {
    let customer: Customer
    /// Whether the store took the submitted receipt in before it was asked, so that its facts are joined already.
    let hasLearnedSubmission: Bool

    init(customer: Customer, hasLearnedSubmission: Bool) {
        self.customer = customer
        self.hasLearnedSubmission = hasLearnedSubmission
    }
}

/// `latest_receipt_info`: the transactions of the submitted receipt and of its customer, in the order of
/// ``EndpointConfiguration/Order``. Nothing in the code may rest on that order.
///
/// - A transaction that both know shows the joined facts. Those of the store win where they were signed no earlier; a
///   cancellation that the submitted document states is taken back only by what was signed later. A receipt takes none
///   back that a signed transaction states, because receipts often lack it (Reference.md V5.3).
/// - Consumables (by the documents or the catalog) disappear from receipts when they are finished. One that the submitted
///   receipt does not hold is shown only if the newest app receipt that is known, this one included, still holds it.
/// - What rests on recorded documents alone is shown as ``EndpointConfiguration/RecordedFacts`` says.
/// - `subscription_group_identifier` comes from the documents, else from the catalog.
struct LatestTransactions {
    /// In the order of the reply.
    private(set) var entries: [TransactionEntry] = []
    /// How many of them the submitted receipt does not hold.
    private(set) var storeOnlyCount = 0
    private(set) var hasAutoRenewable = false

    /// - Parameters:
    ///   - kind: of the submitted document.
    ///   - signedDate: of when the submitted document is.
    ///   - isAppReceipt: whether the document lists all that the customer had not finished then. Others tell of one purchase.
    init(
        submitted: [TransactionEntry], kind: FactKind = .receipt, signedDate: Int64?, isAppReceipt: Bool = false,
        store: StoreKnowledge?, recordedFacts: EndpointConfiguration.RecordedFacts,
        order: EndpointConfiguration.Order, catalog: ProductCatalog?
    ) {
        var indices = [String: Int](minimumCapacity: submitted.count)
        entries = submitted
        for (index, entry) in submitted.enumerated() {
            if let id = entry.transactionId { indices[id] = index }
        }
        if let store {
            let known = store.customer.newestAppReceipt?.signedDate
            let newestList = [known, isAppReceipt ? signedDate : nil].compactMap { $0 }.max()
            join(store, indices, kind, signedDate, newestList: newestList, recordedFacts, catalog)
        }
        concludeUpgrades()
        complete(from: catalog)
        sort(order)
        hasAutoRenewable = entries.contains { $0.isAutoRenewable }
    }

    private mutating func join(
        _ store: StoreKnowledge, _ indices: [String: Int], _ kind: FactKind, _ signedDate: Int64?,
        newestList: Int64?, _ recordedFacts: EndpointConfiguration.RecordedFacts, _ catalog: ProductCatalog?
    ) {
        let transactions = store.customer.transactions
        // By place, because a transaction is large and copying one costs more than all that is asked of it here.
        for place in transactions.indices {
            guard let id = transactions[place].payload.transactionId else { continue }
            let receiptDate = transactions[place].origins.first { $0.source.kind == .receipt }?.signedDate
            if let index = indices[id] {
                let newest = transactions[place].newestSignature()
                let deciding =
                    kind == .signedTransaction ? transactions[place].newestSignature(of: .signedTransaction) : newest
                let own = signedDate ?? .min
                let storeWins = store.hasLearnedSubmission || newest >= own
                entries[index].join(
                    TransactionEntry(transactions[place]), storeWins: storeWins, takesBack: deciding > own)
                entries[index].cancel(transactions[place].recordedCancellation, recordedFacts)
                continue
            }
            guard transactions[place].isSigned || recordedFacts == .granting else { continue }
            // Transaction receipts do not state the type.
            let type =
                transactions[place].payload.type
                ?? transactions[place].payload.productId.flatMap { catalog?.product($0)?.type }
            let isFinished = (receiptDate ?? .min) < (newestList ?? .max)
            if type == .consumable, isFinished { continue }
            entries.append(TransactionEntry(transactions[place]))
            entries[entries.count - 1].cancel(transactions[place].recordedCancellation, recordedFacts)
            storeOnlyCount += 1
        }
    }

    /// Applies ``UpgradeRule`` to what the submitted document and the store know together.
    private mutating func concludeUpgrades() {
        let upgrades = UpgradeRule.upgrades(count: entries.count) {
            entries[$0].expiresDate == nil ? nil : entries[$0].productId
        } period: { place in
            let entry = entries[place]
            guard entry.isAutoRenewable, let original = entry.subscriptionId, let product = entry.productId,
                let start = entry.purchaseDate
            else { return nil }
            return UpgradeRule.Period(
                originalTransactionId: original, productId: product, start: start, end: entry.expiresDate,
                webOrderLineItemId: entry.webOrderLineItemId,
                isFamilyShared: entry.ownershipType == InAppOwnershipType.familyShared.rawValue,
                isUpgraded: entry.isUpgraded, cancellationDate: entry.cancellationDate, statement: entry.statement)
        }
        for upgrade in upgrades {
            entries[upgrade.place].isUpgraded = true
            entries[upgrade.place].cancellationDate = entries[upgrade.place].cancellationDate ?? upgrade.date
            entries[upgrade.place].cancellationReason = entries[upgrade.place].cancellationReason ?? 0
        }
    }

    private mutating func complete(from catalog: ProductCatalog?) {
        guard let catalog, !catalog.isEmpty else { return }
        for index in entries.indices {
            guard entries[index].isAutoRenewable, entries[index].subscriptionGroupIdentifier == nil,
                let productId = entries[index].productId
            else { continue }
            entries[index].subscriptionGroupIdentifier = catalog.product(productId)?.subscriptionGroupIdentifier
        }
    }

    /// Transactions that are equal in everything that the order looks at keep the order they came in.
    private mutating func sort(_ order: EndpointConfiguration.Order) {
        let isNewestFirst = order == .newestFirst
        let dates = isNewestFirst ? entries.map { $0.expiresDate ?? $0.purchaseDate ?? .min } : []
        func precedes(_ left: Int, _ right: Int) -> Bool {
            if isNewestFirst, dates[left] != dates[right] { return dates[left] > dates[right] }
            switch TransactionIdOrder.compare(entries[left].transactionId, entries[right].transactionId) {
            case .before: return !isNewestFirst
            case .same: return left < right
            case .after: return isNewestFirst
            }
        }
        // Receipts often list purchases in the order of time, one way or the other.
        if entries.indices.dropFirst().allSatisfy({ precedes($0 - 1, $0) }) { return }
        if entries.indices.dropFirst().allSatisfy({ precedes($0, $0 - 1) }) { return entries.reverse() }
        entries = entries.indices.sorted(by: precedes).map { entries[$0] }
    }

    /// `exclude-old-transactions`: of each auto-renewable subscription the transaction that counts; all else stays, because
    /// nothing takes its place. A subscription is what shares an original transaction id, as in `pending_renewal_info`.
    ///
    /// That is a period that runs at `now`, before one that is over, was refunded or upgraded: the newest id alone does not
    /// say so. Of several the one that ends last, of these the newest id. If that period has several transactions, because seats
    /// were added, all of them stay: none replaces another.
    mutating func excludeOld(now: Int64) {
        guard hasAutoRenewable else { return }
        var counting: [String: Int] = [:]
        for (index, entry) in entries.enumerated() {
            guard entry.isAutoRenewable, let id = entry.subscriptionId else { continue }
            guard let other = counting[id] else {
                counting[id] = index
                continue
            }
            if entries[other].isOutlived(by: entry, now: now) { counting[id] = index }
        }
        let all = entries
        var index = -1
        entries = all.filter { entry in
            index += 1
            guard entry.isAutoRenewable, let id = entry.subscriptionId, let kept = counting[id] else { return true }
            return index == kept || entry.isOfPeriod(of: all[kept])
        }
    }
}

extension StoreKnowledge {
    /// The renewal infos that are shown: signed ones; recorded ones on their own too, or where a signed transaction of the
    /// subscription is known, as the configuration says.
    func renewalInfos(
        _ recordedFacts: EndpointConfiguration.RecordedFacts, submitted: [TransactionEntry]
    ) -> [JWSRenewalInfoDecodedPayload] {
        let all = customer.renewalInfos
        guard recordedFacts == .completing, all.contains(where: { !$0.isSigned }) else { return all.map(\.payload) }
        var signed = Set(submitted.compactMap(\.subscriptionId))
        for transaction in customer.transactions where transaction.isSigned {
            if let id = transaction.payload.originalTransactionId ?? transaction.payload.transactionId {
                signed.insert(id)
            }
        }
        return all.filter { $0.isSigned || signed.contains($0.payload.originalTransactionId ?? "") }.map(\.payload)
    }
}

extension StoredTransaction {
    /// The date of the newest signed document, of one kind or of any; `Int64.min` if there is none.
    fileprivate func newestSignature(of kind: FactKind? = nil) -> Int64 {
        origins.reduce(.min) { newest, origin in
            guard origin.source.kind.isSigned, kind == nil || kind == origin.source.kind else { return newest }
            return max(newest, origin.signedDate)
        }
    }
}

extension TransactionEntry {
    /// - Parameter takesBack: whether the store, without a cancellation, takes one back that was submitted.
    fileprivate mutating func join(_ stored: consuming TransactionEntry, storeWins: Bool, takesBack: Bool) {
        guard storeWins else { return complete(with: stored) }
        let cancellation = (stored.cancellationDate, stored.cancellationReason)
        stored.complete(with: self)
        self = stored
        guard takesBack || cancellation.0 != nil else { return }
        (cancellationDate, cancellationReason) = cancellation
    }

    /// A notification of version 1 came with the app's secret; other records are as good as who kept them.
    fileprivate mutating func cancel(
        _ cancellation: RecordedCancellation?, _ recordedFacts: EndpointConfiguration.RecordedFacts
    ) {
        guard let cancellation, cancellationDate == nil,
            recordedFacts == .granting || cancellation.source == .notificationV1
        else { return }
        cancellationDate = cancellation.date
        cancellationReason = cancellation.reason
    }

    /// Whether the period has begun to count and does so still.
    func isRunning(at now: Int64) -> Bool {
        cancellationDate == nil && !isUpgraded && (expiresDate ?? .min) > now
    }

    /// Whether another period of the subscription says more about it: it runs and this one does not, or it ends later.
    fileprivate func isOutlived(by other: TransactionEntry, now: Int64) -> Bool {
        let (mine, others) = (isRunning(at: now), other.isRunning(at: now))
        guard mine == others else { return others }
        let (period, otherPeriod) = (
            (expiresDate ?? .min, purchaseDate ?? .min), (other.expiresDate ?? .min, other.purchaseDate ?? .min)
        )
        if period != otherPeriod { return otherPeriod > period }
        return TransactionIdOrder.compare(transactionId, other.transactionId) == .before
    }

    /// Whether both are transactions of one period of a subscription.
    fileprivate func isOfPeriod(of other: TransactionEntry) -> Bool {
        (sharesPeriod || other.sharesPeriod) && productId == other.productId && expiresDate == other.expiresDate
    }
}
