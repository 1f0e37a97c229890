import AppStoreModels
package import LegacyReceipts

extension AppReceipt {
    /// The receipt's statements about its purchases, in its order.
    var statements: [PurchaseStatement] {
        let context = RecordContext(self)
        return inAppPurchases.map { PurchaseStatement(PurchaseFacts($0), .attributes, context) }
    }

    /// Whether one purchase can change another, so that they resolve to more than the receipt states. That takes
    /// subscriptions of several products (`UpgradeRule`) or a cancellation (`CopyRule`).
    package var hasDependentPurchases: Bool {
        let isCancelled = inAppPurchases.count > 1 && inAppPurchases.contains { $0.cancellationDate != nil }
        return isCancelled
            || UpgradeRule.isNeeded(inAppPurchases.count) {
                inAppPurchases[$0].isAutoRenewable ? inAppPurchases[$0].productId : nil
            }
    }
}

extension RecordContext {
    init(_ receipt: borrowing AppReceipt) {
        bundleId = receipt.bundleId.nonEmpty
        bundleIdProvenance = .signedAttribute(2)
        environment = receipt.environment?.modern
        environmentProvenance = .signedAttribute(0)
        recordedAt = receipt.receiptCreationDate
    }
}

extension MappedAppTransaction {
    /// The attributes about the app itself, without conclusions.
    init(_ receipt: borrowing AppReceipt) {
        self.init(standing: .verifiedReceipt)
        read(receipt)
    }

    // An initializer that assigns the members itself would return a copy of the structure.
    private mutating func read(_ receipt: AppReceipt) {
        if receipt.receiptType != nil, receipt.environment == nil { notes.append(.unknownEnvironment) }
        let environment = receipt.environment?.modern
        provenance.set(&payload.receiptType, to: environment, .receiptType, .signedAttribute(0))
        provenance.set(&payload.appAppleId, to: receipt.appItemId?.nonZero, .appAppleId, .signedAttribute(1))
        provenance.set(&payload.bundleId, to: receipt.bundleId.nonEmpty, .bundleId, .signedAttribute(2))
        let version = receipt.applicationVersion?.nonEmpty
        provenance.set(&payload.applicationVersion, to: version, .applicationVersion, .signedAttribute(3))
        let created = receipt.receiptCreationDate
        provenance.set(&payload.receiptCreationDate, to: created, .receiptCreationDate, .signedAttribute(12))
        let external = receipt.versionExternalIdentifier?.nonZero
        provenance.set(
            &payload.versionExternalIdentifier, to: external, .versionExternalIdentifier, .signedAttribute(16))
        let bought = receipt.originalPurchaseDate
        provenance.set(&payload.originalPurchaseDate, to: bought, .originalPurchaseDate, .signedAttribute(18))
        let originalVersion = receipt.originalApplicationVersion?.nonEmpty
        provenance.set(
            &payload.originalApplicationVersion, to: originalVersion, .originalApplicationVersion, .signedAttribute(19))
        provenance.set(&payload.preorderDate, to: receipt.preorderDate, .preorderDate, .signedAttribute(32))
        legacy.receiptType = receipt.receiptType?.rawValue
        legacy.expirationDate = receipt.expirationDate
        legacy.volumePurchaseDate = receipt.volumePurchaseDate
        legacy.volumePurchaseOrganization = receipt.volumePurchaseOrganization?.nonEmpty
    }
}

extension PurchaseFacts {
    init(_ purchase: borrowing InAppPurchase) {
        self.init()
        read(purchase)
    }

    // An initializer that assigns the members itself would return a copy of the structure.
    private mutating func read(_ purchase: InAppPurchase) {
        quantity = purchase.quantity
        productId = purchase.productId.nonEmpty
        transactionId = purchase.transactionId.nonEmpty
        purchaseDate = purchase.purchaseDate
        originalTransactionId = purchase.originalTransactionId?.nonEmpty
        originalPurchaseDate = purchase.originalPurchaseDate
        productType = purchase.productType
        expiresDate = purchase.expiresDate
        webOrderLineItemId = purchase.webOrderLineItemId?.nonZero.map(String.init)
        cancellationDate = purchase.cancellationDate
        cancellationReason = purchase.cancellationReason
        isTrialPeriod = purchase.isTrialPeriod
        isInIntroOfferPeriod = purchase.isInIntroOfferPeriod
        promotionalOfferId = purchase.promotionalOfferId?.nonEmpty
        ownershipType = purchase.ownershipType?.modern
        hasUnknownOwnership = purchase.ownershipType != nil && ownershipType == nil
        itemId = purchase.inAppItemId?.nonZero.map(String.init)
    }
}

extension String {
    var nonEmpty: String? { isEmpty ? nil : self }
}

extension Int64 {
    var nonZero: Int64? { self == 0 ? nil : self }
}
