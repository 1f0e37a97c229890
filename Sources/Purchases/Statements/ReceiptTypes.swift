package import AppStoreModels
package import LegacyReceipts

// The attributes and keys of a receipt in terms of the modern model.

extension ReceiptProductType {
    /// The type in the modern model; nil for a free subscription and for unknown values.
    package var modern: ProductType? {
        switch self {
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case .nonRenewingSubscription: .nonRenewingSubscription
        case .autoRenewableSubscription: .autoRenewableSubscription
        default: nil
        }
    }
}

extension ReceiptOwnershipType {
    /// The ownership in the modern model; nil for unknown values.
    package var modern: InAppOwnershipType? {
        switch self {
        case .purchased: .purchased
        case .familyShared: .familyShared
        default: nil
        }
    }
}

extension InAppPurchase {
    /// Whether the purchase has an attribute that only auto-renewable subscriptions have, an end or an order line. Its type is
    /// not considered.
    package var hasSubscriptionAttributes: Bool { expiresDate != nil || (webOrderLineItemId ?? 0) != 0 }
}

extension TransactionReceipt {
    /// In this kind of receipt only auto-renewables have an end or an order line (Reference.md V4).
    package var isAutoRenewable: Bool { expiresDate != nil }
}
