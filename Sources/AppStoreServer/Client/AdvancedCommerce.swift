public import AppStoreModels

/// The Advanced Commerce API, as far as it is on the server (Reference.md S2.5). The other requests go through StoreKit,
/// signed by ``AdvancedCommerceSignatureCreator``. A request that is sent again must keep its `requestReferenceId`.
///
/// Apple has some 80 error codes of its own for this API, without published numbers for most: see
/// ``AppStoreServerAPIError/code`` for the number as it came.
extension AppStoreServerAPIClient {
    /// Switches the renewal of a subscription off.
    public func cancelAdvancedCommerceSubscription(
        _ transactionId: String, _ request: AdvancedCommerceSubscriptionCancelRequest
    ) async throws -> AdvancedCommerceResponse {
        try await pipeline.call(.cancelAdvancedCommerceSubscription, transactionId, body: request)
    }

    /// Ends a subscription at once.
    public func revokeAdvancedCommerceSubscription(
        _ transactionId: String, _ request: AdvancedCommerceSubscriptionRevokeRequest
    ) async throws -> AdvancedCommerceResponse {
        try await pipeline.call(.revokeAdvancedCommerceSubscription, transactionId, body: request)
    }

    /// Changes texts or identifiers of a subscription.
    public func changeAdvancedCommerceSubscriptionMetadata(
        _ transactionId: String, _ request: AdvancedCommerceSubscriptionChangeMetadataRequest
    ) async throws -> AdvancedCommerceResponse {
        try await pipeline.call(.changeAdvancedCommerceSubscriptionMetadata, transactionId, body: request)
    }

    /// Changes prices of a subscription.
    public func changeAdvancedCommerceSubscriptionPrice(
        _ transactionId: String, _ request: AdvancedCommerceSubscriptionPriceChangeRequest
    ) async throws -> AdvancedCommerceResponse {
        try await pipeline.call(.changeAdvancedCommerceSubscriptionPrice, transactionId, body: request)
    }

    /// Moves a subscription to the Advanced Commerce API.
    public func migrateAdvancedCommerceSubscription(
        _ transactionId: String, _ request: AdvancedCommerceSubscriptionMigrateRequest
    ) async throws -> AdvancedCommerceResponse {
        try await pipeline.call(.migrateAdvancedCommerceSubscription, transactionId, body: request)
    }

    /// Asks for the refund of a transaction; the answer may have no renewal information.
    public func requestAdvancedCommerceTransactionRefund(
        _ transactionId: String, _ request: AdvancedCommerceRequestRefundRequest
    ) async throws -> AdvancedCommerceResponse {
        try await pipeline.call(.requestAdvancedCommerceTransactionRefund, transactionId, body: request)
    }
}
