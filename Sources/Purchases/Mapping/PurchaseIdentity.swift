package import AppStoreModels

/// What tells one purchase from another within one customer's records. The product belongs to it, because ids repeat in
/// test data (`0` from Xcode, and ids that people masked).
package struct PurchaseIdentity: Hashable {
    package let transactionId: String
    package let productId: String?

    /// Nil for a purchase without a transaction id: nothing is the same as that.
    package init?(_ payload: JWSTransactionDecodedPayload) {
        guard let id = payload.transactionId else { return nil }
        transactionId = id
        productId = payload.productId
    }
}
