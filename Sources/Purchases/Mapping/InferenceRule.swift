/// A rule that concluded a value that no record states.
///
/// The output contains the name of the rule beside the field, so that a reader who does not accept the rule can drop
/// exactly the values that it concluded.
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

    /// The name of the rule in the output.
    public var name: String { String(provenanceText.dropFirst("inferred: ".count)) }

    /// What the rule concludes from what, and where it can be wrong.
    public var sentence: String {
        switch self {
        case .transactionIdEqualsOriginal:
            "The transaction is the first one of its purchase, so the customer bought it."
        case .transactionIdDiffersFromOriginal:
            """
            A subscription transaction that is not the first one is a renewal. Wrong for a customer who came back after \
            a lapse, changed the product or restored the purchase: those have the same mark in legacy records.
            """
        case .onlySubscriptionsRenew:
            "Only auto-renewable subscriptions renew, so the customer bought this one."
        case .expiresDateMeansAutoRenewable:
            "Only auto-renewable subscriptions have an expiry date in legacy records."
        case .webOrderLineItemMeansAutoRenewable:
            "Only auto-renewable subscriptions have a web order line item id in legacy records."
        case .freeSubscriptionIsNonRenewing:
            """
            A free (Newsstand) subscription has no modern type; Non-Renewing Subscription is the nearest. It never \
            expires.
            """
        case .typeIsNeverFamilyShared:
            "Consumables and non-renewing subscriptions cannot be shared with the family, so the customer bought it."
        case .recordedBeforeFamilySharing:
            """
            The record was made before 2021, when purchases could not yet be shared with the family (the feature began \
            in December 2020), so the customer bought it.
            """
        case .cancelledWhenNextPeriodBegan:
            """
            The period was canceled in the second in which a period of another product began under the same original \
            transaction id: the customer upgraded, nothing was refunded. For a signed period only signed periods \
            count.
            """
        case .replacedWhileRunning:
            """
            A period of another product began under the same original transaction id while the period was running: the \
            customer upgraded, or moved to a plan of equal length and level. For a signed period only signed periods \
            count.
            """
        case .sandboxTransactionId:
            "The transaction id has 16 digits and begins with 100 or 200, as only sandbox ids do."
        case .productionClaimAndTransactionId:
            """
            The unsigned part of the receipt claims production and the signed transaction id is not one of the sandbox.
            """
        case .unsignedClaimOfSandbox:
            """
            The unsigned part of the receipt claims the sandbox. The signed transaction id does not look like one of the \
            sandbox, but a claim can only lower the trust, never raise it.
            """
        case .onlySubscriptionOfProduct:
            "The renewal information names only a product, and one subscription of the record has that product."
        }
    }

    /// The rule as it is written beside a field.
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
        }
    }
}
