package import AppStoreModels
package import ProductCatalog

/// The payments and refunds of a customer in an app, without purchases that a family member shares or an organization
/// assigned.
package struct LifetimeAmounts: Hashable, Sendable {
    /// Sums of prices by currency, in milliunits: 10.99 is 10990.
    package typealias Amounts = [String: Int64]

    /// The total price of the purchases.
    package private(set) var purchased: Amounts = [:]
    /// The refunded part of ``purchased``.
    package private(set) var refunded: Amounts = [:]
    /// The number of refunded purchases, those without a price and those with refunded seats included.
    package private(set) var refunds = 0

    package init(_ transactions: some Sequence<JWSTransactionDecodedPayload>) {
        for transaction in transactions
        where transaction.inAppOwnershipType != .familyShared && transaction.inAppOwnershipType != .assigned {
            let refundedSeats = Int64(max(0, transaction.multiSeatInfo?.revokedSeatQuantity ?? 0))
            if transaction.isRefunded || refundedSeats > 0 { refunds += 1 }
            guard let price = transaction.price, price > 0, let currency = transaction.currency else { continue }
            // The price of a transaction with seats is the price of one seat.
            let seats = transaction.multiSeatInfo == nil ? 1 : Int64(max(1, transaction.quantity ?? 1))
            let amount = Self.product(price, seats)
            purchased[currency] = (purchased[currency] ?? 0).addingSaturated(amount)
            guard transaction.isRefunded else {
                if refundedSeats > 0 {
                    let part = Self.product(price, min(refundedSeats, seats))
                    refunded[currency] = (refunded[currency] ?? 0).addingSaturated(part)
                }
                continue
            }
            // Milliunits of a percent; absent for a full refund.
            let percentage = max(0, min(Int64(transaction.revocationPercentage ?? 100_000), 100_000))
            let part = percentage == 100_000 ? amount : Self.product(amount, percentage) / 100_000
            refunded[currency] = (refunded[currency] ?? 0).addingSaturated(part)
        }
    }

    private static func product(_ left: Int64, _ right: Int64) -> Int64 {
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? .max : value
    }
}

extension Customer {
    /// What the customer paid and got back. Copies of a purchase count once.
    /// - Parameter catalog: supplies types that no document states. Some copies are found only by their type.
    package func lifetimeAmounts(catalog: ProductCatalog?) -> LifetimeAmounts {
        // Receipts do not state that a purchase was assigned. Another transaction of the purchase can state it.
        let ownership = OfferOwnership(purchaseHistory(catalog: catalog).entries)
        let paid = onePerPurchase(catalog).filter { !ownership.isAssigned(subscription: $0.purchaseId ?? "") }
        return LifetimeAmounts(paid.map(\.payload))
    }

    /// The purchases of any ownership that were refunded, or are no longer shared or assigned. Purchases of which only some seats
    /// were refunded do not count. Copies of a purchase count once, as in ``lifetimeAmounts(catalog:)``.
    package func revokedPurchases(catalog: ProductCatalog?) -> [JWSTransactionDecodedPayload] {
        onePerPurchase(catalog).map(\.payload).filter(\.hasRevocation)
    }

    private func onePerPurchase(_ catalog: ProductCatalog?) -> [StoredTransaction] {
        transactionsWithTypes(from: catalog).onePerPurchase(catalog)
    }
}
