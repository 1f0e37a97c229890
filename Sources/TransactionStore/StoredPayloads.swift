internal import AppStoreModels
internal import Purchases

// The models by the order in which they write themselves. The numbers below are places in `names`.

extension JWSTransactionDecodedPayload {
    private static let names: [StaticString] = [
        "originalTransactionId", "transactionId", "previousOriginalTransactionId", "webOrderLineItemId", "bundleId",
        "productId", "subscriptionGroupIdentifier", "purchaseDate", "originalPurchaseDate", "expiresDate", "quantity",
        "type", "appAccountToken", "inAppOwnershipType", "signedDate", "revocationReason", "revocationDate",
        "revocationType", "revocationPercentage", "isUpgraded", "offerType", "offerIdentifier", "offerDiscountType",
        "offerPeriod", "environment", "storefront", "storefrontId", "transactionReason", "currency", "price",
        "appTransactionId", "advancedCommerceInfo", "billingPlanType", "commitmentInfo", "multiSeatInfo",
        "additionalTransactionReason",
    ]

    /// Texts that the transactions of a customer have in common, so that each is made once and not for each of them.
    struct CommonTexts {
        fileprivate var originalTransactionId = ""
        fileprivate var productId = ""
        fileprivate var type = ""
        fileprivate var appAccountToken = ""
        fileprivate var appTransactionId = ""
    }

    /// Reads what `FactEncoder` wrote.
    init(stored bytes: UnsafeBufferPointer<UInt8>, common: inout CommonTexts) throws {
        self.init()
        var object = StoredObject(bytes, names: Self.names)
        while let index = try object.next() { try set(index, object, &common) }
        if !object.unknownMembers.isEmpty { unknownMembers = UnknownMembers(object.unknownMembers) }
    }

    private mutating func set(_ index: Int, _ object: borrowing StoredObject, _ common: inout CommonTexts) throws {
        switch index {
        case 0: originalTransactionId = try object.string(like: &common.originalTransactionId)
        case 1: transactionId = try object.string()
        case 2: previousOriginalTransactionId = try object.string()
        case 3: webOrderLineItemId = try object.string()
        case 4: bundleId = try object.string()
        case 5: productId = try object.string(like: &common.productId)
        case 6: subscriptionGroupIdentifier = try object.string()
        case 7: purchaseDate = try object.int64()
        case 8: originalPurchaseDate = try object.int64()
        case 9: expiresDate = try object.int64()
        case 10: quantity = try object.int32()
        case 11: type = ProductType(rawValue: try object.string(like: &common.type))
        case 12: appAccountToken = try object.string(like: &common.appAccountToken)
        case 13: inAppOwnershipType = try object.text()
        case 14: signedDate = try object.int64()
        case 15: revocationReason = try object.number()
        case 16: revocationDate = try object.int64()
        case 17: revocationType = try object.text()
        case 18: revocationPercentage = try object.int32()
        case 19: isUpgraded = try object.bool()
        case 20: offerType = try object.number()
        case 21: offerIdentifier = try object.string()
        case 22: offerDiscountType = try object.text()
        case 23: offerPeriod = try object.string()
        case 24: environment = try object.text()
        case 25: storefront = try object.string()
        case 26: storefrontId = try object.string()
        case 27: transactionReason = try object.text()
        case 28: currency = try object.string()
        case 29: price = try object.int64()
        case 30: appTransactionId = try object.string(like: &common.appTransactionId)
        case 31: advancedCommerceInfo = try object.decoded()
        case 32: billingPlanType = try object.text()
        case 33: commitmentInfo = try object.decoded()
        case 34: multiSeatInfo = try object.decoded()
        case 35: additionalTransactionReason = try object.text()
        default: break
        }
    }
}

extension JWSRenewalInfoDecodedPayload {
    private static let names: [StaticString] = [
        "expirationIntent", "originalTransactionId", "autoRenewProductId", "productId", "autoRenewStatus",
        "isInBillingRetryPeriod", "priceIncreaseStatus", "gracePeriodExpiresDate", "offerType", "offerIdentifier",
        "offerDiscountType", "offerPeriod", "signedDate", "environment", "recentSubscriptionStartDate", "renewalDate",
        "currency", "renewalPrice", "eligibleWinBackOfferIds", "appAccountToken", "appTransactionId",
        "advancedCommerceInfo", "renewalBillingPlanType", "commitmentInfo", "renewalQuantity", "multiSeatInfo",
    ]

    /// Reads what `FactEncoder` wrote.
    init(stored bytes: UnsafeBufferPointer<UInt8>) throws {
        self.init()
        var object = StoredObject(bytes, names: Self.names)
        while let index = try object.next() { try set(index, object) }
        if !object.unknownMembers.isEmpty { unknownMembers = UnknownMembers(object.unknownMembers) }
    }

    private mutating func set(_ index: Int, _ object: borrowing StoredObject) throws {
        switch index {
        case 0: expirationIntent = try object.number()
        case 1: originalTransactionId = try object.string()
        case 2: autoRenewProductId = try object.string()
        case 3: productId = try object.string()
        case 4: autoRenewStatus = try object.number()
        case 5: isInBillingRetryPeriod = try object.bool()
        case 6: priceIncreaseStatus = try object.number()
        case 7: gracePeriodExpiresDate = try object.int64()
        case 8: offerType = try object.number()
        case 9: offerIdentifier = try object.string()
        case 10: offerDiscountType = try object.text()
        case 11: offerPeriod = try object.string()
        case 12: signedDate = try object.int64()
        case 13: environment = try object.text()
        case 14: recentSubscriptionStartDate = try object.int64()
        case 15: renewalDate = try object.int64()
        case 16: currency = try object.string()
        case 17: renewalPrice = try object.int64()
        case 18: eligibleWinBackOfferIds = try object.strings()
        case 19: appAccountToken = try object.string()
        case 20: appTransactionId = try object.string()
        case 21: advancedCommerceInfo = try object.decoded()
        case 22: renewalBillingPlanType = try object.text()
        case 23: commitmentInfo = try object.decoded()
        case 24: renewalQuantity = try object.int32()
        case 25: multiSeatInfo = try object.decoded()
        default: break
        }
    }
}

extension AppTransaction {
    private static let names: [StaticString] = [
        "receiptType", "appAppleId", "bundleId", "applicationVersion", "versionExternalIdentifier",
        "receiptCreationDate", "originalPurchaseDate", "originalApplicationVersion", "deviceVerification",
        "deviceVerificationNonce", "preorderDate", "appTransactionId", "originalPlatform", "storeType",
    ]

    /// Reads what `FactEncoder` wrote.
    init(stored bytes: UnsafeBufferPointer<UInt8>) throws {
        self.init()
        var object = StoredObject(bytes, names: Self.names)
        while let index = try object.next() { try set(index, object) }
        if !object.unknownMembers.isEmpty { unknownMembers = UnknownMembers(object.unknownMembers) }
    }

    private mutating func set(_ index: Int, _ object: borrowing StoredObject) throws {
        switch index {
        case 0: receiptType = try object.text()
        case 1: appAppleId = try object.int64()
        case 2: bundleId = try object.string()
        case 3: applicationVersion = try object.string()
        case 4: versionExternalIdentifier = try object.int64()
        case 5: receiptCreationDate = try object.int64()
        case 6: originalPurchaseDate = try object.int64()
        case 7: originalApplicationVersion = try object.string()
        case 8: deviceVerification = try object.string()
        case 9: deviceVerificationNonce = try object.string()
        case 10: preorderDate = try object.int64()
        case 11: appTransactionId = try object.string()
        case 12: originalPlatform = try object.text()
        case 13: storeType = try object.text()
        default: break
        }
    }
}

extension LegacyTransactionFields {
    private static let names: [StaticString] = [
        "isTrialPeriod", "isInIntroOfferPeriod", "promotionalOfferId", "offerCodeRefName", "cancellationDate",
        "cancellationReason", "inAppOwnershipType", "itemId",
    ]

    /// Reads what `FactEncoder` wrote.
    init(stored bytes: UnsafeBufferPointer<UInt8>) throws {
        self.init()
        var object = StoredObject(bytes, names: Self.names)
        while let index = try object.next() {
            switch index {
            case 0: isTrialPeriod = try object.bool()
            case 1: isInIntroOfferPeriod = try object.bool()
            case 2: promotionalOfferId = try object.string()
            case 3: offerCodeRefName = try object.string()
            case 4: cancellationDate = try object.int64()
            case 5: cancellationReason = try object.int64()
            case 6: inAppOwnershipType = try object.text()
            case 7: itemId = try object.string()
            default: break
            }
        }
    }
}
