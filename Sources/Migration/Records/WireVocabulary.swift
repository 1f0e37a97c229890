/// The keys of Apple's (and Unity's) documents. Other columns are the caller's own.
enum WireVocabulary {
    /// Reference.md V1.2.
    static let request: Set<String> = ["receipt-data", "password", "exclude-old-transactions"]

    static let unity: Set<String> = ["Store", "TransactionID", "Payload"]

    /// Reference.md V2.1, V3.1 and V4.
    static let reply: Set<String> = [
        "status", "environment", "receipt", "latest_receipt", "latest_receipt_info", "latest_expired_receipt",
        "latest_expired_receipt_info", "pending_renewal_info", "is-retryable", "is_retryable", "exception",
        "auto_renew_status", "auto_renew_product_id", "expiration_intent", "is_in_billing_retry_period",
        "cancellation_date", "cancellation_date_ms", "cancellation_date_pst", "cancellation_reason",
    ]

    /// Reference.md V8.
    static let notification: Set<String> = reply.union(request).union([
        "notification_type", "bid", "bvrs", "auto_renew_adam_id", "auto_renew_status_change_date",
        "auto_renew_status_change_date_ms", "auto_renew_status_change_date_pst", "original_transaction_id",
        "deprecation",
        "unified_receipt", "web_order_line_item_id",
    ])

    /// The members with objects or arrays in a reply or notification. Databases and tables often store them as text.
    static let containers: Set<String> = [
        "receipt", "in_app", "latest_receipt_info", "latest_expired_receipt_info", "pending_renewal_info",
        "unified_receipt",
    ]

    /// The `receipt` of an app style reply (Reference.md V3.2).
    static let appReceipt: Set<String> = dates(
        "receipt_creation_date", "request_date", "original_purchase_date", "expiration_date", "preorder_date"
    ).union([
        "receipt_type", "adam_id", "app_item_id", "bundle_id", "application_version", "download_id",
        "version_external_identifier", "original_application_version", "in_app",
    ])

    /// The keys of dates, each with its three forms.
    private static func dates(_ names: String...) -> Set<String> {
        Set(names.flatMap { [$0, $0 + "_ms", $0 + "_pst"] })
    }

    /// Either of these makes an object a notification (Reference.md V8).
    static let notificationMarks: Set<String> = ["notification_type", "unified_receipt"]

    /// Reference.md V3.5 and V4.
    static let row: Set<String> = dates(
        "purchase_date", "original_purchase_date", "expires_date", "cancellation_date"
    ).union([
        "quantity", "product_id", "transaction_id", "original_transaction_id", "web_order_line_item_id",
        "is_trial_period", "is_in_intro_offer_period", "in_app_ownership_type", "promotional_offer_id",
        "cancellation_reason", "is_upgraded", "subscription_group_identifier", "offer_code_ref_name",
        "app_account_token", "bid", "bvrs", "item_id", "app_item_id", "version_external_identifier",
        "unique_identifier", "unique_vendor_identifier", "expires_date_formatted", "expires_date_formatted_pst",
    ])

    /// Any of these makes an object the `receipt` of a reply (Reference.md V3.2 and V4).
    static let receiptMarks: Set<String> = [
        "in_app", "bundle_id", "bid", "receipt_type", "application_version", "receipt_creation_date", "product_id",
        "transaction_id",
    ]
}
