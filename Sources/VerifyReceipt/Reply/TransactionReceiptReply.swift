internal import AppStoreModels
internal import LegacyReceipts
internal import Purchases
internal import TransactionStore

/// The reply to an iOS 6 style transaction receipt (Reference.md V4 and V2.1).
///
/// `receipt` is the signed inner list: `-` becomes `_`, and every value stays the string that it is. Nothing is
/// recalculated. For an auto-renewable subscription, the newest known period decides the status, no matter which period was
/// submitted:
/// - still running: 0 with `latest_receipt_info` (one object) and `latest_receipt` of the same subscription;
/// - expired: 21006 with `latest_expired_receipt_info`;
/// - refunded: also 21006, with the cancellation.
///
/// If the store has the renewal data, the reply also contains `auto_renew_status` (a number), `auto_renew_product_id`
/// and, for an expired subscription, `expiration_intent` and `is_in_billing_retry_period`. There is no `environment`.
struct TransactionReceiptReply {
    let receipt: TransactionReceipt
    let submittedReceipt: ReceiptText
    let context: ReplyContext

    /// The newest transaction receipt that the store had before this one.
    private var storedReceipt: KnownReceipt? { context.known?.newestTransactionReceipt }

    /// The condition, the JSON text, and the number of transactions that only the store contributed.
    func reply() -> (condition: StatusCondition, body: [UInt8], transactionsFromStore: Int) {
        let own = TransactionEntry(receipt)
        var writer = JSONWriter(reservingCapacity: 4_096 + submittedReceipt.estimatedSize)
        writer.beginObject()
        writer.object("receipt") { $0.purchaseInfoMembers(receipt) }
        guard receipt.isAutoRenewable else {
            writer.member("status", 0)
            writer.endObject()
            return (.valid, writer.finish(), 0)
        }
        let known = latest(own)
        let entry = known.entry
        let condition = StatusCondition(entry.period.state(at: context.now))
        let renewal = renewalInfo(own, deciding: entry, beside: known.entries)
        let isStatedBySubmitted = entry.transactionId == receipt.transactionId && !differsFromReceipt(entry, receipt)
        let document = isStatedBySubmitted ? nil : storedDocument(of: own)
        writer.object(condition == .valid ? "latest_receipt_info" : "latest_expired_receipt_info") { writer in
            if isStatedBySubmitted { writer.purchaseInfoMembers(receipt) } else { write(entry, document, to: &writer) }
        }
        if condition == .valid { writer.latestReceipt(newestReceipt(entry, document), submittedReceipt) }
        writer.member("auto_renew_status", renewal?.autoRenewStatus?.rawValue)
        writer.member("auto_renew_product_id", renewal?.autoRenewProductId)
        if condition != .valid {
            writer.decimalMember("expiration_intent", renewal?.expirationIntent.map { Int64($0.rawValue) })
            writer.member("is_in_billing_retry_period", renewal?.isInBillingRetryPeriod.map { $0 ? "1" : "0" })
        }
        if condition == .subscriptionCancelled {
            writer.decimalMember("cancellation_date_ms", entry.cancellationDate)
            writer.decimalMember("cancellation_reason", entry.cancellationReason)
        }
        writer.member("status", StatusTable.row(condition).status.lowerBound)
        writer.endObject()
        return (condition, writer.finish(), known.storeOnlyCount)
    }

    /// The transaction whose period decides; the submitted one if no period counts.
    private func latest(
        _ own: TransactionEntry
    ) -> (entry: TransactionEntry, entries: [TransactionEntry], storeOnlyCount: Int) {
        let known = LatestTransactions([own], context, order: .newestFirst)
        let place = LegacyPeriod.deciding(among: known.entries.map { $0.period }, for: own.period, at: context.now)
        return (place.map { known.entries[$0] } ?? own, known.entries, known.storeOnlyCount)
    }

    private func renewalInfo(
        _ own: TransactionEntry, deciding entry: TransactionEntry, beside entries: [TransactionEntry]
    ) -> JWSRenewalInfoDecodedPayload? {
        context.customer?.countingRenewalInfos(context.recordedFacts)
            .info(for: own.period, deciding: entry.period, beside: entries.map { $0.period })
    }

    /// The stored receipt, if it replaces the submitted one; else nil.
    private func newestReceipt(_ entry: TransactionEntry, _ document: TransactionReceipt?) -> KnownReceipt? {
        guard let document,
            TransactionEntry(document).period.isLatestReceipt(
                inPlaceOf: TransactionEntry(receipt).period, deciding: entry.period)
        else { return nil }
        return storedReceipt
    }

    // MARK: The newest transaction

    /// Writes the transaction as its own receipt has it if that receipt is known; otherwise from the known data.
    private func write(_ entry: TransactionEntry, _ document: TransactionReceipt?, to writer: inout JSONWriter) {
        if let document, document.transactionId == entry.transactionId, !differsFromReceipt(entry, document) {
            writer.purchaseInfoMembers(document)
        } else {
            writer.transactionInfo(entry, submitted: receipt)
        }
    }

    /// Whether data is known that was not available when the receipt was signed.
    private func differsFromReceipt(_ entry: TransactionEntry, _ receipt: TransactionReceipt) -> Bool {
        entry.period.hasChanged(since: TransactionEntry(receipt).period)
    }

    /// The stored transaction receipt of the customer, if it belongs to this subscription. The customer may have
    /// receipts of other products, which must not replace this one.
    private func storedDocument(of own: TransactionEntry) -> TransactionReceipt? {
        let decoder = context.endpoint.reader.decoder
        guard let known = storedReceipt,
            let container = try? ReceiptContainer(stored: known.bytes, limits: decoder.limits),
            let decoded = try? decoder.decode(container).payload, case .transaction(let document) = decoded,
            TransactionEntry(document).subscriptionId == own.subscriptionId
        else { return nil }
        return document
    }
}

extension StatusCondition {
    fileprivate init(_ state: LegacyPeriod.State) {
        switch state {
        case .running: self = .valid
        case .expired: self = .subscriptionExpired
        case .cancelled: self = .subscriptionCancelled
        }
    }
}

extension JSONWriter {
    /// The inner list with `_` for `-`. Of a repeated key, the last value is written.
    mutating func purchaseInfoMembers(_ receipt: TransactionReceipt) {
        var last: [String: Int] = [:]
        for (index, entry) in receipt.purchaseInfo.enumerated() { last[entry.key] = index }
        for (index, entry) in receipt.purchaseInfo.enumerated() where last[entry.key] == index {
            key(
                String(decoding: entry.key.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
            )
            string(entry.value)
        }
    }

    /// A transaction from another kind of document, with the keys of this format. App data comes from the submitted
    /// receipt. The device and the version at purchase are not known.
    fileprivate mutating func transactionInfo(_ entry: TransactionEntry, submitted: TransactionReceipt) {
        member("bid", submitted.bundleId)
        member("app_item_id", submitted.appItemId)
        member("product_id", entry.productId)
        member("item_id", entry.itemId ?? (entry.productId == submitted.productId ? submitted.itemId : nil))
        decimalMember("quantity", entry.quantity)
        member("transaction_id", entry.transactionId)
        member("original_transaction_id", entry.originalTransactionId)
        member("web_order_line_item_id", entry.webOrderLineItemId)
        member(DateKeys.purchase, entry.purchaseDate)
        member(DateKeys.originalPurchase, entry.originalPurchaseDate)
        member(DateKeys.expiresOfTransactionReceipt, entry.expiresDate)
        flagMember("is_trial_period", entry.isTrialPeriod)
        flagMember("is_in_intro_offer_period", entry.isInIntroOfferPeriod)
        member(DateKeys.cancellation, entry.cancellationDate)
        if entry.cancellationDate != nil { decimalMember("cancellation_reason", entry.cancellationReason) }
        member("subscription_group_identifier", entry.subscriptionGroupIdentifier)
        member("in_app_ownership_type", entry.ownershipType)
    }
}
