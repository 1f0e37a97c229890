internal import AppStoreModels
internal import LegacyReceipts
internal import Purchases
internal import TransactionStore

/// The known data of one transaction, in the terms of `in_app` and `latest_receipt_info` (Reference.md V3.5). A value
/// that no document states is nil and is omitted from the reply.
struct TransactionEntry {
    var quantity: Int64?
    var productId: String?
    var transactionId: String?
    var originalTransactionId: String?
    var purchaseDate: Int64?
    var originalPurchaseDate: Int64?
    var expiresDate: Int64?
    var webOrderLineItemId: String?
    var isTrialPeriod: Bool?
    var isInIntroOfferPeriod: Bool?
    var ownershipType: String?
    var promotionalOfferId: String?
    var offerCodeRefName: String?
    var cancellationDate: Int64?
    var cancellationReason: Int64?
    var isUpgraded = false
    /// Whether the period has several transactions, for example for added seats (`additionalTransactionReason`).
    var sharesPeriod = false
    var subscriptionGroupIdentifier: String?
    var appAccountToken: String?
    var itemId: String?
    var type: ProductType?
    /// ``term`` and ``seats`` are set only if ``EndpointConfiguration/AdditionalMembers`` requests them.
    var term: NonRenewingTerm?
    var seats: Int64?

    /// Whether this is an auto-renewable subscription.
    var isAutoRenewable: Bool { JWSTransactionDecodedPayload.isSubscription(type, expiresDate: expiresDate) }

    /// The id that a subscription keeps through renewals, upgrades and downgrades.
    var subscriptionId: String? { originalTransactionId ?? transactionId }

    /// For the rules about periods.
    var period: LegacyPeriod {
        LegacyPeriod(
            subscriptionId: subscriptionId, transactionId: transactionId, productId: productId, start: purchaseDate,
            end: expiresDate, cancellationDate: cancellationDate, isUpgraded: isUpgraded, sharesPeriod: sharesPeriod)
    }
}

// MARK: - From the submitted receipt

extension TransactionEntry {
    /// An attribute that is empty or missing, or an order line of 0, becomes nil (Reference.md V3.5 and V5.3).
    init(_ purchase: InAppPurchase) {
        quantity = purchase.quantity
        productId = purchase.productId
        transactionId = purchase.transactionId
        originalTransactionId = purchase.originalTransactionId
        purchaseDate = purchase.purchaseDate
        originalPurchaseDate = purchase.originalPurchaseDate
        expiresDate = purchase.expiresDate
        webOrderLineItemId = purchase.webOrderLineItemId.flatMap { $0 == 0 ? nil : String($0) }
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroOfferPeriod = purchase.isInIntroOfferPeriod
        ownershipType =
            switch purchase.ownershipType {
            case .purchased?: InAppOwnershipType.purchased.rawValue
            case .familyShared?: InAppOwnershipType.familyShared.rawValue
            default: nil
            }
        promotionalOfferId = purchase.promotionalOfferId
        cancellationDate = purchase.cancellationDate
        cancellationReason = purchase.cancellationReason
        type =
            switch purchase.productType {
            case .nonConsumable?: .nonConsumable
            case .consumable?: .consumable
            case .nonRenewingSubscription?: .nonRenewingSubscription
            case .autoRenewableSubscription?: .autoRenewableSubscription
            default: nil
            }
    }

    init(_ receipt: TransactionReceipt) {
        quantity = receipt.quantity
        productId = receipt.productId
        transactionId = receipt.transactionId
        originalTransactionId = receipt.originalTransactionId
        purchaseDate = receipt.purchaseDate
        originalPurchaseDate = receipt.originalPurchaseDate
        expiresDate = receipt.expiresDate
        webOrderLineItemId = receipt.webOrderLineItemId.flatMap { $0 == "0" ? nil : $0 }
        isTrialPeriod = receipt.isTrialPeriod
        isInIntroOfferPeriod = receipt.isInIntroOfferPeriod
        ownershipType = receipt.inAppOwnershipType
        cancellationDate = receipt.cancellationDate
        cancellationReason = receipt.cancellationReason
        subscriptionGroupIdentifier = receipt.subscriptionGroupIdentifier
        itemId = receipt.itemId
        // Only auto-renewables have an end (Reference.md V4).
        type = receipt.expiresDate == nil ? nil : .autoRenewableSubscription
    }
}

// MARK: - From resolved purchases

extension TransactionEntry {
    /// Values from legacy documents are used as stated. The others are derived from the modern fields:
    /// - `is_trial_period` is "true" for a free introductory offer. A signed transaction states its offer, so without
    ///   one it is "false".
    /// - `is_in_intro_offer_period` is "true" for a paid introductory offer. Free trials get "false", as in 44 of 44
    ///   signed receipts; one reply of late 2024 has both flags (Reference.md V3.5, "Trial flags").
    /// - `promotional_offer_id` and `offer_code_ref_name` are the identifier of an offer of that type. Win-back offers
    ///   are newer than the legacy format, and have no key in it.
    /// - `cancellation_date` and `cancellation_reason` come from a revocation or an upgrade. In the modern model an
    ///   upgrade is not a revocation: its date comes from a legacy document, or else from the start of the period that
    ///   replaced it.
    init(_ stored: borrowing StoredTransaction) {
        let isStated = stored.origins.contains { $0.source.kind == .signedTransaction }
        self.init(stored.payload, stored.legacy, isStated: isStated)
    }

    private init(
        _ payload: borrowing JWSTransactionDecodedPayload, _ legacy: borrowing LegacyTransactionFields, isStated: Bool
    ) {
        quantity = payload.quantity.map(Int64.init)
        productId = payload.productId
        transactionId = payload.transactionId
        originalTransactionId = payload.originalTransactionId
        purchaseDate = payload.purchaseDate
        originalPurchaseDate = payload.originalPurchaseDate
        expiresDate = payload.expiresDate
        webOrderLineItemId = payload.webOrderLineItemId.flatMap { $0 == "0" ? nil : $0 }
        type = payload.type
        itemId = legacy.itemId
        let isIntroductory = payload.offerType == .introductory
        let isFree = payload.offerDiscountType == .freeTrial
        isTrialPeriod = legacy.isTrialPeriod ?? (isStated ? isIntroductory && isFree : nil)
        isInIntroOfferPeriod = legacy.isInIntroOfferPeriod
        if isInIntroOfferPeriod == nil, isStated, isAutoRenewable { isInIntroOfferPeriod = isIntroductory && !isFree }
        ownershipType = (legacy.inAppOwnershipType ?? payload.inAppOwnershipType)?.rawValue
        promotionalOfferId =
            legacy.promotionalOfferId ?? (payload.offerType == .promotional ? payload.offerIdentifier : nil)
        offerCodeRefName = legacy.offerCodeRefName ?? (payload.offerType == .offerCode ? payload.offerIdentifier : nil)
        isUpgraded = payload.isUpgraded == true
        sharesPeriod = payload.additionalTransactionReason != nil
        cancellationDate = payload.revocationDate ?? legacy.cancellationDate
        cancellationReason =
            cancellationDate == nil
            ? nil : (payload.revocationReason.map { Int64($0.rawValue) } ?? legacy.cancellationReason)
        subscriptionGroupIdentifier = payload.subscriptionGroupIdentifier
        appAccountToken = payload.appAccountToken
    }
}
