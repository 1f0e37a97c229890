import TransactionStore

/// Merges several customers into one. Needs the exclusive lock of their scopes.
struct CustomerJoiner {
    let session: PostgreSQLSession

    private static let order = RowOrder()
    private static let orderOfReceipts = RowOrder(columns: ["signed_date", "octets"])

    private static let countIdentities = Statement(
        """
        SELECT given.customer, (
            SELECT count(*) FROM (SELECT FROM identities AS i WHERE i.customer = given.customer LIMIT $2::int8) AS part
        ) FROM unnest($1::int8[]) AS given (customer)
        """)
    private static let moveIdentities = Statement(
        """
        UPDATE identities AS moved SET customer = given.to_customer
        FROM unnest($1::int8[], $2::int8[]) AS given (from_customer, to_customer)
        WHERE moved.customer = given.from_customer
        """)
    private static let moveAppTransactions = Statement(
        """
        WITH given AS (SELECT * FROM unnest($1::int8[], $2::int8[]) AS given (from_customer, to_customer)),
        moved AS (
            DELETE FROM app_transactions AS old USING given WHERE old.customer = given.from_customer
            RETURNING given.to_customer, old.signed_date, old.kind, old.source, old.payload, old.legacy, old.document
        )
        INSERT INTO app_transactions AS known (customer, signed_date, kind, source, payload, legacy, document)
        SELECT DISTINCT ON (to_customer, kind) to_customer, signed_date, kind, source, payload, legacy, document
        FROM moved
        ORDER BY to_customer, kind, \(order.value(of: "moved")) DESC
        ON CONFLICT (customer, kind) DO UPDATE
        SET signed_date = excluded.signed_date, source = excluded.source, payload = excluded.payload,
            legacy = excluded.legacy, document = excluded.document
        WHERE \(order.value(of: "known")) < \(order.value(of: "excluded"))
        """)
    private static let moveReceipts = Statement(
        """
        WITH given AS (SELECT * FROM unnest($1::int8[], $2::int8[]) AS given (from_customer, to_customer)),
        moved AS (
            DELETE FROM receipts AS old USING given WHERE old.customer = given.from_customer
            RETURNING given.to_customer, old.signed_date, old.form, old.octets
        )
        INSERT INTO receipts AS known (customer, signed_date, form, octets)
        SELECT DISTINCT ON (to_customer, form) to_customer, signed_date, form, octets FROM moved
        ORDER BY to_customer, form, \(orderOfReceipts.value(of: "moved")) DESC
        ON CONFLICT (customer, form) DO UPDATE SET signed_date = excluded.signed_date, octets = excluded.octets
        WHERE \(orderOfReceipts.value(of: "known")) < \(orderOfReceipts.value(of: "excluded"))
        """)

    /// Merges the customers of each group. Groups that share a customer become one.
    /// - Returns: for each customer that was merged, the customer that it became part of.
    func join(_ groups: some Collection<Set<Int64>>) throws -> [Int64: Int64] {
        let sizes = try Self.sizes(Set(groups.joined()).sorted(), session)
        let moves = Self.moves(groups, sizes)
        let from = moves.keys.sorted()
        let parameters: [Parameter] = [.int8s(from), .int8s(from.map { moves[$0] ?? $0 })]
        for statement in [Self.moveIdentities, Self.moveAppTransactions, Self.moveReceipts] {
            try session.run(statement, parameters)
        }
        try AppTransactionFiller(session: session).fill(joined: Set(moves.values).sorted())
        return moves
    }

    /// Moves everything to the customer with the most identities, so that one identity moves at most a logarithmic
    /// number of times.
    private static func moves(_ groups: some Collection<Set<Int64>>, _ sizes: [Int64: Int64]) -> [Int64: Int64] {
        var parents: [Int64: Int64] = [:]
        func root(_ customer: Int64) -> Int64 {
            var customer = customer
            while let parent = parents[customer] {
                // Path halving, so that long chains are walked only once.
                if let next = parents[parent] { parents[customer] = next }
                customer = parent
            }
            return customer
        }
        for group in groups {
            guard let first = group.first else { continue }
            for customer in group {
                let (left, right) = (root(first), root(customer))
                if left == right { continue }
                // The greater customer stays the root, so the root is the greatest of all.
                let leftStays = (sizes[left] ?? 0, right) > (sizes[right] ?? 0, left)
                parents[leftStays ? right : left] = leftStays ? left : right
            }
        }
        var result: [Int64: Int64] = [:]
        for customer in groups.joined() where root(customer) != customer { result[customer] = root(customer) }
        return result
    }

    /// The number of identities of each customer, counted up to a limit that grows until at most one customer reaches
    /// it. The cost therefore depends on the smaller customers, not on the largest.
    private static func sizes(_ customers: [Int64], _ session: PostgreSQLSession) throws -> [Int64: Int64] {
        var sizes: [Int64: Int64] = [:]
        var candidates = customers
        var bound: Int64 = 16
        while candidates.count > 1 {
            let rows = try session.run(countIdentities, .int8s(candidates), .int8(bound))
            candidates = []
            for row in 0..<rows.count {
                let customer = try rows.integer(row, 0, as: Int64.self)
                let size = try rows.integer(row, 1, as: Int64.self)
                sizes[customer] = size
                if size >= bound { candidates.append(customer) }
            }
            bound *= 8
        }
        return sizes
    }
}
