import AppStoreModels
import LegacyReceipts
import ProductCatalog

extension ReceiptMapper {
    /// One purchase in modern terms. Rules that need the other purchases of the record come afterwards:
    /// ``UpgradeRule`` and ``addTerms(_:)``.
    func transaction(
        _ facts: borrowing PurchaseFacts, _ source: RecordForm, _ context: borrowing RecordContext,
        notes: [MappingNote] = []
    ) -> MappedTransaction {
        var result = MappedTransaction(standing: source.standing, reservingFields: 18)
        result.notes = notes
        fill(&result, facts, source, context)
        return result
    }

    /// Fills a transaction where it stands: it is large, and there are many.
    func fill(
        _ result: inout MappedTransaction, _ facts: borrowing PurchaseFacts, _ source: RecordForm,
        _ context: borrowing RecordContext
    ) {
        let product: CatalogProduct? =
            if let catalog, let productId = facts.productId { catalog.product(productId) } else { nil }
        result.fill(facts, source, context, .conclusions(product))
    }
}

extension PurchaseFacts {
    /// What the record states, in modern words, without any conclusion. A cancellation is not part of it: the record does not
    /// state whether it is a revocation or an upgrade.
    func statement(_ source: RecordForm, _ context: borrowing RecordContext) -> JWSTransactionDecodedPayload {
        var result = MappedTransaction(standing: source.standing, reservingFields: 18)
        result.fill(self, source, context, .statements)
        return result.payload
    }
}

/// How much of a record is read.
private enum ReadingDepth {
    case statements
    /// Also the conclusions of rules and of the catalog's product.
    case conclusions(CatalogProduct?)
}

extension MappedTransaction {
    fileprivate mutating func fill(
        _ facts: borrowing PurchaseFacts, _ source: RecordForm, _ context: borrowing RecordContext,
        _ depth: ReadingDepth
    ) {
        setIdentifiers(facts, source)
        setDates(facts, source)
        setType(facts, source, depth)
        setOwnership(facts, source, context, depth)
        setCancellation(facts, source, depth)
        setOffer(facts, source, depth)
        setGroup(facts, source, depth)
        if case .conclusions = depth { setReason() }
        setContext(context, depth)
    }
}

extension MappedTransaction {
    fileprivate mutating func setIdentifiers(_ facts: borrowing PurchaseFacts, _ source: RecordForm) {
        // Xcode writes 0 into every receipt it makes.
        if facts.transactionId == "0" {
            note(.xcodeTransactionIdZero)
        } else {
            provenance.set(
                &payload.transactionId, to: facts.transactionId, .transactionId, source.provenance(.transactionId))
            if facts.transactionId == nil { note(.missingTransactionId) }
        }
        provenance.set(
            &payload.originalTransactionId, to: facts.originalTransactionId == "0" ? nil : facts.originalTransactionId,
            .originalTransactionId, source.provenance(.originalTransactionId))
        provenance.set(&payload.productId, to: facts.productId, .productId, source.provenance(.productId))
        provenance.set(
            &payload.webOrderLineItemId, to: facts.webOrderLineItemId, .webOrderLineItemId,
            source.provenance(.webOrderLineItemId))
        provenance.set(
            &payload.appAccountToken, to: facts.appAccountToken, .appAccountToken, source.provenance(.appAccountToken))
        guard let quantity = facts.quantity else { return }
        guard let quantity = Int32(exactly: quantity) else { return note(.valueOutOfRange) }
        provenance.set(&payload.quantity, to: quantity, .quantity, source.provenance(.quantity))
    }

    fileprivate mutating func setDates(_ facts: borrowing PurchaseFacts, _ source: RecordForm) {
        provenance.set(&payload.purchaseDate, to: facts.purchaseDate, .purchaseDate, source.provenance(.purchaseDate))
        provenance.set(
            &payload.originalPurchaseDate, to: facts.originalPurchaseDate, .originalPurchaseDate,
            source.provenance(.originalPurchaseDate))
        // Free subscriptions never expire (Reference.md V5.3, type 4).
        guard facts.productType != .freeSubscription else { return }
        provenance.set(&payload.expiresDate, to: facts.expiresDate, .expiresDate, source.provenance(.expiresDate))
        if let start = facts.purchaseDate, let end = facts.expiresDate, start > end { note(.purchasedAfterExpiry) }
    }

    /// The type from attribute 1707, else the catalogue, else a rule (Reference.md V9.2).
    fileprivate mutating func setType(
        _ facts: borrowing PurchaseFacts, _ source: RecordForm, _ depth: ReadingDepth
    ) {
        if let type = facts.productType?.modern {
            provenance.set(&payload.type, to: type, .type, source.provenance(.productType))
            if case .conclusions(let product) = depth, let catalogued = product?.type, catalogued != type {
                note(.catalogueTypeDiffers)
            }
            return
        }
        guard case .conclusions(let product) = depth else { return }
        if facts.productType == .freeSubscription {
            note(.freeSubscription)
            return provenance.set(
                &payload.type, to: .nonRenewingSubscription, .type, .inferred(.freeSubscriptionIsNonRenewing))
        }
        if facts.productType != nil { note(.unknownProductType) }
        if let product, let type = product.type {
            if product.isFreeSubscription {
                note(.freeSubscription)
                provenance.clear(&payload.expiresDate, .expiresDate)
            }
            return provenance.set(&payload.type, to: type, .type, product.provenance(of: .type))
        }
        if facts.expiresDate != nil {
            let rule = Provenance.inferred(.expiresDateMeansAutoRenewable)
            provenance.set(&payload.type, to: .autoRenewableSubscription, .type, rule)
        } else if facts.webOrderLineItemId != nil {
            let rule = Provenance.inferred(.webOrderLineItemMeansAutoRenewable)
            provenance.set(&payload.type, to: .autoRenewableSubscription, .type, rule)
        }
    }

    /// Attribute 1722 or its key, else a rule: purchases before family sharing were bought (Reference.md V9.2).
    fileprivate mutating func setOwnership(
        _ facts: borrowing PurchaseFacts, _ source: RecordForm, _ context: borrowing RecordContext,
        _ depth: ReadingDepth
    ) {
        if let ownership = facts.ownershipType {
            return provenance.set(
                &payload.inAppOwnershipType, to: ownership, .inAppOwnershipType, source.provenance(.ownershipType))
        }
        guard case .conclusions = depth, !facts.hasUnknownOwnership else { return }
        let rule: InferenceRule
        if payload.type == .consumable || payload.type == .nonRenewingSubscription {
            rule = .typeIsNeverFamilyShared
        } else if let recordedAt = context.recordedAt ?? facts.purchaseDate, recordedAt < Self.firstOf2021 {
            rule = .recordedBeforeFamilySharing
        } else {
            return
        }
        provenance.set(&payload.inAppOwnershipType, to: .purchased, .inAppOwnershipType, .inferred(rule))
    }

    /// 2021-01-01T00:00:00Z.
    private static let firstOf2021: Int64 = 1_609_459_200_000

    /// A cancellation is a revocation unless the record says that it was an upgrade (Reference.md V3.5 and V9.2).
    fileprivate mutating func setCancellation(
        _ facts: borrowing PurchaseFacts, _ source: RecordForm, _ depth: ReadingDepth
    ) {
        provenance.set(&payload.isUpgraded, to: facts.isUpgraded, .isUpgraded, source.provenance(.isUpgraded))
        guard case .conclusions = depth, let date = facts.cancellationDate, facts.isUpgraded != true else { return }
        provenance.set(&payload.revocationDate, to: date, .revocationDate, source.provenance(.cancellationDate))
        if let reason = facts.cancellationReason {
            if let reason = Int32(exactly: reason) {
                let reason = RevocationReason(rawValue: reason)
                provenance.set(
                    &payload.revocationReason, to: reason, .revocationReason, source.provenance(.cancellationReason))
            } else {
                note(.valueOutOfRange)
            }
        }
        // Only subscriptions can be upgraded; a type that is not known might be one.
        let canBeUpgrade = payload.type == nil || payload.type == .autoRenewableSubscription
        if facts.isUpgraded == nil, canBeUpgrade { note(.cancellationMayBeUpgrade) }
    }

    /// An offer with a name is that offer; else the trial flag beats the introductory flag, because free trials before
    /// 2024 have only the former (Reference.md V3.5 "Trial flags" and V9.2).
    fileprivate mutating func setOffer(
        _ facts: borrowing PurchaseFacts, _ source: RecordForm, _ depth: ReadingDepth
    ) {
        let isTrial = facts.isTrialPeriod == true
        let type: OfferType
        let fact: Fact
        if let identifier = facts.promotionalOfferId {
            (type, fact) = (.promotional, .promotionalOfferId)
            provenance.set(&payload.offerIdentifier, to: identifier, .offerIdentifier, source.provenance(fact))
        } else if let name = facts.offerCodeRefName {
            (type, fact) = (.offerCode, .offerCodeRefName)
            provenance.set(&payload.offerIdentifier, to: name, .offerIdentifier, source.provenance(fact))
        } else if isTrial {
            (type, fact) = (.introductory, .isTrialPeriod)
        } else if facts.isInIntroOfferPeriod == true {
            (type, fact) = (.introductory, .isInIntroOfferPeriod)
        } else {
            return
        }
        provenance.set(&payload.offerType, to: type, .offerType, source.provenance(fact))
        if isTrial {
            provenance.set(
                &payload.offerDiscountType, to: .freeTrial, .offerDiscountType, source.provenance(.isTrialPeriod))
        }
        guard case .conclusions(let product?) = depth,
            let offer = product.onlyOffer(type, payload.offerIdentifier, isTrial: isTrial)
        else { return }
        if payload.offerDiscountType == nil {
            provenance.set(
                &payload.offerDiscountType, to: offer.paymentMode, .offerDiscountType, product.provenance(of: .offers))
        }
        // With several periods, what the modern field would say is not documented.
        if offer.numberOfPeriods == 1 {
            provenance.set(
                &payload.offerPeriod, to: offer.period?.iso8601, .offerPeriod, product.provenance(of: .offers))
        }
    }

    fileprivate mutating func setGroup(
        _ facts: borrowing PurchaseFacts, _ source: RecordForm, _ depth: ReadingDepth
    ) {
        if let group = facts.subscriptionGroupIdentifier {
            provenance.set(
                &payload.subscriptionGroupIdentifier, to: group, .subscriptionGroupIdentifier,
                source.provenance(.subscriptionGroupIdentifier))
        } else if case .conclusions(let product?) = depth, payload.type == .autoRenewableSubscription {
            provenance.set(
                &payload.subscriptionGroupIdentifier, to: product.subscriptionGroupIdentifier,
                .subscriptionGroupIdentifier, product.provenance(of: .subscriptionGroupIdentifier))
        }
    }

    /// The cause of the transaction, only by a rule, and the note on restored ones (Reference.md V9.2).
    fileprivate mutating func setReason() {
        guard let id = payload.transactionId, let original = payload.originalTransactionId else { return }
        let rule: InferenceRule
        if id == original {
            rule = .transactionIdEqualsOriginal
        } else if payload.type == .autoRenewableSubscription {
            rule = .transactionIdDiffersFromOriginal
        } else {
            // A receipt always has the marks of a subscription, a row that somebody kept may have lost them: of that one
            // it is not known whether it was restored or renewed.
            if payload.type != nil || standing == .verifiedReceipt { note(.restored) }
            guard payload.type != nil else { return }
            rule = .onlySubscriptionsRenew
        }
        let reason: TransactionReason = rule == .transactionIdDiffersFromOriginal ? .renewal : .purchase
        provenance.set(&payload.transactionReason, to: reason, .transactionReason, .inferred(rule))
    }

    fileprivate mutating func setContext(_ context: borrowing RecordContext, _ depth: ReadingDepth) {
        provenance.set(&payload.bundleId, to: context.bundleId, .bundleId, context.bundleIdProvenance)
        if case .statements = depth, case .inferred = context.environmentProvenance { return }
        provenance.set(&payload.environment, to: context.environment, .environment, context.environmentProvenance)
    }
}

extension ReceiptProductType {
    /// The type in Apple's modern words; nil for a free subscription and for values that are not known.
    fileprivate var modern: ProductType? {
        switch self {
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case .nonRenewingSubscription: .nonRenewingSubscription
        case .autoRenewableSubscription: .autoRenewableSubscription
        default: nil
        }
    }
}
