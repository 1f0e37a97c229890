extension ForgedCase {
    /// Every environment and every generation of certificates.
    static func environmentCases() throws -> [ForgedCase] {
        try appStoreCases() + volumePurchaseCases() + [macCase()] + xcodeCases()
    }

    private static func appStoreCases() throws -> [ForgedCase] {
        let usual = Sample.usual()
        let g1 = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.g1Date).with {
            $0.purchases = [
                ForgedPurchase(.consumable, product: Sample.apples, id: "290000689050510", at: Sample.g1Date).with {
                    $0.itemId = 1_484_453_738
                }
            ]
        }
        let original = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.originalDate).with {
            $0.purchases = [
                ForgedPurchase(.nonConsumable, product: Sample.tree, id: "20000053112933", at: Sample.originalDate)
            ]
        }
        let sandbox = Sample.sandbox([Sample.sandboxSubscription])
        let oldSandbox = ForgedAppReceipt.sandbox(bundleId: Sample.bundleId, created: Sample.originalDate).with {
            $0.purchases = [
                ForgedPurchase(.nonConsumable, product: Sample.tree, id: "1000000088116547", at: Sample.originalDate)
            ]
        }
        let reminted = usual.with { $0.creationDate = .seconds(Sample.g5Date.adding(days: 47, hours: 3)) }
        return [
            try genuine("production-sha256", "A receipt of the App Store as signed since 2023: SHA-256 throughout."),
            try genuine(
                "production-sha1", "A receipt of the App Store as signed until 2023: SHA-1 throughout.", g1, .g1),
            try genuine(
                "production-2014", "A receipt signed by the first generation of certificates, which expired in 2015.",
                original, .original),
            try genuine(
                "production-reminted",
                "A receipt that the App Store signed again: attribute 8 keeps the first creation date, 12 has the last.",
                reminted),
            try genuine("sandbox-sha256", "A receipt of the sandbox: ids of zero, no date in attribute 8.", sandbox),
            try genuine(
                "sandbox-sha1", "A receipt of the sandbox of 2014, whose transaction ids begin with 100.", oldSandbox,
                .original),
        ]
    }

    private static func volumePurchaseCases() throws -> [ForgedCase] {
        let volume = Sample.usual().with {
            $0.receiptType = "ProductionVPP"
            $0.expirationDate = .seconds(Sample.g5Date.adding(months: 12))
        }
        let organization = volume.with {
            $0.volumePurchaseDate = .seconds(Sample.g5Date.adding(days: -3))
            $0.volumePurchaseOrganization = "Test Orchard School"
        }
        let sandbox = Sample.sandbox().with {
            $0.receiptType = "ProductionVPPSandbox"
            $0.expirationDate = .seconds(Sample.g5Date.adding(months: 1))
        }
        return [
            try genuine(
                "vpp-production", "A volume purchase (ProductionVPP) with its date of expiration in attribute 21.",
                volume),
            try genuine(
                "vpp-organization", "A volume purchase that names a date and the organization (attributes 22 and 23).",
                organization),
            try genuine(
                "vpp-sandbox", "A volume purchase in the sandbox (ProductionVPPSandbox), which counts as sandbox.",
                sandbox),
        ]
    }

    private static func macCase() throws -> ForgedCase {
        let created = ForgedInstant(2020, 10, 8, 11, 17, 49, milliseconds: 131)
        let bought = ForgedInstant(2018, 1, 2, 3, 4, 5, milliseconds: 60)
        let guid: [UInt8] = [0x02, 0x00, 0x5E, 0x10, 0x20, 0x30]
        let receipt = ForgedAppReceipt.mac(bundleId: "com.example.orchard.mac", created: created, guid: guid).with {
            $0.keptCreationDate = .milliseconds(created)
            $0.originalPurchaseDate = .milliseconds(bought)
            $0.purchases = [
                ForgedPurchase(
                    .nonConsumable, product: Sample.tree, id: "290000712345678", at: created.adding(days: -9))
            ]
        }
        return try genuine(
            "mac",
            "A receipt of the Mac App Store: platform 2, fractional seconds in attributes 8 and 18, a device hash "
                + "of a known MAC address.", receipt, .g1)
    }

    private static func xcodeCases() throws -> [ForgedCase] {
        let receipt = ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g1Date).with {
            $0.purchases = [Sample.xcodePurchase]
        }
        let later = ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g5Date, offsetMinutes: -330).with
        {
            $0.purchases = [
                Sample.xcodePurchase.with {
                    $0.transactionId = "7"
                    $0.originalTransactionId = "3"
                    $0.originalPurchaseDate = .offset(Sample.g1Date, minutes: 60)
                }
            ]
        }
        let empty = ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g1Date, offsetMinutes: 0)
        let algorithmNamed = try empty.signedDataOfXcode().with {
            $0.signers[0].signatureAlgorithm = .sha256WithRSA
        }
        let borrowed = try ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g5Date).signedDataOfXcode()
            .with { $0.certificates += try TestCertificateAuthority.shared().chain(.g5).map(\.der) }
        func xcode(_ expected: inout ForgedExpectation) { expected.genuineForXcode = true }
        return [
            try app(
                "xcode",
                "A receipt of Xcode's StoreKit testing: BER, dates with an offset, one self-signed certificate.",
                receipt, receipt.signedDataOfXcode(), .notGenuine, "xcodeReceipt", expect: xcode),
            try app(
                "xcode-renewed",
                "A later receipt of Xcode's StoreKit testing, which also has the original transaction.",
                later, later.signedDataOfXcode(), .notGenuine, "xcodeReceipt", expect: xcode),
            try app(
                "xcode-empty",
                "A receipt of Xcode's StoreKit testing without purchases, signer algorithm sha256WithRSAEncryption.",
                empty, algorithmNamed, .notGenuine, "xcodeReceipt", expect: xcode),
            try app(
                "xcode-with-borrowed-chain",
                "A receipt of Xcode's StoreKit testing that carries the genuine chain beside its own certificate.",
                ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g5Date), borrowed, .notGenuine,
                "untrustedRoot"),
        ]
    }

    /// Every kind of purchase, one receipt each.
    static func purchaseCases() throws -> [ForgedCase] {
        try subscriptionCases() + subscriptionOfferCases() + otherPurchaseCases() + [freeSubscriptionCase()]
    }

    private static func purchaseCase(_ name: String, _ shows: String, _ purchases: [ForgedPurchase]) throws
        -> ForgedCase
    {
        try genuine(name, shows, Sample.production(purchases))
    }

    private static func subscriptionCases() throws -> [ForgedCase] {
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
            try purchaseCase(
                "auto-renewable", "One period of an auto-renewable subscription.", [Sample.renewal(0, begun: 0)]),
            try purchaseCase(
                "auto-renewable-renewals",
                "Six periods of one subscription, encoded in the order of a DER set, not of time.",
                (0..<6).map { Sample.renewal($0, begun: 5) }),
            try purchaseCase(
                "cancelled", "A refunded subscription: cancellation date and reason.", [Sample.renewal(0), cancelled]),
            try purchaseCase(
                "upgraded",
                "A monthly subscription canceled by the upgrade to a yearly one, which begins at that moment.",
                [Sample.renewal(0), upgraded, upgrade]),
            try purchaseCase(
                "family-shared", "A subscription that a member of the family bought (1722 = 1).", [shared]),
        ]
    }

    private static func subscriptionOfferCases() throws -> [ForgedCase] {
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
            try purchaseCase("free-trial", "A free trial as flagged until 2024: trial set, introductory not.", [trial]),
            try purchaseCase(
                "introductory-offer", "A paid introductory offer: trial not set, introductory set.", [paidIntro]),
            try purchaseCase("free-trial-flagged-twice", "A free trial as flagged since 2024: both flags set.", [both]),
            try purchaseCase(
                "trial-then-renewals", "A free trial and two paid periods.",
                [trial, Sample.renewal(1), Sample.renewal(2)]),
            try purchaseCase(
                "promotional-offer", "A period bought with a promotional offer (1721).",
                [Sample.renewal(1), promotional]),
            try purchaseCase(
                "auto-renewable-2016", "A subscription from before attributes 1719 and 1722 existed.",
                [beforeIntroductoryOffers]),
        ]
    }

    private static func otherPurchaseCases() throws -> [ForgedCase] {
        func seasonPass(_ id: String, months: Int64) -> ForgedPurchase {
            Sample.purchase(
                .nonRenewing, Sample.season, id: id, at: Sample.g5Date.adding(months: months), itemId: 6_001_234_200)
        }
        let consumable = Sample.purchase(
            .consumable, Sample.apples, id: "530001234500007", at: Sample.g5Date, itemId: 6_001_234_300
        ).with { $0.quantity = 10 }
        let restored = ForgedPurchase(
            .nonConsumable, product: Sample.tree, id: "530001234511111", at: Sample.g5Date.adding(days: -1),
            originalId: "290000412345678", originallyAt: Sample.g5Date.adding(months: -50))
        let refunded = Sample.nonConsumable.with {
            $0.cancellationDate = .seconds(Sample.g5Date.adding(days: -20))
            $0.cancellationReason = 0
        }
        let passes = [seasonPass("530001234500011", months: -3), seasonPass("530001234500012", months: -2)]
        return [
            try purchaseCase(
                "non-renewing", "A non-renewing subscription; the receipt does not contain its term.", [passes[0]]),
            try purchaseCase("non-renewing-stacked", "Two non-renewing subscriptions bought a month apart.", passes),
            try purchaseCase("consumable", "A consumable, ten at once.", [consumable]),
            try purchaseCase("non-consumable", "A non-consumable.", [Sample.nonConsumable]),
            try purchaseCase(
                "non-consumable-refunded", "A non-consumable that was refunded and stays in the receipt.", [refunded]),
            try purchaseCase(
                "restored", "A restored non-consumable: the transaction is not the original transaction.", [restored]),
            try purchaseCase(
                "every-product-type", "One purchase of each of the four product types.",
                [Sample.renewal(0), passes[0], consumable, Sample.nonConsumable]),
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
        return try genuine(
            "free-subscription", "A free subscription of Newsstand (1707 = 4), which never expires.", receipt, .original
        )
    }

    /// Genuine receipts with unusual content.
    static func contentCases(largePurchaseCount: Int) throws -> [ForgedCase] {
        let cases = try unusualContentCases() + fieldlessCases()
        guard largePurchaseCount > 0 else { return cases }
        let receipt = Sample.production((0..<Int64(largePurchaseCount)).map(manyPurchases))
        return try cases + [
            genuine("many-purchases", "A receipt of \(largePurchaseCount) purchases.", receipt, isLarge: true)
        ]
    }

    private static func unusualContentCases() throws -> [ForgedCase] {
        let preorder = Sample.production().with { $0.preorderDate = .seconds(Sample.g5Date.adding(months: -16)) }
        let wide = Sample.production([
            Sample.renewal(0).with {
                $0.transactionId = "999999999999999999"
                $0.originalTransactionId = "9007199254740993"
                $0.webOrderLineItemId = .max
                $0.itemId = 9_007_199_254_740_993
            }
        ]).with {
            $0.appItemId = 9_007_199_254_740_995
            $0.downloadId = .max
            $0.versionExternalIdentifier = 4_294_967_297
        }
        let unicode = Sample.usual().with {
            $0.applicationVersion = "3.4 β — \"früh\" \\ 1"
            $0.purchases = [
                Sample.nonConsumable.with { $0.productId = "com.example.りんご.🍎.pomme_verte—é" }
            ]
        }
        let unknown = Sample.production([
            Sample.nonConsumable.with {
                $0.extra = [
                    ForgedAttribute(1723, value: DERWriter.utf8String("yet to come")),
                    ForgedAttribute(1799, version: 3, value: DERWriter.sequence(DERWriter.integer(1))),
                ]
            }
        ]).with {
            $0.extra = [
                ForgedAttribute(33, value: DERWriter.utf8String("yet to come")),
                ForgedAttribute(9_999, version: 2, value: [0xDE, 0xAD, 0xBE, 0xEF]),
                ForgedAttribute(70_000, value: []),
            ]
        }
        let opaque = Sample.usual().with {
            $0.opaqueValue = DERWriter.octetString(opaqueBytes("looks like a value", count: 14))
            $0.attribute6 = DERWriter.utf8String(String(repeating: "looks like a text ", count: 3))
            $0.attribute7 = DERWriter.sequence(DERWriter.integer(17), DERWriter.integer(1), DERWriter.octetString([]))
        }
        return [
            try genuine("no-purchases", "A receipt without purchases.", Sample.production()),
            try genuine("preorder", "A receipt of an app ordered before its release (attribute 32).", preorder),
            try genuine("ids-beyond-2-53", "Ids that a double cannot hold.", wide),
            try genuine("unicode", "Texts beyond ASCII, with quotes and backslashes.", unicode),
            try genuine("unknown-attributes", "Attributes of unknown types, which are kept unchanged.", unknown),
            try genuine(
                "opaque-values-like-encodings", "Attributes 4, 6 and 7 that happen to look like ASN.1 values.", opaque),
        ]
    }

    private static func fieldlessCases() throws -> [ForgedCase] {
        let noDate = Sample.usual().with { $0.creationDate = .empty }
        let noBundle = Sample.usual().with { $0.bundleId = nil }
        let noVersion = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.g1Date).with {
            $0.originalApplicationVersion = nil
            $0.ageRating = ""
        }
        return [
            try genuine(
                "no-original-version",
                "A receipt without attribute 19, as before June 2013, and with an empty age rating.", noVersion, .g1),
            try app(
                "no-creation-date", "Signed content whose creation date (attribute 12) is empty.", noDate,
                noDate.signedData(.g5), .notAReceipt, "missingAttribute", openSSL: true),
            try app(
                "no-bundle-id", "Signed content without a bundle id (attribute 2).", noBundle, noBundle.signedData(.g5),
                .notAReceipt, "missingAttribute", openSSL: true),
        ]
    }

    private static func manyPurchases(_ number: Int64) -> ForgedPurchase {
        Sample.purchase(
            .consumable, Sample.apples, id: String(530_002_000_000_000 + number * 7),
            at: Sample.g5Date.adding(minutes: -number), itemId: 6_001_234_300)
    }
}
