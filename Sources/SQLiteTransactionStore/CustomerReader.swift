import GRDB
import TransactionStore

extension SQLiteTransactionStore {
    static func scopeId(_ scope: StoreScope, _ db: some StatementSource) throws -> Int64? {
        let find = try SQLStatement(db, "SELECT id FROM scopes WHERE environment = ?1 AND bundle_id = ?2")
        try find.bind(1, scope.environment.rawValue)
        try find.bind(2, scope.bundleId)
        return try find.integer()
    }

    static func customer(
        _ identities: [CustomerIdentity], _ scope: StoreScope, _ db: some StatementSource
    ) throws -> Customer? {
        guard let scopeId = try db.scopeId(scope) else { return nil }
        let find = try SQLStatement(
            db,
            """
            SELECT o.customer_id, o.kind, o.value FROM identities i CROSS JOIN identities o
            WHERE i.scope_id = ?1 AND i.kind = ?2 AND i.value = ?3 AND o.customer_id = i.customer_id
            """)
        var customers: Set<Int64> = []
        var assembler = CustomerAssembler(scope: scope)
        // An identity is of one customer: those of a customer who was found need not be asked for.
        for identity in identities where identity.isMeaningful && !assembler.hasIdentity(identity) {
            try find.bind(1, scopeId)
            try find.bind(2, Int64(identity.kind.rawValue))
            try find.bind(3, identity.value)
            try find.forEachRow {
                customers.insert($0.integer(0))
                try assembler.addIdentity(kind: $0.integer(1), value: $0.text(2))
            }
        }
        guard !customers.isEmpty else { return nil }
        for customer in customers.sorted() { try readFacts(customer, into: &assembler, db) }
        return assembler.customer()
    }

    static func read(
        _ customer: Int64, into assembler: inout CustomerAssembler, _ db: some StatementSource
    ) throws {
        let identities = try SQLStatement(db, "SELECT kind, value FROM identities WHERE customer_id = ?1")
        try identities.bind(1, customer)
        try identities.forEachRow { try assembler.addIdentity(kind: $0.integer(0), value: $0.text(1)) }
        try readFacts(customer, into: &assembler, db)
    }

    private static func readFacts(
        _ customer: Int64, into assembler: inout CustomerAssembler, _ db: some StatementSource
    ) throws {
        // CROSS JOIN keeps the order of the tables: from the identities to what they name.
        let transactions = try SQLStatement(
            db,
            """
            SELECT t.kind, t.source, t.signed_date, t.payload, t.legacy FROM identities i CROSS JOIN transactions t
            WHERE i.customer_id = ?1 AND i.kind = 1 AND t.scope_id = i.scope_id AND t.original_transaction_id = i.value
            """)
        try transactions.bind(1, customer)
        try transactions.forEachRow {
            try assembler.addTransaction(row($0), payload: $0.bytes(3), legacy: $0.bytes(4))
        }

        let renewalInfos = try SQLStatement(
            db,
            """
            SELECT r.kind, r.source, r.signed_date, r.payload FROM identities i CROSS JOIN renewal_infos r
            WHERE i.customer_id = ?1 AND i.kind = 1 AND r.scope_id = i.scope_id AND r.original_transaction_id = i.value
            """)
        try renewalInfos.bind(1, customer)
        try renewalInfos.forEachRow { try assembler.addRenewalInfo(row($0), payload: $0.bytes(3)) }

        let appTransactions = try SQLStatement(
            db, "SELECT kind, source, signed_date, payload FROM app_transactions WHERE customer_id = ?1")
        try appTransactions.bind(1, customer)
        try appTransactions.forEachRow { try assembler.addAppTransaction(row($0), payload: $0.bytes(3)) }

        let receipts = try SQLStatement(db, "SELECT form, signed_date, bytes FROM receipts WHERE customer_id = ?1")
        try receipts.bind(1, customer)
        try receipts.forEachRow {
            try assembler.addReceipt(form: $0.integer(0), signedDate: $0.integer(1), bytes: Array($0.bytes(2)))
        }
    }

    private static func row(_ row: SQLRow) -> CustomerAssembler.Row {
        CustomerAssembler.Row(kind: row.integer(0), source: row.integer(1), signedDate: row.integer(2))
    }

    /// What is known about one transaction as it is filed.
    static func transaction(
        _ id: String, _ original: String, _ scopeId: Int64, in scope: StoreScope, _ find: SQLStatement
    ) throws -> StoredTransaction? {
        try find.bind(1, scopeId)
        try find.bind(2, original)
        try find.bind(3, id)
        var assembler = CustomerAssembler(scope: scope)
        try find.forEachRow { try assembler.addTransaction(row($0), payload: $0.bytes(3), legacy: $0.bytes(4)) }
        return assembler.joinedTransactions().first
    }

    /// The statement for ``transaction(_:_:_:in:_:)``.
    static let findTransaction = """
        SELECT kind, source, signed_date, payload, legacy FROM transactions
        WHERE scope_id = ?1 AND original_transaction_id = ?2 AND transaction_id = ?3
        """

    static func counts(_ db: Database) throws -> StoreCounts {
        func count(_ sql: String) throws -> Int64 { try SQLStatement(db, sql).integer() ?? 0 }
        return StoreCounts(
            transactions: try count(
                """
                SELECT COUNT(*) FROM
                    (SELECT DISTINCT scope_id, original_transaction_id, transaction_id FROM transactions)
                """),
            renewalInfos: try count(
                "SELECT COUNT(*) FROM (SELECT DISTINCT scope_id, original_transaction_id FROM renewal_infos)"),
            appTransactions: try count("SELECT COUNT(DISTINCT customer_id) FROM app_transactions"),
            customers: try count("SELECT COUNT(DISTINCT customer_id) FROM identities"),
            receipts: try count("SELECT COUNT(*) FROM receipts"),
            notifications: try count("SELECT COUNT(*) FROM notifications"))
    }
}
