/// One in-app purchase of an app receipt: the attributes inside attribute 17 (Reference.md V5.3).
///
/// A property that is nil omits its attribute.
public struct ForgedPurchase: ForgedDescription, Hashable {
    /// Attribute 1707.
    public enum ProductType: Int64, Hashable, Sendable, CaseIterable {
        case nonConsumable = 0
        case consumable = 1
        case nonRenewing = 2
        case autoRenewable = 3
        /// Newsstand's free subscriptions, 2015 and before.
        case freeSubscription = 4
    }

    public var quantity: Int64? = 1
    public var productId: String?
    public var transactionId: String?
    public var purchaseDate: ForgedDate?
    public var originalTransactionId: String?
    public var originalPurchaseDate: ForgedDate?
    public var productType: ProductType?
    public var expiresDate: ForgedDate? = .empty
    public var itemId: Int64? = 0
    public var webOrderLineItemId: Int64? = 0
    public var cancellationDate: ForgedDate? = .empty
    public var isTrialPeriod: Bool? = false
    public var isInIntroOfferPeriod: Bool?
    public var cancellationReason: Int64?
    public var promotionalOfferId: String?
    /// 0 purchased, 1 shared by the family.
    public var ownershipType: Int64?
    /// Attributes 1709 and 1714 to 1718: strings that are always empty in Apple's receipts, and missing in Xcode's.
    public var hasEmptyStrings = true
    /// Attributes of unknown types.
    public var extra: [ForgedAttribute] = []

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
