/// The status of each condition, and the other members of its body (Reference.md V2). Replies and the coverage table of the
/// documentation use it.
package struct StatusTable {
    package struct Row: Sendable {
        package let condition: StatusCondition
        package let status: ClosedRange<Int>
        /// A description of the condition, for documentation.
        package let meaning: String
        /// The members in addition to `status`, in order. A member in parentheses is present only if a value is known.
        package let members: [String]
        /// The value of `is_retryable` and `is-retryable`: a fixed value, the backend's value, or no such members.
        package let retryable: Retryable
        package let support: Support
    }

    package enum Retryable: Sendable, Hashable {
        case notStated
        case fixed(Bool)
        case asReported
    }

    package enum Support: String, Sendable {
        /// The endpoint detects the condition.
        case full = "yes"
        /// A live backend reports the condition.
        case reported = "when a backend reports it"
        /// Only the HTTP server can detect it.
        case server = "by the server"
    }

    package static func row(_ condition: StatusCondition) -> Row { byCondition[condition] ?? internalRow }

    private static let byCondition: [StatusCondition: Row] = Dictionary(
        rows.map { ($0.condition, $0) }, uniquingKeysWith: { first, _ in first })

    private static let internalRow = Row(
        condition: .storedDataUnreadable, status: 21009...21009,
        meaning: "The stored data cannot be read (internal data access error)", members: ["environment"],
        retryable: .notStated, support: .full)

    /// The rows of all conditions.
    package static let rows: [Row] =
        success + malformed + refused
        + [
            Row(
                condition: .queueFull, status: 21005...21005,
                meaning: "The server is too busy: the receipt server is temporarily unavailable", members: [],
                retryable: .notStated, support: .server),
            Row(
                condition: .storeUnavailable, status: 21005...21005,
                meaning:
                    "The store cannot be reached, or neither it nor the spool accepts the receipt: the receipt server is "
                    + "temporarily unavailable", members: [],
                retryable: .notStated, support: .full),
            Row(
                condition: .appStoreUnavailable, status: 21005...21005,
                meaning: "The App Store cannot be queried, and the configuration requires a current answer",
                members: [],
                retryable: .notStated, support: .full),
            internalRow,
            // Two spellings of the same member: Reference.md C2, rule 4.
            Row(
                condition: .accountNotFound, status: 21010...21010,
                meaning:
                    "The account was not found or deleted; or the configuration requires a current answer and the "
                    + "App Store knows no purchase, or does not know a running subscription",
                members: ["environment", "is_retryable", "is-retryable"], retryable: .fixed(false), support: .reported),
            Row(
                condition: .internalDataAccess, status: 21100...21199, meaning: "Internal data access errors",
                members: ["environment", "is_retryable", "is-retryable"], retryable: .asReported, support: .reported),
        ]

    /// Reference.md V2.1, V3 and V4.
    private static let success = [
        Row(
            condition: .valid, status: 0...0, meaning: "The receipt is valid",
            members: [
                "environment", "receipt", "(latest_receipt_info)", "(latest_receipt)", "(pending_renewal_info)",
                "(auto_renew_status)", "(auto_renew_product_id)",
            ], retryable: .notStated, support: .full),
        Row(
            condition: .subscriptionExpired, status: 21006...21006,
            meaning: "iOS 6 style receipt of a subscription whose newest period is over",
            members: expiredMembers, retryable: .notStated, support: .full),
        Row(
            condition: .subscriptionCancelled, status: 21006...21006,
            meaning: "iOS 6 style receipt of a subscription whose newest period was refunded",
            members: expiredMembers + ["cancellation_date_ms", "(cancellation_reason)"], retryable: .notStated,
            support: .full),
    ]

    private static let expiredMembers = [
        "receipt", "latest_expired_receipt_info", "(auto_renew_status)", "(auto_renew_product_id)",
        "(expiration_intent)", "(is_in_billing_retry_period)",
    ]

    /// Reference.md V1.4 and C3.
    private static let malformed = [
        Row(
            condition: .notAPost, status: 21000...21000, meaning: "The request is not a POST", members: [],
            retryable: .notStated, support: .server),
        malformed(.bodyNotJSON, "The body is not a JSON object"),
        malformed(.receiptDataMissing, "receipt-data is missing or null"),
        malformed(.receiptDataNotText, "receipt-data is not a string"),
        malformed(.receiptDataNotBase64, "receipt-data is not base64"),
        malformed(.receiptTooLarge, "The receipt is larger than the limit"),
        malformed(.notAReceipt, "The decoded data is not a receipt, or is damaged"),
        malformed(
            .xcodeReceipt, "A receipt of Xcode's StoreKit testing, without the option for it"),
        malformed(
            .signedTransactionNotAnswered, "A StoreKit 2 JWS, without the option for it"),
    ]

    private static func malformed(_ condition: StatusCondition, _ meaning: String) -> Row {
        Row(
            condition: condition, status: 21002...21002, meaning: meaning, members: [], retryable: .notStated,
            support: .full)
    }

    /// Reference.md V1.4, V2 and V7.5. Rejecting an app that is not configured, or has another app id, is a rule of
    /// this endpoint: it cannot authenticate such receipts.
    private static let refused = [
        refused(.notGenuine, 21003, "The signature or a certificate is invalid or not trusted"),
        refused(
            .unknownBundleId, 21003, "The app is not configured, and unknown bundle ids are refused"),
        refused(
            .foreignAppleId, 21003, "The receipt's app id is not the one configured for its bundle id"),
        refused(
            .secretMissing, 21004, "No password, and the receipt or its customer has auto-renewables"),
        refused(.secretMismatch, 21004, "The password is not one of the app's secrets"),
        elsewhere(.sandboxAtProduction, 21007, "A sandbox receipt sent to production"),
        elsewhere(
            .contradictoryEnvironment, 21007,
            "An iOS 6 style receipt whose unsigned environment contradicts its signed transaction id, sent to production"
        ),
        elsewhere(.productionAtSandbox, 21008, "A production receipt sent to the sandbox"),
    ]

    private static func refused(_ condition: StatusCondition, _ status: Int, _ meaning: String) -> Row {
        Row(
            condition: condition, status: status...status, meaning: meaning, members: ["environment"],
            retryable: .notStated, support: .full)
    }

    private static func elsewhere(
        _ condition: StatusCondition, _ status: Int, _ meaning: String
    ) -> Row {
        Row(
            condition: condition, status: status...status, meaning: meaning, members: [], retryable: .notStated,
            support: .full)
    }
}
