/// The endpoints of the App Store Server API, the Retention Messaging API and the Advanced Commerce API that are on Apple's
/// server (Reference.md S2.1, S2.4 and S2.5). The raw value is the name of the client's method.
public enum APIEndpoint: String, Sendable, Hashable, CaseIterable, Codable {
    /// Get Transaction History.
    case getTransactionHistory
    /// Get Transaction History V1, deprecated: leaves out finished consumables.
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
