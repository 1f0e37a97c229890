import Purchases

/// Takes the legacy fields of the app transactions of receipts from the receipts, in a store from before it kept the fields.
///
/// Decoding all receipts takes long, so it does not happen in the transaction of the upgrade. Short transactions fill a page
/// each and remember their position, in the only row of `app_transaction_fill`, while programs use the store. The last one
/// removes the row. After an interruption, the next program that opens the store continues.
struct AppTransactionFiller {
    let session: PostgreSQLSession

    /// The number of customers per page.
    private static let pageSize: Int32 = 100
    /// The number of bytes of their receipts, unless the first receipt is larger.
    private static let pageBytes: Int64 = 8 << 20
    /// The number of the advisory lock of the program that fills. The scopes and the ledger have others.
    private static let lockNumber: Int32 = -2

    private static let findPosition = Statement("SELECT customer FROM app_transaction_fill")
    private static let lockPosition = Statement("SELECT customer FROM app_transaction_fill FOR UPDATE")
    private static let movePosition = Statement("UPDATE app_transaction_fill SET customer = $1::int8")
    private static let end = Statement("DELETE FROM app_transaction_fill")
    private static let lock = Statement("SELECT pg_try_advisory_lock($1::int4, $2::int4)::int4")
    private static let unlock = Statement("SELECT pg_advisory_unlock($1::int4, $2::int4)::int4")

    /// The next customers. The receipt is missing if the store has none of the date of the app transaction. PostgreSQL knows
    /// the size of a receipt without reading it, so receipts beyond the page limit cost nothing.
    private static let findPage = Statement(
        """
        SELECT customer, signed_date, payload, octets FROM (
            SELECT a.customer, a.signed_date, a.payload, r.octets, row_number() OVER (ORDER BY a.customer) AS place,
                sum(octet_length(r.octets)) OVER (ORDER BY a.customer) AS bytes
            FROM (
                SELECT customer, signed_date, payload FROM app_transactions
                WHERE customer > $1::int8 AND kind = \(FactKind.receipt.rawValue) ORDER BY customer LIMIT $2::int4
            ) AS a
            LEFT JOIN receipts AS r
                ON r.customer = a.customer AND r.form = \(KnownReceipt.Form.app.rawValue) AND r.signed_date = a.signed_date
        ) AS page
        WHERE place = 1 OR coalesce(bytes, 0) <= $3::int8
        ORDER BY customer
        """)
    /// The limits change nothing. They keep the planner from reading a whole table.
    private static let findUnfilled = Statement(
        """
        SELECT a.customer, a.signed_date, a.payload, r.octets
        FROM unnest($1::int8[]) AS given (customer)
        CROSS JOIN LATERAL (
            SELECT known.customer, known.signed_date, known.payload FROM app_transactions AS known
            WHERE known.customer = given.customer AND known.kind = \(FactKind.receipt.rawValue)
                AND known.legacy = ''::bytea
            LIMIT 1
        ) AS a
        CROSS JOIN LATERAL (
            SELECT known.octets FROM receipts AS known
            WHERE known.customer = given.customer AND known.form = \(KnownReceipt.Form.app.rawValue)
                AND known.signed_date = a.signed_date
            LIMIT 1
        ) AS r
        ORDER BY a.customer
        """)
    /// A row that another program has replaced since it was read keeps what that program wrote.
    private static let update = Statement(
        """
        UPDATE app_transactions AS filled SET legacy = given.legacy
        FROM unnest($1::int8[], $2::int8[], $3::bytea[], $4::bytea[]) AS given (customer, signed_date, payload, legacy)
        WHERE filled.customer = given.customer AND filled.kind = \(FactKind.receipt.rawValue)
            AND filled.signed_date = given.signed_date AND filled.payload = given.payload AND filled.legacy < given.legacy
        """)

    /// Whether app transactions are left to fill.
    func isPending() throws -> Bool { try session.run(Self.findPosition).count > 0 }

    /// Fills the app transactions that are left, unless another program does. Stops if the task is canceled.
    /// - Parameter limits: the SQL text that gives a transaction its time limits. Those of a server are too short for a page
    ///   of receipts on a slow disk.
    func fill(_ limits: String) throws {
        let key: [Parameter] = [.int4(session.lockClass), .int4(Self.lockNumber)]
        guard try session.run(Self.lock, key).integer(0, 0, as: Int32.self) == 1 else { return }
        defer { _ = try? session.run(Self.unlock, key) }
        while !Task.isCancelled {
            do {
                guard try fillPage(limits) else { return }
            } catch let failure as PostgreSQLFailure where failure.isConflict {
                // Another program that merges customers locks rows in another order.
                continue
            }
        }
    }

    /// - Returns: whether app transactions are left.
    private func fillPage(_ limits: String) throws -> Bool {
        try session.transaction {
            try session.execute(limits)
            let position = try session.run(Self.lockPosition)
            guard position.count > 0 else { return false }
            let last: Int64 = try position.integer(0, 0)
            let rows = try session.run(Self.findPage, .int8(last), .int4(Self.pageSize), .int8(Self.pageBytes))
            guard rows.count > 0 else {
                try session.run(Self.end)
                return false
            }
            try fill(rows)
            let next: Int64 = try rows.integer(rows.count - 1, 0)
            try session.run(Self.movePosition, .int8(next))
            return true
        }
    }

    /// Fills the app transactions of customers into which others were merged: they may have come behind the position.
    func fill(joined customers: [Int64]) throws {
        guard !customers.isEmpty else { return }
        try fill(try session.run(Self.findUnfilled, .int8s(customers)))
    }

    private func fill(_ rows: ResultRows) throws {
        var (customers, dates, payloads, values): ([Int64], [Int64], [[UInt8]], [[UInt8]]) = ([], [], [], [])
        for row in 0..<rows.count where !rows.isNull(row, 3) {
            let payload = try rows.bytes(row, 2)
            let legacy = LegacyAppTransactionFields.stored(of: try rows.bytes(row, 3), ofAppTransaction: payload)
            guard !legacy.isEmpty else { continue }
            customers.append(try rows.integer(row, 0))
            dates.append(try rows.integer(row, 1))
            payloads.append(payload)
            values.append(legacy)
        }
        guard !customers.isEmpty else { return }
        try session.run(Self.update, .int8s(customers), .int8s(dates), .byteStrings(payloads), .byteStrings(values))
    }
}
