internal import Encodings

/// Reads transaction receipts (Reference.md V4 and V6).
enum TransactionReceiptDecoder {
    /// Decodes without verifying. A signature that cannot be read leaves ``TransactionReceipt/signature`` nil.
    static func decode(_ bytes: [UInt8], limits: DecodingLimits) throws(ReceiptError) -> TransactionReceipt {
        try read(bytes, limits: limits).receipt
    }

    /// The receipt, and its signature or the error of reading the signature.
    static func read(
        _ bytes: [UInt8], limits: DecodingLimits
    ) throws(ReceiptError) -> (
        receipt: TransactionReceipt, signature: Result<TransactionReceiptSignature, ReceiptError>
    ) {
        var receipt = TransactionReceipt()
        var signatureText: String?
        var purchaseInfoText: String?
        for entry in try PropertyListReader.entries(bytes, limits: limits) {
            switch entry.key {
            case "signature": signatureText = entry.value
            case "purchase-info": purchaseInfoText = entry.value
            case "environment": receipt.claimedEnvironment = entry.value
            case "pod": receipt.pod = entry.value
            case "signing-status": receipt.signingStatus = entry.value
            default: receipt.otherOuterEntries.append(entry)
            }
        }
        guard let purchaseInfoText else { throw ReceiptError(.missingKey, at: .key("purchase-info")) }
        receipt.purchaseInfoBytes = try base64(purchaseInfoText, key: "purchase-info")
        do throws(ReceiptError) {
            receipt.purchaseInfo = try PropertyListReader.entries(receipt.purchaseInfoBytes, limits: limits)
        } catch {
            throw ReceiptError(error.code, at: .key("purchase-info"), error.detail)
        }
        try receipt.readPurchaseInfo()
        let signature = signature(signatureText)
        receipt.signature = try? signature.get()
        return (receipt, signature)
    }

    private static func base64(_ text: String, key: String) throws(ReceiptError) -> [UInt8] {
        let digits = Array(text.utf8)
        guard let bytes = try? Base64.decodeLeniently(digits.span) else {
            throw ReceiptError(.malformedKey, at: .key(key), "it is not base64")
        }
        return bytes
    }

    private static func signature(_ text: String?) -> Result<TransactionReceiptSignature, ReceiptError> {
        guard let text else { return .failure(ReceiptError(.missingKey, at: .key("signature"))) }
        return Result { () throws(ReceiptError) in try signature(blob: try base64(text, key: "signature")) }
    }

    /// Reads the version byte, signature, four bytes of length, and leaf certificate.
    private static func signature(blob: [UInt8]) throws(ReceiptError) -> TransactionReceiptSignature {
        guard let version = blob.first else { throw malformed("it is empty") }
        guard (2...4).contains(version) else { throw malformed("version \(version) is not 2, 3 or 4") }
        let length = version == 2 ? 128 : 256
        guard blob.count >= 1 + length + 4 else { throw malformed("it is truncated") }
        var certificateLength = 0
        for index in 1 + length..<1 + length + 4 { certificateLength = certificateLength << 8 | Int(blob[index]) }
        let certificateStart = 1 + length + 4
        guard certificateLength == blob.count - certificateStart else {
            throw malformed("the certificate's length does not fit")
        }
        return TransactionReceiptSignature(
            version: version, signature: blob[1..<1 + length], certificate: blob[certificateStart...])
    }

    private static func malformed(_ detail: String) -> ReceiptError {
        ReceiptError(.malformedSignature, at: .key("signature"), detail)
    }
}

extension TransactionReceipt {
    fileprivate mutating func readPurchaseInfo() throws(ReceiptError) {
        productId = try required("product-id")
        transactionId = try required("transaction-id")
        bundleId = text("bid")
        applicationVersion = text("bvrs")
        originalTransactionId = text("original-transaction-id")
        quantity = try integer("quantity")
        purchaseDate = try date(milliseconds: "purchase-date-ms", text: "purchase-date")
        originalPurchaseDate = try date(milliseconds: "original-purchase-date-ms", text: "original-purchase-date")
        expiresDate = try date(milliseconds: "expires-date", text: "expires-date-formatted")
        cancellationDate = try date(milliseconds: "cancellation-date-ms", text: "cancellation-date")
        cancellationReason = try integer("cancellation-reason")
        webOrderLineItemId = text("web-order-line-item-id")
        itemId = text("item-id")
        appItemId = text("app-item-id")
        versionExternalIdentifier = text("version-external-identifier")
        uniqueIdentifier = text("unique-identifier")
        uniqueVendorIdentifier = text("unique-vendor-identifier")
        inAppOwnershipType = text("in-app-ownership-type")
        subscriptionGroupIdentifier = text("subscription-group-identifier")
        isTrialPeriod = try flag("is-trial-period")
        isInIntroOfferPeriod = try flag("is-in-intro-offer-period")
        guard purchaseDate != nil else { throw ReceiptError(.missingKey, at: .key("purchase-date-ms")) }
    }

    private func text(_ key: String) -> String? {
        guard let value = purchaseInfoValue(forKey: key), !value.isEmpty else { return nil }
        return value
    }

    private func required(_ key: String) throws(ReceiptError) -> String {
        guard let value = text(key) else { throw ReceiptError(.missingKey, at: .key(key)) }
        return value
    }

    private func integer(_ key: String) throws(ReceiptError) -> Int64? {
        guard let value = text(key) else { return nil }
        guard let number = Int64(value) else { throw ReceiptError(.malformedKey, at: .key(key), "it is not a number") }
        return number
    }

    private func flag(_ key: String) throws(ReceiptError) -> Bool? {
        switch text(key) {
        case nil: nil
        case "true", "1": true
        case "false", "0": false
        default: throw ReceiptError(.malformedKey, at: .key(key), "it is neither true nor false")
        }
    }

    private func date(milliseconds: String, text textKey: String) throws(ReceiptError) -> Int64? {
        if let value = text(milliseconds) {
            if let number = Int64(value) { return number }
            if let date = ReceiptDate.propertyListText(value) { return date }
            throw ReceiptError(.malformedKey, at: .key(milliseconds), "it is not a date")
        }
        guard let value = text(textKey) else { return nil }
        guard let date = ReceiptDate.propertyListText(value) else {
            throw ReceiptError(.malformedKey, at: .key(textKey), "it is not a date")
        }
        return date
    }
}
