extension JWSRenewalInfoDecodedPayload {
    private enum CodingKeys: String, CodingKey {
        case expirationIntent, originalTransactionId, autoRenewProductId, productId, autoRenewStatus,
            isInBillingRetryPeriod, priceIncreaseStatus, gracePeriodExpiresDate, offerType, offerIdentifier,
            offerDiscountType, offerPeriod, signedDate, environment, recentSubscriptionStartDate, renewalDate, currency,
            renewalPrice, eligibleWinBackOfferIds, appAccountToken, appTransactionId, advancedCommerceInfo,
            renewalBillingPlanType, commitmentInfo, renewalQuantity, multiSeatInfo
    }

    /// Reads Apple's JSON; unknown members are kept and `null` counts as absent.
    /// - Throws: `DecodingError` if a member has a wrong type or a number is out of range.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        expirationIntent = try values.value(.expirationIntent)
        originalTransactionId = try values.value(.originalTransactionId)
        autoRenewProductId = try values.value(.autoRenewProductId)
        productId = try values.value(.productId)
        autoRenewStatus = try values.value(.autoRenewStatus)
        isInBillingRetryPeriod = try values.value(.isInBillingRetryPeriod)
        priceIncreaseStatus = try values.value(.priceIncreaseStatus)
        gracePeriodExpiresDate = try values.milliseconds(.gracePeriodExpiresDate)
        offerType = try values.value(.offerType)
        offerIdentifier = try values.value(.offerIdentifier)
        offerDiscountType = try values.value(.offerDiscountType)
        offerPeriod = try values.value(.offerPeriod)
        signedDate = try values.milliseconds(.signedDate)
        environment = try values.value(.environment)
        recentSubscriptionStartDate = try values.milliseconds(.recentSubscriptionStartDate)
        renewalDate = try values.milliseconds(.renewalDate)
        currency = try values.value(.currency)
        renewalPrice = try values.value(.renewalPrice)
        eligibleWinBackOfferIds = try values.value(.eligibleWinBackOfferIds)
        appAccountToken = try values.value(.appAccountToken)
        appTransactionId = try values.value(.appTransactionId)
        advancedCommerceInfo = try values.value(.advancedCommerceInfo)
        renewalBillingPlanType = try values.value(.renewalBillingPlanType)
        commitmentInfo = try values.value(.commitmentInfo)
        renewalQuantity = try values.value(.renewalQuantity)
        multiSeatInfo = try values.value(.multiSeatInfo)
        unknownMembers = try UnknownMembers(from: decoder, besides: CodingKeys.self)
    }

    /// Writes the members that are set, and the unknown ones as they were read.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(expirationIntent, forKey: .expirationIntent)
        try values.encodeIfPresent(originalTransactionId, forKey: .originalTransactionId)
        try values.encodeIfPresent(autoRenewProductId, forKey: .autoRenewProductId)
        try values.encodeIfPresent(productId, forKey: .productId)
        try values.encodeIfPresent(autoRenewStatus, forKey: .autoRenewStatus)
        try values.encodeIfPresent(isInBillingRetryPeriod, forKey: .isInBillingRetryPeriod)
        try values.encodeIfPresent(priceIncreaseStatus, forKey: .priceIncreaseStatus)
        try values.encodeIfPresent(gracePeriodExpiresDate, forKey: .gracePeriodExpiresDate)
        try values.encodeIfPresent(offerType, forKey: .offerType)
        try values.encodeIfPresent(offerIdentifier, forKey: .offerIdentifier)
        try values.encodeIfPresent(offerDiscountType, forKey: .offerDiscountType)
        try values.encodeIfPresent(offerPeriod, forKey: .offerPeriod)
        try values.encodeIfPresent(signedDate, forKey: .signedDate)
        try values.encodeIfPresent(environment, forKey: .environment)
        try values.encodeIfPresent(recentSubscriptionStartDate, forKey: .recentSubscriptionStartDate)
        try values.encodeIfPresent(renewalDate, forKey: .renewalDate)
        try values.encodeIfPresent(currency, forKey: .currency)
        try values.encodeIfPresent(renewalPrice, forKey: .renewalPrice)
        try values.encodeIfPresent(eligibleWinBackOfferIds, forKey: .eligibleWinBackOfferIds)
        try values.encodeIfPresent(appAccountToken, forKey: .appAccountToken)
        try values.encodeIfPresent(appTransactionId, forKey: .appTransactionId)
        try values.encodeIfPresent(advancedCommerceInfo, forKey: .advancedCommerceInfo)
        try values.encodeIfPresent(renewalBillingPlanType, forKey: .renewalBillingPlanType)
        try values.encodeIfPresent(commitmentInfo, forKey: .commitmentInfo)
        try values.encodeIfPresent(renewalQuantity, forKey: .renewalQuantity)
        try values.encodeIfPresent(multiSeatInfo, forKey: .multiSeatInfo)
        try unknownMembers.encode(to: encoder)
    }
}

extension JWSRenewalInfoDecodedPayload: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("expirationIntent", expirationIntent)
        writer.member("originalTransactionId", originalTransactionId)
        writer.member("autoRenewProductId", autoRenewProductId)
        writer.member("productId", productId)
        writer.member("autoRenewStatus", autoRenewStatus)
        writer.member("isInBillingRetryPeriod", isInBillingRetryPeriod)
        writer.member("priceIncreaseStatus", priceIncreaseStatus)
        writer.member("gracePeriodExpiresDate", gracePeriodExpiresDate)
        writer.member("offerType", offerType)
        writer.member("offerIdentifier", offerIdentifier)
        writer.member("offerDiscountType", offerDiscountType)
        writer.member("offerPeriod", offerPeriod)
        writer.member("signedDate", signedDate)
        writer.member("environment", environment)
        writer.member("recentSubscriptionStartDate", recentSubscriptionStartDate)
        writer.member("renewalDate", renewalDate)
        writer.member("currency", currency)
        writer.member("renewalPrice", renewalPrice)
        writer.member("eligibleWinBackOfferIds", eligibleWinBackOfferIds)
        writer.member("appAccountToken", appAccountToken)
        writer.member("appTransactionId", appTransactionId)
        writer.member("advancedCommerceInfo", advancedCommerceInfo)
        writer.member("renewalBillingPlanType", renewalBillingPlanType)
        writer.member("commitmentInfo", commitmentInfo)
        writer.member("renewalQuantity", renewalQuantity)
        writer.member("multiSeatInfo", multiSeatInfo)
        unknownMembers.write(to: &writer)
        writer.endObject()
    }
}
