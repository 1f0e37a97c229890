import Purchases
import TransactionStore

/// The database ids of scopes. They are looked up every time: a cached id could outlive a restored database and file
/// facts under another app.
struct ScopeIds {
    private static let find = Statement(
        """
        SELECT given.place::int4, known.id
        FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS given (environment, bundle_id, place)
        JOIN scopes AS known USING (environment, bundle_id)
        """)
    private static let insert = Statement(
        """
        INSERT INTO scopes (environment, bundle_id) SELECT environment, bundle_id
        FROM unnest($1::bytea[], $2::bytea[]) AS given (environment, bundle_id)
        ORDER BY environment, bundle_id ON CONFLICT DO NOTHING
        """)

    private let session: PostgreSQLSession

    init(_ session: PostgreSQLSession) { self.session = session }

    /// The id of a scope; nil if it is missing.
    func known(_ scope: StoreScope) throws -> Int32? {
        let rows = try session.run(Self.find, .texts([scope.environment.rawValue]), .texts([scope.bundleId]))
        guard rows.count > 0 else { return nil }
        return try rows.integer(0, 1, as: Int32.self)
    }

    /// The ids of the scopes. Missing scopes are inserted.
    func find(_ scopes: [StoreScope]) throws -> [Int32] {
        guard !scopes.isEmpty else { return [] }
        let parameters: [Parameter] = [
            .texts(scopes.map(\.environment.rawValue)), .texts(scopes.map(\.bundleId)),
        ]
        for attempt in 0..<2 {
            let rows = try session.run(Self.find, parameters)
            if rows.count == scopes.count {
                var result = [Int32](repeating: 0, count: scopes.count)
                for (row, place) in try rows.places(among: scopes.count) { result[place] = try rows.integer(row, 1) }
                return result
            }
            if attempt == 0 { try session.run(Self.insert, parameters) }
        }
        throw TransactionStoreError(.engine, "the database returned no id for a scope")
    }
}
