internal import AppStoreModels
internal import Encodings
internal import Purchases
public import TransactionStore

/// Writes the file that a vendor of subscription services imports purchases from: the command
/// `legacy-receipts export --kind` as a library.
///
/// A row contains your user id, so it needs the user ids of `migrate --into`. A purchase or a receipt with several
/// users is left out and counted. Only the production environment is written.
///
/// Values are written as they are, quoted as in RFC 4180 if need be. A changed user id would be another user. So a row
/// with a value that a spreadsheet would run as a formula is left out and counted.
public struct VendorExport: Sendable {
    /// A vendor whose import guide is public and names the columns of the file.
    public enum Vendor: String, Sendable, CaseIterable {
        /// RevenueCat, "Bulk Imports": `app_user_id` and `receipt`, the base64 app receipt.
        case revenuecat
        /// Adapty, "Importing historical data to Adapty": `user_id` and `apple_original_transaction_id`.
        case adapty
        /// Qonversion, "Migrating In-App Subscriptions": `user_id`, `receipt`, `product_id`, `original_id`, `price`,
        /// `introductory_price` and `currency`.
        case qonversion
        /// Apphud, "Data Migration Guide": `user_id`, `base64_receipt`, `product_id`, `price`, `currency` and
        /// `country_code`.
        case apphud

        var header: [String] {
            switch self {
            case .revenuecat: ["app_user_id", "receipt"]
            case .adapty: ["user_id", "apple_original_transaction_id"]
            case .qonversion:
                ["user_id", "receipt", "product_id", "original_id", "price", "introductory_price", "currency"]
            case .apphud: ["user_id", "base64_receipt", "product_id", "price", "currency", "country_code"]
            }
        }

        /// Whether the format has quotation. "Values are not enclosed in quotes" is a rule of Adapty's guide.
        fileprivate var hasQuotation: Bool { self != .adapty }
    }

    private let vendor: Vendor

    /// - Parameter vendor: names the files and decides their columns.
    public init(_ vendor: Vendor) { self.vendor = vendor }

    /// Writes `VENDOR.csv`, and `VENDOR.json` with the counts, into a folder. Does not touch a file whose content is
    /// the same.
    ///
    /// - Parameters:
    ///   - store: the store, which is only read.
    ///   - folder: the path of the folder, which is created if it does not exist.
    /// - Throws: ``MigrationError``, `TransactionStoreError` or `CancellationError`.
    public func run(
        _ store: any CustomerDirectory & MigrationStore, to folder: String
    ) async throws -> VendorExportSummary {
        let (table, manifest) = ("\(vendor.rawValue).csv", "\(vendor.rawValue).json")
        let folder = try OutputFolder(path: folder)
        try folder.check([table], areMarkedBy: manifest)
        let numbers = try folder.makeFile(manifest)
        let file = try folder.makeFile(table)
        try file.write(CSVField.row(vendor.header))
        var summary = VendorExportSummary(vendor: vendor)
        try await store.forEachPage(preparing: rows(of:)) { page in
            for part in page {
                for row in part.rows { try file.write(CSVField.row(row.fields)) }
                summary.add(part.summary)
            }
        }
        let json = summary.json
        try numbers.write(json)
        try folder.complete(last: numbers, removing: []) { $0 == json }
        return summary
    }

    /// The rows of some customers, and their counts. The bytes are made when they are written: each row may have a long
    /// receipt, which the rows of a customer share.
    private func rows(
        of customers: ArraySlice<ListedCustomer>
    ) -> (rows: [Row], summary: VendorExportSummary) {
        var written: [Row] = []
        var summary = VendorExportSummary(vendor: vendor)
        for (customer, users) in customers {
            guard customer.scope.environment == .production else {
                summary.otherEnvironments += 1
                continue
            }
            for row in rows(customer, ExportedUsers(users), &summary) {
                guard row.fields.allSatisfy({ Self.isRepresentable($0, vendor) }) else {
                    summary.notRepresentable += 1
                    continue
                }
                written.append(row)
                summary.rows += 1
                if row.lacksPrice { summary.rowsWithoutPrice += 1 }
            }
        }
        return (written, summary)
    }

    private struct Row {
        let fields: [String]
        /// Whether a field for the price is empty, because no document states it.
        var lacksPrice = false
    }

    private func rows(_ customer: Customer, _ users: ExportedUsers, _ summary: inout VendorExportSummary) -> [Row] {
        switch vendor {
        case .revenuecat:
            guard let receipt = customer.newestAppReceipt else {
                summary.withoutReceipt += 1
                return []
            }
            guard let user = user(of: users.users.compactMap(\.userId), &summary) else { return [] }
            return [Row(fields: [user, Base64.encode(receipt.bytes)])]
        case .adapty:
            return customer.pricedPurchases.compactMap { purchase in
                user(of: purchase.id, users, &summary).map { Row(fields: [$0, purchase.id]) }
            }
        case .qonversion, .apphud:
            let purchases = customer.pricedPurchases
            guard let receipt = customer.newestAppReceipt else {
                summary.withoutReceipt += purchases.count
                return []
            }
            let text = Base64.encode(receipt.bytes)
            return purchases.compactMap { purchase in
                user(of: purchase.id, users, &summary).map { row(purchase, user: $0, receipt: text) }
            }
        }
    }

    /// The row of a purchase, for the formats that contain the receipt and the price.
    private func row(_ purchase: PricedPurchase, user: String, receipt: String) -> Row {
        let (price, product) = (purchase.price, purchase.newest?.productId ?? "")
        let amount = price?.amount.priceText ?? ""
        let currency = price?.currency ?? ""
        let fields =
            vendor == .qonversion
            ? [
                user, receipt, product, purchase.id, amount,
                purchase.introductoryPrice?.priceText ?? "", currency,
            ] : [user, receipt, product, amount, currency, purchase.newest?.storefront ?? ""]
        return Row(fields: fields, lacksPrice: price == nil)
    }

    /// The single user of a purchase; nil if there is none, or several. A user named beside the purchase counts before
    /// the others of the customer.
    private func user(
        of purchase: String, _ users: ExportedUsers, _ summary: inout VendorExportSummary
    ) -> String? {
        let named = users.users.filter { $0.originalTransactionIds.contains(purchase) }.compactMap(\.userId)
        return user(of: named.isEmpty ? users.users.compactMap(\.userId) : named, &summary)
    }

    /// The single user; nil if there is none, or several.
    private func user(of userIds: [String], _ summary: inout VendorExportSummary) -> String? {
        if userIds.isEmpty { summary.withoutUser += 1 }
        if userIds.count > 1 { summary.withSeveralUsers += 1 }
        return userIds.count == 1 ? userIds.first : nil
    }

    /// Whether a field keeps its value in a file of the vendor: it needs no quoting that the format lacks, and does not
    /// begin like a spreadsheet formula.
    private static func isRepresentable(_ field: String, _ vendor: Vendor) -> Bool {
        if !vendor.hasQuotation, CSVField.row([field]).count != field.utf8.count + 2 { return false }
        switch field.utf8.first {
        case UInt8(ascii: "="), UInt8(ascii: "@"), 0x09, 0x0A, 0x0D: return false
        // Telephone numbers and generated ids, which often begin with a hyphen, are no formulas.
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            return field.utf8.dropFirst().allSatisfy { $0.isASCIIAlphanumeric || "_-".utf8.contains($0) }
        default: return true
        }
    }
}

/// The counts of an export for a vendor: of customers for RevenueCat, and of purchases (original transaction ids) for
/// the others.
public struct VendorExportSummary: Hashable, Sendable {
    /// The vendor whose file was written.
    public let vendor: VendorExport.Vendor
    /// The rows of the file, without the header.
    public internal(set) var rows = 0
    /// The rows whose price is empty, because no document states it. Always 0 for a file without prices.
    public internal(set) var rowsWithoutPrice = 0
    /// Left out: no record names a user.
    public internal(set) var withoutUser = 0
    /// Left out: records name several users.
    public internal(set) var withSeveralUsers = 0
    /// Left out: the store has no app receipt.
    public internal(set) var withoutReceipt = 0
    /// Left out: a value begins like a spreadsheet formula; or it has a comma, a quotation mark or a line break, and
    /// the vendor's format has no quoting.
    public internal(set) var notRepresentable = 0
    /// Left out: customers of the sandbox and other environments.
    public internal(set) var otherEnvironments = 0

    /// Adds the counts of other customers.
    mutating func add(_ other: Self) {
        for (_, count) in Self.members { self[keyPath: count] += other[keyPath: count] }
    }

    /// The numbers by name.
    public var counts: [(name: String, count: Int)] { Self.members.map { ($0.name, self[keyPath: $0.count]) } }

    private static let members: [(name: String, count: any WritableKeyPath<Self, Int> & Sendable)] = [
        ("rows", \.rows), ("rowsWithoutPrice", \.rowsWithoutPrice), ("withoutUser", \.withoutUser),
        ("withSeveralUsers", \.withSeveralUsers), ("withoutReceipt", \.withoutReceipt),
        ("notRepresentable", \.notRepresentable), ("otherEnvironments", \.otherEnvironments),
    ]

    /// The numbers as a JSON object, with a line feed.
    public var json: [UInt8] {
        JSONWriter.object(reservingCapacity: 256, endsLine: true) { writer in
            writer.member("version", 1)
            writer.member("vendor", vendor.rawValue)
            writer.members(counts)
        }
    }
}
