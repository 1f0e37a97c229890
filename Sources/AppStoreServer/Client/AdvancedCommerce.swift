public import AppStoreModels

/// The server endpoints of the Advanced Commerce API (Reference.md S2.5). Other requests go through StoreKit, signed by
/// ``AdvancedCommerceSignatureCreator``. A request that is sent again must keep its `requestReferenceId`.
///
/// This API has about 80 error codes of its own. Apple has not published the numbers of most of them;
/// ``AppStoreServerAPIError/code`` contains the number from the answer.
extension AppStoreServerAPIClient {
    /// Turns off the renewal of a subscription.
    public func cancelAdvancedCommerceSubscription(
        _ transactionId: String, _ request: AdvancedCommerceSubscriptionCancelRequest
    ) async throws -> AdvancedCommerceResponse {
        try await pipeline.call(.cancelAdvancedCommerceSubscription, transactionId, body: request)
    }

    /// Ends a subscription immediately.
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

    /// Requests the refund of a transaction. The answer may have no renewal information.
    public func requestAdvancedCommerceTransactionRefund(
        _ transactionId: String, _ request: AdvancedCommerceRequestRefundRequest
    ) async throws -> AdvancedCommerceResponse {
        try await pipeline.call(.requestAdvancedCommerceTransactionRefund, transactionId, body: request)
    }
}
