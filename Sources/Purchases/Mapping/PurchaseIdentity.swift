package import AppStoreModels

/// Identifies a purchase within one customer's records. It includes the product, because ids repeat in test data (`0`
/// from Xcode, and masked ids).
package struct PurchaseIdentity: Hashable {
    package let transactionId: String
    package let productId: String?

    /// Nil for a purchase without a transaction id, which cannot be identified.
    package init?(_ payload: JWSTransactionDecodedPayload) {
        guard let id = payload.transactionId else { return nil }
        transactionId = id
        productId = payload.productId
    }
}
