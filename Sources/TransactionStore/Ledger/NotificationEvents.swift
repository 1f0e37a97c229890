internal import AppStoreModels
public import Purchases

extension LedgerEntry.Event {
    /// The event that the type and subtype of an App Store Server Notification, version 2, state (Apple,
    /// notificationType and subtype). Nil for types whose content is completely in the transaction or the renewal
    /// information.
    ///
    /// - Parameters:
    ///   - type: such as `DID_FAIL_TO_RENEW`.
    ///   - subtype: such as `GRACE_PERIOD`.
    public init?(notificationType type: String, subtype: String?) {
        let subtype = subtype.map { Subtype(rawValue: $0) }
        switch (NotificationTypeV2(rawValue: type), subtype) {
        case (.didFailToRenew, .gracePeriod): self = .gracePeriodEntered
        case (.didFailToRenew, _): self = .billingFailed
        case (.gracePeriodExpired, _): self = .gracePeriodExpired
        case (.didRenew, .billingRecovery): self = .billingRecovered
        case (.expired, _): self = .expired
        case (.priceIncrease, .pending): self = .priceIncreasePending
        case (.priceIncrease, .accepted): self = .priceIncreaseAccepted
        case (.consumptionRequest, _): self = .consumptionRequested
        default: return nil
        }
    }
}

/// The event about a transaction that a notification announces. When an engine stores a notification for the first
/// time, ``RenewalEntries`` states whether an entry is due.
public struct NotifiedEvent: Sendable {
    /// The statement of the notification.
    public let event: LedgerEntry.Event
    /// The original transaction id that the transaction is stored under.
    public let originalTransactionId: String
    /// The transaction of the notification.
    public let transactionId: String

    /// Nil if the notification of the set states no event, or has no signed transaction.
    public init?(of set: FactSet) {
        guard let notification = set.notification, let fact = set.transactions.first,
            fact.origin.source == .notificationV2, let id = fact.payload.transactionId,
            let event = LedgerEntry.Event(
                notificationType: notification.notificationType, subtype: notification.subtype)
        else { return nil }
        self.event = event
        originalTransactionId = fact.storedOriginalTransactionId
        transactionId = id
    }
}
