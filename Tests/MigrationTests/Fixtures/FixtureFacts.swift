import AppStoreModels
import LegacyReceipts

/// What a decoded receipt says, by the names that `expected.json` uses.
enum FixtureFacts {
    typealias Table<Value> = [String: @Sendable (Value) -> JSONValue?]

    /// Compares both ways: every key that is expected must be known, and a value that is not expected must be absent.
    static func problems<Value>(_ table: Table<Value>, _ value: Value, _ expected: JSONValue, in place: String)
        -> [String]
    {
        guard let members = expected.object?.members else { return ["\(place) is no object"] }
        var problems = members.filter { table[$0.key] == nil }.map { "\(place).\($0.key): nobody checks this key" }
        for (key, fact) in table.sorted(by: { $0.key < $1.key }) {
            // An empty text stands for no value.
            let wanted = expected[key] == .string("") ? nil : expected[key]
            let found = fact(value)
            let isSet = key == "unknown_attributes"
            if isSet ? wanted?.elements != found?.elements : wanted?.sortedText != found?.sortedText {
                problems.append(
                    "\(place).\(key): expected \(wanted?.sortedText ?? "nothing"), "
                        + "found \(found?.sortedText ?? "nothing")")
            }
        }
        return problems
    }

    static let appReceipt: Table<AppReceipt> = [
        "receipt_type": { text($0.receiptType?.rawValue) },
        "adam_id": { number($0.appItemId) },
        "app_item_id": { number($0.appItemId) },
        "bundle_id": { text($0.bundleId) },
        "application_version": { text($0.applicationVersion) },
        "download_id": { number($0.downloadId) },
        "version_external_identifier": { number($0.versionExternalIdentifier) },
        "receipt_creation_date_ms": { text($0.receiptCreationDate) },
        "original_purchase_date_ms": { text($0.originalPurchaseDate) },
        "original_application_version": { text($0.originalApplicationVersion) },
        "expiration_date_ms": { text($0.expirationDate) },
        "preorder_date_ms": { text($0.preorderDate) },
    ]

    static let otherAttributes: Table<AppReceipt> = [
        "4": { bytes($0.opaqueValue) },
        "5": { bytes($0.sha1Hash) },
        "6": { bytes($0.opaqueAttribute6) },
        "7": { bytes($0.opaqueAttribute7) },
        "8": { text($0.carriedCreationDate) },
        "9": { number($0.serviceTag) },
        "10": { text($0.ageRating) },
        "11": { number($0.developerId) },
        "13": { number($0.operatingSystemVersion) },
        "14": { number($0.deviceModelCode) },
        "20": { text($0.attribute20) },
        "22": { text($0.volumePurchaseDate) },
        "23": { text($0.volumePurchaseOrganization) },
        "25": { number($0.platform) },
    ]

    static let purchase: Table<InAppPurchase> = [
        "quantity": { text($0.quantity) },
        "product_id": { text($0.productId) },
        "transaction_id": { text($0.transactionId) },
        "original_transaction_id": { text($0.originalTransactionId) },
        "purchase_date_ms": { text($0.purchaseDate) },
        "original_purchase_date_ms": { text($0.originalPurchaseDate) },
        "expires_date_ms": { text($0.expiresDate) },
        "web_order_line_item_id": { text($0.webOrderLineItemId == 0 ? nil : $0.webOrderLineItemId) },
        "is_trial_period": { text($0.isTrialPeriod) },
        "is_in_intro_offer_period": { text($0.isInIntroOfferPeriod) },
        "in_app_ownership_type": { ownership($0.ownershipType) },
        "promotional_offer_id": { text($0.promotionalOfferId) },
        "cancellation_date_ms": { text($0.cancellationDate) },
        "cancellation_reason": { text($0.cancellationReason) },
        "product_type": { text($0.productType?.rawValue) },
        "item_id": { text($0.inAppItemId == 0 ? nil : $0.inAppItemId) },
        "unknown_attributes": { $0.unknownAttributes.isEmpty ? nil : .array($0.unknownAttributes.map(raw)) },
    ]

    /// Properties of transaction receipts; dates in words are only kept as they stand.
    static let transactionReceipt: Table<TransactionReceipt> = {
        var table: Table<TransactionReceipt> = [
            "bid": { text($0.bundleId) },
            "bvrs": { text($0.applicationVersion) },
            "product_id": { text($0.productId) },
            "transaction_id": { text($0.transactionId) },
            "original_transaction_id": { text($0.originalTransactionId) },
            "quantity": { text($0.quantity) },
            "purchase_date_ms": { text($0.purchaseDate) },
            "original_purchase_date_ms": { text($0.originalPurchaseDate) },
            "expires_date": { text($0.expiresDate) },
            "cancellation_date_ms": { text($0.cancellationDate) },
            "cancellation_reason": { text($0.cancellationReason) },
            "web_order_line_item_id": { text($0.webOrderLineItemId) },
            "item_id": { text($0.itemId) },
            "app_item_id": { text($0.appItemId) },
            "version_external_identifier": { text($0.versionExternalIdentifier) },
            "unique_identifier": { text($0.uniqueIdentifier) },
            "unique_vendor_identifier": { text($0.uniqueVendorIdentifier) },
            "is_trial_period": { text($0.isTrialPeriod) },
            "is_in_intro_offer_period": { text($0.isInIntroOfferPeriod) },
            "in_app_ownership_type": { text($0.inAppOwnershipType) },
        ]
        for date in ["purchase-date", "original-purchase-date", "cancellation-date", "expires-date-formatted"] {
            for name in [date, date + "-pst"] {
                table[name.replacing("-", with: "_")] = { text($0.purchaseInfoValue(forKey: name)) }
            }
        }
        return table
    }()

    static func raw(_ attribute: RawAttribute) -> JSONValue {
        .object(
            JSONObject(members: [
                .init(key: "type", value: .integer(attribute.type)),
                .init(key: "version", value: .integer(attribute.version)),
                .init(key: "value_hex", value: .string(Printable.hex(attribute.value))),
            ]))
    }

    private static func ownership(_ type: ReceiptOwnershipType?) -> JSONValue? {
        switch type {
        case nil: nil
        case .purchased?: .string("PURCHASED")
        case .familyShared?: .string("FAMILY_SHARED")
        case let other?: .string(String(other.rawValue))
        }
    }

    private static func text(_ text: String?) -> JSONValue? { text.flatMap { $0.isEmpty ? nil : .string($0) } }
    private static func text(_ number: Int64?) -> JSONValue? { number.map { .string(String($0)) } }
    private static func text(_ flag: Bool?) -> JSONValue? { flag.map { .string($0 ? "true" : "false") } }
    private static func number(_ number: Int64?) -> JSONValue? { number.map { .integer($0) } }
    private static func bytes(_ bytes: ArraySlice<UInt8>?) -> JSONValue? { bytes.map { .string(Printable.hex($0)) } }
}
