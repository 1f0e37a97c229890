import AppStoreModels

/// Payloads in which every field is set, each to a value of its own. `ReflectionTests` proves that none was forgotten.
enum Sample {
    static let offer = AdvancedCommerceOffer(period: .threeDays, periodCount: 12, price: 990, reason: .winBack)

    static let descriptors = AdvancedCommerceDescriptors(
        description: "Everything, every month", displayName: "Ünlimited 🎧")

    static let transaction = JWSTransactionDecodedPayload(
        originalTransactionId: "1000000831360853",
        transactionId: "1000000842093182",
        previousOriginalTransactionId: "1000000800000001",
        webOrderLineItemId: "1000000063561721",
        bundleId: "com.example.legacy",
        productId: "com.example.legacy.\"monthly\"\\\u{1}",
        subscriptionGroupIdentifier: "20765432",
        purchaseDate: 1_697_680_122_257,
        originalPurchaseDate: -62_135_769_600_000,
        expiresDate: 1_700_358_522_257,
        quantity: 3,
        type: .autoRenewableSubscription,
        appAccountToken: "7E3FB204-2ab7-4B57-9C8E-0f60f2D3E1A0",
        inAppOwnershipType: .familyShared,
        signedDate: 1_697_680_122_300,
        revocationReason: .other,
        revocationDate: 1_698_000_000_001,
        revocationType: .refundProrated,
        revocationPercentage: 50_000,
        isUpgraded: false,
        offerType: .winBack,
        offerIdentifier: "come-back-2023",
        offerDiscountType: .payUpFront,
        offerPeriod: "P1M",
        environment: .localTesting,
        storefront: "DEU",
        storefrontId: "143443",
        transactionReason: .renewal,
        currency: "EUR",
        price: 9_007_199_254_740_993,
        appTransactionId: "704000000000000001",
        advancedCommerceInfo: AdvancedCommerceTransactionInfo(
            descriptors: descriptors, estimatedTax: 1_900, items: [item, AdvancedCommerceTransactionItem(SKU: "bare")],
            period: .sixMonths, requestReferenceId: "1b6f0b2c-0d1e-4f7f-9b43-0a4e3c2d1f00", taxCode: "C003-00-1",
            taxExclusivePrice: 8_090, taxRate: "0.19"),
        billingPlanType: .monthly,
        commitmentInfo: TransactionCommitmentInfo(
            billingPeriodNumber: 4, totalBillingPeriods: 12, commitmentExpiresDate: 1_720_000_000_000,
            commitmentPrice: 119_880),
        multiSeatInfo: TransactionMultiSeatInfo(
            invitationManagement: .developer,
            priceTiers: [SeatPriceTier(price: 9_990, quantity: 10), SeatPriceTier(price: 10_990)],
            revokedSeatQuantity: 2),
        additionalTransactionReason: .seatAddition)

    static let item = AdvancedCommerceTransactionItem(
        SKU: "sku/1", description: "First item", displayName: "One", offer: offer, price: 4_990,
        refunds: [
            AdvancedCommerceRefund(
                refundAmount: Int64.max, refundDate: 1_699_000_000_000, refundReason: .simulateRefundDecline,
                refundType: .custom)
        ],
        revocationDate: 1_699_000_000_001)

    static let renewalInfo = JWSRenewalInfoDecodedPayload(
        expirationIntent: .noConsentToPriceIncrease,
        originalTransactionId: "1000000831360853",
        autoRenewProductId: "com.example.legacy.yearly",
        productId: "com.example.legacy.monthly",
        autoRenewStatus: .off,
        isInBillingRetryPeriod: true,
        priceIncreaseStatus: .pending,
        gracePeriodExpiresDate: 1_700_400_000_000,
        offerType: .promotional,
        offerIdentifier: "loyal",
        offerDiscountType: .payAsYouGo,
        offerPeriod: "P2W",
        signedDate: 1_697_680_122_301,
        environment: .sandbox,
        recentSubscriptionStartDate: 1_600_000_000_000,
        renewalDate: 1_700_358_522_257,
        currency: "JPY",
        renewalPrice: 980_000,
        eligibleWinBackOfferIds: ["best", "second\nbest"],
        appAccountToken: "7e3fb204-2ab7-4b57-9c8e-0f60f2d3e1a0",
        appTransactionId: "704000000000000001",
        advancedCommerceInfo: AdvancedCommerceRenewalInfo(
            consistencyToken: "token+/=", descriptors: descriptors,
            items: [
                AdvancedCommerceRenewalItem(
                    SKU: "sku/1", description: "First item", displayName: "One", offer: offer, price: 4_990,
                    priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo(
                        dependentSKUs: ["sku/2"], price: 5_990, status: .scheduled))
            ],
            period: .oneYear, requestReferenceId: "1b6f0b2c-0d1e-4f7f-9b43-0a4e3c2d1f00", taxCode: "C003-00-2"),
        renewalBillingPlanType: .billedUpfront,
        commitmentInfo: RenewalCommitmentInfo(
            commitmentAutoRenewProductId: "com.example.legacy.yearly", commitmentAutoRenewStatus: .on,
            commitmentRenewalBillingPlanType: .monthly, commitmentRenewalDate: 1_720_000_000_000,
            commitmentRenewalPrice: 119_880),
        renewalQuantity: 12,
        multiSeatInfo: RenewalMultiSeatInfo(renewalPriceTiers: [SeatPriceTier(price: 8_990, quantity: 12)]))

    static let appTransaction = AppTransaction(
        receiptType: .production,
        appAppleId: 9_007_199_254_740_993,
        bundleId: "com.example.legacy",
        applicationVersion: "4.2",
        versionExternalIdentifier: 850_000_001,
        receiptCreationDate: 1_697_680_122_257,
        originalPurchaseDate: 1_400_000_000_000,
        originalApplicationVersion: "1.0",
        deviceVerification: "SGVsbG8gcGxhbmV0IQ==",
        deviceVerificationNonce: "48c8b92d-ce0d-4229-bedf-e61b4f9cfc92",
        preorderDate: 1_399_000_000_000,
        appTransactionId: "704000000000000001",
        originalPlatform: .visionOS,
        storeType: .consumer)

    /// Apple sends one of the objects; all of them are here so that each is exercised.
    static let notification = ResponseBodyV2DecodedPayload(
        notificationType: .consumptionRequest,
        subtype: .billingRecovery,
        notificationUUID: "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
        data: NotificationData(
            environment: .production, appAppleId: 41234, bundleId: "com.example.legacy", bundleVersion: "1.2.3",
            signedTransactionInfo: "a.b.c", signedRenewalInfo: "d.e.f", status: .billingGracePeriod,
            consumptionRequestReason: .fulfillmentIssue),
        version: "2.0",
        signedDate: 1_698_148_900_000,
        summary: Summary(
            environment: .sandbox, appAppleId: 41234, bundleId: "com.example.legacy", productId: "monthly",
            requestIdentifier: "efb27071-45a4-4aca-9854-2a1e9146f265", storefrontCountryCodes: ["CAN", "USA"],
            succeededCount: 5_000_000_000, failedCount: 2),
        externalPurchaseToken: ExternalPurchaseToken(
            externalPurchaseId: "SANDBOX_b2158121", tokenCreationDate: 1_698_148_950_000, appAppleId: 55555,
            bundleId: "com.example.legacy", tokenExpirationDate: 1_698_148_960_000, tokenType: "SERVICES"),
        appData: AppData(
            appAppleId: 41234, bundleId: "com.example.legacy", environment: .production,
            signedAppTransactionInfo: "g.h.i"),
        unclaimInfo: UnclaimInfo(unclaimSeatIds: ["a1b2c3d4-e5f6-4789-8abc-def012345678"]))
}
