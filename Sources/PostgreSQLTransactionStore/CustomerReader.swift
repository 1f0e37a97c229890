import Purchases
import TransactionStore

/// Looks up customers with one statement, which reads one snapshot and costs one round trip.
struct CustomerReader {
    /// One look-up: the customer with any of the identities. There is at least one identity.
    struct Query: Sendable {
        let identities: [CustomerIdentity]
        let scope: StoreScope
    }

    /// The customer, or the error in the stored rows.
    typealias Answer = Result<Customer?, TransactionStoreError>

    /// The maximum number of identities for one statement, unless a single query has more.
    static let maximumIdentities = 64

    private static let purchases = """
        WITH members AS MATERIALIZED (
            SELECT DISTINCT given.place, known.customer
            FROM unnest($1::int4[], $2::bytea[], $3::bytea[], $4::int2[], $5::bytea[])
                AS given (place, environment, bundle_id, kind, value)
            JOIN scopes USING (environment, bundle_id)
            JOIN identities AS known
                ON known.scope = scopes.id AND known.kind = given.kind AND known.value = given.value
        ), owned AS MATERIALIZED (
            SELECT place, i.id, i.kind, i.value FROM members JOIN identities AS i USING (customer)
        )
        SELECT 0::int2, kind, 0::int2, 0::int8, value, ''::bytea, place, ''::bytea FROM owned
        UNION ALL
        SELECT 1::int2, t.kind, t.source, t.signed_date, t.payload, t.legacy, place, t.document
        FROM owned JOIN transactions AS t ON t.purchase = owned.id WHERE owned.kind = 1
        """
    private static let findPurchases = Statement(purchases)
    private static let find = Statement(
        """
        \(purchases)
        UNION ALL
        SELECT 2::int2, r.kind, r.source, r.signed_date, r.payload, ''::bytea, place, r.document
        FROM owned JOIN renewal_infos AS r ON r.purchase = owned.id WHERE owned.kind = 1
        UNION ALL
        SELECT 3::int2, a.kind, a.source, a.signed_date, a.payload, a.legacy, place, a.document
        FROM members JOIN app_transactions AS a USING (customer)
        UNION ALL
        SELECT 4::int2, r.form, 0::int2, r.signed_date, r.octets, ''::bytea, place, ''::bytea
        FROM members JOIN receipts AS r USING (customer)
        """)

    /// One answer per query.
    /// - Parameters:
    ///   - queries: the questions.
    ///   - session: the connection.
    ///   - onlyPurchases: whether to read only the identities and the transactions, without the large receipts.
    static func answers(
        to queries: [Query], _ session: PostgreSQLSession, onlyPurchases: Bool = false
    ) throws -> [Answer] {
        let given = queries.enumerated().flatMap { place, query in
            query.identities.map { (place: place, scope: query.scope, identity: $0) }
        }
        let rows = try session.run(
            onlyPurchases ? findPurchases : find, .int4s(given.map { Int32(truncatingIfNeeded: $0.place) }),
            .texts(given.map(\.scope.environment.rawValue)), .texts(given.map(\.scope.bundleId)),
            .int2s(given.map { Int16(truncatingIfNeeded: $0.identity.kind.rawValue) }),
            .texts(given.map(\.identity.value)))
        var assemblers = queries.map { Result<_, TransactionStoreError>.success(CustomerAssembler(scope: $0.scope)) }
        for index in 0..<rows.count {
            let place = Int(try rows.integer(index, 6, as: Int32.self))
            guard assemblers.indices.contains(place) else {
                throw TransactionStoreError(.engine, "a look-up gave an unexpected row")
            }
            // Moved out of the array, so that adding a row copies nothing.
            guard case .success(var assembler) = assemblers[place] else { continue }
            assemblers[place] = .failure(TransactionStoreError(.engine, "a row is being read"))
            do {
                try add(index, of: rows, to: &assembler)
                assemblers[place] = .success(assembler)
            } catch let error as TransactionStoreError {
                assemblers[place] = .failure(error)
            }
        }
        return assemblers.map { $0.map { $0.customer() } }
    }

    private static func add(_ index: Int, of rows: ResultRows, to assembler: inout CustomerAssembler) throws {
        let (part, row) = (try rows.integer(index, 0, as: Int16.self), try rows.head(index, 1, document: 7))
        try rows.withBytes(index, 4) { payload in
            try rows.withBytes(index, 5) { legacy in
                try assembler.add(Int64(part), row, payload: payload, legacy: legacy)
            }
        }
    }
}
