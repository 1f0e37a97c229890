internal import AppStoreModels
internal import LegacyReceipts
internal import Purchases

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
    /// Whether the group is that of a signed document, if any document states one.
    var isGroupSigned = true
    /// Whether a signed document states the transaction.
    var isSigned = true
    var appAccountToken: String?
    var itemId: String?
    var type: ProductType?
    /// ``term`` and ``seats`` are set only if ``EndpointConfiguration/AdditionalMembers`` requests them.
    var term: NonRenewingTerm?
    var seats: Int64?

    /// Whether this is an auto-renewable subscription.
    var isAutoRenewable: Bool {
        // Inline, because a caller that reads an entry of an array would otherwise copy all of it.
        @inline(__always) get { JWSTransactionDecodedPayload.isSubscription(type, expiresDate: expiresDate) }
    }

    /// The id that a subscription keeps through renewals, upgrades and downgrades.
    var subscriptionId: String? { originalTransactionId ?? transactionId }

    /// For the rule about groups.
    var groupStatement: SubscriptionGroups.Statement {
        SubscriptionGroups.Statement(
            productId: productId, subscriptionId: subscriptionId, group: subscriptionGroupIdentifier,
            isGroupSigned: isGroupSigned, isSigned: isSigned)
    }

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
        ownershipType = purchase.ownershipType?.modern?.rawValue
        promotionalOfferId = purchase.promotionalOfferId
        cancellationDate = purchase.cancellationDate
        cancellationReason = purchase.cancellationReason
        type = purchase.productType?.modern
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
    }
}

// MARK: - From resolved purchases

extension TransactionEntry {
    /// With `trustsRecorded`, cancellations that only unsigned documents state count too.
    init(_ stored: borrowing StoredTransaction, trustsRecorded: Bool = false) {
        self.init(stored, trustsRecorded ? stored.trustedLegacy : stored.completeLegacy)
    }

    // Member by member, because a copy of the payload would take longer.
    private init(_ stored: borrowing StoredTransaction, _ legacy: borrowing LegacyTransactionFields) {
        isGroupSigned = stored.isGroupSigned
        isSigned = stored.isSigned
        quantity = stored.payload.quantity.map(Int64.init)
        productId = stored.payload.productId
        transactionId = stored.payload.transactionId
        originalTransactionId = stored.payload.originalTransactionId
        purchaseDate = stored.payload.purchaseDate
        originalPurchaseDate = stored.payload.originalPurchaseDate
        expiresDate = stored.payload.expiresDate
        webOrderLineItemId = stored.payload.webOrderLineItemId.flatMap { $0 == "0" ? nil : $0 }
        type = stored.payload.type
        itemId = legacy.itemId
        isTrialPeriod = legacy.isTrialPeriod
        isInIntroOfferPeriod = legacy.isInIntroOfferPeriod
        ownershipType = legacy.inAppOwnershipType?.rawValue
        promotionalOfferId = legacy.promotionalOfferId
        offerCodeRefName = legacy.offerCodeRefName
        isUpgraded = stored.payload.isUpgraded == true
        sharesPeriod = stored.payload.sharesPeriod
        cancellationDate = legacy.cancellationDate
        cancellationReason = legacy.cancellationReason
        subscriptionGroupIdentifier = stored.payload.subscriptionGroupIdentifier
        appAccountToken = stored.payload.appAccountToken
    }
}
