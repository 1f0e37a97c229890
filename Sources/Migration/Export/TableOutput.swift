internal import Purchases
internal import TransactionStore

/// Rows of an export in the form in which an output writes them. Rows of different customers are made in parallel.
protocol TableRows: Sendable {
    /// Adds rows of a table.
    /// - Parameters:
    ///   - rows: the rows.
    ///   - table: the table, which names the columns.
    ///   - part: in a file, the rows of one part come before those of the next.
    mutating func add<Row>(_ rows: [Row], of table: Table<Row>, part: Int)
}

/// Receives the rows of an export.
protocol TableOutput<Rows> {
    associatedtype Rows: TableRows

    /// A value to add rows to.
    var noRows: Rows { get }

    func write(_ rows: Rows) throws

    /// Called after each page of customers, and after the last one.
    func flush() async throws
}

extension TableRows {
    private mutating func add<Row>(_ rows: [Row], of table: Table<Row>) { add(rows, of: table, part: 0) }

    /// Adds all rows about a customer.
    mutating func add(_ customer: ExportedCustomer) {
        add(customer.transactions, of: ExportedTables.transactions)
        add(customer.rows(customer.subscriptions), of: ExportedTables.subscriptions)
        add(customer.rows(customer.entitlements), of: ExportedTables.entitlements)
        add(customer.termRows, of: ExportedTables.terms)
        add(customer.rows(customer.customer.renewalInfos), of: ExportedTables.renewalInfos)
        add(customer.rows(customer.customer.appTransaction.map { [$0] } ?? []), of: ExportedTables.appTransactions)
        add(customer.rows([customer.customer]), of: ExportedTables.customers)
        add(customer.rows(customer.customer.identities), of: ExportedTables.customerIdentities)
        add(customer.rows(customer.users.users), of: ExportedTables.customerUsers)
        add(customer.rows(customer.users.conflicts), of: ExportedTables.conflicts)
        // Ordered by reason over all customers.
        for row in customer.rows(customer.questions) {
            add([row], of: ExportedTables.toAskApple, part: row.value.reason.rawValue)
        }
    }

    /// - Throws: `TransactionStoreError` for a line that cannot be read.
    mutating func add(_ records: [QuarantinedRecord]) throws {
        for record in records { add([try record.object()], of: ExportedTables.quarantine) }
    }
}
