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
    /// Whether the purchase is of an auto-renewable subscription, as in the resolved transaction (`isSubscription`).
    package var isAutoRenewable: Bool {
        JWSTransactionDecodedPayload.isSubscription(productType?.modern, expiresDate: expiresDate)
    }
}

extension TransactionReceipt {
    /// In this kind of receipt only auto-renewables have an end or an order line (Reference.md V4).
    package var isAutoRenewable: Bool { expiresDate != nil }
}

extension LegacyReceipt {
    /// Whether the receipt states a purchase of an auto-renewable subscription. Apple requires the password for such receipts, and
    /// has always listed their latest transactions.
    package var hasAutoRenewable: Bool {
        switch self {
        case .app(let receipt): receipt.hasAutoRenewable
        case .transaction(let receipt): receipt.isAutoRenewable
        }
    }
}

extension AppReceipt {
    /// See ``LegacyReceipt/hasAutoRenewable``.
    package var hasAutoRenewable: Bool { inAppPurchases.contains(where: \.isAutoRenewable) }
}
