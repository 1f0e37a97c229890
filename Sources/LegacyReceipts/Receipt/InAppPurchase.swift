/// One purchase inside an app receipt: attribute 17 (Reference.md V5.3).
///
/// All dates are milliseconds since 1970-01-01T00:00:00Z. An attribute that is missing or empty is nil.
public struct InAppPurchase: Hashable, Sendable {
    /// Attribute 1701, `quantity`.
    public internal(set) var quantity: Int64?
    /// Attribute 1702, `product_id`.
    public internal(set) var productId: String
    /// Attribute 1703, `transaction_id`; `"0"` from Xcode.
    public internal(set) var transactionId: String
    /// Attribute 1704, `purchase_date`.
    public internal(set) var purchaseDate: Int64?
    /// Attribute 1705, `original_transaction_id`; absent in some Xcode receipts.
    public internal(set) var originalTransactionId: String?
    /// Attribute 1706, `original_purchase_date`.
    public internal(set) var originalPurchaseDate: Int64?
    /// Attribute 1707, the type of the product; absent from Xcode.
    public internal(set) var productType: ReceiptProductType?
    /// Attribute 1708, `expires_date`: the end of the period, auto-renewable subscriptions only.
    public internal(set) var expiresDate: Int64?
    /// Attribute 1710: the App Store's id of the in-app product; 0 in the sandbox.
    public internal(set) var inAppItemId: Int64?
    /// Attribute 1711, `web_order_line_item_id`; 0 if there is none. Can exceed 2^53.
    public internal(set) var webOrderLineItemId: Int64?
    /// Attribute 1712, `cancellation_date`: refunded, revoked, or replaced by an upgrade. A receipt does not distinguish them.
    public internal(set) var cancellationDate: Int64?
    /// Attribute 1713, `is_trial_period`.
    public internal(set) var isTrialPeriod: Bool?
    /// Attribute 1719, `is_in_intro_offer_period`; false on free trials before 2024.
    public internal(set) var isInIntroOfferPeriod: Bool?
    /// Attribute 1720, `cancellation_reason`.
    public internal(set) var cancellationReason: Int64?
    /// Attribute 1721, `promotional_offer_id`.
    public internal(set) var promotionalOfferId: String?
    /// Attribute 1722, `in_app_ownership_type`; in receipts from about the end of 2021.
    public internal(set) var ownershipType: ReceiptOwnershipType?
    /// Attributes without a property here (1709 and 1714 to 1718 only if not empty), repeated attributes, and known
    /// attributes whose value is not in the documented form; in the order of the encoding.
    public internal(set) var unknownAttributes: [RawAttribute]

    init() {
        productId = ""
        transactionId = ""
        unknownAttributes = []
    }
}
