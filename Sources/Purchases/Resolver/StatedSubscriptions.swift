package import AppStoreModels
package import LegacyReceipts

/// The subscriptions that documents state, for the question whether an unsigned row is one of their periods.
///
/// Non-renewing subscriptions do not count, although the catalog gives them an end.
package struct StatedSubscriptions: Hashable, Sendable {
    /// The products of the periods.
    private let products: Set<String>

    package init(_ transactions: some Sequence<JWSTransactionDecodedPayload>) {
        products = Set(
            transactions.lazy.filter { $0.isSubscription && $0.expiresDate != nil }.compactMap(\.productId))
    }

    /// - Parameter receipt: nil for one that cannot be read, which states none.
    package init(_ receipt: LegacyReceipt?) {
        switch receipt {
        case .app(let app)?:
            products = Set(
                app.inAppPurchases.lazy.filter { $0.isAutoRenewable && $0.expiresDate != nil }.map(\.productId))
        case .transaction(let transaction)?: products = transaction.isAutoRenewable ? [transaction.productId] : []
        case nil: products = []
        }
    }

    /// Whether a row can be a period of one of the subscriptions, which only its original transaction id could tell. Without
    /// that id it would be a subscription of its own, and a refund of the stated one would not end it.
    /// - Parameters:
    ///   - productId: the product of the row. A subscription can continue with another product.
    ///   - hasOriginalId: whether the row has an original transaction id.
    ///   - hasExpiry: whether the row has an end.
    package func mayContinue(inRowOf productId: String, hasOriginalId: Bool, hasExpiry: Bool) -> Bool {
        !hasOriginalId && (products.contains(productId) || hasExpiry && !products.isEmpty)
    }
}
