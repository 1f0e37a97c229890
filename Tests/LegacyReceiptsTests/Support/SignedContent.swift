import LegacyReceipts

/// What is signed of a receipt. The rest (bytes after the message, the outer keys of a property list) may be changed by
/// anyone without making it less genuine.
enum SignedContent: Hashable {
    case app(AppReceiptContent)
    case transaction([UInt8], [TransactionReceipt.Entry], String, String, Int64?)

    init(_ receipt: LegacyReceipt) {
        switch receipt {
        case .app(let app): self = .app(AppReceiptContent(app))
        case .transaction(let transaction):
            self = .transaction(
                transaction.purchaseInfoBytes, transaction.purchaseInfo, transaction.transactionId,
                transaction.productId, transaction.purchaseDate)
        }
    }

    struct AppReceiptContent: Hashable {
        let receiptType: ReceiptType?
        let bundleId: String
        let purchases: [InAppPurchase]
        let unknownAttributes: [RawAttribute]
        let bytes: [ArraySlice<UInt8>?]
        let numbers: [Int64?]
        let texts: [String?]

        init(_ receipt: AppReceipt) {
            receiptType = receipt.receiptType
            bundleId = receipt.bundleId
            purchases = receipt.inAppPurchases
            unknownAttributes = receipt.unknownAttributes
            bytes = [
                receipt.opaqueValue, receipt.sha1Hash, receipt.opaqueAttribute6, receipt.opaqueAttribute7,
                receipt.bundleIdEncoded,
            ]
            numbers = [
                receipt.receiptCreationDate, receipt.appItemId, receipt.carriedCreationDate, receipt.serviceTag,
                receipt.developerId, receipt.operatingSystemVersion, receipt.deviceModelCode, receipt.downloadId,
                receipt.versionExternalIdentifier, receipt.originalPurchaseDate, receipt.expirationDate,
                receipt.volumePurchaseDate, receipt.platform, receipt.preorderDate,
            ]
            texts = [
                receipt.applicationVersion, receipt.ageRating, receipt.originalApplicationVersion, receipt.attribute20,
                receipt.volumePurchaseOrganization,
            ]
        }
    }
}
