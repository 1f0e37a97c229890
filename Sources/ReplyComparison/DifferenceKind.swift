/// The cause of a difference between Apple's reply and ours.
public enum DifferenceKind: String, Sendable, CaseIterable, Comparable {
    /// The receipt or the store contains the value and our reply does not, or our reply has a value without a source.
    case mismatch
    /// Only Apple's database has the value, or it depends on the time of the request.
    case serverState
    /// The same meaning in another form, or a member that Apple sends without documenting it.
    case formatting

    /// The name in tables and messages.
    public var title: String {
        switch self {
        case .mismatch: "mismatch"
        case .serverState: "only their database can know"
        case .formatting: "formatting"
        }
    }

    public static func < (left: Self, right: Self) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

/// The reason for the kind of a difference. The sections are those of Reference.md.
public enum ComparisonRule: String, Sendable, CaseIterable {
    // Mismatches.
    /// The statuses differ, although only the request decides them (V2).
    case status
    /// The receipt states another value (V3.2, V3.5, V4).
    case signedFieldDiffers
    /// The receipt states a value that our reply leaves out (V3.2, V3.5, V4).
    case signedFieldMissing
    /// Our reply has a member that neither Apple's reply nor the receipt has.
    case inventedField
    /// Another kind of JSON value, or a reply of the other style: app receipt and iOS 6.
    case shape
    /// `receipt_creation_date`: Apple's value is attribute 8 of the receipt, ours attribute 12 (V3.3 leaves this open).
    case creationDateAttribute
    /// A purchase of the receipt is missing, or one was added to `in_app`, which mirrors the receipt (V3.5).
    case purchaseOfReceipt
    /// `in_app` is not in the order of the encoding (V3.5).
    case encodedOrder
    /// A list is missing that every receipt with auto-renewable subscriptions has (V3.5).
    case missingList
    /// The request has `exclude-old-transactions`, and an older renewal is listed (V3.5).
    case excludeOldTransactions
    /// In production, our reply lists an active period, and Apple's reply has no active period of the subscription: it may
    /// belong to another customer (V3.5).
    case activeNotListed

    // Only Apple's database has the value.
    /// The status indicates an outage (V2): 21005, 21009, 21100 to 21199, an HTTP server error, or possibly 21002.
    case temporaryFailure
    /// 21010: the account (V2).
    case accountState
    /// 0 or 21006: renewed or refunded since the receipt was signed (V2.1).
    case renewedOrRefunded
    /// A member that no receipt contains (V3.5, V3.6, V4).
    case databaseField
    /// A member that receipts can contain, but this one does not (V3.5).
    case notInReceipt
    /// Apple's own `in_app` or `receipt` has the older value, so it changed after the receipt was signed (V3.5).
    case changedSinceReceipt
    /// A purchase that the submitted receipt does not contain (V3.5).
    case purchaseNotInReceipt
    /// We list a purchase that Apple does not: purged in the sandbox, finished, or over (V3.5).
    case purchaseNotListed
    /// `latest_receipt(_info)` of a receipt without auto-renewable subscriptions: the trigger is unknown (V3.5).
    case listWithoutSubscription
    /// `latest_receipt` is issued at each request and never equals another (V3.3).
    case reissuedReceipt
    /// The two requests have different dates.
    case requestDate
    /// A member that is not in Reference.md.
    case unknownField

    // Formatting.
    /// The other order of `latest_receipt_info`: Apple gave no guarantee and changed it in 2020 (V3.5).
    case listOrder
    /// A number and the string of its digits.
    case numberOrString
    /// A boolean and its name or digit.
    case booleanOrString
    /// `null` or an empty list, and no member at all.
    case nullOrAbsent
    /// The same second with and without milliseconds (V3.4, V4).
    case milliseconds
    /// The same moment in another text form.
    case dateText
    /// Equal as a JavaScript number: the recorder lost digits beyond 2^53 (V3.2).
    case roundedNumber
    /// The same UUID in upper and lower case.
    case letterCase
    /// Replies of that time did not have the member yet (V3.3, V3.5, V4).
    case laterMember
    /// A member that we add on purpose: the other spelling of `is-retryable`, what clients demand.
    case addition
    /// A member that Apple never documented (V1.4).
    case undocumented
    /// Both replies reject the request; Apple's documentation and its replies disagree on the number (V1.4).
    case refusalCode

    /// The cause that the rule stands for. Each rule has exactly one.
    public var kind: DifferenceKind {
        switch self {
        case .status, .signedFieldDiffers, .signedFieldMissing, .inventedField, .shape, .creationDateAttribute,
            .purchaseOfReceipt, .encodedOrder, .missingList, .excludeOldTransactions, .activeNotListed:
            .mismatch
        case .temporaryFailure, .accountState, .renewedOrRefunded, .databaseField, .notInReceipt, .changedSinceReceipt,
            .purchaseNotInReceipt, .purchaseNotListed, .listWithoutSubscription, .reissuedReceipt, .requestDate,
            .unknownField:
            .serverState
        case .listOrder, .numberOrString, .booleanOrString, .nullOrAbsent, .milliseconds, .dateText, .roundedNumber,
            .letterCase, .laterMember, .addition, .undocumented, .refusalCode:
            .formatting
        }
    }
}
