internal import AppStoreModels
package import LegacyReceipts

/// Unverified facts from a request that help to classify a difference. They affect only the column in which a difference is
/// counted.
package struct RequestFacts: Sendable {
    /// The first 12 hexadecimal digits of the SHA-256 of the receipt's bytes.
    package let receiptName: String?
    package let bundleId: String?
    package let environment: ReceiptEnvironment?
    package let excludesOldTransactions: Bool
    /// Attributes 8 and 12 in milliseconds since 1970-01-01T00:00:00Z.
    let carriedCreationDate: Int64?
    /// The optional members that the receipt contains, by transaction id.
    let stated: [String: Set<String>]
    let hasAutoRenewable: Bool

    /// Reads the facts; nil if the body is not a JSON object with a decodable receipt.
    ///
    /// - Parameters:
    ///   - body: the request's body. The caller limits its size.
    ///   - limits: the limits of the decoder.
    package init?(body: [UInt8], limits: DecodingLimits = .standard) {
        guard JSONBounds.allows(body), let request = try? JSONValue.parse(body).object,
            let text = request["receipt-data"]?.string,
            let container = try? ReceiptContainer(stored: Array(text.utf8), limits: limits)
        else { return nil }
        receiptName = Redaction.name(container.bytes)
        excludesOldTransactions = Self.isTrue(request["exclude-old-transactions"])
        guard let receipt = try? ReceiptDecoder(limits: limits).decode(container).payload else { return nil }
        bundleId = receipt.bundleId
        environment = receipt.environment
        hasAutoRenewable = receipt.hasAutoRenewable
        switch receipt {
        case .app(let app):
            carriedCreationDate = app.carriedCreationDate
            var stated: [String: Set<String>] = [:]
            for purchase in app.inAppPurchases { stated[purchase.transactionId] = Self.stated(purchase) }
            self.stated = stated
        case .transaction(let transaction):
            carriedCreationDate = nil
            let keys = transaction.purchaseInfo.map { $0.key.replacing("-", with: "_") }
            stated = [transaction.transactionId: Set(keys)]
        }
    }

    /// `exclude-old-transactions` is a boolean; some clients send a string (V1.2).
    private static func isTrue(_ value: JSONValue?) -> Bool {
        switch value {
        case .bool(let bool): bool
        case .string(let string): string.lowercased() == "true" || string == "1"
        case .integer(let integer): integer == 1
        default: false
        }
    }

    /// The optional attributes of Reference.md V3.5.
    private static func stated(_ purchase: InAppPurchase) -> Set<String> {
        var keys: Set<String> = []
        if purchase.isInIntroOfferPeriod != nil { keys.insert("is_in_intro_offer_period") }
        if purchase.ownershipType != nil { keys.insert("in_app_ownership_type") }
        if purchase.promotionalOfferId != nil { keys.insert("promotional_offer_id") }
        if purchase.cancellationReason != nil { keys.insert("cancellation_reason") }
        if purchase.cancellationDate != nil {
            keys.formUnion(["cancellation_date", "cancellation_date_ms", "cancellation_date_pst"])
        }
        return keys
    }
}

/// A bound for the memory of a hostile text, which could take many times its size.
package enum JSONBounds {
    /// The maximum number of values. A purchase has about 25 members.
    private static let maximumValues = 1_000_000

    /// Whether the text has at most the maximum number of values.
    package static func allows(_ text: [UInt8]) -> Bool { JSONCost(of: text).elements <= maximumValues }
}
