internal import AppStoreModels
public import ProductCatalog
package import Purchases
package import TransactionStore

/// The data of a store about one customer, as rows of tables: those of an export, and those of `CustomerTables`. It
/// concludes nothing.
public struct CustomerReport: Sendable {
    /// A table with the rows about the customer.
    package struct Section: Sendable {
        package let table: TableOutline
        /// A value for each column of the table; nil if the row has none.
        package let rows: [[ColumnValue?]]
    }

    /// Why the customer was found.
    public let kinds: [CustomerSearch.IdKind]
    /// In the order of the JSON members.
    package let sections: [Section]
    private let exported: ExportedCustomer

    /// - Parameters:
    ///   - match: the customer.
    ///   - catalog: gives types, groups, levels, durations and offers that documents do not state.
    ///   - date: the moment of statuses, entitlements and offers, in milliseconds since 1970-01-01T00:00:00Z.
    public init(_ match: CustomerSearch.Match, catalog: ProductCatalog?, date: Int64) {
        self.init(match.customer, users: match.users, kinds: match.kinds, catalog: catalog, date: date)
    }

    /// Without users and kinds, a report of a customer who is in no store: what documents state together.
    package init(
        _ customer: Customer, users: [UserClaim] = [], kinds: [CustomerSearch.IdKind] = [], catalog: ProductCatalog?,
        date: Int64
    ) {
        self.kinds = kinds
        let exported = ExportedCustomer(customer, users: users, catalog: catalog, at: date)
        self.exported = exported
        sections = Self.tables.map { Section(table: $0.outline, rows: $0.rows(exported).map(\.values)) }
    }

    /// The rows of the table `periods`.
    package var periods: [SubscriptionTimelinePeriod] { exported.history.subscriptionPeriods }

    private static let tables = [
        ExportedTables.customers, ExportedTables.entitlements, ExportedTables.subscriptions, CustomerTables.periods,
        ExportedTables.terms, ExportedTables.transactions, ExportedTables.renewalInfos,
        ExportedTables.appTransactions, CustomerTables.offersUsed, CustomerTables.offersOpen,
        ExportedTables.customerIdentities, ExportedTables.customerUsers, ExportedTables.conflicts,
        ExportedTables.toAskApple, CustomerTables.documents,
    ]

    /// The reports of a search as one JSON object, with a line feed: `version`, `id`, `at`, `isComplete`, and `matches` with an
    /// object for each customer. That has `kinds` and a member for each table: an array of rows, each like its line in the
    /// NDJSON of an export.
    /// - Parameters:
    ///   - search: the search that found the customers.
    ///   - reports: one for each match.
    ///   - date: the moment of the reports, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - tables: the names of the tables to write; nil for all.
    ///   - data: what else the store has. Each customer then has `receipts`, `consumption_requests`, `ledger_entries` and
    ///     `notifications` too, and the object has `quarantined_records`.
    public static func json(
        _ search: CustomerSearch, _ reports: [CustomerReport], date: Int64, tables: Set<String>? = nil,
        data: CustomerData? = nil
    ) -> [UInt8] {
        JSONWriter.object(reservingCapacity: 1 << 16, endsLine: true) { writer in
            writer.member("version", 1)
            writer.member("id", search.id)
            writer.member("at", date)
            writer.member("isComplete", search.isComplete)
            writer.objects("matches", reports.enumerated()) { writer, entry in
                let (place, report) = entry
                report.writeMembers(tables, to: &writer)
                data?.write(match: place, to: &writer)
            }
            data?.writeQuarantine(to: &writer)
        }
    }

    private func writeMembers(_ tables: Set<String>?, to writer: inout JSONWriter) {
        writer.array("kinds", kinds) { writer, kind in writer.string(kind.rawValue) }
        for section in sections where tables?.contains(section.table.name) ?? true {
            writer.key(section.table.name)
            writer.objects(section.rows) { writer, row in
                for (column, value) in zip(section.table.columns, row) { value?.write(to: &writer, as: column.name) }
            }
        }
    }
}
