internal import AppStoreModels
internal import Purchases

/// The members in a list of transactions.
struct EntryStyle {
    /// `latest_receipt_info` contains values from Apple's database: `is_upgraded`, `subscription_group_identifier`,
    /// `offer_code_ref_name`, `app_account_token`. `in_app` mirrors the receipt.
    let isLatest: Bool
    let presumed: EndpointConfiguration.PresumedMembers
}

extension JSONWriter {
    /// One transaction (Reference.md V3.5). Every value is a string, and absent values are omitted.
    mutating func transaction(_ entry: borrowing TransactionEntry, _ style: EntryStyle) {
        beginObject()
        decimalMember("quantity", entry.quantity)
        member("product_id", entry.productId)
        member("transaction_id", entry.transactionId)
        member("original_transaction_id", entry.originalTransactionId)
        member(DateKeys.purchase, entry.purchaseDate)
        member(DateKeys.originalPurchase, entry.originalPurchaseDate)
        member(DateKeys.expires, entry.expiresDate)
        member("web_order_line_item_id", entry.webOrderLineItemId)
        flagMember("is_trial_period", entry.isTrialPeriod)
        let isAutoRenewable = entry.isAutoRenewable
        let presumedIntro =
            style.presumed.introductoryOfferPeriod
            ? PresumedValue.isInIntroOfferPeriod(isAutoRenewable: isAutoRenewable) : nil
        flagMember("is_in_intro_offer_period", entry.isInIntroOfferPeriod ?? presumedIntro)
        member(DateKeys.cancellation, entry.cancellationDate)
        if entry.cancellationDate != nil { decimalMember("cancellation_reason", entry.cancellationReason) }
        member("promotional_offer_id", entry.promotionalOfferId)
        let presumedOwnership = style.presumed.ownershipType ? PresumedValue.ownershipType.rawValue : nil
        member("in_app_ownership_type", entry.ownershipType ?? presumedOwnership)
        if style.isLatest {
            if isAutoRenewable { member("subscription_group_identifier", entry.subscriptionGroupIdentifier) }
            if entry.isUpgraded { member("is_upgraded", "true") }
            member("offer_code_ref_name", entry.offerCodeRefName)
            member("app_account_token", entry.appAccountToken)
            member(DateKeys.termStart, entry.term?.start)
            member(DateKeys.termEnd, entry.term?.end)
            decimalMember("seats", entry.seats)
        }
        endObject()
    }

    mutating func decimalMember(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        key(name)
        decimalText(value)
    }

    mutating func flagMember(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        member(name, value ? "true" : "false")
    }
}
