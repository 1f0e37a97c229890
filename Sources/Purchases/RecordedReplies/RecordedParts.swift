import AppStoreModels
import LegacyReceipts

/// Names of environments in recorded documents (Reference.md V3.1, V3.2 and V8), and in databases, which often have them in
/// another case.
enum RecordedEnvironment {
    static func modern(_ text: String) -> Environment? {
        switch text {
        case "Xcode": .xcode
        default: ReceiptType(rawValue: text).environment?.modern ?? inAnyCase[text.lowercased()]
        }
    }

    private static let inAnyCase: [String: Environment] = [
        "production": .production, "prod": .production, "sandbox": .sandbox,
    ]
}

extension RecordedObjectReader {
    /// The `receipt` object of a reply as an app transaction (Reference.md V3.2 and V9.4).
    func appTransaction() throws(RecordedReplyError) -> MappedAppTransaction {
        var result = MappedAppTransaction(standing: .recorded)
        func set<Value>(
            _ path: WritableKeyPath<AppTransaction, Value?>, _ value: Value?, _ field: AppTransactionField,
            _ key: String
        ) {
            guard let value else { return }
            result.payload[keyPath: path] = value
            result.provenance.record(field, .recordedReply(RecordedKey(object: "receipt", key: key)))
        }
        func setDate(
            _ path: WritableKeyPath<AppTransaction, Int64?>, _ field: AppTransactionField, _ name: String
        ) throws(RecordedReplyError) {
            guard let (date, key) = try self.date(name) else { return }
            set(path, date.milliseconds, field, key)
            if date.isAmbiguous { result.notes.add(.ambiguousLocalTime) }
        }
        if let type = try text("receipt_type") {
            result.legacy.receiptType = type
            let environment = RecordedEnvironment.modern(type)
            set(\.receiptType, environment, .receiptType, "receipt_type")
            if environment == nil { result.notes.append(.unknownEnvironment) }
        }
        set(\.bundleId, try text("bundle_id"), .bundleId, "bundle_id")
        set(\.applicationVersion, try text("application_version"), .applicationVersion, "application_version")
        let originalVersion = try text("original_application_version")
        set(\.originalApplicationVersion, originalVersion, .originalApplicationVersion, "original_application_version")
        if let id = try integer("adam_id")?.nonZero {
            set(\.appAppleId, id, .appAppleId, "adam_id")
        } else {
            set(\.appAppleId, try integer("app_item_id")?.nonZero, .appAppleId, "app_item_id")
        }
        let external = try integer("version_external_identifier")?.nonZero
        set(\.versionExternalIdentifier, external, .versionExternalIdentifier, "version_external_identifier")
        try setDate(\.receiptCreationDate, .receiptCreationDate, "receipt_creation_date")
        // In an object that is also a purchase, this date is that of the purchase.
        if !isPurchase {
            try setDate(\.originalPurchaseDate, .originalPurchaseDate, "original_purchase_date")
            setExpirationDate(&result)
        }
        try setDate(\.preorderDate, .preorderDate, "preorder_date")
        return result
    }

    /// Nothing about a purchase depends on this date, so one that cannot be read does not refuse the document.
    private func setExpirationDate(_ result: inout MappedAppTransaction) {
        do {
            guard let (date, _) = try self.date("expiration_date") else { return }
            result.legacy.expirationDate = date.milliseconds
            if date.isAmbiguous { result.notes.add(.ambiguousLocalTime) }
        } catch {
            result.notes.add(.valueOutOfRange)
        }
    }

    /// An entry of `pending_renewal_info`, or the same keys next to the rows (Reference.md V3.6 and V9.3).
    func renewalInfo(_ provenance: (String) -> Provenance) throws(RecordedReplyError) -> MappedRenewalInfo {
        var result = MappedRenewalInfo()
        func set<Value>(
            _ path: WritableKeyPath<JWSRenewalInfoDecodedPayload, Value?>, _ value: Value?, _ field: RenewalInfoField,
            _ key: String
        ) {
            guard let value else { return }
            result.payload[keyPath: path] = value
            result.provenance.record(field, provenance(key))
        }
        let originalKey = "original_transaction_id"
        set(\.originalTransactionId, try text(originalKey), .originalTransactionId, originalKey)
        set(\.productId, try text("product_id"), .productId, "product_id")
        set(\.autoRenewProductId, try text("auto_renew_product_id"), .autoRenewProductId, "auto_renew_product_id")
        let status = try small("auto_renew_status").map(AutoRenewStatus.init(rawValue:))
        set(\.autoRenewStatus, status, .autoRenewStatus, "auto_renew_status")
        let intent = try small("expiration_intent").map(ExpirationIntent.init(rawValue:))
        set(\.expirationIntent, intent, .expirationIntent, "expiration_intent")
        let retry = try flag("is_in_billing_retry_period")
        set(\.isInBillingRetryPeriod, retry, .isInBillingRetryPeriod, "is_in_billing_retry_period")
        let priceKey = has("price_increase_status") ? "price_increase_status" : "price_consent_status"
        let price = try small(priceKey).map(PriceIncreaseStatus.init(rawValue:))
        set(\.priceIncreaseStatus, price, .priceIncreaseStatus, priceKey)
        if let (date, key) = try self.date("grace_period_expires_date") {
            set(\.gracePeriodExpiresDate, date.milliseconds, .gracePeriodExpiresDate, key)
            if date.isAmbiguous { result.notes.append(.ambiguousLocalTime) }
        }
        if let identifier = try text("promotional_offer_id") {
            set(\.offerType, .promotional, .offerType, "promotional_offer_id")
            set(\.offerIdentifier, identifier, .offerIdentifier, "promotional_offer_id")
        } else if let name = try text("offer_code_ref_name") {
            set(\.offerType, .offerCode, .offerType, "offer_code_ref_name")
            set(\.offerIdentifier, name, .offerIdentifier, "offer_code_ref_name")
        }
        return result
    }

    private func small(_ key: String) throws(RecordedReplyError) -> Int32? {
        guard let number = try integerOrFlag(key) else { return nil }
        guard let small = Int32(exactly: number) else { throw error(.badNumber, key) }
        return small
    }
}
