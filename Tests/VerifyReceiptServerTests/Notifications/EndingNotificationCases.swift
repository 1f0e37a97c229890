import AppStoreModels
import AppStoreServer

extension NotificationCase {
    // MARK: Ending

    static let voluntary = NotificationCase(
        "EXPIRED", "VOLUNTARY", after: [renewalDisabled],
        changes: ["pending/O/expiration_intent = 1", "pending/O/is_in_billing_retry_period = 0"],
        { $0.expire(.cancelled) })

    static let ended: [NotificationCase] = [
        voluntary,
        NotificationCase(
            "EXPIRED", "BILLING_RETRY", after: [billingRetry],
            changes: ["pending/O/auto_renew_status = 0", "pending/O/is_in_billing_retry_period = 0"],
            { $0.expire(.billingError) }),
        NotificationCase(
            "EXPIRED", "PRICE_INCREASE",
            changes: [
                "pending/O/auto_renew_status = 0", "pending/O/expiration_intent = 3",
                "pending/O/is_in_billing_retry_period = 0", "pending/O/price_consent_status = 0",
                "pending/O/price_increase_status = 0",
            ],
            {
                $0.expire(.noConsentToPriceIncrease)
                $0.renewal.priceIncreaseStatus = .pending
            }),
        NotificationCase("EXPIRED", "PRODUCT_NOT_FOR_SALE", changes: expired(4), { $0.expire(.productUnavailable) }),
        NotificationCase("EXPIRED", changes: expired(5), { $0.expire(.other) }),
    ]

    private static func expired(_ intent: Int) -> [String] {
        [
            "pending/O/auto_renew_status = 0", "pending/O/expiration_intent = \(intent)",
            "pending/O/is_in_billing_retry_period = 0",
        ]
    }

    // MARK: Refunds

    static let refund = NotificationCase(
        "REFUND",
        changes: [
            "latest/O/cancellation_date_ms = 1711000000586", "latest/O/cancellation_reason = 1",
        ],
        {
            $0.transaction.revocationDate = 1_711_000_000_586
            $0.transaction.revocationReason = .issueWithinApp
            $0.transaction.revocationType = .refundFull
            $0.transaction.revocationPercentage = 100_000
            $0.status = .revoked
        })

    static let refunds: [NotificationCase] = [
        refund,
        // The transaction stays valid for the other seats.
        NotificationCase(
            "REFUND", "SEATS",
            { $0.transaction.multiSeatInfo = TransactionMultiSeatInfo { $0.revokedSeatQuantity = 1 } }),
        NotificationCase("REFUND_DECLINED"),
        NotificationCase(
            "REFUND_REVERSED", after: [refund],
            changes: ["latest/O/cancellation_date_ms gone", "latest/O/cancellation_reason gone"],
            {
                $0.transaction.revocationDate = nil
                $0.transaction.revocationReason = nil
                $0.transaction.revocationType = nil
                $0.transaction.revocationPercentage = nil
                $0.status = .active
            }),
        NotificationCase(
            "CONSUMPTION_REQUEST",
            draft: { subscription in
                var draft = try NotificationDraft("CONSUMPTION_REQUEST", nil, subscription)
                draft.content.data?.consumptionRequestReason = .unsatisfiedWithPurchase
                return draft
            }),
        NotificationCase(
            "REVOKE",
            changes: [
                "latest/O/cancellation_date_ms = 1711000000586", "latest/O/cancellation_reason = 0",
                "latest/O/in_app_ownership_type = FAMILY_SHARED",
            ],
            {
                $0.transaction.inAppOwnershipType = .familyShared
                $0.transaction.revocationDate = 1_711_000_000_586
                $0.transaction.revocationReason = .other
                $0.transaction.revocationType = .familyRevoke
                $0.status = .revoked
            }),
    ]

    // MARK: Everything else

    static let others: [NotificationCase] =
        oneTimeCharges + advancedCommerce + tokens + [
            NotificationCase(
                "RESCIND_CONSENT",
                draft: { subscription in
                    var draft = NotificationDraft(bare: "RESCIND_CONSENT", at: subscription.now)
                    let app = AppTransaction {
                        $0.receiptType = .production
                        $0.appAppleId = Signed.appleId
                        $0.bundleId = Signed.bundleId
                        $0.receiptCreationDate = subscription.now
                        $0.originalPurchaseDate = Signed.bought.milliseconds
                        $0.originalApplicationVersion = "41"
                        $0.appTransactionId = "7049" + subscription.original
                        $0.originalPlatform = .iOS
                    }
                    draft.content.appData = try AppData {
                        $0.appAppleId = Signed.appleId
                        $0.bundleId = Signed.bundleId
                        $0.environment = .production
                        $0.signedAppTransactionInfo = try Signed.jws(app)
                    }
                    return draft
                }),
            NotificationCase(
                "UNCLAIM_SEATS",
                draft: { subscription in
                    var draft = try NotificationDraft("UNCLAIM_SEATS", nil, subscription)
                    draft.content.unclaimInfo = UnclaimInfo {
                        $0.unclaimSeatIds = ["b2158121-7af9-49d4-9561-1f588205523e"]
                    }
                    return draft
                }),
            NotificationCase(
                "TEST",
                draft: { subscription in
                    var draft = NotificationDraft(bare: "TEST", at: subscription.now)
                    draft.content.data = NotificationData {
                        $0.environment = .production
                        $0.appAppleId = Signed.appleId
                        $0.bundleId = Signed.bundleId
                    }
                    return draft
                }),
        ]

    private static let oneTimeCharges: [NotificationCase] = [
        // Joined to the customer of the receipt by the appTransactionId.
        NotificationCase("ONE_TIME_CHARGE", changes: ["latest/90 new: tree"], { $0.buy("tree", .nonConsumable) }),
        NotificationCase(
            "ONE_TIME_CHARGE", changes: ["latest/90 new: pass"], { $0.buy("pass", .nonRenewingSubscription) }),
        // No document states whether it is finished, and finished consumables are not in replies.
        NotificationCase("ONE_TIME_CHARGE", nil, { $0.buy("apples", .consumable) }),
    ]

    /// The reply has no words for what these change.
    private static let advancedCommerce = [
        NotificationCase("METADATA_UPDATE"), NotificationCase("MIGRATION"),
        NotificationCase("PRICE_CHANGE", nil, { $0.renewal.renewalPrice = 12_990 }),
    ]

    private static let tokens: [NotificationCase] = ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"].map { subtype in
        NotificationCase(
            "EXTERNAL_PURCHASE_TOKEN", subtype,
            draft: { subscription in
                var draft = NotificationDraft(bare: "EXTERNAL_PURCHASE_TOKEN", subtype, at: subscription.now)
                draft.content.externalPurchaseToken = ExternalPurchaseToken {
                    $0.externalPurchaseId = "b2158121-7af9-49d4-9561-1f588205523e"
                    $0.tokenCreationDate = subscription.now
                    $0.appAppleId = Signed.appleId
                    $0.bundleId = Signed.bundleId
                }
                return draft
            })
    }
}

extension Subscription {
    /// Something else that the same download of the app bought.
    mutating func buy(_ product: String, _ type: ProductType) {
        transaction = JWSTransactionDecodedPayload {
            $0.originalTransactionId = id(90)
            $0.transactionId = id(90)
            $0.bundleId = Signed.bundleId
            $0.productId = product
            $0.purchaseDate = now
            $0.originalPurchaseDate = now
            $0.quantity = 1
            $0.type = type
            $0.inAppOwnershipType = .purchased
            $0.environment = .production
            $0.transactionReason = .purchase
            $0.currency = "USD"
            $0.price = 990
            $0.appTransactionId = transaction.appTransactionId
        }
        status = nil
    }
}
