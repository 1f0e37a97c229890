/// The members of Apple's payloads, written down from its documentation and not from our models. Nested members are
/// dotted paths.
enum AppleMemberNames {
    static let transaction =
        names(
            """
            originalTransactionId transactionId previousOriginalTransactionId webOrderLineItemId bundleId productId
            subscriptionGroupIdentifier purchaseDate originalPurchaseDate signedDate expiresDate quantity type
            appAccountToken inAppOwnershipType revocationDate revocationReason revocationType revocationPercentage
            isUpgraded offerType offerIdentifier offerDiscountType offerPeriod environment storefront storefrontId
            transactionReason price currency appTransactionId advancedCommerceInfo billingPlanType commitmentInfo
            multiSeatInfo additionalTransactionReason
            """
        )
        .union(
            names(
                "billingPeriodNumber totalBillingPeriods commitmentExpiresDate commitmentPrice", in: "commitmentInfo")
        )
        .union(
            names(
                "invitationManagement priceTiers priceTiers.price priceTiers.quantity revokedSeatQuantity",
                in: "multiSeatInfo")
        )
        .union(
            names(
                """
                descriptors descriptors.description descriptors.displayName estimatedTax taxExclusivePrice taxRate taxCode
                period requestReferenceId items
                """, in: "advancedCommerceInfo")
        )
        .union(
            names(
                """
                SKU description displayName offer offer.period offer.periodCount offer.price offer.reason price
                refunds refunds.refundAmount refunds.refundDate refunds.refundReason refunds.refundType revocationDate
                """, in: "advancedCommerceInfo.items"))

    static let renewalInfo =
        names(
            """
            originalTransactionId autoRenewProductId productId autoRenewStatus expirationIntent isInBillingRetryPeriod
            priceIncreaseStatus gracePeriodExpiresDate recentSubscriptionStartDate renewalDate signedDate offerType
            offerIdentifier offerDiscountType offerPeriod environment renewalPrice currency eligibleWinBackOfferIds
            appAccountToken appTransactionId advancedCommerceInfo renewalBillingPlanType commitmentInfo
            renewalQuantity multiSeatInfo
            """
        )
        .union(
            names("renewalPriceTiers renewalPriceTiers.price renewalPriceTiers.quantity", in: "multiSeatInfo")
        )
        .union(
            names(
                """
                commitmentAutoRenewProductId commitmentAutoRenewStatus commitmentRenewalBillingPlanType
                commitmentRenewalDate commitmentRenewalPrice
                """, in: "commitmentInfo")
        )
        .union(
            names(
                """
                consistencyToken descriptors descriptors.description descriptors.displayName period requestReferenceId
                taxCode items
                """, in: "advancedCommerceInfo")
        )
        .union(
            names(
                """
                SKU description displayName offer offer.period offer.periodCount offer.price offer.reason price
                priceIncreaseInfo priceIncreaseInfo.dependentSKUs priceIncreaseInfo.price priceIncreaseInfo.status
                """, in: "advancedCommerceInfo.items"))

    static let appTransaction = names(
        """
        receiptType appAppleId bundleId originalApplicationVersion appTransactionId receiptCreationDate
        originalPurchaseDate preorderDate originalPlatform applicationVersion versionExternalIdentifier
        deviceVerification deviceVerificationNonce storeType
        """)

    static let notification =
        names(
            """
            notificationType subtype notificationUUID version signedDate data summary externalPurchaseToken appData
            unclaimInfo
            """
        )
        .union(
            names(
                """
                environment appAppleId bundleId bundleVersion signedTransactionInfo signedRenewalInfo status
                consumptionRequestReason
                """, in: "data")
        )
        .union(
            names(
                """
                environment appAppleId bundleId productId requestIdentifier storefrontCountryCodes succeededCount
                failedCount
                """, in: "summary")
        )
        .union(
            names(
                "externalPurchaseId tokenCreationDate appAppleId bundleId tokenExpirationDate tokenType",
                in: "externalPurchaseToken")
        )
        .union(names("appAppleId bundleId environment signedAppTransactionInfo", in: "appData"))
        .union(names("unclaimSeatIds", in: "unclaimInfo"))

    private static func names(_ text: String, in parent: String? = nil) -> Set<String> {
        let names = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let parent else { return Set(names) }
        return Set(names.map { "\(parent).\($0)" })
    }
}
