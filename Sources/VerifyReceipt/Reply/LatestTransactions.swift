internal import AppStoreModels
internal import ProductCatalog
internal import Purchases

/// `latest_receipt_info`: the transactions of the submitted receipt and of its customer, in the order of
/// ``EndpointConfiguration/Order``. Other code must not depend on that order.
///
/// - A transaction is shown as it is resolved from all documents. A submitted transaction that is not resolved is shown
///   as the receipt states it. It is not resolved if it has no usable id, or if only the receipt states it.
/// - Consumables (according to the documents or the catalog) disappear from receipts when they are finished. A
///   consumable that is not in the submitted receipt is shown only if the newest known app receipt contains it.
/// - Transactions from recorded documents alone are shown as ``EndpointConfiguration/RecordedFacts`` states.
/// - `subscription_group_identifier` is that of the product (`SubscriptionGroups`) if no signed document states it.
struct LatestTransactions {
    /// In the order of the reply.
    private(set) var entries: [TransactionEntry]
    /// The number of entries that are not in the submitted receipt.
    private(set) var storeOnlyCount = 0
    private(set) var hasAutoRenewable = false

    /// - Parameters:
    ///   - submitted: the transactions of the submitted document.
    ///   - resolvedAlone: the document resolved without a customer; empty if that equals its statements.
    ///   - context: has the customer, resolved from the store's documents and the submitted one.
    ///   - order: the order of the entries; nil for that of the app.
    init(
        _ submitted: [TransactionEntry], resolvedAlone: [StoredTransaction] = [], _ context: ReplyContext,
        order: EndpointConfiguration.Order? = nil
    ) {
        let (customer, catalog) = (context.customer, context.catalog)
        entries = []
        pick(
            submitted, customer?.transactionsWithTypes(from: catalog) ?? resolvedAlone,
            customer?.newestAppReceipt?.signedDate, context.recordedFacts, catalog)
        complete(from: catalog)
        sort(order ?? context.app?.order ?? context.endpoint.configuration.order)
        hasAutoRenewable = entries.contains { $0.isAutoRenewable }
    }

    /// - Parameters:
    ///   - submitted: the transactions of the submitted document.
    ///   - transactions: the resolved transactions of the customer.
    ///   - newestList: the date of the newest app receipt, which lists all unfinished purchases of the customer.
    ///   - recordedFacts: whether recorded documents count.
    ///   - catalog: the product catalog; nil for none.
    private mutating func pick(
        _ submitted: [TransactionEntry], _ transactions: [StoredTransaction], _ newestList: Int64?,
        _ recordedFacts: EndpointConfiguration.RecordedFacts, _ catalog: ProductCatalog?
    ) {
        guard !transactions.isEmpty else {
            entries = submitted
            return
        }
        let trustsRecorded = recordedFacts == .granting
        var indices = [String: Int](minimumCapacity: submitted.count)
        for index in submitted.indices {
            if let id = submitted[index].transactionId { indices[id] = index }
        }
        // Places, because copying a large transaction costs more than the work here.
        var resolved = [Int?](repeating: nil, count: submitted.count)
        var others: [Int] = []
        for place in transactions.indices {
            guard let id = transactions[place].payload.transactionId else { continue }
            if let index = indices[id] {
                resolved[index] = place
            } else if transactions[place].isListed(
                newestList: newestList, catalog: catalog, trustsRecorded: trustsRecorded)
            {
                others.append(place)
            }
        }
        entries.reserveCapacity(submitted.count + others.count)
        for index in submitted.indices {
            if let place = resolved[index] {
                entries.append(TransactionEntry(transactions[place], trustsRecorded: trustsRecorded))
            } else {
                entries.append(submitted[index])
            }
        }
        for place in others { entries.append(TransactionEntry(transactions[place], trustsRecorded: trustsRecorded)) }
        storeOnlyCount = others.count
    }

    private mutating func complete(from catalog: ProductCatalog?) {
        let open = entries.indices.filter {
            entries[$0].isAutoRenewable
                && (entries[$0].subscriptionGroupIdentifier == nil || !entries[$0].isGroupSigned)
        }
        let hasCatalog = catalog.map { !$0.isEmpty } ?? false
        guard !open.isEmpty, hasCatalog || entries.contains(where: { $0.subscriptionGroupIdentifier != nil }) else {
            return
        }
        var catalogGroups: [String: String] = [:]
        for productId in Set(open.compactMap { entries[$0].productId }) {
            catalogGroups[productId] = catalog?.product(productId)?.subscriptionGroupIdentifier
        }
        let statements = entries.compactMap { $0.isAutoRenewable ? $0.groupStatement : nil }
        let groups = SubscriptionGroups.ofProducts(statements, catalog: catalogGroups)
        for index in open { entries[index].subscriptionGroupIdentifier = entries[index].groupStatement.group(groups) }
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
        if entries.indices.dropFirst().allSatisfy({ precedes($0, $0 - 1) }) {
            // In the buffer, because `reverse()` of an array copies the entries.
            return entries.withUnsafeMutableBufferPointer { $0.reverse() }
        }
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
