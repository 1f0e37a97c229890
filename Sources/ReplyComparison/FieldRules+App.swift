/// The data of Reference.md V2 and V3.
extension FieldRules {
    /// 3.1. The members below `latest_receipt_info` and so on have tables of their own.
    package static let top = FieldRules([
        FieldRule("status", .answer, "order of checks"),
        FieldRule("environment", .answer, "attribute 0"),
        FieldRule("receipt", .container, "the submitted receipt"),
        FieldRule("latest_receipt_info", .container, .whereKnown, "the receipt and the store"),
        FieldRule(
            "latest_receipt", .reissued, .whereKnown, "the newest receipt known; Apple issues a new one each time"),
        FieldRule("pending_renewal_info", .container, .whereKnown, "the store"),
        FieldRule("is_retryable", .addition, "the status"),
        FieldRule("is-retryable", .addition, "the status; the documented spelling"),
        FieldRule("exception", .undocumented, .no, "an accident of Apple's, undocumented"),
    ])

    /// 3.2.
    package static let appReceipt = FieldRules([
        FieldRule("receipt_type", .signed, "attribute 0"),
        FieldRule("adam_id", .signed, "attribute 1"),
        FieldRule("app_item_id", .signed, "attribute 1"),
        FieldRule("bundle_id", .signed, "attribute 2"),
        FieldRule("application_version", .signed, "attribute 3"),
        FieldRule("download_id", .signed, "attribute 15; null without it"),
        FieldRule("version_external_identifier", .signed, "attribute 16"),
        FieldRule("receipt_creation_date", .date, .signed, "attribute 12", since: FieldEras.receiptCreationDate),
        FieldRule("request_date", .date, .clock, "the clock"),
        FieldRule("original_purchase_date", .date, .signed, "attribute 18"),
        FieldRule("original_application_version", .signed, "attribute 19"),
        FieldRule("expiration_date", .date, .signed, "attribute 21"),
        FieldRule("preorder_date", .date, .signed, "attribute 32"),
        FieldRule("in_app", .container, "attributes 17, in the order of the encoding"),
    ])

    /// 3.5, in both lists.
    private static let purchase: [FieldRule] = [
        FieldRule("quantity", .signed, "attribute 1701"),
        FieldRule("product_id", .signed, "attribute 1702"),
        FieldRule("transaction_id", .signed, "attribute 1703"),
        FieldRule("original_transaction_id", .signed, "attribute 1705"),
        FieldRule("purchase_date", .date, .signed, "attribute 1704"),
        FieldRule("original_purchase_date", .date, .signed, "attribute 1706"),
        FieldRule("expires_date", .date, .signed, "attribute 1708"),
        FieldRule("web_order_line_item_id", .signed, "attribute 1711, unless 0"),
        FieldRule("is_trial_period", .signed, "attribute 1713"),
        FieldRule("is_in_intro_offer_period", .signedWhereStated, .whereKnown, "attribute 1719, where stated"),
        FieldRule("in_app_ownership_type", .signedWhereStated, .whereKnown, "attribute 1722, where stated"),
        FieldRule("promotional_offer_id", .signedWhereStated, .whereKnown, "attribute 1721, where stated"),
        FieldRule("cancellation_date", .date, .signedWhereStated, .whereKnown, "attribute 1712, where stated"),
        FieldRule("cancellation_reason", .signedWhereStated, .whereKnown, "attribute 1720, where stated"),
    ]

    package static let inApp = FieldRules(purchase)

    package static let latestInfo = FieldRules(
        purchase + [
            FieldRule(
                "subscription_group_identifier", .database, .whereKnown, "catalogue, signed transaction, kept reply"),
            FieldRule("is_upgraded", .database, .whereKnown, "signed transaction, kept reply, the other periods"),
            FieldRule("offer_code_ref_name", .database, .whereKnown, "signed transaction, kept reply"),
            FieldRule("app_account_token", .database, .whereKnown, "signed transaction, kept reply"),
        ])

    /// 3.6.
    package static let renewal = FieldRules([
        FieldRule("auto_renew_product_id", .database, .whereKnown, renewalSource),
        FieldRule("product_id", .database, .whereKnown, renewalSource),
        FieldRule("original_transaction_id", .database, .whereKnown, renewalSource),
        FieldRule("auto_renew_status", .database, .whereKnown, renewalSource),
        FieldRule("expiration_intent", .database, .whereKnown, renewalSource),
        FieldRule("is_in_billing_retry_period", .database, .whereKnown, renewalSource),
        FieldRule("grace_period_expires_date", .date, .database, .whereKnown, renewalSource),
        FieldRule("price_consent_status", .database, .whereKnown, renewalSource),
        FieldRule("price_increase_status", .database, .whereKnown, renewalSource),
        FieldRule("promotional_offer_id", .database, .whereKnown, renewalSource),
        FieldRule("offer_code_ref_name", .database, .whereKnown, renewalSource),
    ])

    private static let renewalSource = "signed renewal info, kept reply, notification"
}

/// When members came into replies, as far as recordings tell; milliseconds since 1970-01-01T00:00:00Z.
enum FieldEras {
    /// 2015-10-01: "before about Sept 2015" (V3.2).
    static let receiptCreationDate: Int64 = 1_443_657_600_000
    /// 2017-09-01: the renewal members came with the change of July 2017 (2.1, 4).
    static let renewalMembers: Int64 = 1_504_224_000_000
}
