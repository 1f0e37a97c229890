import AppStoreModels
import LegacyReceipts

extension ReceiptMapper {
    func mapped(_ receipt: AppReceipt) -> ([MappedTransaction], MappedAppTransaction, [MappingNote]) {
        var context = RecordContext()
        context.bundleId = receipt.bundleId.nonEmpty
        context.bundleIdProvenance = .signedAttribute(2)
        context.environment = receipt.environment?.modern
        context.environmentProvenance = .signedAttribute(0)
        context.recordedAt = receipt.receiptCreationDate

        var transactions: [MappedTransaction] = []
        transactions.reserveCapacity(receipt.inAppPurchases.count)
        for purchase in receipt.inAppPurchases {
            transactions.append(
                transaction(PurchaseFacts(purchase), .attributes, context, notes: purchase.mappingNotes))
        }
        inferUpgrades(&transactions)
        addTerms(&transactions)

        let isUnknown = receipt.receiptType != nil && receipt.environment == nil
        return (transactions, appTransaction(receipt), isUnknown ? [.unknownEnvironment] : [])
    }

    private func appTransaction(_ receipt: AppReceipt) -> MappedAppTransaction {
        var result = MappedAppTransaction(standing: .verifiedReceipt)
        func set<Value>(
            _ path: WritableKeyPath<AppTransaction, Value?>, _ value: Value?, _ field: AppTransactionField,
            _ number: Int
        ) {
            guard let value else { return }
            result.payload[keyPath: path] = value
            result.provenance.record(field, .signedAttribute(number))
        }
        set(\.receiptType, receipt.environment?.modern, .receiptType, 0)
        set(\.appAppleId, receipt.appItemId?.nonZero, .appAppleId, 1)
        set(\.bundleId, receipt.bundleId.nonEmpty, .bundleId, 2)
        set(\.applicationVersion, receipt.applicationVersion?.nonEmpty, .applicationVersion, 3)
        set(\.receiptCreationDate, receipt.receiptCreationDate, .receiptCreationDate, 12)
        set(\.versionExternalIdentifier, receipt.versionExternalIdentifier?.nonZero, .versionExternalIdentifier, 16)
        set(\.originalPurchaseDate, receipt.originalPurchaseDate, .originalPurchaseDate, 18)
        let originalVersion = receipt.originalApplicationVersion?.nonEmpty
        set(\.originalApplicationVersion, originalVersion, .originalApplicationVersion, 19)
        set(\.preorderDate, receipt.preorderDate, .preorderDate, 32)
        if receipt.receiptType != nil, receipt.environment == nil { result.notes.append(.unknownEnvironment) }
        return result
    }
}

extension PurchaseFacts {
    init(_ purchase: InAppPurchase) {
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
        switch purchase.ownershipType {
        case .purchased?: ownershipType = .purchased
        case .familyShared?: ownershipType = .familyShared
        case nil: break
        default: hasUnknownOwnership = true
        }
    }
}

extension InAppPurchase {
    /// Notes on what cannot be told from ``PurchaseFacts``.
    fileprivate var mappingNotes: [MappingNote] {
        switch ownershipType {
        case nil, .purchased?, .familyShared?: []
        default: [.unknownOwnershipType]
        }
    }
}

extension String {
    var nonEmpty: String? { isEmpty ? nil : self }
}

extension Int64 {
    var nonZero: Int64? { self == 0 ? nil : self }
}
