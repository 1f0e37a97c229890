import AppStoreModels

/// Responses with every member set.
enum Responses {
    static let history = HistoryResponse {
        $0.revision = "revision_output"
        $0.hasMore = true
        $0.bundleId = "com.example"
        $0.appAppleId = 323_232
        $0.environment = .localTesting
        $0.signedTransactions = ["a.b.c", "d.e.f"]
    }
    static let transaction = TransactionInfoResponse { $0.signedTransactionInfo = "a.b.c" }
    static let appTransaction = AppTransactionInfoResponse { $0.signedAppTransactionInfo = "a.b.c" }
    static let refunds = RefundHistoryResponse {
        $0.signedTransactions = ["a.b.c"]
        $0.revision = "revision_output"
        $0.hasMore = false
    }
    static let order = OrderLookupResponse {
        $0.status = .invalid
        $0.signedTransactions = ["a.b.c"]
    }
    static let statuses = StatusResponse {
        $0.environment = .sandbox
        $0.bundleId = "com.example"
        $0.appAppleId = 5_454_545
        $0.data = [
            SubscriptionGroupIdentifierItem {
                $0.subscriptionGroupIdentifier = "sub_group_one"
                $0.lastTransactions = [
                    LastTransactionsItem {
                        $0.status = .billingGracePeriod
                        $0.originalTransactionId = "3749183"
                        $0.signedTransactionInfo = "a.b.c"
                        $0.signedRenewalInfo = "d.e.f"
                    }
                ]
            }
        ]
    }
    static let extended = ExtendRenewalDateResponse {
        $0.originalTransactionId = "2312412"
        $0.webOrderLineItemId = "9993"
        $0.success = true
        $0.effectiveDate = 1_698_148_900_000
    }
    static let massExtended = MassExtendRenewalDateResponse { $0.requestIdentifier = Calls.uuid }
    static let massStatus = MassExtendRenewalDateStatusResponse {
        $0.requestIdentifier = Calls.uuid
        $0.complete = true
        $0.completeDate = 1_698_148_900_000
        $0.succeededCount = 30
        $0.failedCount = 2
    }
    static let attempts = [
        SendAttemptItem {
            $0.attemptDate = 1_698_148_900_000
            $0.sendAttemptResult = .noResponse
        },
        SendAttemptItem {
            $0.attemptDate = 1_698_148_950_000
            $0.sendAttemptResult = .success
        },
    ]
    static let notifications = NotificationHistoryResponse {
        $0.paginationToken = "token"
        $0.hasMore = true
        $0.notificationHistory = [
            NotificationHistoryResponseItem {
                $0.signedPayload = "a.b.c"
                $0.sendAttempts = attempts
            }
        ]
    }
    static let testSent = SendTestNotificationResponse { $0.testNotificationToken = "ce3af791-365e-4c60" }
    static let testChecked = CheckTestNotificationResponse {
        $0.signedPayload = "a.b.c"
        $0.sendAttempts = attempts
    }
    static let images = GetImageListResponse {
        $0.imageIdentifiers = [
            GetImageListResponseItem {
                $0.imageIdentifier = Calls.uuid
                $0.imageState = .approved
                $0.imageSize = .bulletPoint
            }
        ]
    }
    static let messages = GetMessageListResponse {
        $0.messageIdentifiers = [
            GetMessageListResponseItem {
                $0.messageIdentifier = Calls.uuid
                $0.messageState = .rejected
            }
        ]
    }
    static let defaultMessage = DefaultConfigurationResponse { $0.messageIdentifier = Calls.uuid }
    static let realtimeURL = RealtimeUrlResponse { $0.realtimeURL = "https://example.com" }
    static let testConfig = PerformanceTestConfig {
        $0.maxConcurrentRequests = 10
        $0.totalRequests = 1000
        $0.totalDuration = 60_000
        $0.responseTimeThreshold = 700
        $0.successRateThreshold = 95
    }
    static let performanceTest = PerformanceTestResponse {
        $0.config = testConfig
        $0.requestId = "request"
    }
    static let performanceResult = PerformanceTestResultResponse {
        $0.config = testConfig
        $0.target = "https://example.com"
        $0.result = .pass
        $0.successRate = 98
        $0.numPending = 3
        $0.responseTimes = PerformanceTestResponseTimes {
            $0.average = 100
            $0.p50 = 90
            $0.p90 = 200
            $0.p95 = 250
            $0.p99 = 600
        }
        $0.failures = ["TIMED_OUT": 2, "OTHER": 1]
    }
    static let realtimeRequest = DecodedRealtimeRequestBody {
        $0.originalTransactionId = "99371282"
        $0.appAppleId = 531_412
        $0.productId = "com.example.product"
        $0.userLocale = "en-US"
        $0.requestIdentifier = Calls.uuid
        $0.environment = .sandbox
        $0.signedDate = 1_698_148_900_000
    }
    static let advancedCommerce = AdvancedCommerceResponse {
        $0.signedTransactionInfo = "a.b.c"
        $0.signedRenewalInfo = "d.e.f"
    }
}
