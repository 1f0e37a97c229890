internal import AppStoreModels
internal import Foundation
internal import ReceiptForge

/// A notification of version 1 (Reference.md V8). It is not signed.
struct NotificationV1 {
    let json: [UInt8]

    /// Nil if version 1 has no notification for the event.
    init?(_ event: SandboxEvent, _ state: SandboxState) throws {
        guard let name = Self.name(event), let transaction = event.transaction, let owner = event.customer else {
            return nil
        }
        let customer = try state.engine.customer(owner)
        let receipt = try SandboxReceipts(engine: state.engine).appReceipt(of: customer)
        var writer = JSONWriter(reservingCapacity: 16_384)
        writer.beginObject()
        writer.member("notification_type", name)
        writer.member("environment", state.configuration.environment == .production ? "PROD" : "Sandbox")
        writer.member("bid", state.configuration.bundleId)
        writer.member("bvrs", state.configuration.bundleVersion)
        writer.member("password", state.sharedSecret)
        writer.member("original_transaction_id", transaction.originalTransactionId)
        if let info = event.renewalInfo {
            writer.member("auto_renew_product_id", info.autoRenewProductId)
            writer.member("auto_renew_status", info.autoRenewStatus == .on ? "true" : "false")
            writer.member("expiration_intent", info.expirationIntent?.rawValue)
            if event.type == .didChangeRenewalStatus { writer.legacyDate("auto_renew_status_change_date", event.date) }
        }
        writer.key("unified_receipt")
        Self.write(unifiedReceipt: Data(receipt).base64EncodedString(), of: customer, event, state, to: &writer)
        writer.endObject()
        json = writer.finish()
    }

    private static func write(
        unifiedReceipt receipt: String, of customer: SandboxCustomer, _ event: SandboxEvent, _ state: SandboxState,
        to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.member("status", 0)
        writer.member("environment", state.configuration.environment.rawValue)
        writer.member("latest_receipt", receipt)
        writer.key("latest_receipt_info")
        writer.beginArray()
        // The newest first, up to 100.
        for transaction in state.engine.transactions(of: customer).reversed().prefix(100) {
            write(transaction, to: &writer)
        }
        writer.endArray()
        writer.array("pending_renewal_info", state.engine.subscriptions(of: customer)) { writer, subscription in
            write(state.engine.renewalInfo(of: subscription), to: &writer)
        }
        writer.endObject()
    }

    private static func write(_ transaction: SandboxTransaction, to writer: inout JSONWriter) {
        let payload = transaction.payload
        let isTrial = payload.offerType == .introductory && payload.offerDiscountType == .freeTrial
        writer.beginObject()
        writer.member("quantity", payload.quantity.map { String($0) })
        writer.member("product_id", payload.productId)
        writer.member("transaction_id", payload.transactionId)
        writer.member("original_transaction_id", payload.originalTransactionId)
        writer.legacyDate("purchase_date", payload.purchaseDate)
        writer.legacyDate("original_purchase_date", payload.originalPurchaseDate)
        writer.legacyDate("expires_date", payload.expiresDate)
        writer.member("web_order_line_item_id", payload.webOrderLineItemId)
        writer.member("is_trial_period", isTrial ? "true" : "false")
        if payload.type == .autoRenewableSubscription {
            writer.member(
                "is_in_intro_offer_period", payload.offerType == .introductory && !isTrial ? "true" : "false")
        }
        writer.member("in_app_ownership_type", payload.inAppOwnershipType)
        writer.member("subscription_group_identifier", payload.subscriptionGroupIdentifier)
        writer.member("app_account_token", payload.appAccountToken)
        writer.member("promotional_offer_id", payload.offerType == .promotional ? payload.offerIdentifier : nil)
        writer.member("offer_code_ref_name", payload.offerType == .offerCode ? payload.offerIdentifier : nil)
        writer.legacyDate("cancellation_date", transaction.cancellation?.date)
        writer.member("cancellation_reason", transaction.cancellation?.reason.map { String($0) })
        writer.member("is_upgraded", payload.isUpgraded == true ? "true" : nil)
        writer.endObject()
    }

    private static func write(_ info: JWSRenewalInfoDecodedPayload, to writer: inout JSONWriter) {
        writer.beginObject()
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
        writer.endObject()
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
