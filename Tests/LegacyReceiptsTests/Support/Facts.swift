import LegacyReceipts
import ReceiptForge

/// Decoded receipts in the terms of verifyReceipt, member by member as the forge states its facts.
enum Facts {
    static func of(_ receipt: LegacyReceipt) -> ForgedJSON {
        switch receipt {
        case .app(let receipt): of(receipt)
        case .transaction(let receipt): of(receipt)
        }
    }

    /// Members by name, so that the order of a property list does not matter (that of `in_app` does); empty texts, which
    /// stand for no value, left out; unknown attributes by their bytes.
    static func normalized(_ json: ForgedJSON) -> ForgedJSON {
        switch json {
        case .object(let members):
            .object(
                members.compactMap { name, value in
                    if case .string("") = value { return nil }
                    if name == "unknown_attributes", case .array(let values) = value {
                        return (name, .array(values.map(normalized).sorted { $0.text < $1.text }))
                    }
                    return (name, normalized(value))
                }.sorted { $0.0 < $1.0 })
        case .array(let values): .array(values.map(normalized))
        default: json
        }
    }

    private static func present(_ members: [(String, ForgedJSON?)]) -> ForgedJSON {
        .object(members.compactMap { name, value in value.map { (name, $0) } })
    }

    private static func text(_ number: Int64?) -> ForgedJSON? { number.map { .string(String($0)) } }
    private static func text(_ flag: Bool?) -> ForgedJSON? { flag.map { .string($0 ? "true" : "false") } }
    private static func text(_ text: String?) -> ForgedJSON? { text.map { .string($0) } }
    private static func number(_ number: Int64?) -> ForgedJSON? { number.map { .integer($0) } }

    static func of(_ receipt: AppReceipt) -> ForgedJSON {
        present([
            ("receipt_type", text(receipt.receiptType?.rawValue)),
            ("adam_id", number(receipt.appItemId)),
            ("app_item_id", number(receipt.appItemId)),
            ("bundle_id", text(receipt.bundleId)),
            ("application_version", text(receipt.applicationVersion)),
            ("download_id", number(receipt.downloadId)),
            ("version_external_identifier", number(receipt.versionExternalIdentifier)),
            ("receipt_creation_date_ms", text(receipt.receiptCreationDate)),
            ("original_purchase_date_ms", text(receipt.originalPurchaseDate)),
            ("original_application_version", text(receipt.originalApplicationVersion)),
            ("expiration_date_ms", text(receipt.expirationDate)),
            ("preorder_date_ms", text(receipt.preorderDate)),
            ("in_app", .array(receipt.inAppPurchases.map { of($0) })),
        ])
    }

    static func of(_ purchase: InAppPurchase) -> ForgedJSON {
        let ownership = purchase.ownershipType.map { $0 == .purchased ? "PURCHASED" : "FAMILY_SHARED" }
        let unknown = purchase.unknownAttributes.map { raw in
            ForgedJSON.object([
                ("type", .integer(raw.type)), ("version", .integer(raw.version)),
                ("value_hex", .string(hex(raw.value))),
            ])
        }
        return present([
            ("quantity", text(purchase.quantity)),
            ("product_id", text(purchase.productId)),
            ("transaction_id", text(purchase.transactionId)),
            ("original_transaction_id", text(purchase.originalTransactionId)),
            ("purchase_date_ms", text(purchase.purchaseDate)),
            ("original_purchase_date_ms", text(purchase.originalPurchaseDate)),
            ("expires_date_ms", text(purchase.expiresDate)),
            ("web_order_line_item_id", text(purchase.webOrderLineItemId == 0 ? nil : purchase.webOrderLineItemId)),
            ("is_trial_period", text(purchase.isTrialPeriod)),
            ("is_in_intro_offer_period", text(purchase.isInIntroOfferPeriod)),
            ("in_app_ownership_type", text(ownership)),
            ("promotional_offer_id", text(purchase.promotionalOfferId)),
            ("cancellation_date_ms", text(purchase.cancellationDate)),
            ("cancellation_reason", text(purchase.cancellationReason)),
            ("product_type", text(purchase.productType?.rawValue)),
            ("item_id", text(purchase.inAppItemId == 0 ? nil : purchase.inAppItemId)),
            ("unknown_attributes", unknown.isEmpty ? nil : .array(unknown)),
        ])
    }

    static func of(_ receipt: TransactionReceipt) -> ForgedJSON {
        .object(receipt.purchaseInfo.map { ($0.key.replacing("-", with: "_"), .string($0.value)) })
    }

    static func otherAttributes(of receipt: AppReceipt) -> ForgedJSON {
        present([
            ("4", receipt.opaqueValue.map { .string(hex($0)) }),
            ("5", receipt.sha1Hash.map { .string(hex($0)) }),
            ("6", receipt.opaqueAttribute6.map { .string(hex($0)) }),
            ("7", receipt.opaqueAttribute7.map { .string(hex($0)) }),
            ("8", text(receipt.carriedCreationDate)),
            ("9", number(receipt.serviceTag)),
            ("10", text(receipt.ageRating)),
            ("11", number(receipt.developerId)),
            ("13", number(receipt.operatingSystemVersion)),
            ("14", number(receipt.deviceModelCode)),
            ("22", text(receipt.volumePurchaseDate)),
            ("23", text(receipt.volumePurchaseOrganization)),
            ("25", number(receipt.platform)),
        ])
    }
}

func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
