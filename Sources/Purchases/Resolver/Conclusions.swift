internal import AppStoreModels
internal import ProductCatalog

// What rules and the product catalog add to a transaction, beside upgrades (UpgradeRule) and terms (NonRenewingTermRule),
// which depend on other transactions.

extension StoredTransaction {
    /// Adds the type, the ownership, the offer, the group and the reason where no document states them, and says what the
    /// fields cannot say.
    /// - Parameters:
    ///   - product: what the catalog has about the product.
    ///   - recordedAt: when one of the documents was made, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - notes: those of the documents; the conclusions add theirs.
    mutating func conclude(_ product: CatalogProduct?, recordedAt: Int64?, notes: inout [MappingNote]) {
        concludeType(product, &notes)
        if !notes.contains(.unknownOwnershipType) { concludeOwnership(recordedAt) }
        explainCancellation(&notes)
        if let product { concludeOffer(product) }
        if let product, payload.type == .autoRenewableSubscription, payload.subscriptionGroupIdentifier == nil {
            sources.conclude(
                &payload.subscriptionGroupIdentifier, product.subscriptionGroupIdentifier,
                .subscriptionGroupIdentifier, product.provenance(of: .subscriptionGroupIdentifier))
        }
        concludeReason(&notes)
    }

    /// The type that a document states, else that of the catalog, else by a rule (Reference.md V9.2).
    mutating func concludeType(_ product: CatalogProduct?, _ notes: inout [MappingNote]) {
        if let type = payload.type {
            if let catalogd = product?.type, catalogd != type { notes.add(.catalogTypeDiffers) }
            return
        }
        if isStatedFree {
            notes.add(.freeSubscription)
            let rule = Provenance.inferred(.freeSubscriptionIsNonRenewing)
            return sources.conclude(&payload.type, .nonRenewingSubscription, .type, rule)
        }
        if legacy.productType != nil { notes.add(.unknownProductType) }
        if let product, let type = product.type {
            if product.isFreeSubscription {
                notes.add(.freeSubscription)
                payload.expiresDate = nil
            }
            return sources.conclude(&payload.type, type, .type, product.provenance(of: .type))
        }
        if payload.expiresDate != nil {
            let rule = Provenance.inferred(.expiresDateMeansAutoRenewable)
            sources.conclude(&payload.type, .autoRenewableSubscription, .type, rule)
        } else if payload.webOrderLineItemId != nil {
            let rule = Provenance.inferred(.webOrderLineItemMeansAutoRenewable)
            sources.conclude(&payload.type, .autoRenewableSubscription, .type, rule)
        }
    }

    /// Whether a receipt states that the product is a free (Newsstand) subscription (Reference.md V5.3, type 4).
    var isStatedFree: Bool { legacy.productType == 4 }

    /// Purchases before Family Sharing were bought (Reference.md V9.2).
    private mutating func concludeOwnership(_ recordedAt: Int64?) {
        guard payload.inAppOwnershipType == nil else { return }
        let rule: InferenceRule
        if payload.type == .consumable || payload.type == .nonRenewingSubscription {
            rule = .typeIsNeverFamilyShared
        } else if let recordedAt = recordedAt ?? payload.purchaseDate, recordedAt < Self.firstOf2021 {
            rule = .recordedBeforeFamilySharing
        } else {
            return
        }
        sources.conclude(&payload.inAppOwnershipType, .purchased, .inAppOwnershipType, .inferred(rule))
    }

    /// 2021-01-01T00:00:00Z.
    private static let firstOf2021: Int64 = 1_609_459_200_000

    private func explainCancellation(_ notes: inout [MappingNote]) {
        guard payload.revocationDate != nil else { return }
        if legacy.cancellationReason != nil, payload.revocationReason == nil { notes.add(.valueOutOfRange) }
        // Only subscriptions can be upgraded; a type that is not known might be one.
        let canBeUpgrade = payload.type == nil || payload.type == .autoRenewableSubscription
        if !explainsCancellation, canBeUpgrade { notes.add(.cancellationMayBeUpgrade) }
    }

    /// The offer of the catalog that fits alone.
    private mutating func concludeOffer(_ product: CatalogProduct) {
        let isTrial = payload.offerDiscountType == .freeTrial
        guard let type = payload.offerType,
            let offer = product.onlyOffer(type, payload.offerIdentifier, isTrial: isTrial)
        else { return }
        if payload.offerDiscountType == nil {
            sources.conclude(
                &payload.offerDiscountType, offer.paymentMode, .offerDiscountType, product.provenance(of: .offers))
        }
        // With several periods, what the modern field would say is not documented.
        if payload.offerPeriod == nil, offer.numberOfPeriods == 1 {
            sources.conclude(
                &payload.offerPeriod, offer.period?.iso8601, .offerPeriod, product.provenance(of: .offers))
        }
    }

    /// The cause of the transaction, only by a rule, and the note on restored ones (Reference.md V9.2).
    private mutating func concludeReason(_ notes: inout [MappingNote]) {
        guard payload.transactionReason == nil, let id = payload.transactionId,
            let original = payload.originalTransactionId
        else { return }
        let rule: InferenceRule
        if id == original {
            rule = .transactionIdEqualsOriginal
        } else if payload.type == .autoRenewableSubscription {
            rule = .transactionIdDiffersFromOriginal
        } else {
            // A receipt always states what marks a subscription. A recorded row can lack it, so that it is unknown whether
            // the row was restored or renewed.
            if payload.type != nil || isSigned { notes.add(.restored) }
            guard payload.type != nil else { return }
            rule = .onlySubscriptionsRenew
        }
        let reason: TransactionReason = rule == .transactionIdDiffersFromOriginal ? .renewal : .purchase
        sources.conclude(&payload.transactionReason, reason, .transactionReason, .inferred(rule))
    }
}

extension [MappingNote] {
    mutating func add(_ note: MappingNote) {
        if !contains(note) { append(note) }
    }
}
