internal import AppStoreModels

// A store holds what documents state. What the mapping concluded by a rule, or took from a catalogue, is taken out again:
// conclusions are drawn on reading, from everything that is known by then.

extension MappedTransaction {
    /// The payload with nothing but statements. The cancellation of a legacy document is none of these: it may be a
    /// revocation or an upgrade, so it stays with the legacy fields.
    var stated: JWSTransactionDecodedPayload {
        var payload = payload
        for field in provenance.concludedFields { payload.clear(field) }
        payload.revocationDate = nil
        payload.revocationReason = nil
        return payload
    }
}

extension MappedAppTransaction {
    var stated: AppTransaction {
        var payload = payload
        for field in provenance.concludedFields { payload.clear(field) }
        return payload
    }
}

extension MappedRenewalInfo {
    /// The payload with nothing but statements, except that the subscription stays where only one of the document has the
    /// product: without it there would be nothing to file the rest under.
    var stated: JWSRenewalInfoDecodedPayload {
        var payload = payload
        for field in provenance.concludedFields where field != .originalTransactionId { payload.clear(field) }
        return payload
    }
}

extension JWSTransactionDecodedPayload {
    fileprivate mutating func clear(_ field: TransactionField) {
        switch field {
        case .originalTransactionId: originalTransactionId = nil
        case .transactionId: transactionId = nil
        case .previousOriginalTransactionId: previousOriginalTransactionId = nil
        case .webOrderLineItemId: webOrderLineItemId = nil
        case .bundleId: bundleId = nil
        case .productId: productId = nil
        case .subscriptionGroupIdentifier: subscriptionGroupIdentifier = nil
        case .purchaseDate: purchaseDate = nil
        case .originalPurchaseDate: originalPurchaseDate = nil
        case .expiresDate: expiresDate = nil
        case .quantity: quantity = nil
        case .type: type = nil
        case .appAccountToken: appAccountToken = nil
        case .inAppOwnershipType: inAppOwnershipType = nil
        case .signedDate: signedDate = nil
        case .revocationReason: revocationReason = nil
        case .revocationDate: revocationDate = nil
        case .revocationType: revocationType = nil
        case .revocationPercentage: revocationPercentage = nil
        case .isUpgraded: isUpgraded = nil
        case .offerType: offerType = nil
        case .offerIdentifier: offerIdentifier = nil
        case .offerDiscountType: offerDiscountType = nil
        case .offerPeriod: offerPeriod = nil
        case .environment: environment = nil
        case .storefront: storefront = nil
        case .storefrontId: storefrontId = nil
        case .transactionReason: transactionReason = nil
        case .currency: currency = nil
        case .price: price = nil
        case .appTransactionId: appTransactionId = nil
        case .advancedCommerceInfo: advancedCommerceInfo = nil
        case .billingPlanType: billingPlanType = nil
        case .commitmentInfo: commitmentInfo = nil
        case .multiSeatInfo: multiSeatInfo = nil
        case .additionalTransactionReason: additionalTransactionReason = nil
        }
    }
}

extension JWSRenewalInfoDecodedPayload {
    fileprivate mutating func clear(_ field: RenewalInfoField) {
        switch field {
        case .expirationIntent: expirationIntent = nil
        case .originalTransactionId: originalTransactionId = nil
        case .autoRenewProductId: autoRenewProductId = nil
        case .productId: productId = nil
        case .autoRenewStatus: autoRenewStatus = nil
        case .isInBillingRetryPeriod: isInBillingRetryPeriod = nil
        case .priceIncreaseStatus: priceIncreaseStatus = nil
        case .gracePeriodExpiresDate: gracePeriodExpiresDate = nil
        case .offerType: offerType = nil
        case .offerIdentifier: offerIdentifier = nil
        case .offerDiscountType: offerDiscountType = nil
        case .offerPeriod: offerPeriod = nil
        case .signedDate: signedDate = nil
        case .environment: environment = nil
        case .recentSubscriptionStartDate: recentSubscriptionStartDate = nil
        case .renewalDate: renewalDate = nil
        case .currency: currency = nil
        case .renewalPrice: renewalPrice = nil
        case .eligibleWinBackOfferIds: eligibleWinBackOfferIds = nil
        case .appAccountToken: appAccountToken = nil
        case .appTransactionId: appTransactionId = nil
        case .advancedCommerceInfo: advancedCommerceInfo = nil
        case .renewalBillingPlanType: renewalBillingPlanType = nil
        case .commitmentInfo: commitmentInfo = nil
        case .renewalQuantity: renewalQuantity = nil
        case .multiSeatInfo: multiSeatInfo = nil
        }
    }
}

extension AppTransaction {
    fileprivate mutating func clear(_ field: AppTransactionField) {
        switch field {
        case .receiptType: receiptType = nil
        case .appAppleId: appAppleId = nil
        case .bundleId: bundleId = nil
        case .applicationVersion: applicationVersion = nil
        case .versionExternalIdentifier: versionExternalIdentifier = nil
        case .receiptCreationDate: receiptCreationDate = nil
        case .originalPurchaseDate: originalPurchaseDate = nil
        case .originalApplicationVersion: originalApplicationVersion = nil
        case .deviceVerification: deviceVerification = nil
        case .deviceVerificationNonce: deviceVerificationNonce = nil
        case .preorderDate: preorderDate = nil
        case .appTransactionId: appTransactionId = nil
        case .originalPlatform: originalPlatform = nil
        case .storeType: storeType = nil
        }
    }
}
