internal import AppStoreModels
internal import ReceiptMigration
internal import TransactionStore

/// What the store contributed to one answer.
struct StoreKnowledge {
    let customer: Customer
    /// Whether the store took the submitted receipt in before it was asked, so that its facts are joined already.
    let hasLearnedSubmission: Bool
}

/// `latest_receipt_info`: the transactions of the submitted receipt and of its customer, the newest (numerically greatest
/// id) first, as Apple has sent them since July 2020 (verifyreceipt reference, 3.5).
///
/// - A transaction that both know shows the joined facts. Those of the store win where it knows a receipt at least as new.
/// - Consumables (by the documents or the catalogue) disappear from receipts when they are finished. One that the submitted receipt does not hold is shown only
///   if the newest receipt that is known still holds it.
/// - What rests on recorded documents alone is shown as ``EndpointConfiguration/RecordedFacts`` says.
/// - `subscription_group_identifier` comes from the documents, else from the catalogue.
struct LatestTransactions {
    /// In the order of the reply.
    private(set) var entries: [TransactionEntry] = []
    /// How many of them the submitted receipt does not hold.
    private(set) var storeOnlyCount = 0
    private(set) var hasAutoRenewable = false

    init(
        submitted: [TransactionEntry], signedDate: Int64?, store: StoreKnowledge?,
        recordedFacts: EndpointConfiguration.RecordedFacts, catalog: ProductCatalog?
    ) {
        var indices = [String: Int](minimumCapacity: submitted.count)
        entries = submitted
        for (index, entry) in submitted.enumerated() {
            if let id = entry.transactionId { indices[id] = index }
        }
        if let store { join(store, indices, signedDate, recordedFacts, catalog) }
        complete(from: catalog)
        sort()
        hasAutoRenewable = entries.contains { $0.isAutoRenewable }
    }

    private mutating func join(
        _ store: StoreKnowledge, _ indices: [String: Int], _ signedDate: Int64?,
        _ recordedFacts: EndpointConfiguration.RecordedFacts, _ catalog: ProductCatalog?
    ) {
        let newestReceiptDate = store.customer.newestAppReceipt?.signedDate
        for stored in store.customer.transactions {
            guard let id = stored.payload.transactionId else { continue }
            let receiptDate = stored.origins.first { $0.source.kind == .receipt }?.signedDate
            if let index = indices[id] {
                let isNewer = (receiptDate ?? .min) >= (signedDate ?? .min)
                entries[index] = joined(
                    entries[index], TransactionEntry(stored), storeWins: store.hasLearnedSubmission || isNewer)
                continue
            }
            guard stored.isSigned || recordedFacts == .granting else { continue }
            // Transaction receipts do not state the type.
            let type = stored.payload.type ?? stored.payload.productId.flatMap { catalog?.product($0)?.type }
            let isFinished = (receiptDate ?? .min) < (newestReceiptDate ?? .max)
            if type == .consumable, isFinished { continue }
            entries.append(TransactionEntry(stored))
            storeOnlyCount += 1
        }
    }

    private func joined(
        _ submitted: TransactionEntry, _ stored: TransactionEntry, storeWins: Bool
    ) -> TransactionEntry {
        var winner = storeWins ? stored : submitted
        winner.complete(with: storeWins ? submitted : stored)
        if storeWins {
            // A newer document without a cancellation takes an older one back.
            winner.cancellationDate = stored.cancellationDate
            winner.cancellationReason = stored.cancellationReason
        }
        return winner
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

    /// Equal ids keep the order they came in.
    private mutating func sort() {
        let order = entries.indices.sorted { left, right in
            switch TransactionIdOrder.compare(entries[left].transactionId, entries[right].transactionId) {
            case .before: false
            case .same: left < right
            case .after: true
            }
        }
        entries = order.map { entries[$0] }
    }

    /// `exclude-old-transactions`: of each auto-renewable subscription the newest transaction; all else stays, because
    /// nothing takes its place. A subscription is what shares an original transaction id, as in `pending_renewal_info`.
    mutating func excludeOld() {
        guard hasAutoRenewable else { return }
        var seen: Set<String> = []
        entries = entries.filter { entry in
            guard entry.isAutoRenewable, let id = entry.subscriptionId else { return true }
            return seen.insert(id).inserted
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
