import AppStoreModels
import AppStoreServer

/// Every notificationType and subtype of Reference.md S5.4. Where nothing is known to change, nothing is
/// listed, and the test states it.
extension NotificationCase {
    static let all: [NotificationCase] = subscribed + renewed + changed + failed + ended + refunds + others

    // MARK: Buying

    static let initialBuy = NotificationCase(
        "SUBSCRIBED", "INITIAL_BUY",
        changes: [
            "latest/O/subscription_group_identifier = 20662382", "pending/O new: \(Signed.monthly)",
        ]
    ).with { $0.followsPurchase = false }

    private static let subscribed: [NotificationCase] = [
        initialBuy,
        NotificationCase(
            "SUBSCRIBED", "RESUBSCRIBE", after: [voluntary],
            changes: [
                "latest/1 new: \(Signed.monthly)", "pending/O/auto_renew_status = 1",
                "pending/O/expiration_intent gone",
                "pending/O/is_in_billing_retry_period gone",
            ], resubscribe),
        // Legacy: SUBSCRIBED is sent today.
        NotificationCase(
            "OFFER_REDEEMED", "INITIAL_BUY",
            changes: [
                "latest/O/promotional_offer_id = spring", "latest/O/subscription_group_identifier = 20662382",
                "pending/O new: \(Signed.monthly)",
            ], { $0.transaction.redeem(.promotional, "spring") }
        ).with { $0.followsPurchase = false },
        NotificationCase(
            "OFFER_REDEEMED", "RESUBSCRIBE", after: [voluntary],
            changes: [
                "latest/1 new: \(Signed.monthly)", "pending/O/auto_renew_status = 1",
                "pending/O/expiration_intent gone",
                "pending/O/is_in_billing_retry_period gone",
            ],
            {
                resubscribe(&$0)
                // The legacy format has no key for win-back offers.
                $0.transaction.redeem(.winBack, "come-back")
            }),
    ]

    private static let resubscribe: @Sendable (inout Subscription) -> Void = {
        $0.now += 40 * Signed.day
        $0.begin(1)
        $0.renewal.autoRenewStatus = .on
        $0.renewal.expirationIntent = nil
        $0.renewal.isInBillingRetryPeriod = nil
        $0.status = .active
    }

    // MARK: Renewing

    private static let renewed: [NotificationCase] = [
        NotificationCase("DID_RENEW", changes: ["latest/1 new: \(Signed.monthly)"], { $0.begin(1) }),
        NotificationCase(
            "DID_RENEW", "BILLING_RECOVERY", after: [gracePeriod],
            changes: [
                "latest/1 new: \(Signed.monthly)", "pending/O/grace_period_expires_date_ms gone",
                "pending/O/is_in_billing_retry_period gone",
            ],
            {
                $0.begin(1)
                $0.renewal.isInBillingRetryPeriod = false
                $0.renewal.gracePeriodExpiresDate = nil
                $0.status = .active
            }),
        NotificationCase(
            "RENEWAL_EXTENDED", changes: ["latest/O/expires_date_ms = 1713781230000"],
            {
                $0.transaction.expiresDate = 1_713_781_230_000
                $0.renewal.renewalDate = 1_713_781_230_000
            }),
        NotificationCase("RENEWAL_EXTENSION", "FAILURE"),
        NotificationCase(
            "RENEWAL_EXTENSION", "SUMMARY",
            draft: { subscription in
                var draft = NotificationDraft(bare: "RENEWAL_EXTENSION", "SUMMARY", at: subscription.now)
                draft.content.summary = Summary {
                    $0.environment = .production
                    $0.appAppleId = Signed.appleId
                    $0.bundleId = Signed.bundleId
                    $0.productId = Signed.monthly
                    $0.requestIdentifier = "outage-7"
                    $0.succeededCount = 1_000
                    $0.failedCount = 3
                }
                return draft
            }),
    ]

    // MARK: Changing plan, renewal, price

    static let downgrade = NotificationCase(
        "DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", changes: ["pending/O/auto_renew_product_id = \(Signed.basic)"],
        { $0.renewal.autoRenewProductId = Signed.basic })

    static let renewalDisabled = NotificationCase(
        "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", changes: ["pending/O/auto_renew_status = 0"],
        { $0.renewal.autoRenewStatus = .off })

    private static let changed: [NotificationCase] = [
        NotificationCase(
            "DID_CHANGE_RENEWAL_PREF", "UPGRADE", changes: upgradeChanges, { $0.upgrade() }),
        downgrade,
        NotificationCase(
            "DID_CHANGE_RENEWAL_PREF", after: [downgrade],
            changes: ["pending/O/auto_renew_product_id = \(Signed.monthly)"],
            { $0.renewal.autoRenewProductId = Signed.monthly }),
        // Seats that are added have a transaction of their own, which replaces none. The type is a guess: Apple's pages name
        // the two subtypes only.
        NotificationCase(
            "DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", changes: ["latest/1 new: \(Signed.monthly)"],
            {
                $0.transaction.transactionId = $0.id(1)
                $0.transaction.purchaseDate = $0.now
                $0.transaction.quantity = 2
                $0.transaction.additionalTransactionReason = .seatAddition
                $0.renewal.renewalQuantity = 3
            }),
        NotificationCase("DID_CHANGE_RENEWAL_PREF", "DECREASE_QUANTITY", { $0.renewal.renewalQuantity = 1 }),
        renewalDisabled,
        NotificationCase(
            "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", after: [renewalDisabled],
            changes: ["pending/O/auto_renew_status = 1"], { $0.renewal.autoRenewStatus = .on }),
        NotificationCase(
            "OFFER_REDEEMED", changes: ["pending/O/promotional_offer_id = loyal"],
            { $0.renewal.redeem(.promotional, "loyal") }),
        NotificationCase(
            "OFFER_REDEEMED", "UPGRADE", changes: upgradeChanges,
            {
                $0.upgrade()
                $0.transaction.redeem(.offerCode, "SUMMER")
            }),
        NotificationCase(
            "OFFER_REDEEMED", "DOWNGRADE",
            changes: [
                "pending/O/auto_renew_product_id = \(Signed.basic)", "pending/O/offer_code_ref_name = SUMMER",
            ],
            {
                $0.renewal.autoRenewProductId = Signed.basic
                $0.renewal.redeem(.offerCode, "SUMMER")
            }),
        NotificationCase(
            "PRICE_INCREASE", "PENDING",
            changes: ["pending/O/price_consent_status = 0", "pending/O/price_increase_status = 0"],
            { $0.renewal.priceIncreaseStatus = .pending }),
        NotificationCase(
            "PRICE_INCREASE", "ACCEPTED",
            changes: ["pending/O/price_consent_status = 1", "pending/O/price_increase_status = 1"],
            { $0.renewal.priceIncreaseStatus = .consentedOrNotified }),
    ]

    private static let upgradeChanges = [
        "latest/1 new: \(Signed.yearly)", "latest/O/cancellation_date_ms = 1710584435000",
        "latest/O/cancellation_reason = 0", "latest/O/is_upgraded = true",
        "pending/O/auto_renew_product_id = \(Signed.yearly)", "pending/O/product_id = \(Signed.yearly)",
    ]

    // MARK: Failing to renew

    static let gracePeriod = NotificationCase(
        "DID_FAIL_TO_RENEW", "GRACE_PERIOD",
        changes: [
            "pending/O/grace_period_expires_date_ms = 1714472430000", "pending/O/is_in_billing_retry_period = 1",
        ],
        {
            $0.now = $0.transaction.expiresDate ?? 0
            $0.renewal.isInBillingRetryPeriod = true
            $0.renewal.gracePeriodExpiresDate = 1_714_472_430_000
            $0.status = .billingGracePeriod
        })

    static let billingRetry = NotificationCase(
        "DID_FAIL_TO_RENEW",
        changes: ["pending/O/expiration_intent = 2", "pending/O/is_in_billing_retry_period = 1"],
        {
            $0.now = $0.transaction.expiresDate ?? 0
            $0.renewal.isInBillingRetryPeriod = true
            $0.renewal.expirationIntent = .billingError
            $0.status = .billingRetry
        })

    private static let failed: [NotificationCase] = [
        billingRetry, gracePeriod,
        NotificationCase(
            "GRACE_PERIOD_EXPIRED", after: [gracePeriod],
            changes: ["pending/O/expiration_intent = 2", "pending/O/grace_period_expires_date_ms gone"],
            {
                $0.now = 1_714_472_430_000
                $0.renewal.gracePeriodExpiresDate = nil
                $0.renewal.expirationIntent = .billingError
                $0.status = .billingRetry
            }),
    ]
}

extension NotificationCase {
    func with(_ change: (inout NotificationCase) -> Void) -> NotificationCase {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Subscription {
    /// To a higher plan, at once.
    mutating func upgrade() {
        transaction.expiresDate = now
        begin(1, product: Signed.yearly, months: 12)
        transaction.transactionReason = .purchase
    }

    /// The subscription is over.
    mutating func expire(_ intent: ExpirationIntent) {
        now = max(now, transaction.expiresDate ?? 0)
        renewal.autoRenewStatus = .off
        renewal.expirationIntent = intent
        renewal.isInBillingRetryPeriod = false
        renewal.renewalDate = nil
        status = .expired
    }
}

extension JWSTransactionDecodedPayload {
    mutating func redeem(_ type: OfferType, _ identifier: String) {
        offerType = type
        offerIdentifier = identifier
        offerDiscountType = .payAsYouGo
    }
}

extension JWSRenewalInfoDecodedPayload {
    mutating func redeem(_ type: OfferType, _ identifier: String) {
        offerType = type
        offerIdentifier = identifier
        offerDiscountType = .payAsYouGo
    }
}
