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

        /// `last` is the last status of a range.
        init(
            _ condition: StatusCondition, _ status: Int, through last: Int? = nil, _ meaning: String,
            members: [String] = [], retryable: Retryable = .notStated, support: Support = .full
        ) {
            self.condition = condition
            self.status = status...(last ?? status)
            self.meaning = meaning
            self.members = members
            self.retryable = retryable
            self.support = support
        }
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
        .storedDataUnreadable, 21009, "The stored data cannot be read (internal data access error)",
        members: ["environment"])

    /// The rows of all conditions.
    package static let rows: [Row] = [
        // Reference.md V2.1, V3 and V4.
        Row(
            .valid, 0, "The receipt is valid",
            members: [
                "environment", "receipt", "(latest_receipt_info)", "(latest_receipt)", "(pending_renewal_info)",
                "(auto_renew_status)", "(auto_renew_product_id)",
            ]),
        Row(
            .subscriptionExpired, 21006, "iOS 6 style receipt of a subscription whose newest period is over",
            members: expiredMembers),
        Row(
            .subscriptionCancelled, 21006, "iOS 6 style receipt of a subscription whose newest period was refunded",
            members: expiredMembers + ["cancellation_date_ms", "(cancellation_reason)"]),
        // Reference.md V1.4 and C3.
        Row(.notAPost, 21000, "The request is not a POST", support: .server),
        Row(.bodyNotJSON, 21002, "The body is not a JSON object"),
        Row(.receiptDataMissing, 21002, "receipt-data is missing or null"),
        Row(.receiptDataNotText, 21002, "receipt-data is not a string"),
        Row(.receiptDataNotBase64, 21002, "receipt-data is not base64"),
        Row(.receiptTooLarge, 21002, "The receipt is larger than the limit"),
        Row(.notAReceipt, 21002, "The decoded data is not a receipt, or is damaged"),
        Row(.xcodeReceipt, 21002, "A receipt of Xcode's StoreKit testing, without the option for it"),
        Row(.signedTransactionNotAnswered, 21002, "A StoreKit 2 JWS, without the option for it"),
        // Reference.md V1.4, V2 and V7.5. Rejecting an app that is not configured, or has another app id, is a rule of
        // this endpoint: it cannot authenticate such receipts.
        refused(.notGenuine, 21003, "The signature or a certificate is invalid or not trusted"),
        refused(.unknownBundleId, 21003, "The app is not configured, and unknown bundle ids are refused"),
        refused(.foreignAppleId, 21003, "The receipt's app id is not the one configured for its bundle id"),
        refused(.secretMissing, 21004, "No password, and the receipt or its customer has auto-renewables"),
        refused(.secretMismatch, 21004, "The password is not one of the app's secrets"),
        Row(.sandboxAtProduction, 21007, "A sandbox receipt sent to production"),
        Row(
            .contradictoryEnvironment, 21007,
            "An iOS 6 style receipt whose unsigned environment contradicts its signed transaction id, sent to production"
        ),
        Row(.productionAtSandbox, 21008, "A production receipt sent to the sandbox"),
        Row(
            .queueFull, 21005, "The server is too busy: the receipt server is temporarily unavailable",
            support: .server),
        Row(
            .storeUnavailable, 21005,
            "The store cannot be reached, or neither it nor the spool accepts the receipt: the receipt server is "
                + "temporarily unavailable"),
        Row(
            .appStoreUnavailable, 21005,
            "The App Store cannot be queried, and the configuration requires a current answer"),
        internalRow,
        // Two spellings of the same member: Reference.md C2, rule 4.
        Row(
            .accountNotFound, 21010,
            "The account was not found or deleted; or the configuration requires a current answer and the "
                + "App Store knows no purchase, or does not know a running subscription",
            members: ["environment", "is_retryable", "is-retryable"], retryable: .fixed(false), support: .reported),
        Row(
            .internalDataAccess, 21100, through: 21199, "Internal data access errors",
            members: ["environment", "is_retryable", "is-retryable"], retryable: .asReported, support: .reported),
    ]

    private static let expiredMembers = [
        "receipt", "latest_expired_receipt_info", "(auto_renew_status)", "(auto_renew_product_id)",
        "(expiration_intent)", "(is_in_billing_retry_period)",
    ]

    private static func refused(_ condition: StatusCondition, _ status: Int, _ meaning: String) -> Row {
        Row(condition, status, meaning, members: ["environment"])
    }
}
