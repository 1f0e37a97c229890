public import AppStoreModels

/// Something that the App Store tells the developer, before it is signed (Reference.md S5.4).
public struct SandboxEvent: Sendable {
    /// The identifier of the notification.
    public let uuid: String
    public let type: NotificationTypeV2
    public let subtype: Subtype?
    /// When it happened; milliseconds since 1970.
    public let date: Int64
    /// The customer it is about, if it is about one.
    public let customer: String?
    /// The transaction as it was then.
    public let transaction: JWSTransactionDecodedPayload?
    /// The renewal information as it was then; auto-renewable subscriptions only.
    public let renewalInfo: JWSRenewalInfoDecodedPayload?
    public let status: SubscriptionStatus?
    public let consumptionRequestReason: ConsumptionRequestReason?
    public let summary: Summary?
    /// The claims that the App Store ended; UNCLAIM_SEATS only.
    public internal(set) var unclaimSeatIds: [String]?
}
