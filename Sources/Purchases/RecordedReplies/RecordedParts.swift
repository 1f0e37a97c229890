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

/// The `receipt` object of a reply as an app transaction (Reference.md V3.2 and V9.4).
struct RecordedAppTransaction {
    private let reader: RecordedObjectReader

    init(_ reader: RecordedObjectReader) throws(RecordedReplyError) { self.reader = reader }

    func mapped() throws(RecordedReplyError) -> MappedAppTransaction {
        var result = MappedAppTransaction(standing: .recorded)
        if let type = try reader.text("receipt_type") {
            result.legacy.receiptType = type
            let environment = RecordedEnvironment.modern(type)
            set(&result, \.receiptType, environment, .receiptType, "receipt_type")
            if environment == nil { result.notes.append(.unknownEnvironment) }
        }
        set(&result, \.bundleId, try reader.text("bundle_id"), .bundleId, "bundle_id")
        let version = try reader.text("application_version")
        set(&result, \.applicationVersion, version, .applicationVersion, "application_version")
        let originalVersion = try reader.text("original_application_version")
        set(
            &result, \.originalApplicationVersion, originalVersion, .originalApplicationVersion,
            "original_application_version")
        if let id = try reader.integer("adam_id")?.nonZero {
            set(&result, \.appAppleId, id, .appAppleId, "adam_id")
        } else {
            let id = try reader.integer("app_item_id")?.nonZero
            set(&result, \.appAppleId, id, .appAppleId, "app_item_id")
        }
        let external = try reader.integer("version_external_identifier")?.nonZero
        set(&result, \.versionExternalIdentifier, external, .versionExternalIdentifier, "version_external_identifier")
        try setDate(&result, \.receiptCreationDate, .receiptCreationDate, "receipt_creation_date")
        // In an object that is also a purchase, this date is that of the purchase.
        if !reader.isPurchase {
            try setDate(&result, \.originalPurchaseDate, .originalPurchaseDate, "original_purchase_date")
            setExpirationDate(&result)
        }
        try setDate(&result, \.preorderDate, .preorderDate, "preorder_date")
        return result
    }

    private func set<Value>(
        _ result: inout MappedAppTransaction, _ path: WritableKeyPath<AppTransaction, Value?>, _ value: Value?,
        _ field: AppTransactionField, _ key: String
    ) {
        guard let value else { return }
        result.payload[keyPath: path] = value
        result.provenance.record(field, .recordedReply(RecordedKey(object: "receipt", key: key)))
    }

    private func setDate(
        _ result: inout MappedAppTransaction, _ path: WritableKeyPath<AppTransaction, Int64?>,
        _ field: AppTransactionField, _ name: String
    ) throws(RecordedReplyError) {
        guard let (date, key) = try reader.date(name) else { return }
        set(&result, path, date.milliseconds, field, key)
        if date.isAmbiguous { result.notes.add(.ambiguousLocalTime) }
    }

    /// Nothing about a purchase depends on this date, so one that cannot be read does not refuse the document.
    private func setExpirationDate(_ result: inout MappedAppTransaction) {
        do {
            guard let (date, _) = try reader.date("expiration_date") else { return }
            result.legacy.expirationDate = date.milliseconds
            if date.isAmbiguous { result.notes.add(.ambiguousLocalTime) }
        } catch {
            result.notes.add(.valueOutOfRange)
        }
    }
}

/// An entry of `pending_renewal_info`, or the same keys next to the rows (Reference.md V3.6 and V9.3).
struct RecordedRenewal {
    private let reader: RecordedObjectReader

    init(_ reader: RecordedObjectReader) { self.reader = reader }

    func mapped(_ provenance: (String) -> Provenance) throws(RecordedReplyError) -> MappedRenewalInfo {
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
        set(\.originalTransactionId, try reader.text(originalKey), .originalTransactionId, originalKey)
        set(\.productId, try reader.text("product_id"), .productId, "product_id")
        let renewProduct = try reader.text("auto_renew_product_id")
        set(\.autoRenewProductId, renewProduct, .autoRenewProductId, "auto_renew_product_id")
        let status = try small("auto_renew_status").map(AutoRenewStatus.init(rawValue:))
        set(\.autoRenewStatus, status, .autoRenewStatus, "auto_renew_status")
        let intent = try small("expiration_intent").map(ExpirationIntent.init(rawValue:))
        set(\.expirationIntent, intent, .expirationIntent, "expiration_intent")
        let retry = try reader.flag("is_in_billing_retry_period")
        set(\.isInBillingRetryPeriod, retry, .isInBillingRetryPeriod, "is_in_billing_retry_period")
        let priceKey = reader.has("price_increase_status") ? "price_increase_status" : "price_consent_status"
        let price = try small(priceKey).map(PriceIncreaseStatus.init(rawValue:))
        set(\.priceIncreaseStatus, price, .priceIncreaseStatus, priceKey)
        if let (date, key) = try reader.date("grace_period_expires_date") {
            set(\.gracePeriodExpiresDate, date.milliseconds, .gracePeriodExpiresDate, key)
            if date.isAmbiguous { result.notes.append(.ambiguousLocalTime) }
        }
        if let identifier = try reader.text("promotional_offer_id") {
            set(\.offerType, .promotional, .offerType, "promotional_offer_id")
            set(\.offerIdentifier, identifier, .offerIdentifier, "promotional_offer_id")
        } else if let name = try reader.text("offer_code_ref_name") {
            set(\.offerType, .offerCode, .offerType, "offer_code_ref_name")
            set(\.offerIdentifier, name, .offerIdentifier, "offer_code_ref_name")
        }
        return result
    }

    private func small(_ key: String) throws(RecordedReplyError) -> Int32? {
        guard let number = try reader.integerOrFlag(key) else { return nil }
        guard let small = Int32(exactly: number) else { throw reader.error(.badNumber, key) }
        return small
    }
}
