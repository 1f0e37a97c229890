/// The endpoints of the App Store Server API, the Retention Messaging API and the server part of the Advanced Commerce
/// API (Reference.md S2.1, S2.4 and S2.5). The raw value is the name of the client's method.
public enum APIEndpoint: String, Sendable, Hashable, CaseIterable, Codable {
    /// Get Transaction History.
    case getTransactionHistory
    /// Get Transaction History V1, deprecated. Omits finished consumables.
    case getTransactionHistoryV1
    /// Get Transaction Info.
    case getTransactionInfo
    /// Get App Transaction Info.
    case getAppTransactionInfo
    /// Get All Subscription Statuses.
    case getAllSubscriptionStatuses
    /// Get Refund History.
    case getRefundHistory
    /// Get Refund History V1, deprecated.
    case getRefundHistoryV1
    /// Look Up Order ID, production only.
    case lookUpOrderId
    /// Send Consumption Information.
    case sendConsumptionInformation
    /// Send Consumption Information V1, deprecated.
    case sendConsumptionInformationV1
    /// Extend a Subscription Renewal Date.
    case extendSubscriptionRenewalDate
    /// Extend Subscription Renewal Dates for All Active Subscribers.
    case extendRenewalDateForAllActiveSubscribers
    /// Get Status of Subscription Renewal Date Extensions.
    case getStatusOfRenewalDateExtensions
    /// Get Notification History.
    case getNotificationHistory
    /// Request a Test Notification.
    case requestTestNotification
    /// Get Test Notification Status.
    case getTestNotificationStatus
    /// Set App Account Token.
    case setAppAccountToken
    /// Finish Transaction.
    case finishTransaction
    /// Get Seat Info.
    case getSeatInfo
    /// Claim Seat.
    case claimSeat
    /// Unclaim Seat.
    case unclaimSeat
    /// Associate Seat.
    case associateSeat
    /// Upload Image.
    case uploadImage
    /// Delete Image.
    case deleteImage
    /// Get Image List.
    case getImageList
    /// Upload Message.
    case uploadMessage
    /// Delete Message.
    case deleteMessage
    /// Get Message List.
    case getMessageList
    /// Configure Default Message.
    case configureDefaultMessage
    /// Delete Default Message.
    case deleteDefaultMessage
    /// Get Default Message.
    case getDefaultMessage
    /// Configure Realtime URL.
    case configureRealtimeURL
    /// Delete Realtime URL.
    case deleteRealtimeURL
    /// Get Realtime URL.
    case getRealtimeURL
    /// Initiate Performance Test, sandbox only.
    case initiatePerformanceTest
    /// Get Performance Test Results.
    case getPerformanceTestResults
    /// Advanced Commerce: Cancel a Subscription.
    case cancelAdvancedCommerceSubscription
    /// Advanced Commerce: Revoke a Subscription.
    case revokeAdvancedCommerceSubscription
    /// Advanced Commerce: Change Subscription Metadata.
    case changeAdvancedCommerceSubscriptionMetadata
    /// Advanced Commerce: Change Subscription Price.
    case changeAdvancedCommerceSubscriptionPrice
    /// Advanced Commerce: Migrate a Subscription.
    case migrateAdvancedCommerceSubscription
    /// Advanced Commerce: Request a Transaction Refund.
    case requestAdvancedCommerceTransactionRefund
}

/// The properties of each endpoint (Reference.md S2), in the order of its tables.
extension APIEndpoint {
    /// The HTTP method.
    public var method: String { facts.method }

    /// The path, with `{}` for each path parameter.
    public var pathTemplate: String { facts.path }

    /// Apple's rate limit for one app in production, in requests per second. Apple counts by the hour, so a short burst
    /// can be faster. The sandbox allows a tenth. Apple may change the numbers, and publishes none for Get Status of
    /// Subscription Renewal Date Extensions and for the seat endpoints; 1 is a cautious estimate.
    public var productionRequestsPerSecond: Double { facts.requestsPerSecond }

    /// Whether sending the same request twice has the same effect as sending it once.
    ///
    /// Reads change nothing. Setting a value twice sets the same value. Apple deduplicates extensions and seat claims by their
    /// request identifier, and Advanced Commerce requests by their reference. Apple rejects a second upload (HTTP 409), does
    /// not find the object of a second deletion, and would run a test twice.
    public var isIdempotent: Bool { facts.isIdempotent }

    /// The path with percent-encoded parameters; nil if the number of parameters is wrong, or one cannot be in a path.
    func path(_ parameters: [String]) -> String? {
        var parts = pathTemplate.split(separator: "{}", omittingEmptySubsequences: false)[...]
        guard parts.count == parameters.count + 1, var path = parts.popFirst().map(String.init) else { return nil }
        for (parameter, rest) in zip(parameters, parts) {
            guard let encoded = PercentEncoding.pathSegment(parameter) else { return nil }
            path += encoded + rest
        }
        return path
    }

    private struct Facts {
        let method: String
        let path: String
        let requestsPerSecond: Double
        let isIdempotent: Bool

        static func get(_ path: String, _ rate: Double) -> Facts {
            Facts(method: "GET", path: path, requestsPerSecond: rate, isIdempotent: true)
        }

        static func put(_ path: String, _ rate: Double, repeatable: Bool = true) -> Facts {
            Facts(method: "PUT", path: path, requestsPerSecond: rate, isIdempotent: repeatable)
        }

        static func post(_ path: String, _ rate: Double, repeatable: Bool = true) -> Facts {
            Facts(method: "POST", path: path, requestsPerSecond: rate, isIdempotent: repeatable)
        }

        static func delete(_ path: String, _ rate: Double) -> Facts {
            Facts(method: "DELETE", path: path, requestsPerSecond: rate, isIdempotent: false)
        }
    }

    private var facts: Facts {
        switch self {
        case .getTransactionHistory: .get("/inApps/v2/history/{}", 50)
        case .getTransactionHistoryV1: .get("/inApps/v1/history/{}", 50)
        case .getTransactionInfo: .get("/inApps/v1/transactions/{}", 50)
        case .getAppTransactionInfo: .get("/inApps/v1/transactions/appTransactions/{}", 50)
        case .getAllSubscriptionStatuses: .get("/inApps/v1/subscriptions/{}", 50)
        case .getRefundHistory: .get("/inApps/v2/refund/lookup/{}", 10)
        case .getRefundHistoryV1: .get("/inApps/v1/refund/lookup/{}", 10)
        case .lookUpOrderId: .get("/inApps/v1/lookup/{}", 10)
        case .sendConsumptionInformation: .put("/inApps/v2/transactions/consumption/{}", 50)
        case .sendConsumptionInformationV1: .put("/inApps/v1/transactions/consumption/{}", 50)
        case .extendSubscriptionRenewalDate: .put("/inApps/v1/subscriptions/extend/{}", 20)
        case .extendRenewalDateForAllActiveSubscribers: .post("/inApps/v1/subscriptions/extend/mass", 1)
        case .getStatusOfRenewalDateExtensions: .get("/inApps/v1/subscriptions/extend/mass/{}/{}", 1)
        case .getNotificationHistory: .post("/inApps/v1/notifications/history", 50)
        case .requestTestNotification: .post("/inApps/v1/notifications/test", 1, repeatable: false)
        case .getTestNotificationStatus: .get("/inApps/v1/notifications/test/{}", 1)
        case .setAppAccountToken: .put("/inApps/v1/transactions/{}/appAccountToken", 20)
        case .finishTransaction: .post("/inApps/v1/transactions/{}/finish", 50)
        case .getSeatInfo: .get("/groups/v1/transactions/{}/seats", 1)
        case .claimSeat: .post("/groups/v1/transactions/{}/seats", 1)
        case .unclaimSeat: .delete("/groups/v1/transactions/{}/seats/{}", 1)
        case .associateSeat: .post("/groups/v1/transactions/{}/seats/{}/associate", 1)
        case .uploadImage: .put("/inApps/v1/messaging/image/{}", 1, repeatable: false)
        case .deleteImage: .delete("/inApps/v1/messaging/image/{}", 1)
        case .getImageList: .get("/inApps/v1/messaging/image/list", 1)
        case .uploadMessage: .put("/inApps/v1/messaging/message/{}", 1, repeatable: false)
        case .deleteMessage: .delete("/inApps/v1/messaging/message/{}", 1)
        case .getMessageList: .get("/inApps/v1/messaging/message/list", 1)
        case .configureDefaultMessage: .put("/inApps/v1/messaging/default/{}/{}", 10)
        case .deleteDefaultMessage: .delete("/inApps/v1/messaging/default/{}/{}", 1)
        case .getDefaultMessage: .get("/inApps/v1/messaging/default/{}/{}", 1)
        case .configureRealtimeURL: .put("/inApps/v1/messaging/realtime/url", 1)
        case .deleteRealtimeURL: .delete("/inApps/v1/messaging/realtime/url", 1)
        case .getRealtimeURL: .get("/inApps/v1/messaging/realtime/url", 1)
        case .initiatePerformanceTest: .post("/inApps/v1/messaging/performanceTest", 1, repeatable: false)
        case .getPerformanceTestResults: .get("/inApps/v1/messaging/performanceTest/result/{}", 1)
        case .cancelAdvancedCommerceSubscription: .post("/advancedCommerce/v1/subscription/cancel/{}", 5)
        case .revokeAdvancedCommerceSubscription: .post("/advancedCommerce/v1/subscription/revoke/{}", 5)
        case .changeAdvancedCommerceSubscriptionMetadata:
            .post("/advancedCommerce/v1/subscription/changeMetadata/{}", 50)
        case .changeAdvancedCommerceSubscriptionPrice: .post("/advancedCommerce/v1/subscription/changePrice/{}", 50)
        case .migrateAdvancedCommerceSubscription: .post("/advancedCommerce/v1/subscription/migrate/{}", 50)
        case .requestAdvancedCommerceTransactionRefund: .post("/advancedCommerce/v1/transaction/requestRefund/{}", 5)
        }
    }
}
