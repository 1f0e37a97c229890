extension ForgedCase {
    /// Every kind of purchase, one receipt each.
    static func purchaseCases() throws -> [ForgedCase] {
        try (subscriptionCases() + subscriptionOfferCases() + otherPurchaseCases()).map { name, shows, purchases in
            let receipt = Sample.production(purchases)
            return try app(name, shows, receipt, receipt.signedData(.g5))
        } + [freeSubscriptionCase()]
    }

    private typealias Description = (name: String, shows: String, purchases: [ForgedPurchase])

    private static func subscriptionCases() -> [Description] {
        let cancelled = Sample.renewal(1).with {
            $0.cancellationDate = .seconds(Sample.g5Date.adding(days: -5))
            $0.cancellationReason = 1
        }
        let upgradedAt = Sample.g5Date.adding(days: -9)
        let upgraded = Sample.renewal(1).with {
            $0.cancellationDate = .seconds(upgradedAt)
            $0.cancellationReason = 0
        }
        let upgrade = Sample.subscription(
            Sample.yearly, id: "530001234999999", originalId: "530001234567000", from: upgradedAt,
            originally: Sample.g5Date.adding(months: -2), months: 12, orderLine: 530_000_612_349_999)
        let shared = Sample.renewal(0).with { $0.ownershipType = 1 }
        return [
            ("auto-renewable", "One period of an auto-renewable subscription.", [Sample.renewal(0, begun: 0)]),
            (
                "auto-renewable-renewals",
                "Six periods of one subscription; their encoded order is that of a DER set, not of time.",
                (0..<6).map { Sample.renewal($0, begun: 5) }
            ),
            ("cancelled", "A refunded subscription: cancellation date and reason.", [Sample.renewal(0), cancelled]),
            (
                "upgraded",
                "A monthly subscription cancelled by the upgrade to a yearly one, which begins that moment.",
                [Sample.renewal(0), upgraded, upgrade]
            ),
            ("family-shared", "A subscription that a member of the family bought (1722 = 1).", [shared]),
        ]
    }

    private static func subscriptionOfferCases() -> [Description] {
        let trial = Sample.renewal(0).with { $0.isTrialPeriod = true }
        let paidIntro = Sample.renewal(0).with { $0.isInIntroOfferPeriod = true }
        let both = Sample.renewal(0).with {
            $0.isTrialPeriod = true
            $0.isInIntroOfferPeriod = true
        }
        let promotional = Sample.renewal(2).with { $0.promotionalOfferId = "winter.half.price" }
        let beforeIntroductoryOffers = Sample.renewal(0).with {
            $0.isInIntroOfferPeriod = nil
            $0.ownershipType = nil
        }
        return [
            ("free-trial", "A free trial as flagged until 2024: trial set, introductory not.", [trial]),
            ("introductory-offer", "A paid introductory offer: trial not set, introductory set.", [paidIntro]),
            ("free-trial-flagged-twice", "A free trial as flagged since 2024: both flags set.", [both]),
            (
                "trial-then-renewals", "A free trial and two paid periods.",
                [trial, Sample.renewal(1), Sample.renewal(2)]
            ),
            (
                "promotional-offer", "A period bought with a promotional offer (1721).",
                [Sample.renewal(1), promotional]
            ),
            (
                "auto-renewable-2016", "A subscription from before attributes 1719 and 1722 existed.",
                [beforeIntroductoryOffers]
            ),
        ]
    }

    private static func otherPurchaseCases() -> [Description] {
        func seasonPass(_ id: String, months: Int64) -> ForgedPurchase {
            ForgedPurchase(.nonRenewing, product: Sample.season, id: id, at: Sample.g5Date.adding(months: months)).with
            {
                $0.itemId = 6_001_234_200
                $0.ownershipType = 0
            }
        }
        let consumable = ForgedPurchase(.consumable, product: Sample.apples, id: "530001234500007", at: Sample.g5Date)
            .with {
                $0.quantity = 10
                $0.itemId = 6_001_234_300
                $0.ownershipType = 0
            }
        let restored = ForgedPurchase(
            .nonConsumable, product: Sample.tree, id: "530001234511111", at: Sample.g5Date.adding(days: -1),
            originalId: "290000412345678", originallyAt: Sample.g5Date.adding(months: -50))
        let refunded = Sample.nonConsumable.with {
            $0.cancellationDate = .seconds(Sample.g5Date.adding(days: -20))
            $0.cancellationReason = 0
        }
        let passes = [seasonPass("530001234500011", months: -3), seasonPass("530001234500012", months: -2)]
        return [
            ("non-renewing", "A non-renewing subscription; the receipt does not know its term.", [passes[0]]),
            ("non-renewing-stacked", "Two non-renewing subscriptions bought a month apart.", passes),
            ("consumable", "A consumable, ten at once.", [consumable]),
            ("non-consumable", "A non-consumable.", [Sample.nonConsumable]),
            ("non-consumable-refunded", "A non-consumable that was refunded and stays in the receipt.", [refunded]),
            ("restored", "A restored non-consumable: the transaction is not the original transaction.", [restored]),
            (
                "every-product-type", "One purchase of each of the four product types.",
                [Sample.renewal(0), passes[0], consumable, Sample.nonConsumable]
            ),
        ]
    }

    private static func freeSubscriptionCase() throws -> ForgedCase {
        let receipt = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.originalDate).with {
            $0.purchases = [
                ForgedPurchase(
                    .freeSubscription, product: "com.example.orchard.weekly", id: "20000053112999",
                    at: Sample.originalDate.adding(days: -7)
                ).with { $0.webOrderLineItemId = 20_000_004_512_345 }
            ]
        }
        return try app(
            "free-subscription", "A free subscription of Newsstand (1707 = 4), which never expires.", receipt,
            receipt.signedData(.original))
    }
}
