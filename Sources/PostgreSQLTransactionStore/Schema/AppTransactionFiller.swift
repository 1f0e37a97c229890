import Purchases

/// Takes the legacy fields of the app transactions of receipts from the receipts, in a store from before it kept the fields.
/// It works in pages, because receipts are large.
enum AppTransactionFiller {
    private static let pageSize: Int32 = 100

    private static let page = Statement(
        """
        SELECT a.customer, a.payload, r.octets
        FROM app_transactions AS a
        JOIN receipts AS r ON r.customer = a.customer AND r.form = 1 AND r.signed_date = a.signed_date
        WHERE a.customer > $1::int8 AND a.kind = 1
        ORDER BY a.customer LIMIT $2::int4
        """)
    private static let update = Statement(
        """
        UPDATE app_transactions AS filled SET legacy = given.legacy
        FROM unnest($1::int8[], $2::bytea[]) AS given (customer, legacy)
        WHERE filled.customer = given.customer AND filled.kind = 1
        """)

    static func fill(_ session: PostgreSQLSession) throws {
        var last = Int64.min
        while true {
            let rows = try session.run(page, [.int8(last), .int4(pageSize)])
            guard rows.count > 0 else { return }
            var (customers, values): ([Int64], [[UInt8]]) = ([], [])
            for row in 0..<rows.count {
                last = try rows.integer(row, 0)
                let legacy = LegacyAppTransactionFields.stored(
                    of: try rows.bytes(row, 2), ofAppTransaction: try rows.bytes(row, 1))
                guard !legacy.isEmpty else { continue }
                customers.append(last)
                values.append(legacy)
            }
            if !customers.isEmpty { try session.run(update, [.int8s(customers), .byteStrings(values)]) }
        }
    }
}
