package import AppStoreModels
package import Foundation
import Migration
package import ProductCatalog
package import Purchases
package import TransactionStore

/// The rows of an export, by table and by the key of the customer.
package struct ExportedRows {
    private let catalog: ProductCatalog?
    private let date: Int64
    private var rows: [String: [String: [JSONObject]]] = [:]

    /// Exports a store.
    /// - Parameters:
    ///   - store: the store.
    ///   - catalog: as in `TableExport`.
    ///   - date: the moment of statuses and entitlements, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - folder: where the files of the export are written.
    @inline(never)
    package init(
        _ store: any CustomerDirectory & MigrationStore, catalog: ProductCatalog?, date: Int64, in folder: URL
    ) async throws {
        self.catalog = catalog
        self.date = date
        _ = try await TableExport(catalog: catalog, date: date).run(store, to: folder.path)
        for table in ["transactions", "subscriptions", "entitlements", "terms"] {
            let bytes = Array(try Data(contentsOf: folder.appending(path: "\(table).ndjson")))
            let objects = try bytes.split(separator: UInt8(ascii: "\n")).compactMap { try JSONValue.parse($0).object }
            rows[table] = Dictionary(grouping: objects) { $0["customer"]?.string ?? "" }
        }
    }

    /// The rows of a customer.
    package func of(_ customer: Customer, in table: String) -> [JSONObject] { rows[table]?[customer.key] ?? [] }

    /// Where the rows of a customer are other than what the documents resolve to. Empty if they agree.
    @inline(never)
    package func disagreements(about customer: Customer) -> [String] {
        let history = customer.purchaseHistory(catalog: catalog)
        let entitlements = history.entitlements(at: date)
        let standings = PurchaseHistory.subscriptions(of: entitlements).map(\.standing)
        let terms = catalog.map { customer.nonRenewingTerms($0) } ?? [:]
        let transactions = customer.transactionsWithTypes(from: catalog).map(\.payload).map {
            Self.line(
                $0.transactionId, $0.originalTransactionId, $0.productId, $0.quantity, $0.purchaseDate, $0.expiresDate,
                $0.revocationDate, $0.isUpgraded)
        }
        var found = compare(
            "transactions", customer, transactions,
            "transactionId", "originalTransactionId", "productId", "quantity", "purchaseDate", "expiresDate",
            "revocationDate", "isUpgraded")
        let subscriptions = standings.map {
            Self.line(
                $0.subscriptionId, $0.status.name, $0.hasAccess, $0.productId, $0.transactionId, $0.periodStart,
                $0.periodEnd, $0.accessEnds)
        }
        found += compare(
            "subscriptions", customer, subscriptions,
            "originalTransactionId", "status", "hasAccess", "productId", "transactionId", "periodStart", "periodEnd",
            "accessEnds")
        let access = entitlements.map {
            Self.line($0.transactionId, $0.status?.name ?? "unknown", $0.hasAccess, $0.productId, $0.accessEnds)
        }
        found += compare(
            "entitlements", customer, access, "transactionId", "status", "hasAccess", "productId", "accessEnds")
        let computed = terms.map { Self.line($0.key, $0.value.start, $0.value.end, $0.value.revocationDate) }
        found += compare("terms", customer, computed, "transactionId", "termStart", "termEnd", "revocationDate")
        return found
    }

    private func compare(
        _ table: String, _ customer: Customer, _ expected: [String], _ columns: String...
    ) -> [String] {
        let exported = of(customer, in: table).map { row in columns.map { Self.cell(row[$0]) }.joined(separator: " ") }
        guard exported.sorted() != expected.sorted() else { return [] }
        return Set(exported).symmetricDifference(expected).sorted().map { "\(table): \($0)" } + ["\(table) differ"]
    }

    private static func line(_ values: (any CustomStringConvertible)?...) -> String {
        values.map { $0.map { "\($0)" } ?? "-" }.joined(separator: " ")
    }

    private static func cell(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .bool(let isTrue): "\(isTrue)"
        default: "-"
        }
    }
}
