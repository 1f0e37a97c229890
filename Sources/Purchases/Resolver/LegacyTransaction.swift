package import AppStoreModels
package import ProductCatalog

// The modern fields of a transaction, in the terms of the legacy documents.

/// The offer of a transaction or of a renewal.
package struct LegacyOffer {
    let type: OfferType?
    let identifier: String?
    let discountType: OfferDiscountType?
    /// Whether the product is an auto-renewable subscription.
    let isSubscription: Bool

    /// `is_trial_period` of a transaction that states its offer: "true" for a free introductory offer.
    package var isTrialPeriod: Bool { type == .introductory && discountType == .freeTrial }

    /// `is_in_intro_offer_period` of a transaction that states its offer: "true" for a paid introductory offer. Free trials get
    /// "false", as in 44 of 44 signed receipts; one reply of late 2024 has both flags (Reference.md V3.5, "Trial flags"). Nil
    /// except for auto-renewable subscriptions.
    package var isInIntroOfferPeriod: Bool? { isSubscription ? type == .introductory && !isTrialPeriod : nil }

    /// `promotional_offer_id`
    package var promotionalOfferId: String? { type == .promotional ? identifier : nil }

    /// `offer_code_ref_name`
    package var offerCodeRefName: String? { type == .offerCode ? identifier : nil }
}

extension JWSTransactionDecodedPayload {
    /// The offer that applies to the transaction.
    package var legacyOffer: LegacyOffer {
        // Inline, because a caller that reads the transaction in place would otherwise copy all of it.
        @inline(__always) get {
            LegacyOffer(
                type: offerType, identifier: offerIdentifier, discountType: offerDiscountType,
                isSubscription: Self.isSubscription(type, expiresDate: expiresDate))
        }
    }
}

extension JWSRenewalInfoDecodedPayload {
    /// The offer that `pending_renewal_info` states.
    package var legacyOffer: LegacyOffer {
        LegacyOffer(
            type: offerType, identifier: offerIdentifier, discountType: offerDiscountType, isSubscription: true)
    }
}

/// Values that a reply can contain although no document states them, for clients that require them.
package enum PresumedValue {
    /// `in_app_ownership_type`. Family Sharing of in-app purchases was introduced together with the attribute in late 2020, so the
    /// value is correct for older receipts.
    package static let ownershipType = InAppOwnershipType.purchased

    /// `is_in_intro_offer_period`; nil except for auto-renewable subscriptions, because no other transaction has the member.
    package static func isInIntroOfferPeriod(isAutoRenewable: Bool) -> Bool? { isAutoRenewable ? false : nil }
}

extension StoredTransaction {
    /// ``legacy``, with values from the modern fields where no legacy document states one:
    /// - A signed transaction states its offer, so without one the two flags are false.
    /// - `promotional_offer_id` and `offer_code_ref_name` are the identifier of an offer of that type. Win-back offers
    ///   are newer than the legacy format, and have no key in it.
    /// - `cancellation_date` and `cancellation_reason` come from a revocation or an upgrade. In the modern model an
    ///   upgrade is not a revocation. Its date comes from a legacy document, or else from the start of the period that
    ///   replaced it.
    package var completeLegacy: LegacyTransactionFields {
        var fields = legacy
        let offer = payload.legacyOffer
        if origins.contains(where: { $0.kind == .signedTransaction }) {
            if fields.isTrialPeriod == nil { fields.isTrialPeriod = offer.isTrialPeriod }
            if fields.isInIntroOfferPeriod == nil { fields.isInIntroOfferPeriod = offer.isInIntroOfferPeriod }
        }
        if fields.promotionalOfferId == nil { fields.promotionalOfferId = offer.promotionalOfferId }
        if fields.offerCodeRefName == nil { fields.offerCodeRefName = offer.offerCodeRefName }
        if fields.inAppOwnershipType == nil { fields.inAppOwnershipType = payload.inAppOwnershipType }
        if let date = payload.revocationDate { fields.cancellationDate = date }
        if fields.cancellationDate == nil {
            fields.cancellationReason = nil
        } else if let reason = payload.revocationReason {
            fields.cancellationReason = Int64(reason.rawValue)
        }
        return fields
    }

    /// ``completeLegacy`` with a cancellation that only an unsigned document states, for callers that trust unsigned documents
    /// like Apple's.
    package var trustedLegacy: LegacyTransactionFields {
        var fields = completeLegacy
        guard fields.cancellationDate == nil, let cancellation = recordedCancellation else { return fields }
        fields.cancellationDate = cancellation.date
        fields.cancellationReason = cancellation.reason
        return fields
    }

    /// Whether a reply lists the transaction if the submitted document does not contain it. Finished consumables are not listed.
    /// Transactions that only unsigned documents state are listed for callers that trust these documents like Apple's.
    /// - Parameters:
    ///   - newestList: the date of the newest app receipt, as in ``isFinishedConsumable(newestList:catalog:)``.
    ///   - catalog: the product data; nil if there is none.
    ///   - trustsRecorded: whether unsigned documents are trusted like Apple's.
    package func isListed(newestList: Int64?, catalog: ProductCatalog?, trustsRecorded: Bool) -> Bool {
        guard isSigned || trustsRecorded else { return false }
        return !isFinishedConsumable(newestList: newestList, catalog: catalog)
    }
}

extension Customer {
    /// The renewal infos that count: signed ones, and recorded ones if a signed transaction of their subscription is known.
    /// - Parameter trustsRecorded: whether unsigned documents are trusted like Apple's. Then all count.
    package func countingRenewalInfos(trustsRecorded: Bool) -> [StoredRenewalInfo] {
        guard !trustsRecorded, renewalInfos.contains(where: { !$0.isSigned }) else { return renewalInfos }
        let signed = Set(transactions.filter(\.isSigned).compactMap(\.purchaseId))
        return renewalInfos.filter { $0.isSigned || signed.contains($0.payload.originalTransactionId ?? "") }
    }
}
