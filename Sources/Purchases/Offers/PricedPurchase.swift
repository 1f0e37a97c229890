package import AppStoreModels

/// The transactions of one purchase, those with the same original transaction id, and its prices.
package struct PricedPurchase: Sendable {
    package let id: String
    /// The newest first.
    private let transactions: [JWSTransactionDecodedPayload]

    fileprivate init(id: String, transactions: [JWSTransactionDecodedPayload]) {
        self.id = id
        self.transactions = transactions.sorted { TransactionPlace($0) > TransactionPlace($1) }
    }

    package var newest: JWSTransactionDecodedPayload? { transactions.first }

    /// The newest price of the newest product without an offer, and its currency; of one with an offer if there is no other.
    package var price: (amount: Int64, currency: String)? {
        let priced = transactions.filter { $0.productId == newest?.productId && $0.price != nil && $0.currency != nil }
        guard let payload = priced.first(where: { $0.offerType == nil }) ?? priced.first, let amount = payload.price,
            let currency = payload.currency
        else { return nil }
        return (amount, currency)
    }

    /// The price of the introductory offer of the newest product, in the currency of ``price``.
    package var introductoryPrice: Int64? {
        transactions.first {
            $0.productId == newest?.productId && $0.offerType == .introductory && $0.currency == price?.currency
        }?.price
    }
}

extension Customer {
    /// The purchases in the order of their ids.
    package var pricedPurchases: [PricedPurchase] {
        let payloads = transactions.map(\.payload).filter { $0.purchaseId != nil }
        let found = Dictionary(grouping: payloads) { $0.purchaseId ?? "" }
        return found.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { PricedPurchase(id: $0.key, transactions: $0.value) }
    }
}
