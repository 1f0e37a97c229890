internal import TransactionStore

/// Rows of an export in the form in which an output writes them. Rows of different customers are made in parallel.
protocol TableRows: Sendable {
    mutating func add(_ rows: [TableRow], of table: TableOutline)
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
    /// Adds all rows about a customer.
    mutating func add(_ customer: ExportedCustomer) {
        for table in ExportedTables.ofCustomers { add(table.rows(customer), of: table.outline) }
    }

    /// - Throws: `TransactionStoreError` for a line that cannot be read.
    mutating func add(_ records: [QuarantinedRecord]) throws {
        add(try records.map { ExportedTables.quarantineRow(try $0.object()) }, of: ExportedTables.quarantine)
    }
}
