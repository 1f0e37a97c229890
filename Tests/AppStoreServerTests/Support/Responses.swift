import AppStoreModels

/// Responses with every member set.
enum Responses {
    static let history = HistoryResponse(
        revision: "revision_output", hasMore: true, bundleId: "com.example", appAppleId: 323_232,
        environment: .localTesting, signedTransactions: ["a.b.c", "d.e.f"])
    static let transaction = TransactionInfoResponse(signedTransactionInfo: "a.b.c")
    static let appTransaction = AppTransactionInfoResponse(signedAppTransactionInfo: "a.b.c")
    static let refunds = RefundHistoryResponse(
        signedTransactions: ["a.b.c"], revision: "revision_output", hasMore: false)
    static let order = OrderLookupResponse(status: .invalid, signedTransactions: ["a.b.c"])
    static let statuses = StatusResponse(
        environment: .sandbox, bundleId: "com.example", appAppleId: 5_454_545,
        data: [
            SubscriptionGroupIdentifierItem(
                subscriptionGroupIdentifier: "sub_group_one",
                lastTransactions: [
                    LastTransactionsItem(
                        status: .billingGracePeriod, originalTransactionId: "3749183", signedTransactionInfo: "a.b.c",
                        signedRenewalInfo: "d.e.f")
                ])
        ])
    static let extended = ExtendRenewalDateResponse(
        originalTransactionId: "2312412", webOrderLineItemId: "9993", success: true, effectiveDate: 1_698_148_900_000)
    static let massExtended = MassExtendRenewalDateResponse(requestIdentifier: Calls.uuid)
    static let massStatus = MassExtendRenewalDateStatusResponse(
        requestIdentifier: Calls.uuid, complete: true, completeDate: 1_698_148_900_000, succeededCount: 30,
        failedCount: 2)
    static let attempts = [
        SendAttemptItem(attemptDate: 1_698_148_900_000, sendAttemptResult: .noResponse),
        SendAttemptItem(attemptDate: 1_698_148_950_000, sendAttemptResult: .success),
    ]
    static let notifications = NotificationHistoryResponse(
        paginationToken: "token", hasMore: true,
        notificationHistory: [NotificationHistoryResponseItem(signedPayload: "a.b.c", sendAttempts: attempts)])
    static let testSent = SendTestNotificationResponse(testNotificationToken: "ce3af791-365e-4c60")
    static let testChecked = CheckTestNotificationResponse(signedPayload: "a.b.c", sendAttempts: attempts)
    static let images = GetImageListResponse(imageIdentifiers: [
        GetImageListResponseItem(imageIdentifier: Calls.uuid, imageState: .approved, imageSize: .bulletPoint)
    ])
    static let messages = GetMessageListResponse(messageIdentifiers: [
        GetMessageListResponseItem(messageIdentifier: Calls.uuid, messageState: .rejected)
    ])
    static let defaultMessage = DefaultConfigurationResponse(messageIdentifier: Calls.uuid)
    static let realtimeURL = RealtimeUrlResponse(realtimeURL: "https://example.com")
    static let testConfig = PerformanceTestConfig(
        maxConcurrentRequests: 10, totalRequests: 1000, totalDuration: 60_000, responseTimeThreshold: 700,
        successRateThreshold: 95)
    static let performanceTest = PerformanceTestResponse(config: testConfig, requestId: "request")
    static let performanceResult = PerformanceTestResultResponse(
        config: testConfig, target: "https://example.com", result: .pass, successRate: 98, numPending: 3,
        responseTimes: PerformanceTestResponseTimes(average: 100, p50: 90, p90: 200, p95: 250, p99: 600),
        failures: ["TIMED_OUT": 2, "OTHER": 1])
    static let realtimeRequest = DecodedRealtimeRequestBody(
        originalTransactionId: "99371282", appAppleId: 531_412, productId: "com.example.product", userLocale: "en-US",
        requestIdentifier: Calls.uuid, environment: .sandbox, signedDate: 1_698_148_900_000)
    static let advancedCommerce = AdvancedCommerceResponse(signedTransactionInfo: "a.b.c", signedRenewalInfo: "d.e.f")
}
