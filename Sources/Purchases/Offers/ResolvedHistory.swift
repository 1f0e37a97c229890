package import AppStoreModels
public import ProductCatalog

extension Customer {
    /// The customer's purchases for the rules about offers and entitlements.
    /// - Parameters:
    ///   - catalog: gives types, groups, levels and lengths that documents do not state.
    ///   - currentThrough: the store has all documents up to this date, in milliseconds since 1970-01-01T00:00:00Z;
    ///     nil if only the documents themselves show it.
    ///   - countsUnpricedAsPaid: see ``PurchaseHistory/countsUnpricedPeriodsAsPaid``.
    public func purchaseHistory(
        catalog: ProductCatalog?, currentThrough: Int64? = nil, countsUnpricedAsPaid: Bool = false
    ) -> PurchaseHistory {
        ResolvedHistory(
            customer: self, catalog: catalog, currentThrough: currentThrough, countsUnpricedAsPaid: countsUnpricedAsPaid
        ).history
    }

    /// ``transactions`` with the types that no document states, as in the tables of an export.
    /// - Parameter catalog: gives types that documents do not state.
    package func payloadsWithTypes(from catalog: ProductCatalog?) -> [JWSTransactionDecodedPayload] {
        zip(transactionsWithTypes(from: catalog), purchaseHistory(catalog: catalog).entries).map { stored, entry in
            var payload = stored.payload
            payload.type = entry.productType
            return payload
        }
    }
}

private struct ResolvedHistory {
    let customer: Customer
    let catalog: ProductCatalog?
    let currentThrough: Int64?
    let countsUnpricedAsPaid: Bool

    var history: PurchaseHistory {
        let terms = catalog.map { customer.nonRenewingTerms($0) } ?? [:]
        let products = self.products
        var freeProducts: Set<String> = []
        let transactions = customer.transactionsWithTypes(from: catalog)
        let types = transactions.typesOfOthers
        let entries = transactions.map { transaction in
            var notes: [MappingNote] = []
            var transaction = transaction
            let product = transaction.payload.productId.flatMap { products[$0] }
            transaction.concludeType(product, stated: types?.signedType(of: transaction), &notes)
            if notes.contains(.freeSubscription), let product = transaction.payload.productId {
                freeProducts.insert(product)
            }
            var entry = PurchaseHistory.Entry(
                transaction.payload,
                statesOffers: transaction.origins.contains { $0.kind == .signedTransaction }
                    || transaction.legacy.isTrialPeriod != nil)
            entry.isSigned = transaction.isSigned
            entry.isGroupSigned = transaction.isGroupSigned
            entry.transaction.webOrderLineItemId = transaction.decidingLineItem
            // A subscription without an expiry has no known status, so it counts as a product of unknown type.
            if case .inferred(.webOrderLineItemMeansAutoRenewable) = transaction.sources.conclusion(about: .type) {
                entry.transaction.type = nil
            }
            if let term = transaction.payload.transactionId.flatMap({ terms[$0] }), let end = term.end {
                entry.term = PurchaseHistory.Term(start: term.start, end: end)
            }
            return entry
        }
        var history = PurchaseHistory(
            entries: entries, renewalInfos: renewalInfos,
            groups: products.compactMapValues(\.subscriptionGroupIdentifier),
            completeThrough: currentThrough ?? newestDate, coverage: coverage,
            countsUnpricedPeriodsAsPaid: countsUnpricedAsPaid)
        history.products = products.mapValues {
            PurchaseHistory.Product(level: $0.level, entitlement: $0.entitlement)
        }
        for product in freeProducts { history.products[product, default: .init()].isFreeSubscription = true }
        return history
    }

    /// The catalog data of the customer's products.
    private var products: [String: CatalogProduct] {
        var known: [String: CatalogProduct] = [:]
        guard let catalog else { return known }
        for product in Set(customer.transactions.compactMap(\.payload.productId)) {
            known[product] = catalog.product(product)
        }
        return known
    }

    /// With their dates, which recorded renewal information does not state itself.
    private var renewalInfos: [JWSRenewalInfoDecodedPayload] {
        customer.renewalInfos.map { stored in
            var info = stored.payload
            info.signedDate = stored.statedDate ?? info.signedDate
            if !stored.isSigned, info.isInBillingRetryPeriod == true, let date = info.signedDate {
                info.signedDate = max(date, endOfPeriod(of: info.originalTransactionId, at: date) ?? date)
            }
            return info
        }
    }

    /// The end of the period that is current at a time. A record without a date is at least as new as the purchases in
    /// it. If it states a billing retry, the period had ended by then.
    private func endOfPeriod(of id: String?, at date: Int64) -> Int64? {
        customer.transactions.lazy.map(\.payload).filter { payload in
            guard payload.originalTransactionId == id, let start = payload.purchaseDate else { return false }
            return start <= date && date < payload.expiresDate ?? .min
        }.compactMap(\.expiresDate).max()
    }

    /// When the newest signed document about the customer was signed.
    private var newestDate: Int64? {
        Self.newest(customer.transactions.flatMap(\.origins) + customer.renewalInfos.flatMap(\.origins)) {
            $0.kind.isSigned
        }
    }

    /// How complete the history of each subscription is. A document about another subscription, or about an old period,
    /// does not count:
    /// - The App Store Server API returns the whole history, and a receipt lists every period until it was signed.
    /// - A notification, or a submitted transaction, states one transaction. Only the transaction of the last known
    ///   period states what happened to the subscription.
    private var coverage: [String: PurchaseHistory.Coverage] {
        var found: [String: PurchaseHistory.Coverage] = [:]
        for (id, transactions) in Dictionary(grouping: customer.transactions, by: { $0.purchaseId ?? "" }) {
            let origins = transactions.flatMap(\.origins)
            let last = transactions.max { $0.order < $1.order }
            let answered = Self.newest(origins, where: \.isAppStoreAnswer)
            let received = Self.newest(origins) { $0.source == .receipt }
            let signed = Self.newest(last?.origins ?? []) { $0.kind.isSigned }
            found[id] = PurchaseHistory.Coverage(
                wholeThrough: [answered, currentThrough].compactMap { $0 }.max(),
                currentThrough: currentThrough ?? [answered, received, signed].compactMap { $0 }.max())
        }
        return found
    }

    private static func newest(_ origins: [FactOrigin], where isMeant: (FactOrigin) -> Bool) -> Int64? {
        origins.filter(isMeant).map(\.signedDate).max()
    }
}

extension StoredTransaction {
    /// The last period is the one that ends last. An upgraded period ended before its expiry.
    fileprivate var order: (Int64, Int64) {
        let start = payload.purchaseDate ?? .min
        guard payload.isUpgraded != true, let end = payload.expiresDate else { return (start, start) }
        return (min(end, payload.revocationDate ?? .max), start)
    }
}
