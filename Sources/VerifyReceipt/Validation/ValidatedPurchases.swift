internal import AppStoreModels
internal import Purchases

/// The purchases of a validation: those of `latest_receipt_info` in the reply to the same receipt, by product.
///
/// Consumables disappear when they are finished, as they do from receipts. Unknown values are left out: the App Store
/// has nothing like `isAcknowledged`, no signed document states `renewalIntentChangeDate`, and only the app knows what it
/// delivered (`isConsumed`).
struct ValidatedPurchases {
    private let products: [ProductStanding]
    private let entries: [String: TransactionEntry]
    /// The products without an introductory offer for this customer, now.
    private let ineligibleProducts: [String]
    /// Every product that the customer ever bought, finished consumables included.
    private let known: Set<String>

    /// - Parameters:
    ///   - latest: which transactions count.
    ///   - context: which renewal infos count.
    ///   - alone: the customer of the document alone, if the store contributes nothing; nil for a document that no store
    ///     could keep (Xcode), which gives no purchases.
    init(_ latest: LatestTransactions, _ context: ReplyContext, alone: Customer?) {
        let (customer, catalog, now) = (context.customer ?? alone, context.catalog, context.now)
        entries = Dictionary(
            latest.entries.compactMap { entry in entry.transactionId.map { ($0, entry) } },
            uniquingKeysWith: { first, _ in first })
        var history = customer?.purchaseHistory(catalog: catalog) ?? PurchaseHistory(entries: [])
        history.entries = history.entries.compactMap { [entries] purchase in
            guard let entry = purchase.transaction.transactionId.flatMap({ entries[$0] }) else { return nil }
            // The reply may show a cancellation that only a recorded document states.
            return purchase.cancelled(at: entry.cancellationDate)
        }
        let renewals = Set(
            customer?.countingRenewalInfos(context.recordedFacts).compactMap(\.payload.originalTransactionId) ?? [])
        history.renewalInfos.removeAll { !renewals.contains($0.originalTransactionId ?? "") }
        products = history.productStandings(at: now)
        known = Set(customer?.transactions.compactMap(\.payload.productId) ?? []).union(products.map(\.productId))
        ineligibleProducts = history.productsWithoutIntroductoryOffer(catalog: catalog, at: now)
    }

    func contains(_ productId: String) -> Bool { known.contains(productId) }

    /// Whether the subscription of a product has ended.
    func isOver(_ productId: String) -> Bool {
        products.first { $0.productId == productId }?.isSubscriptionOver ?? false
    }

    /// Writes `collection` and `ineligible_for_intro_price`.
    func write(to writer: inout JSONWriter) {
        writer.objects("collection", products) { writer, product in
            writer.purchase(product, entries[product.transaction.transactionId ?? ""])
        }
        if !ineligibleProducts.isEmpty { writer.member("ineligible_for_intro_price", ineligibleProducts) }
    }
}

extension JSONWriter {
    /// The members of one element of `collection`.
    fileprivate mutating func purchase(_ product: ProductStanding, _ entry: TransactionEntry?) {
        let transaction = product.transaction
        let isSubscription = product.type == .autoRenewableSubscription
        member("id", product.productId)
        member("platform", ValidateRequest.receiptType)
        member("purchaseId", transaction.originalTransactionId)
        member("transactionId", transaction.transactionId)
        member("purchaseDate", product.bought)
        member("lastRenewalDate", product.renewed)
        // The plugin compares it with the clock, so in the grace period it is the end of that.
        member("expiryDate", product.accessEnds)
        member("isExpired", product.hasEnded)
        member("isTrialPeriod", entry?.isTrialPeriod)
        member("isIntroPeriod", entry?.isInIntroOfferPeriod)
        if isSubscription { member("isBillingRetryPeriod", product.isBillingRetried) }
        member("renewalIntent", product.renewalIntent)
        member("cancelationReason", product.cancelationReason(entry))
        member("discountId", entry?.promotionalOfferId ?? entry?.offerCodeRefName ?? transaction.offerIdentifier)
        member("priceConsentStatus", product.priceConsentStatus)
        member("quantity", transaction.quantity)
    }
}

/// The values of the plugin.
extension ProductStanding {
    fileprivate var renewalIntent: String? {
        switch renewalInfo?.autoRenewStatus {
        case .on?: "Renew"
        case .off?: "Lapse"
        default: nil
        }
    }

    fileprivate var priceConsentStatus: String? {
        switch renewalInfo?.priceIncreaseStatus {
        case .pending?: "Notified"
        case .consentedOrNotified?: "Agreed"
        default: nil
        }
    }

    /// Why the access ended. A current subscription that will lapse has only its `renewalIntent`.
    fileprivate func cancelationReason(_ entry: TransactionEntry?) -> String? {
        switch endReason {
        case .replaced?: return "System.Replaced"
        case .revoked?:
            switch entry?.cancellationReason {
            case 0: return "Customer"
            case 1: return "Customer.TechnicalIssues"
            default: return "Unknown"
            }
        case .expired?:
            switch renewalInfo?.expirationIntent {
            case .cancelled?: return "Customer"
            case .billingError?: return "System.BillingError"
            case .noConsentToPriceIncrease?: return "Customer.PriceIncrease"
            case .productUnavailable?: return "System.ProductUnavailable"
            case nil: return nil
            default: return "Unknown"
            }
        case nil: return nil
        }
    }
}
