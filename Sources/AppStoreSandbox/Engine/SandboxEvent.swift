public import AppStoreModels

/// The content of one notification, before it is signed (Reference.md S5.4).
public struct SandboxEvent: Sendable {
    /// The identifier of the notification.
    public let uuid: String
    /// `notificationType` (Reference.md S5.4).
    public let type: NotificationTypeV2
    /// `subtype`; nil for a type without subtypes.
    public let subtype: Subtype?
    /// Milliseconds since 1970.
    public let date: Int64
    /// The customer; nil for test notifications and summaries.
    public internal(set) var customer: String?
    /// The transaction at that time.
    public internal(set) var transaction: JWSTransactionDecodedPayload?
    /// The renewal information at that time; auto-renewable subscriptions only.
    public internal(set) var renewalInfo: JWSRenewalInfoDecodedPayload?
    /// The status of the subscription at that time; nil for other products.
    public internal(set) var status: SubscriptionStatus?
    /// The customer's reason for the refund request; CONSUMPTION_REQUEST only.
    public internal(set) var consumptionRequestReason: ConsumptionRequestReason?
    /// The result of an extension for all subscribers; RENEWAL_EXTENSION with the subtype SUMMARY only.
    public internal(set) var summary: Summary?
    /// The claims that the App Store ended; UNCLAIM_SEATS only.
    public internal(set) var unclaimSeatIds: [String]?
}
