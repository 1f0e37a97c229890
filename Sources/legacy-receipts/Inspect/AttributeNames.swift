/// Names of attributes, verifyReceipt's where it has one (Reference.md V5.2 and V5.3).
enum AttributeNames {
    static let app: [Int64: String] = [
        0: "receipt_type", 1: "adam_id, app_item_id", 2: "bundle_id", 3: "application_version", 4: "opaque value",
        5: "SHA-1 device hash", 6: "opaque, meaning unknown", 7: "opaque, meaning unknown",
        8: "carried creation date", 9: "service tag", 10: "age rating", 11: "developer id",
        12: "receipt_creation_date", 13: "operating system version", 14: "device model code", 15: "download_id",
        16: "version_external_identifier", 18: "original_purchase_date", 19: "original_application_version",
        20: "text, meaning unknown", 21: "expiration_date", 22: "volume purchase date",
        23: "volume purchase organization", 25: "platform", 32: "preorder_date",
    ]

    static let purchase: [Int64: String] = [
        1701: "quantity", 1702: "product_id", 1703: "transaction_id", 1704: "purchase_date",
        1705: "original_transaction_id", 1706: "original_purchase_date", 1707: "product type", 1708: "expires_date",
        1710: "in-app item id", 1711: "web_order_line_item_id", 1712: "cancellation_date", 1713: "is_trial_period",
        1719: "is_in_intro_offer_period", 1720: "cancellation_reason", 1721: "promotional_offer_id",
        1722: "in_app_ownership_type",
    ]
}
