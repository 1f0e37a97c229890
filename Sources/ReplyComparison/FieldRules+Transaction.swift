/// The data of Reference.md V2.1 and V4: replies to iOS 6 style receipts.
extension FieldRules {
    package static let transactionTop = FieldRules([
        FieldRule("status", .answer, "order of checks"),
        FieldRule("receipt", .container, "the submitted receipt"),
        FieldRule("latest_receipt_info", .container, .whereKnown, "the receipt and the store; one object"),
        FieldRule(
            "latest_receipt", .reissued, .whereKnown,
            "the newest receipt known of the subscription; Apple issues a new one each time"),
        FieldRule("latest_expired_receipt_info", .container, .whereKnown, "the receipt and the store; with 21006"),
        FieldRule(
            "latest_expired_receipt", .reissued, .whereKnown, "as latest_receipt; notifications of that time only"),
        FieldRule("auto_renew_status", .database, .whereKnown, renewalSource, since: FieldEras.renewalMembers),
        FieldRule("auto_renew_product_id", .database, .whereKnown, renewalSource, since: FieldEras.renewalMembers),
        FieldRule("expiration_intent", .database, .whereKnown, renewalSource, since: FieldEras.renewalMembers),
        FieldRule("is_in_billing_retry_period", .database, .whereKnown, renewalSource, since: FieldEras.renewalMembers),
        FieldRule("cancellation_date", .date, .database, .whereKnown, "the store; with 21006"),
        FieldRule("cancellation_reason", .database, .whereKnown, "the store; with 21006"),
        FieldRule("is_retryable", .addition, "the status"),
        FieldRule("is-retryable", .addition, "the status; the documented spelling"),
        FieldRule("exception", .undocumented, .no, "an accident of Apple's, undocumented"),
    ])

    /// The keys of `purchase-info` with `_` for `-`, values as they stand there.
    package static let transactionReceipt = FieldRules([
        FieldRule("bid", .signed, "bid"),
        FieldRule("bvrs", .signed, "bvrs"),
        FieldRule("product_id", .signed, "product-id"),
        FieldRule("quantity", .signed, "quantity"),
        FieldRule("transaction_id", .signed, "transaction-id"),
        FieldRule("original_transaction_id", .signed, "original-transaction-id"),
        FieldRule("item_id", .signed, "item-id"),
        FieldRule("app_item_id", .signed, "app-item-id"),
        FieldRule("version_external_identifier", .signed, "version-external-identifier"),
        FieldRule("unique_identifier", .signed, "unique-identifier"),
        FieldRule("unique_vendor_identifier", .signed, "unique-vendor-identifier"),
        FieldRule("purchase_date", .date, .signed, "purchase-date"),
        FieldRule("original_purchase_date", .date, .signed, "original-purchase-date"),
        FieldRule("expires_date", .formattedDate, .signed, "expires-date"),
        FieldRule("web_order_line_item_id", .signed, "web-order-line-item-id"),
        FieldRule("is_trial_period", .signedWhereStated, .whereKnown, "is-trial-period, where stated"),
        FieldRule(
            "is_in_intro_offer_period", .signedWhereStated, .whereKnown, "is-in-intro-offer-period, where stated"),
        FieldRule("cancellation_date", .date, .signedWhereStated, .whereKnown, "cancellation-date, where stated"),
        FieldRule("cancellation_reason", .signedWhereStated, .whereKnown, "cancellation-reason, where stated"),
        FieldRule(
            "subscription_group_identifier", .signedWhereStated, .whereKnown,
            "subscription-group-identifier, where stated; catalogue"),
        FieldRule("in_app_ownership_type", .signedWhereStated, .whereKnown, "in-app-ownership-type, where stated"),
    ])

    private static let renewalSource = "signed renewal info, kept reply, notification"
}
