internal import AppStoreModels
internal import Encodings
internal import Purchases
internal import ReceiptForge

/// Notifications of version 1 (Reference.md V8). They are not signed.
enum NotificationV1 {
    /// The notification of an event; nil if version 1 has none for it.
    static func json(_ event: SandboxEvent, _ state: SandboxState) throws -> [UInt8]? {
        guard let name = Self.name(event), let transaction = event.transaction, let owner = event.customer else {
            return nil
        }
        let customer = try state.engine.customer(owner)
        let receipt = try SandboxReceipts(engine: state.engine).appReceipt(of: customer)
        return JSONWriter.object(reservingCapacity: 16_384) { writer in
            writer.member("notification_type", name)
            writer.member("environment", state.configuration.isProduction ? "PROD" : "Sandbox")
            writer.member("bid", state.configuration.bundleId)
            writer.member("bvrs", state.configuration.bundleVersion)
            writer.member("password", state.sharedSecret)
            writer.member("original_transaction_id", transaction.originalTransactionId)
            if let info = event.renewalInfo {
                writer.member("auto_renew_product_id", info.autoRenewProductId)
                writer.member("auto_renew_status", info.autoRenewStatus == .on ? "true" : "false")
                writer.member("expiration_intent", info.expirationIntent?.rawValue)
                if event.type == .didChangeRenewalStatus {
                    writer.legacyDate("auto_renew_status_change_date", event.date)
                }
            }
            writer.object("unified_receipt") { writer in
                writer.member("status", 0)
                writer.member("environment", state.configuration.environment.rawValue)
                writer.member("latest_receipt", Base64.encode(receipt))
                // The newest first, up to 100.
                let newest = state.engine.transactions(of: customer).reversed().prefix(100)
                writer.objects("latest_receipt_info", newest) { write($1, to: &$0) }
                writer.objects("pending_renewal_info", state.engine.subscriptions(of: customer)) {
                    write(state.engine.renewalInfo(of: $1), to: &$0)
                }
            }
        }
    }

    private static func write(_ transaction: SandboxTransaction, to writer: inout JSONWriter) {
        let payload = transaction.payload
        writer.member("quantity", payload.quantity.map { String($0) })
        writer.member("product_id", payload.productId)
        writer.member("transaction_id", payload.transactionId)
        writer.member("original_transaction_id", payload.originalTransactionId)
        writer.legacyDate("purchase_date", payload.purchaseDate)
        writer.legacyDate("original_purchase_date", payload.originalPurchaseDate)
        writer.legacyDate("expires_date", payload.expiresDate)
        writer.member("web_order_line_item_id", payload.webOrderLineItemId)
        writer.member("is_trial_period", String(payload.legacyOffer.isTrialPeriod))
        writer.member("is_in_intro_offer_period", payload.legacyOffer.isInIntroOfferPeriod.map { String($0) })
        writer.member("in_app_ownership_type", payload.inAppOwnershipType)
        writer.member("subscription_group_identifier", payload.subscriptionGroupIdentifier)
        writer.member("app_account_token", payload.appAccountToken)
        writer.member("promotional_offer_id", payload.legacyOffer.promotionalOfferId)
        writer.member("offer_code_ref_name", payload.legacyOffer.offerCodeRefName)
        writer.legacyDate("cancellation_date", transaction.cancellation?.date)
        writer.member("cancellation_reason", transaction.cancellation?.reason.map { String($0) })
        writer.member("is_upgraded", payload.isUpgraded == true ? "true" : nil)
    }

    private static func write(_ info: JWSRenewalInfoDecodedPayload, to writer: inout JSONWriter) {
        writer.member("auto_renew_product_id", info.autoRenewProductId)
        writer.member("product_id", info.productId)
        writer.member("original_transaction_id", info.originalTransactionId)
        writer.member("auto_renew_status", info.autoRenewStatus.map { String($0.rawValue) })
        writer.member("expiration_intent", info.expirationIntent.map { String($0.rawValue) })
        if info.expirationIntent != nil {
            writer.member("is_in_billing_retry_period", info.isInBillingRetryPeriod == true ? "1" : "0")
        }
        writer.legacyDate("grace_period_expires_date", info.gracePeriodExpiresDate)
        writer.member("price_consent_status", info.priceIncreaseStatus.map { String($0.rawValue) })
    }

    /// The types of version 1 (Apple's documentation of App Store Server Notifications V1, notification_type).
    private static func name(_ event: SandboxEvent) -> String? {
        switch (event.type, event.subtype) {
        case (.subscribed, .initialBuy?): "INITIAL_BUY"
        case (.subscribed, _), (.didChangeRenewalPref, .upgrade?), (.offerRedeemed, .upgrade?): "INTERACTIVE_RENEWAL"
        case (.didChangeRenewalPref, _), (.offerRedeemed, _): "DID_CHANGE_RENEWAL_PREF"
        case (.didChangeRenewalStatus, _): "DID_CHANGE_RENEWAL_STATUS"
        case (.didRenew, .billingRecovery?): "DID_RECOVER"
        case (.didRenew, _): "DID_RENEW"
        case (.didFailToRenew, _): "DID_FAIL_TO_RENEW"
        case (.priceIncrease, .pending?): "PRICE_INCREASE_CONSENT"
        case (.refund, _): "REFUND"
        case (.revoke, _): "REVOKE"
        case (.consumptionRequest, _): "CONSUMPTION_REQUEST"
        default: nil
        }
    }
}

extension JSONWriter {
    /// The three forms of a date in replies (Reference.md V3.4).
    fileprivate mutating func legacyDate(_ name: String, _ date: Int64?) {
        guard let date else { return }
        let instant = ForgedInstant(milliseconds: date)
        for (suffix, text) in [("", instant.gmtText), ("_ms", String(date)), ("_pst", instant.losAngelesText)] {
            key(name + suffix)
            string(text)
        }
    }
}
