package import AppStoreModels
package import LegacyReceipts

/// The subscriptions that documents state. An unsigned row may be one of their periods.
///
/// Non-renewing subscriptions do not count, although the catalog gives them an end.
package struct StatedSubscriptions: Hashable, Sendable {
    /// The products of the periods.
    private let products: Set<String>

    package init(_ transactions: some Sequence<JWSTransactionDecodedPayload>) {
        products = Set(
            transactions.lazy.filter { $0.isSubscription && $0.expiresDate != nil }.compactMap(\.productId))
    }

    /// - Parameter receipt: nil for a receipt that cannot be read, which states no subscription.
    package init(_ receipt: LegacyReceipt?) {
        switch receipt {
        case .app(let app)?:
            products = Set(
                app.inAppPurchases.lazy.filter { $0.isAutoRenewable && $0.expiresDate != nil }.map(\.productId))
        case .transaction(let transaction)?: products = transaction.isAutoRenewable ? [transaction.productId] : []
        case nil: products = []
        }
    }

    /// Whether a row without an original transaction id may be a period of one of the subscriptions. It would become a separate
    /// subscription, and a refund of the stated subscription would not end it.
    /// - Parameters:
    ///   - productId: the product of the row. A subscription can continue with another product.
    ///   - hasOriginalId: whether the row has an original transaction id.
    ///   - hasExpiry: whether the row has an end.
    package func mayContinue(inRowOf productId: String, hasOriginalId: Bool, hasExpiry: Bool) -> Bool {
        !hasOriginalId && (products.contains(productId) || hasExpiry && !products.isEmpty)
    }
}
