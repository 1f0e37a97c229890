/// The type of a version 2 notification (App Store Server Notifications, notificationType).
public struct NotificationTypeV2: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A first purchase, or a resubscription.
    public static let subscribed = Self(rawValue: "SUBSCRIBED")
    /// A subscription renewed.
    public static let didRenew = Self(rawValue: "DID_RENEW")
    /// The customer changed the plan.
    public static let didChangeRenewalPref = Self(rawValue: "DID_CHANGE_RENEWAL_PREF")
    /// The customer or the App Store turned renewal on or off.
    public static let didChangeRenewalStatus = Self(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    /// An active subscriber redeemed an offer.
    public static let offerRedeemed = Self(rawValue: "OFFER_REDEEMED")
    /// Billing failed; see the subtype for the grace period.
    public static let didFailToRenew = Self(rawValue: "DID_FAIL_TO_RENEW")
    /// The grace period ended unpaid.
    public static let gracePeriodExpired = Self(rawValue: "GRACE_PERIOD_EXPIRED")
    /// A subscription ended; the subtype states the reason.
    public static let expired = Self(rawValue: "EXPIRED")
    /// A price increase needs consent, or the customer consented or was notified.
    public static let priceIncrease = Self(rawValue: "PRICE_INCREASE")
    /// A refund was granted.
    public static let refund = Self(rawValue: "REFUND")
    /// Apple declined a refund that was requested through the app.
    public static let refundDeclined = Self(rawValue: "REFUND_DECLINED")
    /// An earlier refund was undone: restore the content.
    public static let refundReversed = Self(rawValue: "REFUND_REVERSED")
    /// The customer requested a refund. Apple expects consumption data within 12 hours.
    public static let consumptionRequest = Self(rawValue: "CONSUMPTION_REQUEST")
    /// Access through Family Sharing ended.
    public static let revoke = Self(rawValue: "REVOKE")
    /// The renewal date of one subscription was extended.
    public static let renewalExtended = Self(rawValue: "RENEWAL_EXTENDED")
    /// The progress of a request to extend many subscriptions.
    public static let renewalExtension = Self(rawValue: "RENEWAL_EXTENSION")
    /// The customer bought a product that does not renew automatically.
    public static let oneTimeCharge = Self(rawValue: "ONE_TIME_CHARGE")
    /// A token for purchases outside of the App Store was created or needs a report.
    public static let externalPurchaseToken = Self(rawValue: "EXTERNAL_PURCHASE_TOKEN")
    /// A guardian withdrew consent for a child.
    public static let rescindConsent = Self(rawValue: "RESCIND_CONSENT")
    /// An Advanced Commerce metadata change took effect.
    public static let metadataUpdate = Self(rawValue: "METADATA_UPDATE")
    /// An Advanced Commerce migration took effect.
    public static let migration = Self(rawValue: "MIGRATION")
    /// An Advanced Commerce price change took effect.
    public static let priceChange = Self(rawValue: "PRICE_CHANGE")
    /// The App Store unclaimed seats (App Store Server Notifications 2.23). Revoke the access of the seats in
    /// ``UnclaimInfo``.
    public static let unclaimSeats = Self(rawValue: "UNCLAIM_SEATS")
    /// A test notification that the developer requested.
    public static let test = Self(rawValue: "TEST")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .subscribed, .didRenew, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed,
        .didFailToRenew, .gracePeriodExpired, .expired, .priceIncrease, .refund, .refundDeclined,
        .refundReversed, .consumptionRequest, .revoke, .renewalExtended, .renewalExtension, .oneTimeCharge,
        .externalPurchaseToken, .rescindConsent, .metadataUpdate, .migration, .priceChange, .unclaimSeats,
        .test,
    ]
}

/// Details of a version 2 notification (App Store Server Notifications, subtype).
public struct Subtype: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// With SUBSCRIBED: the first purchase in the group.
    public static let initialBuy = Self(rawValue: "INITIAL_BUY")
    /// With SUBSCRIBED: the customer subscribed to the group again.
    public static let resubscribe = Self(rawValue: "RESUBSCRIBE")
    /// To a higher plan, at once.
    public static let upgrade = Self(rawValue: "UPGRADE")
    /// To a lower plan, at the next renewal.
    public static let downgrade = Self(rawValue: "DOWNGRADE")
    /// Renewal was turned on.
    public static let autoRenewEnabled = Self(rawValue: "AUTO_RENEW_ENABLED")
    /// Renewal was turned off.
    public static let autoRenewDisabled = Self(rawValue: "AUTO_RENEW_DISABLED")
    /// With EXPIRED: the customer had turned renewal off.
    public static let voluntary = Self(rawValue: "VOLUNTARY")
    /// With EXPIRED: the retry period ended unpaid.
    public static let billingRetry = Self(rawValue: "BILLING_RETRY")
    /// With EXPIRED: the customer did not consent to a price increase.
    public static let priceIncrease = Self(rawValue: "PRICE_INCREASE")
    /// With EXPIRED: the product was not for sale.
    public static let productNotForSale = Self(rawValue: "PRODUCT_NOT_FOR_SALE")
    /// With DID_FAIL_TO_RENEW: within the grace period.
    public static let gracePeriod = Self(rawValue: "GRACE_PERIOD")
    /// With DID_RENEW: renewed after failed billing.
    public static let billingRecovery = Self(rawValue: "BILLING_RECOVERY")
    /// With PRICE_INCREASE: no answer yet.
    public static let pending = Self(rawValue: "PENDING")
    /// With PRICE_INCREASE: the customer agreed, or was notified of an increase that needs no consent.
    public static let accepted = Self(rawValue: "ACCEPTED")
    /// With RENEWAL_EXTENSION: the request is finished.
    public static let summary = Self(rawValue: "SUMMARY")
    /// With RENEWAL_EXTENSION: failed for one subscription.
    public static let failure = Self(rawValue: "FAILURE")
    /// With EXTERNAL_PURCHASE_TOKEN: created, never reported.
    public static let unreported = Self(rawValue: "UNREPORTED")
    /// With EXTERNAL_PURCHASE_TOKEN: a custom-link token was created.
    public static let created = Self(rawValue: "CREATED")
    /// With EXTERNAL_PURCHASE_TOKEN: the monthly reminder of a custom-link token.
    public static let activeTokenReminder = Self(rawValue: "ACTIVE_TOKEN_REMINDER")
    /// With REFUND: some seats were refunded (App Store Server Notifications 2.23). The transaction stays valid for the others,
    /// see ``TransactionMultiSeatInfo/revokedSeatQuantity``.
    public static let seats = Self(rawValue: "SEATS")
    /// The number of seats increases (App Store Server Notifications 2.23).
    public static let increaseQuantity = Self(rawValue: "INCREASE_QUANTITY")
    /// The number of seats decreases at the next renewal (App Store Server Notifications 2.23).
    public static let decreaseQuantity = Self(rawValue: "DECREASE_QUANTITY")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .initialBuy, .resubscribe, .upgrade, .downgrade, .autoRenewEnabled, .autoRenewDisabled, .voluntary,
        .billingRetry, .priceIncrease, .productNotForSale, .gracePeriod, .billingRecovery, .pending,
        .accepted, .summary, .failure, .unreported, .created, .activeTokenReminder, .seats, .increaseQuantity,
        .decreaseQuantity,
    ]
}

/// Why the customer requests a refund (App Store Server Notifications, consumptionRequestReason).
public struct ConsumptionRequestReason: OpenEnum {
    /// The value in the JSON.
    public let rawValue: String

    /// Any raw value, known to this package or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The purchase was not intended.
    public static let unintendedPurchase = Self(rawValue: "UNINTENDED_PURCHASE")
    /// The content was not delivered.
    public static let fulfillmentIssue = Self(rawValue: "FULFILLMENT_ISSUE")
    /// The customer was not satisfied with the purchase.
    public static let unsatisfiedWithPurchase = Self(rawValue: "UNSATISFIED_WITH_PURCHASE")
    /// A legal reason.
    public static let legal = Self(rawValue: "LEGAL")
    /// Another reason.
    public static let other = Self(rawValue: "OTHER")

    /// The values this package knows.
    public static let knownValues: [Self] = [
        .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other,
    ]
}
