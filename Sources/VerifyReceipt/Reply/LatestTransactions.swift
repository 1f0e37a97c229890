internal import AppStoreModels
internal import ProductCatalog
internal import Purchases
internal import TransactionStore

/// `latest_receipt_info`: the transactions of the submitted receipt and of its customer, in the order of
/// ``EndpointConfiguration/Order``. Other code must not depend on that order.
///
/// - A transaction is shown as it is resolved from all documents. A submitted transaction that is not resolved is shown
///   as the receipt states it. It is not resolved if it has no usable id, or if only the receipt states it.
/// - Consumables (according to the documents or the catalog) disappear from receipts when they are finished. A
///   consumable that is not in the submitted receipt is shown only if the newest known app receipt contains it.
/// - Transactions from recorded documents alone are shown as ``EndpointConfiguration/RecordedFacts`` states.
/// - `subscription_group_identifier` comes from the documents, or else from the catalog.
struct LatestTransactions {
    /// In the order of the reply.
    private(set) var entries: [TransactionEntry]
    /// The number of entries that are not in the submitted receipt.
    private(set) var storeOnlyCount = 0
    private(set) var hasAutoRenewable = false

    /// - Parameters:
    ///   - submitted: the transactions of the submitted document.
    ///   - resolvedAlone: the document resolved without a customer; empty if that equals its statements.
    ///   - customer: resolved from the store's documents and the submitted one; nil if the store contributes nothing.
    init(
        submitted: [TransactionEntry], resolvedAlone: [StoredTransaction] = [], customer: Customer?,
        recordedFacts: EndpointConfiguration.RecordedFacts, order: EndpointConfiguration.Order,
        catalog: ProductCatalog?
    ) {
        entries = submitted
        pick(
            customer?.transactionsWithTypes(from: catalog) ?? resolvedAlone, customer?.newestAppReceipt?.signedDate,
            recordedFacts, catalog)
        complete(from: catalog)
        sort(order)
        hasAutoRenewable = entries.contains { $0.isAutoRenewable }
    }

    /// - Parameter newestList: the date of the newest app receipt, which lists all unfinished purchases of the customer.
    private mutating func pick(
        _ transactions: [StoredTransaction], _ newestList: Int64?,
        _ recordedFacts: EndpointConfiguration.RecordedFacts, _ catalog: ProductCatalog?
    ) {
        guard !transactions.isEmpty else { return }
        var indices = [String: Int](minimumCapacity: entries.count)
        for (index, entry) in entries.enumerated() {
            if let id = entry.transactionId { indices[id] = index }
        }
        // By index, because copying a large transaction costs more than the work here.
        for place in transactions.indices {
            guard let id = transactions[place].payload.transactionId else { continue }
            let index = indices[id]
            guard index != nil || isListed(transactions[place], newestList, recordedFacts, catalog) else { continue }
            var entry = TransactionEntry(transactions[place])
            if recordedFacts == .granting { entry.cancel(transactions[place].recordedCancellation) }
            if let index {
                entries[index] = entry
            } else {
                entries.append(entry)
                storeOnlyCount += 1
            }
        }
    }

    /// Whether a transaction is shown that is not in the submitted document.
    private func isListed(
        _ transaction: borrowing StoredTransaction, _ newestList: Int64?,
        _ recordedFacts: EndpointConfiguration.RecordedFacts, _ catalog: ProductCatalog?
    ) -> Bool {
        guard transaction.isSigned || recordedFacts == .granting else { return false }
        return !transaction.isFinishedConsumable(newestList: newestList, catalog: catalog)
    }

    private mutating func complete(from catalog: ProductCatalog?) {
        guard let catalog, !catalog.isEmpty else { return }
        // Apple's group of the product first, as everywhere: a catalog for tests has groups of its own.
        var stated: [String: String] = [:]
        for entry in entries {
            guard let productId = entry.productId, let group = entry.subscriptionGroupIdentifier else { continue }
            stated[productId] = group
        }
        for index in entries.indices {
            guard entries[index].isAutoRenewable, entries[index].subscriptionGroupIdentifier == nil,
                let productId = entries[index].productId
            else { continue }
            entries[index].subscriptionGroupIdentifier =
                stated[productId] ?? catalog.product(productId)?.subscriptionGroupIdentifier
        }
    }

    /// Adds the members that the configuration requests in addition to Apple's.
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

    /// `exclude-old-transactions`: keeps only the current transaction of each auto-renewable subscription
    /// (`LegacyPeriod.areCurrent`), and all other purchases, which nothing replaces. Entries with the same original
    /// transaction id are one subscription, as in `pending_renewal_info`.
    mutating func excludeOld(now: Int64) {
        guard hasAutoRenewable else { return }
        let areCurrent = LegacyPeriod.areCurrent(entries.map { $0.isAutoRenewable ? $0.period : nil }, at: now)
        entries = zip(entries, areCurrent).compactMap { entry, isCurrent in isCurrent ? entry : nil }
    }
}

extension TransactionEntry {
    /// Applies a cancellation that only a recorded document states.
    fileprivate mutating func cancel(_ cancellation: RecordedCancellation?) {
        guard let cancellation, cancellationDate == nil else { return }
        cancellationDate = cancellation.date
        cancellationReason = cancellation.reason
    }
}
