public import AppStoreModels

/// What the developer tells Apple.
extension AppStoreServerAPIClient {
    /// Answers a CONSUMPTION_REQUEST; Apple wants it within 12 hours. Apple refuses it for a transaction with
    /// the ownership `ASSIGNED` (`InvalidAssignedTransactionNotSupportedError`, whose number is not published).
    public func sendConsumptionInformation(
        _ transactionId: String, _ request: ConsumptionRequest
    ) async throws {
        try await pipeline.perform(.sendConsumptionInformation, transactionId, body: request)
    }

    /// Answers a CONSUMPTION_REQUEST in the form that Apple deprecated, and that Advanced Commerce transactions still need.
    /// Apple refuses it for a transaction with the ownership `ASSIGNED`.
    public func sendConsumptionInformationV1(
        _ transactionId: String, _ request: ConsumptionRequestV1
    ) async throws {
        try await pipeline.perform(.sendConsumptionInformationV1, transactionId, body: request)
    }

    /// Extends the renewal date of one subscription.
    public func extendSubscriptionRenewalDate(
        _ originalTransactionId: String, _ request: ExtendRenewalDateRequest
    ) async throws -> ExtendRenewalDateResponse {
        try await pipeline.call(.extendSubscriptionRenewalDate, originalTransactionId, body: request)
    }

    /// Extends the renewal dates of all active subscribers of a product; Apple takes hours to days for it.
    public func extendRenewalDateForAllActiveSubscribers(
        _ request: MassExtendRenewalDateRequest
    ) async throws -> MassExtendRenewalDateResponse {
        try await pipeline.call(.extendRenewalDateForAllActiveSubscribers, body: request)
    }

    /// How far the extension for all active subscribers has come.
    public func getStatusOfRenewalDateExtensions(
        productId: String, requestIdentifier: String
    ) async throws -> MassExtendRenewalDateStatusResponse {
        try await pipeline.call(.getStatusOfRenewalDateExtensions, productId, requestIdentifier)
    }

    /// Sets the app account token of a purchase that was made outside of the app, or without one. Apple refuses it for a
    /// transaction with the ownership `ASSIGNED`.
    public func setAppAccountToken(
        _ originalTransactionId: String, _ request: UpdateAppAccountTokenRequest
    ) async throws {
        try await pipeline.perform(.setAppAccountToken, originalTransactionId, body: request)
    }

    /// Finishes a transaction as the app would.
    public func finishTransaction(_ transactionId: String) async throws {
        try await pipeline.perform(.finishTransaction, transactionId)
    }
}

/// Notifications that were sent.
extension AppStoreServerAPIClient {
    /// One page of the notifications that Apple tried to send, at most 20.
    /// - Parameters:
    ///   - request: which notifications; unchanged from page to page.
    ///   - paginationToken: the token of the page before; nil for the first page.
    public func getNotificationHistory(
        _ request: NotificationHistoryRequest, paginationToken: String? = nil
    ) async throws -> NotificationHistoryResponse {
        let query = paginationToken.map { [(name: "paginationToken", value: $0)] } ?? []
        return try await pipeline.call(.getNotificationHistory, query: query, body: request)
    }

    /// All pages of the notifications that Apple tried to send. The tokens expire (4000017): begin anew then.
    public func notificationHistory(_ request: NotificationHistoryRequest) -> APIPages<NotificationHistoryResponse> {
        APIPages(startingAt: nil) { token in
            let page = try await getNotificationHistory(request, paginationToken: token)
            let next = try pipeline.nextToken(
                page.paginationToken, after: token, hasMore: page.hasMore, .getNotificationHistory)
            return .init(page: page, next: next)
        }
    }

    /// Asks Apple to send a test notification.
    public func requestTestNotification() async throws -> SendTestNotificationResponse {
        try await pipeline.call(.requestTestNotification)
    }

    /// What became of a test notification; 4040008 may also mean that there is no result yet.
    public func getTestNotificationStatus(
        _ testNotificationToken: String
    ) async throws -> CheckTestNotificationResponse {
        try await pipeline.call(.getTestNotificationStatus, testNotificationToken)
    }
}
