import AppStoreModels
import ProductCatalog

extension ReceiptMapper {
    /// Gives non-renewing subscriptions their terms by the catalogue: no record holds them (Reference.md P3).
    ///
    /// The rule: purchases of one entitlement (or of one product, if the catalogue names no entitlement) are taken in
    /// the order of their dates. A term begins at its purchase or, if the catalogue says that purchases extend one
    /// another, at the end of the term before, whichever is later; it lasts as long as the catalogue says. A revoked
    /// purchase has its own term but extends nothing. A restored transaction is the purchase it restores: it starts when
    /// that one was bought and is counted once. Only the purchases of this record are seen.
    func addTerms(_ transactions: inout [MappedTransaction]) {
        var candidates: [Int] = []
        // Looked at where they stand: nearly all receipts have only other kinds of products.
        for index in transactions.indices where transactions[index].payload.type == .nonRenewingSubscription {
            if transactions[index].hasTerm { candidates.append(index) }
        }
        guard !candidates.isEmpty else { return }
        var purchases: [TermPurchase] = []
        for index in candidates {
            let payload = transactions[index].payload
            guard let catalog, let productId = payload.productId, let product = catalog.product(productId),
                let duration = product.duration, let start = payload.bought
            else {
                transactions[index].note(.termUnknown)
                continue
            }
            if (payload.quantity ?? 1) > 1 { transactions[index].note(.termIgnoresQuantity) }
            purchases.append(
                TermPurchase(
                    index: index, start: start, unit: payload.originalTransactionId ?? payload.transactionId,
                    transactionId: payload.transactionId, isRevoked: payload.revocationDate != nil, product: product,
                    duration: duration))
        }
        purchases.sort { $0.precedes($1) }
        TermCalculator(purchases).apply(to: &transactions)
    }
}

private struct TermPurchase {
    /// Which of the transactions.
    let index: Int
    /// When it was bought, in milliseconds since 1970.
    let start: Int64
    /// What names the purchase, restored or not.
    let unit: String?
    let transactionId: String?
    let isRevoked: Bool
    let product: CatalogProduct
    let duration: SubscriptionPeriod

    func precedes(_ other: TermPurchase) -> Bool {
        if start != other.start { return start < other.start }
        let order = TransactionIdOrder.compare(transactionId, other.transactionId)
        return order == .same ? index < other.index : order == .before
    }
}

private struct TermCalculator {
    private struct Term {
        let start: Int64
        let end: Int64?
    }

    private enum Entitlement: Hashable {
        case named(String)
        case product(String)
    }

    private let purchases: [TermPurchase]
    private let revokedUnits: Set<String>

    init(_ purchases: [TermPurchase]) {
        self.purchases = purchases
        revokedUnits = Set(purchases.lazy.filter(\.isRevoked).compactMap(\.unit))
    }

    func apply(to transactions: inout [MappedTransaction]) {
        var ends: [Entitlement: Int64] = [:]
        var known: [String: Term] = [:]
        for purchase in purchases {
            let provenance = purchase.product.provenance(of: .duration)
            if let unit = purchase.unit, let term = known[unit] {
                transactions[purchase.index].setTerm(start: term.start, end: term.end, provenance)
                transactions[purchase.index].note(.restoredTermCountedOnce)
                continue
            }
            let entitlement =
                purchase.product.entitlement.map(Entitlement.named) ?? .product(purchase.product.productId)
            let isRevoked = purchase.isRevoked || purchase.unit.map(revokedUnits.contains) ?? false
            var start = purchase.start
            if purchase.product.stacks, !isRevoked, let end = ends[entitlement], end > start {
                start = end
                transactions[purchase.index].note(.termStacked)
            }
            let end = purchase.duration.adding(to: start)
            transactions[purchase.index].setTerm(start: start, end: end, provenance)
            if let unit = purchase.unit { known[unit] = Term(start: start, end: end) }
            if !isRevoked, let end { ends[entitlement] = max(end, ends[entitlement] ?? end) }
        }
    }
}

extension MappedTransaction {
    /// Of a non-renewing subscription.
    fileprivate var hasTerm: Bool {
        !isFreeSubscription && payload.expiresDate == nil
    }

    fileprivate mutating func setTerm(start: Int64, end: Int64?, _ provenance: Provenance) {
        termStart = start
        guard let end else { return note(.valueOutOfRange) }
        self.provenance.set(&payload.expiresDate, to: end, .expiresDate, provenance)
    }
}

extension JWSTransactionDecodedPayload {
    /// When the purchase was made: for a restored transaction, the date of the purchase that it restores.
    fileprivate var bought: Int64? {
        guard let transactionId, let originalTransactionId, transactionId != originalTransactionId else {
            return purchaseDate
        }
        return originalPurchaseDate ?? purchaseDate
    }
}
