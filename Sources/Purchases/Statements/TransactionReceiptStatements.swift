import AppStoreModels
import LegacyReceipts

extension TransactionReceipt {
    /// The receipt's statement about its purchase.
    var statement: PurchaseStatement {
        PurchaseStatement(
            PurchaseFacts(self), .purchaseInfo(self), RecordContext(self),
            notes: hasEnvironmentContradiction ? [.environmentContradiction] : [])
    }
}

extension RecordContext {
    init(_ receipt: TransactionReceipt) {
        bundleId = receipt.bundleId?.nonEmpty
        bundleIdProvenance = .signedKey("bid")
        environment = receipt.environment.modern
        environmentProvenance = .inferred(receipt.environmentRule)
        // The receipt has no date of its own. It was made at its purchase or later (Reference.md V6).
        recordedAt = receipt.purchaseDate
    }
}

extension TransactionReceipt {
    /// The environment is not signed, so every value is a conclusion (Reference.md V7.5).
    fileprivate var environmentRule: InferenceRule {
        if hasSandboxTransactionId { return .sandboxTransactionId }
        return environment == .production ? .productionClaimAndTransactionId : .unsignedClaimOfSandbox
    }
}

extension PurchaseFacts {
    init(_ receipt: TransactionReceipt) {
        quantity = receipt.quantity
        productId = receipt.productId.nonEmpty
        transactionId = receipt.transactionId.nonEmpty
        purchaseDate = receipt.purchaseDate
        originalTransactionId = receipt.originalTransactionId?.nonEmpty
        originalPurchaseDate = receipt.originalPurchaseDate
        expiresDate = receipt.expiresDate
        webOrderLineItemId = receipt.webOrderLineItemId.flatMap { $0 == "0" ? nil : $0.nonEmpty }
        cancellationDate = receipt.cancellationDate
        cancellationReason = receipt.cancellationReason
        ownershipType = receipt.inAppOwnershipType.map { InAppOwnershipType(rawValue: $0) }
        subscriptionGroupIdentifier = receipt.subscriptionGroupIdentifier
        isTrialPeriod = receipt.isTrialPeriod
        isInIntroOfferPeriod = receipt.isInIntroOfferPeriod
        itemId = receipt.itemId
    }
}
