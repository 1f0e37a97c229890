import TransactionStore

/// Looks a customer up: one statement, so that everything is of one moment and costs one round trip.
struct CustomerReader {
    private enum Part: Int16 {
        case identity = 1
        case transaction = 2
        case renewalInfo = 3
        case appTransaction = 4
        case receipt = 5
    }

    private static let find = Statement(
        name: "find_customer",
        sql: """
            WITH members AS MATERIALIZED (
                SELECT DISTINCT known.customer
                FROM unnest($3::int2[], $4::bytea[]) AS given (kind, value)
                JOIN identities AS known
                    ON known.scope = (SELECT id FROM scopes WHERE environment = $1::bytea AND bundle_id = $2::bytea)
                    AND known.kind = given.kind AND known.value = given.value
            ), owned AS MATERIALIZED (
                SELECT i.id, i.kind, i.value FROM members JOIN identities AS i USING (customer)
            )
            SELECT 1::int2, kind, 0::int2, 0::int8, value, ''::bytea FROM owned
            UNION ALL
            SELECT 2::int2, t.kind, t.source, t.signed_date, t.payload, t.legacy
            FROM owned JOIN transactions AS t ON t.purchase = owned.id WHERE owned.kind = 1
            UNION ALL
            SELECT 3::int2, r.kind, r.source, r.signed_date, r.payload, ''::bytea
            FROM owned JOIN renewal_infos AS r ON r.purchase = owned.id WHERE owned.kind = 1
            UNION ALL
            SELECT 4::int2, a.kind, a.source, a.signed_date, a.payload, ''::bytea
            FROM members JOIN app_transactions AS a USING (customer)
            UNION ALL
            SELECT 5::int2, r.form, 0::int2, r.signed_date, r.octets, ''::bytea
            FROM members JOIN receipts AS r USING (customer)
            """)

    /// The rows, to be made into a customer apart from the connection, which others wait for.
    static func rows(
        _ identities: [CustomerIdentity], in scope: StoreScope, _ session: PostgreSQLSession
    ) throws -> ResultRows {
        try session.run(
            find,
            [
                .bytes(Array(scope.environment.rawValue.utf8)), .bytes(Array(scope.bundleId.utf8)),
                .int2s(identities.map { Int16(truncatingIfNeeded: $0.kind.rawValue) }),
                .byteStrings(identities.map { Array($0.value.utf8) }),
            ])
    }

    static func customer(_ rows: ResultRows, in scope: StoreScope) throws -> Customer? {
        var assembler = CustomerAssembler(scope: scope)
        for index in 0..<rows.count {
            let kind = Int64(try rows.integer(index, 1, as: Int16.self))
            let row = CustomerAssembler.Row(
                kind: kind, source: Int64(try rows.integer(index, 2, as: Int16.self)),
                signedDate: try rows.integer(index, 3))
            switch Part(rawValue: try rows.integer(index, 0)) {
            case .identity: try assembler.addIdentity(kind: kind, value: try rows.text(index, 4))
            case .transaction:
                try rows.withOctets(index, 4) { payload in
                    try rows.withOctets(index, 5) { legacy in
                        try assembler.addTransaction(row, payload: payload, legacy: legacy)
                    }
                }
            case .renewalInfo: try rows.withOctets(index, 4) { try assembler.addRenewalInfo(row, payload: $0) }
            case .appTransaction: try rows.withOctets(index, 4) { try assembler.addAppTransaction(row, payload: $0) }
            case .receipt:
                try assembler.addReceipt(
                    form: kind, signedDate: row.signedDate, bytes: try rows.bytes(index, 4))
            case nil: throw TransactionStoreError(.engine, "a look-up gave an unexpected row")
            }
        }
        return assembler.customer()
    }
}
