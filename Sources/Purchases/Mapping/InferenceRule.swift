/// A rule that concluded a value that no record states.
///
/// The output contains the name of the rule next to the field. A reader who does not accept the rule can drop exactly
/// its values. Documentation/Fields.md states each conclusion, and where it can be wrong.
public enum InferenceRule: UInt8, Hashable, Sendable, CaseIterable {
    /// `transactionReason` is PURCHASE, because both ids are equal: the transaction is the first one of its purchase.
    case transactionIdEqualsOriginal
    /// `transactionReason` is RENEWAL, because the transaction of a subscription is not the first one. Wrong after a
    /// lapse, a change of the product or a restoration.
    case transactionIdDiffersFromOriginal
    /// `transactionReason` is PURCHASE, because only auto-renewable subscriptions renew, and this is none.
    case onlySubscriptionsRenew
    /// `type` is Auto-Renewable Subscription, because only these have an expiry date in legacy records.
    case expiresDateMeansAutoRenewable
    /// `type` is Auto-Renewable Subscription, because only these have a web order line item id in legacy records.
    case webOrderLineItemMeansAutoRenewable
    /// `type` of a free (Newsstand) subscription is Non-Renewing Subscription, the nearest modern type.
    case freeSubscriptionIsNonRenewing
    /// `inAppOwnershipType` is PURCHASED, because the family cannot share consumables and non-renewing subscriptions.
    case typeIsNeverFamilyShared
    /// `inAppOwnershipType` is PURCHASED, because the record is from before 2021. Sharing began in December 2020.
    case recordedBeforeFamilySharing
    /// `isUpgraded` is true and nothing was refunded, because the period was canceled in the second in which a period
    /// of another product began under the same original transaction id.
    case cancelledWhenNextPeriodBegan
    /// `isUpgraded` is true, because a period of another product began under the same original transaction id while
    /// this one was running.
    case replacedWhileRunning
    /// `environment` is Sandbox, because only sandbox ids have 16 digits and begin with 100 or 200 (Reference.md V7.5).
    case sandboxTransactionId
    /// `environment` is Production, because the unsigned part of the receipt claims it, and the signed transaction id
    /// is not one of the sandbox.
    case productionClaimAndTransactionId
    /// `environment` is Sandbox, because the unsigned part of the receipt claims it. A claim can only lower the trust.
    case unsignedClaimOfSandbox
    /// `originalTransactionId` of a renewal info that names only a product is that of the only subscription of this
    /// product in the record.
    case onlySubscriptionOfProduct
    /// The revocation fields are those of another transaction of the same purchase: the customer paid once, so a refund
    /// of one is a refund of all.
    case copyWasRevoked
    /// `type` is the one that a signed document states for another transaction with the same product and original
    /// transaction id.
    case otherTransactionStatesType
    /// `isUpgraded` is true, because another transaction of the same period was upgraded.
    case copyWasUpgraded

    /// The name of the rule in the output.
    public var name: String { String(provenanceText.dropFirst("inferred: ".count)) }

    /// The rule as it is written next to a field.
    var provenanceText: String {
        switch self {
        // Literals, because a migration writes several of them for each purchase.
        case .transactionIdEqualsOriginal: "inferred: transactionIdEqualsOriginal"
        case .transactionIdDiffersFromOriginal: "inferred: transactionIdDiffersFromOriginal"
        case .onlySubscriptionsRenew: "inferred: onlySubscriptionsRenew"
        case .expiresDateMeansAutoRenewable: "inferred: expiresDateMeansAutoRenewable"
        case .webOrderLineItemMeansAutoRenewable: "inferred: webOrderLineItemMeansAutoRenewable"
        case .freeSubscriptionIsNonRenewing: "inferred: freeSubscriptionIsNonRenewing"
        case .typeIsNeverFamilyShared: "inferred: typeIsNeverFamilyShared"
        case .recordedBeforeFamilySharing: "inferred: recordedBeforeFamilySharing"
        case .cancelledWhenNextPeriodBegan: "inferred: cancelledWhenNextPeriodBegan"
        case .replacedWhileRunning: "inferred: replacedWhileRunning"
        case .sandboxTransactionId: "inferred: sandboxTransactionId"
        case .productionClaimAndTransactionId: "inferred: productionClaimAndTransactionId"
        case .unsignedClaimOfSandbox: "inferred: unsignedClaimOfSandbox"
        case .onlySubscriptionOfProduct: "inferred: onlySubscriptionOfProduct"
        case .copyWasRevoked: "inferred: copyWasRevoked"
        case .otherTransactionStatesType: "inferred: otherTransactionStatesType"
        case .copyWasUpgraded: "inferred: copyWasUpgraded"
        }
    }
}
