// Initializers from values instead of bytes. They have package access, so other packages get receipts only from a
// decoder.

extension AppReceipt {
    package init(
        receiptType: ReceiptType? = nil, appItemId: Int64? = nil, bundleId: String = "",
        applicationVersion: String? = nil, receiptCreationDate: Int64? = nil, versionExternalIdentifier: Int64? = nil,
        inAppPurchases: [InAppPurchase] = [], originalPurchaseDate: Int64? = nil,
        originalApplicationVersion: String? = nil, platform: Int64? = nil, preorderDate: Int64? = nil
    ) {
        self.init()
        self.receiptType = receiptType
        self.appItemId = appItemId
        self.bundleId = bundleId
        self.applicationVersion = applicationVersion
        self.receiptCreationDate = receiptCreationDate
        self.versionExternalIdentifier = versionExternalIdentifier
        self.inAppPurchases = inAppPurchases
        self.originalPurchaseDate = originalPurchaseDate
        self.originalApplicationVersion = originalApplicationVersion
        self.platform = platform
        self.preorderDate = preorderDate
    }
}

extension InAppPurchase {
    package init(
        quantity: Int64? = nil, productId: String, transactionId: String, purchaseDate: Int64? = nil,
        originalTransactionId: String? = nil, originalPurchaseDate: Int64? = nil,
        productType: ReceiptProductType? = nil, expiresDate: Int64? = nil, webOrderLineItemId: Int64? = nil,
        cancellationDate: Int64? = nil, isTrialPeriod: Bool? = nil, isInIntroOfferPeriod: Bool? = nil,
        cancellationReason: Int64? = nil, promotionalOfferId: String? = nil, ownershipType: ReceiptOwnershipType? = nil
    ) {
        self.init()
        self.quantity = quantity
        self.productId = productId
        self.transactionId = transactionId
        self.purchaseDate = purchaseDate
        self.originalTransactionId = originalTransactionId
        self.originalPurchaseDate = originalPurchaseDate
        self.productType = productType
        self.expiresDate = expiresDate
        self.webOrderLineItemId = webOrderLineItemId
        self.cancellationDate = cancellationDate
        self.isTrialPeriod = isTrialPeriod
        self.isInIntroOfferPeriod = isInIntroOfferPeriod
        self.cancellationReason = cancellationReason
        self.promotionalOfferId = promotionalOfferId
        self.ownershipType = ownershipType
    }
}

extension TransactionReceipt {
    /// `purchaseInfo` is the signed inner list. Its keys determine the provenance of the dates.
    package init(
        productId: String, transactionId: String, originalTransactionId: String? = nil, bundleId: String? = nil,
        quantity: Int64? = nil, purchaseDate: Int64? = nil, originalPurchaseDate: Int64? = nil,
        expiresDate: Int64? = nil, cancellationDate: Int64? = nil, cancellationReason: Int64? = nil,
        webOrderLineItemId: String? = nil, isTrialPeriod: Bool? = nil, isInIntroOfferPeriod: Bool? = nil,
        claimedEnvironment: String? = nil, purchaseInfo: [Entry] = []
    ) {
        self.init()
        self.productId = productId
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.bundleId = bundleId
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.expiresDate = expiresDate
        self.cancellationDate = cancellationDate
        self.cancellationReason = cancellationReason
        self.webOrderLineItemId = webOrderLineItemId
        self.isTrialPeriod = isTrialPeriod
        self.isInIntroOfferPeriod = isInIntroOfferPeriod
        self.claimedEnvironment = claimedEnvironment
        self.purchaseInfo = purchaseInfo
    }
}
