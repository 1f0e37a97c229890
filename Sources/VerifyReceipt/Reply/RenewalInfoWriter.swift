internal import AppStoreModels
internal import Purchases

extension JSONWriter {
    /// The members of one entry of `pending_renewal_info` (Reference.md V3.6, and V9.3 in reverse). Every value is a string.
    ///
    /// `is_in_billing_retry_period` is written together with `expiration_intent`; without it only if it is "1". The
    /// answer to a price increase is written under both of its names: the older `price_consent_status`, and
    /// `price_increase_status` with the same values.
    mutating func renewalInfo(_ info: JWSRenewalInfoDecodedPayload) {
        decimalMember("expiration_intent", info.expirationIntent.map { Int64($0.rawValue) })
        member("auto_renew_product_id", info.autoRenewProductId)
        member(DateKeys.gracePeriodExpires, info.gracePeriodExpiresDate)
        if let isRetrying = info.isInBillingRetryPeriod, isRetrying || info.expirationIntent != nil {
            member("is_in_billing_retry_period", isRetrying ? "1" : "0")
        }
        member("promotional_offer_id", info.legacyOffer.promotionalOfferId)
        member("offer_code_ref_name", info.legacyOffer.offerCodeRefName)
        let priceIncrease = info.priceIncreaseStatus.map { Int64($0.rawValue) }
        decimalMember("price_consent_status", priceIncrease)
        decimalMember("price_increase_status", priceIncrease)
        member("original_transaction_id", info.originalTransactionId)
        member("product_id", info.productId)
        decimalMember("auto_renew_status", info.autoRenewStatus.map { Int64($0.rawValue) })
    }
}
