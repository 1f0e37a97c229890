/// The source of one member of a reply. The comparison classifies differences by it, and the coverage table of
/// Documentation/Replies.md is generated from it.
package struct FieldRule: Sendable {
    package enum Origin: Sendable, Equatable {
        /// The endpoint determines it: status, environment.
        case answer
        /// The signed receipt states it.
        case signed
        /// From the receipt, if it has the attribute. Apple's database always has it.
        case signedWhereStated
        /// The time of the request.
        case clock
        /// Apple's database.
        case database
        /// `latest_receipt`.
        case reissued
        /// Members that only we send, on purpose, and members that Apple sends without documenting them.
        case addition, undocumented
        /// An object or a list that has its own rules.
        case container
    }

    /// The forms of a date in a member (Reference.md V3.4 and V4).
    package enum Form: Sendable {
        case single
        /// `X`, `X_ms`, `X_pst`.
        case date
        /// `expires_date` in milliseconds, `expires_date_formatted`, `expires_date_formatted_pst` of iOS 6 replies.
        case formattedDate
    }

    /// When our replies contain the member.
    package enum Support: String, Sendable {
        case yes
        /// Present if the receipt, the store or the catalog has it.
        case whereKnown = "where known"
        case no
    }

    package let name: String
    package let form: Form
    package let origin: Origin
    package let support: Support
    /// The source as text, for example the attribute or the database.
    package let source: String
    /// Replies before this time did not have the member; milliseconds since 1970-01-01T00:00:00Z.
    package let since: Int64?

    /// Without `support`, the member is always present.
    init(
        _ name: String, _ origin: Origin, _ source: String, _ support: Support = .yes, form: Form = .single,
        since: Int64? = nil
    ) {
        self.name = name
        self.form = form
        self.origin = origin
        self.support = support
        self.source = source
        self.since = since
    }

    /// The keys on the wire.
    package var keys: [String] {
        switch form {
        case .single: [name]
        case .date: [name, name + "_ms", name + "_pst"]
        case .formattedDate: [name, name + "_formatted", name + "_formatted_pst"]
        }
    }

    /// The keys as the coverage table shows them.
    package var title: String {
        switch form {
        case .single: name
        case .date: name + "(_ms, _pst)"
        case .formattedDate: name + "(_formatted, _formatted_pst)"
        }
    }
}

/// The members of one kind of object.
package struct FieldRules: Sendable {
    package let rules: [FieldRule]
    private let byKey: [String: Int]

    init(_ rules: [FieldRule]) {
        self.rules = rules
        var byKey: [String: Int] = [:]
        for (index, rule) in rules.enumerated() {
            for key in rule.keys { byKey[key] = index }
        }
        self.byKey = byKey
    }

    subscript(key: String) -> FieldRule? { byKey[key].map { rules[$0] } }
}

/// The data of Reference.md V2 and V3.
extension FieldRules {
    /// V3.1. The members inside `latest_receipt_info` and the other lists have their own tables.
    package static let top = FieldRules([
        FieldRule("status", .answer, "order of checks"),
        FieldRule("environment", .answer, "attribute 0"),
        FieldRule("receipt", .container, "the submitted receipt"),
        FieldRule("latest_receipt_info", .container, "the receipt and the store", .whereKnown),
        FieldRule(
            "latest_receipt", .reissued, "the newest known receipt; Apple issues a new one for each request",
            .whereKnown),
        FieldRule("pending_renewal_info", .container, "the store", .whereKnown),
        FieldRule("is_retryable", .addition, "the status"),
        FieldRule("is-retryable", .addition, "the status; the documented spelling"),
        FieldRule("exception", .undocumented, "not documented by Apple", .no),
    ])

    /// 3.2.
    package static let appReceipt = FieldRules([
        FieldRule("receipt_type", .signed, "attribute 0"),
        FieldRule("adam_id", .signed, "attribute 1"),
        FieldRule("app_item_id", .signed, "attribute 1"),
        FieldRule("bundle_id", .signed, "attribute 2"),
        FieldRule("application_version", .signed, "attribute 3"),
        FieldRule("download_id", .signed, "attribute 15; null if it is missing"),
        FieldRule("version_external_identifier", .signed, "attribute 16"),
        FieldRule("receipt_creation_date", .signed, "attribute 12", form: .date, since: FieldEras.receiptCreationDate),
        FieldRule("request_date", .clock, "the clock", form: .date),
        FieldRule("original_purchase_date", .signed, "attribute 18", form: .date),
        FieldRule("original_application_version", .signed, "attribute 19"),
        FieldRule("expiration_date", .signed, "attribute 21", form: .date),
        FieldRule("preorder_date", .signed, "attribute 32", form: .date),
        FieldRule("in_app", .container, "attributes 17, in the order of the encoding"),
    ])

    /// V3.5, in both lists.
    private static let purchase: [FieldRule] = [
        FieldRule("quantity", .signed, "attribute 1701"),
        FieldRule("product_id", .signed, "attribute 1702"),
        FieldRule("transaction_id", .signed, "attribute 1703"),
        FieldRule("original_transaction_id", .signed, "attribute 1705"),
        FieldRule("purchase_date", .signed, "attribute 1704", form: .date),
        FieldRule("original_purchase_date", .signed, "attribute 1706", form: .date),
        FieldRule("expires_date", .signed, "attribute 1708", form: .date),
        FieldRule("web_order_line_item_id", .signed, "attribute 1711, unless 0"),
        FieldRule("is_trial_period", .signed, "attribute 1713"),
        FieldRule("is_in_intro_offer_period", .signedWhereStated, "attribute 1719, if present", .whereKnown),
        FieldRule("in_app_ownership_type", .signedWhereStated, "attribute 1722, if present", .whereKnown),
        FieldRule("promotional_offer_id", .signedWhereStated, "attribute 1721, if present", .whereKnown),
        FieldRule("cancellation_date", .signedWhereStated, "attribute 1712, if present", .whereKnown, form: .date),
        FieldRule("cancellation_reason", .signedWhereStated, "attribute 1720, if present", .whereKnown),
    ]

    package static let inApp = FieldRules(purchase)

    package static let latestInfo = FieldRules(
        purchase + [
            FieldRule(
                "subscription_group_identifier", .database, "signed transaction, else catalog, else recorded reply",
                .whereKnown),
            FieldRule("is_upgraded", .database, "signed transaction, recorded reply, the other periods", .whereKnown),
            FieldRule("offer_code_ref_name", .database, "signed transaction, recorded reply", .whereKnown),
            FieldRule("app_account_token", .database, "signed transaction, recorded reply", .whereKnown),
            FieldRule("term_start_date", .addition, "the option endpoint.add", form: .date),
            FieldRule("term_end_date", .addition, "the option endpoint.add", form: .date),
            FieldRule("seats", .addition, "the option endpoint.add"),
        ])

    /// 3.6.
    package static let renewal = FieldRules([
        renewalMember("auto_renew_product_id"), renewalMember("product_id"),
        renewalMember("original_transaction_id"), renewalMember("auto_renew_status"),
        renewalMember("expiration_intent"), renewalMember("is_in_billing_retry_period"),
        renewalMember("grace_period_expires_date", form: .date), renewalMember("price_consent_status"),
        renewalMember("price_increase_status"), renewalMember("promotional_offer_id"),
        renewalMember("offer_code_ref_name"),
    ])

    private static func renewalMember(_ name: String, form: FieldRule.Form = .single, since: Int64? = nil) -> FieldRule
    {
        FieldRule(
            name, .database, "signed renewal info, recorded reply, notification", .whereKnown, form: form, since: since)
    }
}

/// The dates on which members first appeared in recorded replies; milliseconds since 1970-01-01T00:00:00Z.
enum FieldEras {
    /// 2015-10-01: "before about Sept 2015" (V3.2).
    static let receiptCreationDate: Int64 = 1_443_657_600_000
    /// 2017-09-01: the renewal members came with the change of July 2017 (V2.1, Reference.md V4).
    static let renewalMembers: Int64 = 1_504_224_000_000
}

/// The data of Reference.md V2.1 and V4: replies to iOS 6 style receipts.
extension FieldRules {
    package static let transactionTop = FieldRules([
        FieldRule("status", .answer, "order of checks"),
        FieldRule("receipt", .container, "the submitted receipt"),
        FieldRule("latest_receipt_info", .container, "the receipt and the store; one object", .whereKnown),
        FieldRule(
            "latest_receipt", .reissued,
            "the newest known receipt of the subscription; Apple issues a new one for each request", .whereKnown),
        FieldRule("latest_expired_receipt_info", .container, "the receipt and the store; with 21006", .whereKnown),
        FieldRule("latest_expired_receipt", .reissued, "as latest_receipt; only in old notifications", .whereKnown),
        renewalMember("auto_renew_status", since: FieldEras.renewalMembers),
        renewalMember("auto_renew_product_id", since: FieldEras.renewalMembers),
        renewalMember("expiration_intent", since: FieldEras.renewalMembers),
        renewalMember("is_in_billing_retry_period", since: FieldEras.renewalMembers),
        FieldRule("cancellation_date", .database, "the store; with 21006", .whereKnown, form: .date),
        FieldRule("cancellation_reason", .database, "the store; with 21006", .whereKnown),
        FieldRule("is_retryable", .addition, "the status"),
        FieldRule("is-retryable", .addition, "the status; the documented spelling"),
        FieldRule("exception", .undocumented, "not documented by Apple", .no),
    ])

    /// The keys of `purchase-info` with `_` for `-`, with unchanged values.
    package static let transactionReceipt = FieldRules([
        FieldRule("bid", .signed, "bid"),
        FieldRule("bvrs", .signed, "bvrs"),
        FieldRule("product_id", .signed, "product-id"),
        FieldRule("quantity", .signed, "quantity"),
        FieldRule("transaction_id", .signed, "transaction-id"),
        FieldRule("original_transaction_id", .signed, "original-transaction-id"),
        FieldRule("item_id", .signed, "item-id"),
        FieldRule("app_item_id", .signed, "app-item-id"),
        FieldRule("version_external_identifier", .signed, "version-external-identifier"),
        FieldRule("unique_identifier", .signed, "unique-identifier"),
        FieldRule("unique_vendor_identifier", .signed, "unique-vendor-identifier"),
        FieldRule("purchase_date", .signed, "purchase-date", form: .date),
        FieldRule("original_purchase_date", .signed, "original-purchase-date", form: .date),
        FieldRule("expires_date", .signed, "expires-date", form: .formattedDate),
        FieldRule("web_order_line_item_id", .signed, "web-order-line-item-id"),
        FieldRule("is_trial_period", .signedWhereStated, "is-trial-period, if present", .whereKnown),
        FieldRule("is_in_intro_offer_period", .signedWhereStated, "is-in-intro-offer-period, if present", .whereKnown),
        FieldRule("cancellation_date", .signedWhereStated, "cancellation-date, if present", .whereKnown, form: .date),
        FieldRule("cancellation_reason", .signedWhereStated, "cancellation-reason, if present", .whereKnown),
        FieldRule(
            "subscription_group_identifier", .signedWhereStated, "subscription-group-identifier, if present; catalog",
            .whereKnown),
        FieldRule("in_app_ownership_type", .signedWhereStated, "in-app-ownership-type, if present", .whereKnown),
    ])
}
