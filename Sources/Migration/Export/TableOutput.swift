internal import Purchases
internal import TransactionStore

/// Receives the rows of an export.
protocol TableOutput {
    /// Writes rows of a table.
    /// - Parameters:
    ///   - rows: the rows.
    ///   - table: the table, which names the columns.
    ///   - part: in a file, the rows of one part come before those of the next.
    func write<Row>(_ rows: [Row], of table: Table<Row>, part: Int) throws

    /// Called after each page of customers, and after the last one.
    func flush() async throws
}

extension TableOutput {
    private func write<Row>(_ rows: [Row], of table: Table<Row>) throws { try write(rows, of: table, part: 0) }

    /// Writes all rows about a customer.
    func write(_ customer: ExportedCustomer) throws {
        try write(customer.transactions, of: ExportedTables.transactions)
        try write(customer.rows(customer.subscriptions), of: ExportedTables.subscriptions)
        try write(customer.rows(customer.entitlements), of: ExportedTables.entitlements)
        try write(customer.termRows, of: ExportedTables.terms)
        try write(customer.rows(customer.customer.renewalInfos), of: ExportedTables.renewalInfos)
        try write(
            customer.rows(customer.customer.appTransaction.map { [$0] } ?? []), of: ExportedTables.appTransactions)
        try write(customer.rows([customer.customer]), of: ExportedTables.customers)
        try write(customer.rows(customer.customer.identities), of: ExportedTables.customerIdentities)
        try write(customer.rows(customer.users.users), of: ExportedTables.customerUsers)
        try write(customer.rows(customer.users.conflicts), of: ExportedTables.conflicts)
        // Ordered by reason over all customers.
        for row in customer.rows(customer.questions) {
            try write([row], of: ExportedTables.toAskApple, part: row.value.reason.rawValue)
        }
    }

    /// - Throws: `TransactionStoreError` for a line that cannot be read, and the errors of the output.
    func write(_ records: [QuarantinedRecord]) throws {
        for record in records { try write([record.object()], of: ExportedTables.quarantine) }
    }
}
