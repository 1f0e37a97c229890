import AppStoreModels

/// Requests with every member set.
enum Requests {
    static let consumption = ConsumptionRequest(
        customerConsented: true, deliveryStatus: .undeliveredQualityIssue, sampleContentProvided: false,
        consumptionPercentage: 50_000, refundPreference: .grantProrated)

    static let consumptionV1 = ConsumptionRequestV1(
        customerConsented: true, consumptionStatus: .notConsumed, platform: .nonApple, sampleContentProvided: false,
        deliveryStatus: .serverOutage, appAccountToken: Calls.uuid, accountTenure: .upTo30Days, playTime: .upTo4Days,
        lifetimeDollarsRefunded: .upTo1999Dollars99, lifetimeDollarsPurchased: .from2000, userStatus: .limitedAccess,
        refundPreference: .noPreference)

    static let extend = ExtendRenewalDateRequest(
        extendByDays: 45, extendReasonCode: .customerSatisfaction, requestIdentifier: Calls.uuid)

    static let massExtend = MassExtendRenewalDateRequest(
        extendByDays: 45, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: Calls.uuid,
        productId: "com.example.productId", storefrontCountryCodes: ["USA", "MEX"])

    static let notifications = NotificationHistoryRequest(
        startDate: 1_698_148_900_000, endDate: 1_698_148_950_000, notificationType: .subscribed,
        notificationSubtype: .initialBuy, transactionId: "999733843", onlyFailures: true)

    static let message = UploadMessageRequestBody(
        header: "Don’t go", body: "Grüße / 再见 \"x\"", image: .init(imageIdentifier: Calls.otherUUID, altText: "alt"),
        headerPosition: .aboveImage,
        bulletPoints: [.init(text: "Point", imageIdentifier: Calls.otherUUID, altText: "alt point")])

    static let realtimeResponse = RealtimeResponseBody {
        $0.message = RealtimeResponseBody.Message { $0.messageIdentifier = Calls.uuid }
        $0.alternateProduct = RealtimeResponseBody.AlternateProduct {
            $0.messageIdentifier = Calls.uuid
            $0.productId = "com.example.2"
            $0.billingPlanType = .monthly
        }
        $0.promotionalOffer = RealtimeResponseBody.PromotionalOffer {
            $0.messageIdentifier = Calls.uuid
            $0.promotionalOfferSignatureV2 = "a.b.c"
            $0.promotionalOfferSignatureV1 = PromotionalOfferSignatureV1(
                encodedSignature: "MEUC", productId: "com.example.1", nonce: Calls.otherUUID,
                timestamp: 1_698_148_900_000, keyId: "L256SYR32L", offerIdentifier: "offer", appAccountToken: Calls.uuid
            )
        }
        $0.advancedCommerceInfo = RealtimeResponseBody.AdvancedCommerceInfo {
            $0.messageIdentifier = Calls.uuid
            $0.advancedCommerceData = "e30="
        }
    }
}

/// Advanced Commerce.
extension Requests {
    static let info = AdvancedCommerceRequestInfo(
        requestReferenceId: Calls.uuid, appAccountToken: Calls.otherUUID, consistencyToken: "consistency")
    static let offer = AdvancedCommerceOffer {
        $0.period = .oneMonth
        $0.periodCount = 3
        $0.price = 990
        $0.reason = .winBack
    }

    static let oneTimeCharge = AdvancedCommerceOneTimeChargeCreateRequest(
        currency: "USD", item: .init(SKU: "sku", description: "description", displayName: "name", price: 10_990),
        requestInfo: info, taxCode: "C003-00-1", storefront: "USA")

    static let create = AdvancedCommerceSubscriptionCreateRequest(
        currency: "USD",
        descriptors: AdvancedCommerceDescriptors {
            $0.description = "description"
            $0.displayName = "name"
        },
        items: [.init(SKU: "sku", description: "description", displayName: "name", price: 9_000_000_000, offer: offer)],
        period: .oneMonth, requestInfo: info, taxCode: "S021-06-1", storefront: "USA",
        previousTransactionId: Calls.transactionId)

    static let modify = AdvancedCommerceSubscriptionModifyInAppRequest(
        requestInfo: info, retainBillingCycle: true, transactionId: Calls.transactionId,
        addItems: [
            .init(SKU: "a", description: "d", displayName: "n", price: 1, offer: offer, proratedPrice: 2)
        ],
        changeItems: [
            .init(
                currentSKU: "b", SKU: "c", description: "d", displayName: "n", effective: .nextBillCycle, price: 3,
                reason: .downgrade, offer: offer, proratedPrice: 4)
        ],
        removeItems: [.init(SKU: "e")], periodChange: .init(effective: .immediately, period: .oneYear),
        descriptors: .init(effective: .immediately, description: "d", displayName: "n"), currency: "USD",
        storefront: "USA", taxCode: "S021-06-1")

    static let reactivate = AdvancedCommerceSubscriptionReactivateInAppRequest(
        requestInfo: info, transactionId: Calls.transactionId, items: [.init(SKU: "sku")], storefront: "USA")

    static let cancel = AdvancedCommerceSubscriptionCancelRequest(requestInfo: info, storefront: "USA")

    static let revoke = AdvancedCommerceSubscriptionRevokeRequest(
        refundReason: .legal, refundType: .prorated, refundRiskingPreference: true, requestInfo: info, storefront: "USA"
    )

    static let refund = AdvancedCommerceRequestRefundRequest(
        items: [
            .init(
                SKU: "sku", refundReason: .simulateRefundDecline, refundType: .custom, revoke: true, refundAmount: 990)
        ],
        refundRiskingPreference: false, requestInfo: info, currency: "USD", storefront: "USA")

    static let changePrice = AdvancedCommerceSubscriptionPriceChangeRequest(
        items: [.init(SKU: "sku", price: 11_990, dependentSKUs: ["x", "y"])], requestInfo: info, currency: "USD",
        storefront: "USA")

    static let changeMetadata = AdvancedCommerceSubscriptionChangeMetadataRequest(
        requestInfo: info, descriptors: .init(effective: .nextBillCycle, description: "d", displayName: "n"),
        items: [
            .init(currentSKU: "a", effective: .immediately, SKU: "b", description: "d", displayName: "n")
        ], storefront: "USA", taxCode: "S021-06-1")

    static let migrate = AdvancedCommerceSubscriptionMigrateRequest(
        descriptors: AdvancedCommerceDescriptors {
            $0.description = "d"
            $0.displayName = "n"
        },
        items: [.init(SKU: "a", description: "d", displayName: "n")], requestInfo: info,
        targetProductId: "com.example.generic", taxCode: "S021-06-1",
        renewalItems: [.init(SKU: "b", description: "d", displayName: "n")], storefront: "USA")
}
