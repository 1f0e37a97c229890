/// The apps, dates and purchases of the cases.
enum Sample {
    static let bundleId = "com.example.orchard"
    /// Dates of creation, one in the validity period of each generation of certificates.
    static let originalDate = ForgedInstant(2014, 5, 17, 9, 30, 12)
    static let g1Date = ForgedInstant(2021, 6, 10, 14, 5, 33)
    static let g5Date = ForgedInstant(2024, 3, 15, 10, 20, 30)

    static let monthly = "com.example.orchard.premium.monthly"
    static let yearly = "com.example.orchard.premium.yearly"
    static let season = "com.example.orchard.season.pass"
    static let apples = "com.example.orchard.apples.100"
    static let tree = "com.example.orchard.tree.golden"

    /// A production receipt with these purchases, for SHA-256 certificates.
    static func production(_ purchases: [ForgedPurchase] = []) -> ForgedAppReceipt {
        .production(bundleId: bundleId, created: g5Date).with { $0.purchases = purchases }
    }

    static func sandbox(_ purchases: [ForgedPurchase] = []) -> ForgedAppReceipt {
        .sandbox(bundleId: bundleId, created: g5Date).with { $0.purchases = purchases }
    }

    /// A typical receipt with two purchases.
    static func usual() -> ForgedAppReceipt { production([renewal(0), nonConsumable]) }

    /// The n-th period, from 0, of a monthly subscription that began `monthsAgo` months before the receipt.
    static func renewal(_ number: Int64, begun monthsAgo: Int64 = 2) -> ForgedPurchase {
        subscription(
            id: String(530_001_234_567_000 + number * 1_037), originalId: "530001234567000",
            from: g5Date.adding(months: number - monthsAgo), originally: g5Date.adding(months: -monthsAgo), months: 1,
            orderLine: 530_000_612_345_678 + number)
    }

    static func subscription(
        _ product: String = monthly, id: String, originalId: String? = nil, from date: ForgedInstant,
        originally: ForgedInstant? = nil, months: Int64, orderLine: Int64
    ) -> ForgedPurchase {
        ForgedPurchase(
            .autoRenewable, product: product, id: id, at: date, originalId: originalId, originallyAt: originally
        ).with {
            $0.expiresDate = .seconds(date.adding(months: months))
            $0.itemId = 6_001_234_999
            $0.webOrderLineItemId = orderLine
            $0.isInIntroOfferPeriod = false
            $0.ownershipType = 0
        }
    }

    /// A purchase of the generation of ``g5Date``.
    static func purchase(
        _ type: ForgedPurchase.ProductType, _ product: String, id: String, at date: ForgedInstant, itemId: Int64
    ) -> ForgedPurchase {
        ForgedPurchase(type, product: product, id: id, at: date).with {
            $0.itemId = itemId
            $0.ownershipType = 0
        }
    }

    static let nonConsumable = purchase(
        .nonConsumable, tree, id: "530001234500001", at: g5Date.adding(days: -40), itemId: 6_001_234_100)

    /// A sandbox purchase: 16 digits that begin with 200, no item id.
    static let sandboxSubscription = subscription(
        id: "2000000612345678", from: g5Date.adding(hours: -1), months: 0, orderLine: 2_000_000_061_234_567
    ).with {
        $0.expiresDate = .seconds(g5Date.adding(minutes: -55))
        $0.itemId = 0
    }

    static let xcodePurchase = ForgedPurchase(nil, product: yearly, id: "0", at: g1Date).with {
        $0.purchaseDate = .offset(g1Date, minutes: 60)
        $0.originalTransactionId = nil
        $0.originalPurchaseDate = nil
        $0.expiresDate = .offset(g1Date.adding(months: 12), minutes: 60)
        $0.itemId = nil
        $0.webOrderLineItemId = nil
        $0.cancellationDate = nil
        $0.isTrialPeriod = nil
        $0.isInIntroOfferPeriod = false
        $0.hasEmptyStrings = false
    }
}
