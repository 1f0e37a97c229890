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

extension JWSTransactionDecodedPayload {
    /// The id that all transactions of a purchase share: the original transaction id. A transaction without one is a purchase of
    /// its own.
    package var purchaseId: String? { originalTransactionId ?? transactionId }

    /// The original transaction id under which a store keeps the transaction: `purchaseId`, but the own id if the original one
    /// identifies no purchase, as in edited documents.
    package var storedOriginalTransactionId: String {
        if let id = originalTransactionId, CustomerIdentity.isMeaningful(id: id) { return id }
        return transactionId ?? ""
    }
}
