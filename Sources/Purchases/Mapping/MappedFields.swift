/// A field of a modern model that a mapping accounts for.
public protocol MappedField: CaseIterable, Hashable, Sendable, RawRepresentable where RawValue == UInt8 {
    /// Apple's name of the field, which is its JSON key.
    var name: StaticString { get }
}

/// Every field of `JWSTransactionDecodedPayload` (App Store Server API 1.23; Reference.md S5.1).
public enum TransactionField: UInt8, MappedField {
    case originalTransactionId, transactionId, previousOriginalTransactionId, webOrderLineItemId, bundleId, productId
    case subscriptionGroupIdentifier, purchaseDate, originalPurchaseDate, expiresDate, quantity, type, appAccountToken
    case inAppOwnershipType, signedDate, revocationReason, revocationDate, revocationType, revocationPercentage
    case isUpgraded, offerType, offerIdentifier, offerDiscountType, offerPeriod, environment, storefront, storefrontId
    case transactionReason, currency, price, appTransactionId, advancedCommerceInfo, billingPlanType, commitmentInfo
    case multiSeatInfo, additionalTransactionReason

    public var name: StaticString {
        switch self {
        case .originalTransactionId: "originalTransactionId"
        case .transactionId: "transactionId"
        case .previousOriginalTransactionId: "previousOriginalTransactionId"
        case .webOrderLineItemId: "webOrderLineItemId"
        case .bundleId: "bundleId"
        case .productId: "productId"
        case .subscriptionGroupIdentifier: "subscriptionGroupIdentifier"
        case .purchaseDate: "purchaseDate"
        case .originalPurchaseDate: "originalPurchaseDate"
        case .expiresDate: "expiresDate"
        case .quantity: "quantity"
        case .type: "type"
        case .appAccountToken: "appAccountToken"
        case .inAppOwnershipType: "inAppOwnershipType"
        case .signedDate: "signedDate"
        case .revocationReason: "revocationReason"
        case .revocationDate: "revocationDate"
        case .revocationType: "revocationType"
        case .revocationPercentage: "revocationPercentage"
        case .isUpgraded: "isUpgraded"
        case .offerType: "offerType"
        case .offerIdentifier: "offerIdentifier"
        case .offerDiscountType: "offerDiscountType"
        case .offerPeriod: "offerPeriod"
        case .environment: "environment"
        case .storefront: "storefront"
        case .storefrontId: "storefrontId"
        case .transactionReason: "transactionReason"
        case .currency: "currency"
        case .price: "price"
        case .appTransactionId: "appTransactionId"
        case .advancedCommerceInfo: "advancedCommerceInfo"
        case .billingPlanType: "billingPlanType"
        case .commitmentInfo: "commitmentInfo"
        case .multiSeatInfo: "multiSeatInfo"
        case .additionalTransactionReason: "additionalTransactionReason"
        }
    }
}

/// Every field of `JWSRenewalInfoDecodedPayload` (App Store Server API 1.23; Reference.md S5.2).
public enum RenewalInfoField: UInt8, MappedField {
    case expirationIntent, originalTransactionId, autoRenewProductId, productId, autoRenewStatus
    case isInBillingRetryPeriod, priceIncreaseStatus, gracePeriodExpiresDate, offerType, offerIdentifier
    case offerDiscountType, offerPeriod, signedDate, environment, recentSubscriptionStartDate, renewalDate, currency
    case renewalPrice, eligibleWinBackOfferIds, appAccountToken, appTransactionId, advancedCommerceInfo
    case renewalBillingPlanType, commitmentInfo, renewalQuantity, multiSeatInfo

    public var name: StaticString {
        switch self {
        case .expirationIntent: "expirationIntent"
        case .originalTransactionId: "originalTransactionId"
        case .autoRenewProductId: "autoRenewProductId"
        case .productId: "productId"
        case .autoRenewStatus: "autoRenewStatus"
        case .isInBillingRetryPeriod: "isInBillingRetryPeriod"
        case .priceIncreaseStatus: "priceIncreaseStatus"
        case .gracePeriodExpiresDate: "gracePeriodExpiresDate"
        case .offerType: "offerType"
        case .offerIdentifier: "offerIdentifier"
        case .offerDiscountType: "offerDiscountType"
        case .offerPeriod: "offerPeriod"
        case .signedDate: "signedDate"
        case .environment: "environment"
        case .recentSubscriptionStartDate: "recentSubscriptionStartDate"
        case .renewalDate: "renewalDate"
        case .currency: "currency"
        case .renewalPrice: "renewalPrice"
        case .eligibleWinBackOfferIds: "eligibleWinBackOfferIds"
        case .appAccountToken: "appAccountToken"
        case .appTransactionId: "appTransactionId"
        case .advancedCommerceInfo: "advancedCommerceInfo"
        case .renewalBillingPlanType: "renewalBillingPlanType"
        case .commitmentInfo: "commitmentInfo"
        case .renewalQuantity: "renewalQuantity"
        case .multiSeatInfo: "multiSeatInfo"
        }
    }
}

/// Every field of `AppTransaction` (Reference.md S5.3).
public enum AppTransactionField: UInt8, MappedField {
    case receiptType, appAppleId, bundleId, applicationVersion, versionExternalIdentifier, receiptCreationDate
    case originalPurchaseDate, originalApplicationVersion, deviceVerification, deviceVerificationNonce, preorderDate
    case appTransactionId, originalPlatform, storeType

    public var name: StaticString {
        switch self {
        case .receiptType: "receiptType"
        case .appAppleId: "appAppleId"
        case .bundleId: "bundleId"
        case .applicationVersion: "applicationVersion"
        case .versionExternalIdentifier: "versionExternalIdentifier"
        case .receiptCreationDate: "receiptCreationDate"
        case .originalPurchaseDate: "originalPurchaseDate"
        case .originalApplicationVersion: "originalApplicationVersion"
        case .deviceVerification: "deviceVerification"
        case .deviceVerificationNonce: "deviceVerificationNonce"
        case .preorderDate: "preorderDate"
        case .appTransactionId: "appTransactionId"
        case .originalPlatform: "originalPlatform"
        case .storeType: "storeType"
        }
    }
}
