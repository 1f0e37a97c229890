internal import AppStoreModels
internal import ProductCatalog
internal import Purchases
internal import TransactionStore

/// The store's data for one answer. A class, because a customer is large and is passed through many functions.
final class StoreKnowledge: Sendable {
    let customer: Customer
    /// Whether the store had the submitted receipt when it was read, so that the customer already includes its facts.
    let includesSubmittedReceipt: Bool

    init(customer: Customer, includesSubmittedReceipt: Bool) {
        self.customer = customer
        self.includesSubmittedReceipt = includesSubmittedReceipt
    }
}

/// `latest_receipt_info`: the transactions of the submitted receipt and of its customer, in the order of
/// ``EndpointConfiguration/Order``. Other code must not depend on that order.
///
/// - A transaction from both shows the merged facts. The store's facts win if they were signed no earlier. A
///   cancellation in the submitted document is removed only by a later signed document. A receipt never removes a
///   cancellation that a signed transaction states, because receipts often omit it (Reference.md V5.3).
/// - Consumables (according to the documents or the catalog) disappear from receipts when they are finished. A
///   consumable that is not in the submitted receipt is shown only if the newest known app receipt contains it.
/// - Transactions from recorded documents alone are shown as ``EndpointConfiguration/RecordedFacts`` states.
/// - `subscription_group_identifier` comes from the documents, or else from the catalog.
struct LatestTransactions {
    /// In the order of the reply.
    private(set) var entries: [TransactionEntry] = []
    /// The number of entries that are not in the submitted receipt.
    private(set) var storeOnlyCount = 0
    private(set) var hasAutoRenewable = false

    /// - Parameters:
    ///   - kind: the kind of the submitted document.
    ///   - signedDate: the date of the submitted document.
    ///   - isAppReceipt: whether the document lists all unfinished purchases of the customer. Other documents describe
    ///     one purchase.
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
        // By index, because copying a large transaction costs more than the work here.
        for place in transactions.indices {
            guard let id = transactions[place].payload.transactionId else { continue }
            let receiptDate = transactions[place].origins.first { $0.source.kind == .receipt }?.signedDate
            if let index = indices[id] {
                let newest = transactions[place].newestSignature()
                let deciding =
                    kind == .signedTransaction ? transactions[place].newestSignature(of: .signedTransaction) : newest
                let own = signedDate ?? .min
                let storeWins = store.includesSubmittedReceipt || newest >= own
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

    /// Applies `UpgradeRule` to the merged facts of the submitted document and the store.
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

    /// Adds what the configuration asks for beside Apple's members.
    mutating func add(
        _ members: EndpointConfiguration.AdditionalMembers, of customer: Customer, _ catalog: ProductCatalog?
    ) {
        let terms = members.terms ? catalog.map { customer.nonRenewingTerms($0) } ?? [:] : [:]
        let seats = members.seats ? customer.purchaseHistory(catalog: catalog).seats : [:]
        guard !terms.isEmpty || !seats.isEmpty else { return }
        for index in entries.indices {
            guard let id = entries[index].transactionId else { continue }
            entries[index].term = terms[id]
            entries[index].seats = seats[id]
        }
    }

    /// Stable: transactions that are equal in this order keep their positions.
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
        // Receipts often list purchases in ascending or descending order of time.
        if entries.indices.dropFirst().allSatisfy({ precedes($0 - 1, $0) }) { return }
        if entries.indices.dropFirst().allSatisfy({ precedes($0, $0 - 1) }) { return entries.reverse() }
        entries = entries.indices.sorted(by: precedes).map { entries[$0] }
    }

    /// `exclude-old-transactions`: keeps only the current transaction of each auto-renewable subscription, and all
    /// other purchases, which nothing replaces. Entries with the same original transaction id are one subscription, as
    /// in `pending_renewal_info`.
    ///
    /// The current transaction is one that runs at `now`, before one that ended, was refunded or was upgraded. Of
    /// several, the one that ends last wins, then the one with the newest id. If its period has several transactions
    /// because seats were added, all of them stay.
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
    /// The renewal infos of the answer: all signed ones. Recorded ones count as the configuration states: always, or
    /// only if a signed transaction of the subscription is known.
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
    /// The date of the newest signed document, of one kind or of any kind; `Int64.min` if there is none.
    fileprivate func newestSignature(of kind: FactKind? = nil) -> Int64 {
        origins.reduce(.min) { newest, origin in
            guard origin.source.kind.isSigned, kind == nil || kind == origin.source.kind else { return newest }
            return max(newest, origin.signedDate)
        }
    }
}

extension TransactionEntry {
    /// - Parameter takesBack: whether a stored transaction without a cancellation removes a submitted one.
    fileprivate mutating func join(_ stored: consuming TransactionEntry, storeWins: Bool, takesBack: Bool) {
        guard storeWins else { return complete(with: stored) }
        let cancellation = (stored.cancellationDate, stored.cancellationReason)
        stored.complete(with: self)
        self = stored
        guard takesBack || cancellation.0 != nil else { return }
        (cancellationDate, cancellationReason) = cancellation
    }

    /// Always applies a cancellation from a notification of version 1, because the notification contained the app's
    /// secret. Other records count only if they are trusted like Apple.
    fileprivate mutating func cancel(
        _ cancellation: RecordedCancellation?, _ recordedFacts: EndpointConfiguration.RecordedFacts
    ) {
        guard let cancellation, cancellationDate == nil,
            recordedFacts == .granting || cancellation.source == .notificationV1
        else { return }
        cancellationDate = cancellation.date
        cancellationReason = cancellation.reason
    }

    /// Whether the period runs at `now`.
    func isRunning(at now: Int64) -> Bool {
        cancellationDate == nil && !isUpgraded && (expiresDate ?? .min) > now
    }

    /// Whether another period of the subscription takes precedence: it runs and this one does not, or it ends later.
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
