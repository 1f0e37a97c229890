/// One in-app purchase of an app receipt: the attributes inside attribute 17 (Reference.md V5.3).
///
/// A property that is nil omits its attribute.
public struct ForgedPurchase: ForgedDescription, Hashable {
    /// Attribute 1707: the type of product (Reference.md V5.3).
    public enum ProductType: Int64, Hashable, Sendable, CaseIterable {
        /// Bought once and owned forever.
        case nonConsumable = 0
        /// Used up, and can be bought again.
        case consumable = 1
        /// A non-renewing subscription.
        case nonRenewing = 2
        /// An auto-renewable subscription.
        case autoRenewable = 3
        /// Newsstand's free subscriptions, 2015 and before.
        case freeSubscription = 4
    }

    /// Attribute 1701.
    public var quantity: Int64? = 1
    /// Attribute 1702.
    public var productId: String?
    /// Attribute 1703; `0` in Xcode's receipts.
    public var transactionId: String?
    /// Attribute 1704.
    public var purchaseDate: ForgedDate?
    /// Attribute 1705. Most of Xcode's receipts omit it.
    public var originalTransactionId: String?
    /// Attribute 1706. Most of Xcode's receipts omit it.
    public var originalPurchaseDate: ForgedDate?
    /// Attribute 1707. Xcode's receipts omit it.
    public var productType: ProductType?
    /// Attribute 1708: the end of the subscription period. `.empty`, the default, writes the attribute with an empty
    /// string, as Apple does for other products.
    public var expiresDate: ForgedDate? = .empty
    /// Attribute 1710: the item id of the in-app purchase. 0, the default, is the value in the sandbox.
    public var itemId: Int64? = 0
    /// Attribute 1711: the id of the subscription period. 0, the default, is Apple's value for no period.
    public var webOrderLineItemId: Int64? = 0
    /// Attribute 1712. `.empty`, the default, writes the attribute with an empty string, as in every receipt examined.
    public var cancellationDate: ForgedDate? = .empty
    /// Attribute 1713: 1 or 0. Xcode's receipts omit it.
    public var isTrialPeriod: Bool? = false
    /// Attribute 1719: 1 or 0. Only auto-renewable subscriptions have it, since about 2018.
    public var isInIntroOfferPeriod: Bool?
    /// Attribute 1720, as an INTEGER. No receipt examined contains it.
    public var cancellationReason: Int64?
    /// Attribute 1721.
    public var promotionalOfferId: String?
    /// 0 purchased, 1 shared by the family.
    public var ownershipType: Int64?
    /// Attributes 1709 and 1714 to 1718: strings that are always empty in Apple's receipts, and missing in Xcode's.
    public var hasEmptyStrings = true
    /// Attributes of unknown types.
    public var extra: [ForgedAttribute] = []

    /// A purchase as the sandbox states it.
    ///
    /// - Parameters:
    ///   - type: attribute 1707; nil omits it.
    ///   - product: attribute 1702.
    ///   - id: attribute 1703.
    ///   - date: attribute 1704, in whole seconds.
    ///   - originalId: attribute 1705; nil for `id`, as in a first purchase.
    ///   - originalDate: attribute 1706, in whole seconds; nil for `date`.
    public init(
        _ type: ProductType?, product: String, id: String, at date: ForgedInstant, originalId: String? = nil,
        originallyAt originalDate: ForgedInstant? = nil
    ) {
        productId = product
        transactionId = id
        purchaseDate = .seconds(date)
        originalTransactionId = originalId ?? id
        originalPurchaseDate = .seconds(originalDate ?? date)
        productType = type
    }

    /// The attributes by type.
    public var attributes: [ForgedAttribute] {
        var list: [ForgedAttribute] = []
        if let quantity { list.append(.integer(1701, quantity)) }
        if let productId { list.append(.text(1702, productId)) }
        if let transactionId { list.append(.text(1703, transactionId)) }
        if let purchaseDate { list.append(.date(1704, purchaseDate)) }
        if let originalTransactionId { list.append(.text(1705, originalTransactionId)) }
        if let originalPurchaseDate { list.append(.date(1706, originalPurchaseDate)) }
        if let productType { list.append(.integer(1707, productType.rawValue)) }
        if let expiresDate { list.append(.date(1708, expiresDate)) }
        if hasEmptyStrings { list += [1709, 1714, 1715, 1716, 1717, 1718].map { .text($0, "") } }
        if let itemId { list.append(.integer(1710, itemId)) }
        if let webOrderLineItemId { list.append(.integer(1711, webOrderLineItemId)) }
        if let cancellationDate { list.append(.date(1712, cancellationDate)) }
        if let isTrialPeriod { list.append(.integer(1713, isTrialPeriod ? 1 : 0)) }
        if let isInIntroOfferPeriod { list.append(.integer(1719, isInIntroOfferPeriod ? 1 : 0)) }
        if let cancellationReason { list.append(.integer(1720, cancellationReason)) }
        if let promotionalOfferId { list.append(.text(1721, promotionalOfferId)) }
        if let ownershipType { list.append(.integer(1722, ownershipType)) }
        return list + extra
    }

    /// The purchase as a whole: attribute 17.
    func attribute(_ order: ForgedAppReceipt.Order) -> ForgedAttribute {
        ForgedAttribute(17, value: order.set(of: attributes))
    }

    /// The purchase in the terms of verifyReceipt's `in_app`: every value a string, dates in milliseconds, empty dates
    /// and a zero order line omitted (Reference.md V3.5). A verifyReceipt reply does not contain `product_type` and `item_id`.
    public var facts: ForgedJSON {
        var list: [(String, ForgedJSON?)] = [
            ("quantity", quantity.map { .string(String($0)) }),
            ("product_id", productId.map { .string($0) }),
            ("transaction_id", transactionId.map { .string($0) }),
            ("original_transaction_id", originalTransactionId.map { .string($0) }),
        ]
        list.append(("purchase_date_ms", purchaseDate?.milliseconds.map { .string(String($0)) }))
        list.append(("original_purchase_date_ms", originalPurchaseDate?.milliseconds.map { .string(String($0)) }))
        list.append(("expires_date_ms", expiresDate?.milliseconds.map { .string(String($0)) }))
        list.append(("web_order_line_item_id", webOrderLineItemId.flatMap { $0 == 0 ? nil : .string(String($0)) }))
        list.append(("is_trial_period", isTrialPeriod.map { .string($0 ? "true" : "false") }))
        list.append(("is_in_intro_offer_period", isInIntroOfferPeriod.map { .string($0 ? "true" : "false") }))
        list.append(
            ("in_app_ownership_type", ownershipType.map { .string($0 == 0 ? "PURCHASED" : "FAMILY_SHARED") }))
        list.append(("promotional_offer_id", promotionalOfferId.map { .string($0) }))
        list.append(("cancellation_date_ms", cancellationDate?.milliseconds.map { .string(String($0)) }))
        list.append(("cancellation_reason", cancellationReason.map { .string(String($0)) }))
        list.append(("product_type", productType.map { .string(String($0.rawValue)) }))
        list.append(("item_id", itemId.flatMap { $0 == 0 ? nil : .string(String($0)) }))
        list.append(("unknown_attributes", extra.isEmpty ? nil : .array(extra.map(\.facts))))
        return .object(present: list)
    }
}
