/// A rule that concluded a value that no record states.
///
/// The output contains the name of the rule next to the field. A reader who does not accept the rule can drop exactly
/// its values. Documentation/Fields.md states each conclusion, and where it can be wrong.
public enum InferenceRule: UInt8, Hashable, Sendable, CaseIterable {
    case transactionIdEqualsOriginal
    case transactionIdDiffersFromOriginal
    case onlySubscriptionsRenew
    case expiresDateMeansAutoRenewable
    case webOrderLineItemMeansAutoRenewable
    case freeSubscriptionIsNonRenewing
    case typeIsNeverFamilyShared
    case recordedBeforeFamilySharing
    case cancelledWhenNextPeriodBegan
    case replacedWhileRunning
    case sandboxTransactionId
    case productionClaimAndTransactionId
    case unsignedClaimOfSandbox
    case onlySubscriptionOfProduct
    case copyWasRevoked
    case otherTransactionStatesType

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
        }
    }
}
