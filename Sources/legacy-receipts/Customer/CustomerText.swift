import AppStoreModels
import Migration

/// The report of `customer` for people: the columns that answer most questions. `--json` has all.
enum CustomerText {
    /// The columns of a table to show, in this order; nil for all.
    private static let shown: [String: [String]] = [
        "customers": ["bundleId", "environment", "hasAccess", "asOf", "customer"],
        "entitlements": [
            "productId", "entitlement", "type", "status", "hasAccess", "accessEnds", "changesAt", "isCurrent",
            "isFamilyShared",
        ],
        "subscriptions": [
            "originalTransactionId", "productId", "status", "periodStart", "accessEnds", "autoRenewStatus",
            "autoRenewProductId", "expirationIntent", "isCurrent",
        ],
        "periods": [
            "periodStart", "periodEnd", "productId", "transactionId", "originalTransactionId", "offerType",
            "isUpgraded", "revocationDate", "isFamilyShared",
        ],
        "terms": ["termStart", "termEnd", "productId", "transactionId", "revocationDate", "isStacked", "isRestored"],
        "transactions": [
            "purchaseDate", "transactionId", "originalTransactionId", "productId", "type", "quantity", "expiresDate",
            "revocationDate", "isUpgraded", "price", "currency", "recordedCancellationDate", "evidence",
        ],
        "renewal_infos": [
            "originalTransactionId", "autoRenewStatus", "autoRenewProductId", "renewalDate", "expirationIntent",
            "isInBillingRetryPeriod", "gracePeriodExpiresDate", "eligibleWinBackOfferIds", "evidence", "asOf",
        ],
        "app_transactions": [
            "appTransactionId", "originalApplicationVersion", "originalPurchaseDate", "originalPlatform",
            "legacyReceiptType", "volumePurchaseExpirationDate", "volumePurchaseOrganization", "applicationVersion",
            "evidence", "asOf",
        ],
        "offers_used": [
            "purchaseDate", "transactionId", "productId", "offerType", "offerIdentifier", "offerDiscountType",
            "offerPeriod",
        ],
        "offers_open": [
            "kind", "subscriptionGroupIdentifier", "productId", "offerIdentifier", "eligibility", "situation",
            "eligibleFrom", "eligibleUntil",
        ],
        "customer_identities": ["kind", "value"],
        "customer_users": ["userId", "originalTransactionIds", "carried"],
        "conflicts": ["originalTransactionId", "userIds"],
        "to_ask_apple": ["reason", "originalTransactionId", "transactionId", "transactions", "missingFields"],
    ]

    static func text(_ search: CustomerSearch, _ reports: [CustomerReport], date: Int64) -> String {
        let found = reports.count == 1 ? "1 customer has" : "\(reports.count) customers have"
        var lines = ["\(found) the id \(Printable.text(search.id)). As of \(DateText.iso(date))."]
        for (place, report) in reports.enumerated() {
            let kinds = report.kinds.map(\.rawValue).joined(separator: ", ")
            lines += ["", "Customer \(place + 1) of \(reports.count), found by \(kinds)"]
            for section in report.sections where !section.rows.isEmpty {
                lines += ["", section.table.name] + rows(section).map { "  \($0)" }
            }
        }
        if !search.isComplete {
            lines += ["", "There are more: \(CustomerSearch.maximumIdentities) purchases of the id were looked up."]
        }
        if let unknown = unknownPurchases(search) { lines += ["", unknown] }
        return lines.joined(separator: "\n")
    }

    /// - Parameters:
    ///   - search: found no customer.
    ///   - quarantined: the number of records of the id in quarantine.
    static func notFound(_ search: CustomerSearch, quarantined: Int = 0) -> String {
        let kinds = CustomerSearch.IdKind.allCases.map(\.rawValue)
        let text = """
            No customer has the id \(search.id). Searched as \(kinds.dropLast().joined(separator: ", ")) and \
            \(kinds.last ?? "").
            """
        let records = "Records of the id in quarantine: \(quarantined). --json prints them, and --erase removes them."
        return [text, unknownPurchases(search), quarantined > 0 ? records : nil].compactMap(\.self)
            .joined(separator: "\n")
    }

    private static func unknownPurchases(_ search: CustomerSearch) -> String? {
        guard !search.unknownPurchases.isEmpty else { return nil }
        let ids = search.unknownPurchases.prefix(10).map { Printable.text($0.identity.value) }
        let more = search.unknownPurchases.count > ids.count ? ", …" : ""
        return "Records name the user for purchases without a document in the store: "
            + ids.joined(separator: ", ") + more + "."
    }

    /// A header and the rows, in columns.
    private static func rows(_ section: CustomerReport.Section) -> [String] {
        let table = table(section)
        return TextTable.lines([table.columns] + table.rows.map { $0.map { $0 ?? "-" } })
    }

    /// The columns to show and the rows, as text; nil where a row has no value. A column without any value is left out.
    static func table(_ section: CustomerReport.Section) -> (columns: [String], rows: [[String?]]) {
        let names = section.table.columns.map(\.name)
        let wanted = (shown[section.table.name] ?? names).compactMap { names.firstIndex(of: $0) }
        let columns = wanted.filter { column in section.rows.contains { $0[column] != nil } }
        let rows = section.rows.map { row in
            columns.map { column in row[column].map { text($0, section.table.columns[column].kind) } }
        }
        return (columns.map { names[$0] }, rows)
    }

    private static func text(_ value: ColumnValue, _ kind: ColumnKind) -> String {
        switch value {
        case .text(let text): Printable.text(text)
        case .integer(let number): kind == .date ? DateText.iso(number) : String(number)
        case .boolean(let flag): flag ? "true" : "false"
        case .json(let json): Printable.text(String(decoding: json, as: UTF8.self))
        }
    }
}
