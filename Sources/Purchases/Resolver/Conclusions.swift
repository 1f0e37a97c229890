package import AppStoreModels
package import ProductCatalog

// What rules and the product catalog add to one transaction. Upgrades (UpgradeRule) and terms (NonRenewingTermRule)
// depend on other transactions.

extension StoredTransaction {
    /// Adds the type, the ownership, the offer, the group and the reason if no document states them, and adds notes.
    /// - Parameters:
    ///   - product: the catalog's entry for the product.
    ///   - type: the type that signed documents state about other transactions of the purchase.
    ///   - recordedAt: when one of the documents was made, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - notes: the notes of the documents; the conclusions add theirs.
    mutating func conclude(
        _ product: CatalogProduct?, stated type: ProductType?, recordedAt: Int64?, notes: inout [MappingNote]
    ) {
        concludeType(product, stated: type, &notes)
        explainCancellation(&notes)
        // The order of `SubscriptionGroups`.
        if let product, payload.type == .autoRenewableSubscription,
            payload.subscriptionGroupIdentifier == nil || !isGroupSigned
        {
            sources.conclude(
                &shared.payload.subscriptionGroupIdentifier, product.subscriptionGroupIdentifier,
                .subscriptionGroupIdentifier, product.provenance(of: .subscriptionGroupIdentifier))
        }
        concludeFromType(product, recordedAt: recordedAt, notes: &notes)
    }

    /// The transaction with the ownership, the offer and the reason that rules and the catalog add, for a table. A store keeps what
    /// documents state.
    /// - Parameters:
    ///   - type: the type of the product, as far as the customer's documents and the catalog tell.
    ///   - catalog: gives the offers of the product.
    package func completed(type: ProductType?, _ catalog: ProductCatalog?) -> StoredTransaction {
        var completed = self
        completed.payload.type = type
        var notes: [MappingNote] = []
        let product = payload.productId.flatMap { catalog?.product($0) }
        // The date of an unsigned document may be a lower bound, so a signed one comes first.
        let signed = origins.filter(\.kind.isSigned)
        let recordedAt = (signed.isEmpty ? origins : signed).oldestDate
        completed.concludeFromType(product, recordedAt: recordedAt, notes: &notes)
        return completed
    }

    private mutating func concludeFromType(_ product: CatalogProduct?, recordedAt: Int64?, notes: inout [MappingNote]) {
        if !notes.contains(.unknownOwnershipType) { concludeOwnership(recordedAt) }
        if let product { concludeOffer(product) }
        concludeReason(&notes)
    }

    /// Takes the type by the order of `TypeOrder`, else that of a rule (Reference.md V9.2).
    /// - Parameters:
    ///   - product: the product in the catalog; nil if it is not there.
    ///   - other: the type that signed documents state about other transactions of the purchase.
    ///   - notes: gets the notes about the type.
    mutating func concludeType(
        _ product: CatalogProduct?, stated other: ProductType? = nil, _ notes: inout [MappingNote]
    ) {
        // Only receipts and the catalog have free subscriptions.
        let other = isStatedFree || product?.isFreeSubscription == true ? nil : other
        if let type = payload.type ?? other, let catalogType = product?.type, catalogType != type {
            notes.add(.catalogTypeDiffers)
        }
        if signedType != nil { return }
        if let other {
            return sources.conclude(&shared.payload.type, other, .type, .inferred(.otherTransactionStatesType))
        }
        if let type = payload.type, self.type(catalog: product?.type) == type { return }
        if isStatedFree {
            notes.add(.freeSubscription)
            let rule = Provenance.inferred(.freeSubscriptionIsNonRenewing)
            return sources.conclude(&shared.payload.type, .nonRenewingSubscription, .type, rule)
        }
        if legacy.productType != nil { notes.add(.unknownProductType) }
        if let product, let type = product.type {
            if product.isFreeSubscription {
                notes.add(.freeSubscription)
                payload.expiresDate = nil
            }
            if let type = catalogType(type) {
                return sources.conclude(&shared.payload.type, type, .type, product.provenance(of: .type))
            }
            notes.add(.catalogTypeDiffers)
        }
        if payload.expiresDate != nil {
            let rule = Provenance.inferred(.expiresDateMeansAutoRenewable)
            sources.conclude(&shared.payload.type, .autoRenewableSubscription, .type, rule)
        } else if decidingLineItem != nil {
            let rule = Provenance.inferred(.webOrderLineItemMeansAutoRenewable)
            sources.conclude(&shared.payload.type, .autoRenewableSubscription, .type, rule)
        }
    }

    /// Whether the subscription group is that of a signed document, if any document states one.
    package var isGroupSigned: Bool { sources.kind(of: .subscriptionGroupIdentifier).isSigned }

    /// Whether a receipt states that the product is a free (Newsstand) subscription (Reference.md V5.3, type 4).
    var isStatedFree: Bool { legacy.productType == 4 }

    /// Purchases from before Family Sharing were bought by the customer (Reference.md V9.2).
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
        sources.conclude(&shared.payload.inAppOwnershipType, .purchased, .inAppOwnershipType, .inferred(rule))
    }

    /// 2021-01-01T00:00:00Z.
    private static let firstOf2021: Int64 = 1_609_459_200_000

    private func explainCancellation(_ notes: inout [MappingNote]) {
        guard payload.revocationDate != nil else { return }
        if legacy.cancellationReason != nil, payload.revocationReason == nil { notes.add(.valueOutOfRange) }
        // Only subscriptions can be upgraded; an unknown type may be one.
        let canBeUpgrade = payload.type == nil || payload.type == .autoRenewableSubscription
        if !explainsCancellation, canBeUpgrade { notes.add(.cancellationMayBeUpgrade) }
    }

    /// Takes the catalog's offer if exactly one fits.
    private mutating func concludeOffer(_ product: CatalogProduct) {
        let isTrial = payload.offerDiscountType == .freeTrial
        guard let type = payload.offerType,
            let offer = product.onlyOffer(type, payload.offerIdentifier, isTrial: isTrial)
        else { return }
        if payload.offerDiscountType == nil {
            sources.conclude(
                &shared.payload.offerDiscountType, offer.paymentMode, .offerDiscountType,
                product.provenance(of: .offers))
        }
        // Apple does not document the value of the field for an offer of several periods.
        if payload.offerPeriod == nil, offer.numberOfPeriods == 1 {
            sources.conclude(
                &shared.payload.offerPeriod, offer.period?.iso8601, .offerPeriod, product.provenance(of: .offers))
        }
    }

    /// Whether this is a consumable that the app has finished: then the newest app receipt no longer contains it. Without
    /// an app receipt, consumables count as finished.
    /// - Parameters:
    ///   - newestList: the date of the newest app receipt, which lists all unfinished purchases of the customer, in
    ///     milliseconds since 1970-01-01T00:00:00Z.
    ///   - catalog: gives the type, which transaction receipts do not state.
    package func isFinishedConsumable(newestList: Int64?, catalog: ProductCatalog?) -> Bool {
        let type = self.type(catalog: payload.productId.flatMap { catalog?.product($0)?.type })
        guard type == .consumable else { return false }
        let receiptDate = origins.first { $0.kind == .receipt }?.signedDate
        return (receiptDate ?? .min) < (newestList ?? .max)
    }

    /// Whether the transaction is the renewal of a subscription. Without a stated reason, the rules for the type and the
    /// reason decide, as in an export.
    package var isRenewal: Bool {
        if let reason = payload.transactionReason { return reason == .renewal }
        var concluded = self
        var notes: [MappingNote] = []
        concluded.concludeType(nil, &notes)
        concluded.concludeReason(&notes)
        return concluded.payload.transactionReason == .renewal
    }

    /// Concludes the reason of the transaction by a rule, and adds the note about restored ones (Reference.md V9.2).
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
            // A receipt always states the fields of a subscription. A recorded row can lack them, so it may be a
            // restored purchase or a renewal.
            if payload.type != nil || isSigned { notes.add(.restored) }
            guard payload.type != nil else { return }
            rule = .onlySubscriptionsRenew
        }
        let reason: TransactionReason = rule == .transactionIdDiffersFromOriginal ? .renewal : .purchase
        sources.conclude(&shared.payload.transactionReason, reason, .transactionReason, .inferred(rule))
    }
}
