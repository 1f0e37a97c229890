import Purchases
import TransactionStore

/// Appends the events of notifications to the ledger, for transactions that have an entry. Runs under the lock of
/// ``LedgerWriter``.
struct NotifiedEventWriter {
    let session: PostgreSQLSession

    private static let append = Statement(
        name: "append_notified_events",
        sql: """
            INSERT INTO ledger (purchase, scope, number, event, transaction_id)
            SELECT last.purchase, s.id,
                (last.number + row_number() OVER (PARTITION BY s.id, given.id ORDER BY given.place))::int4,
                given.event, given.id
            FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::int2[])
                WITH ORDINALITY AS given (environment, bundle_id, id, event, place)
            JOIN scopes AS s ON s.environment = given.environment AND s.bundle_id = given.bundle_id
            CROSS JOIN LATERAL (
                SELECT max(number) AS number, min(purchase) AS purchase
                FROM ledger WHERE transaction_id = given.id AND scope = s.id
            ) AS last
            WHERE last.number IS NOT NULL
            ORDER BY given.place
            """)

    /// - Parameter events: in the order of the documents.
    func record(_ events: [(scope: StoreScope, event: NotifiedEvent)]) throws {
        try session.run(
            Self.append,
            [
                .byteStrings(events.map { Array($0.scope.environment.rawValue.utf8) }),
                .byteStrings(events.map { Array($0.scope.bundleId.utf8) }),
                .byteStrings(events.map { Array($0.event.transactionId.utf8) }),
                .int2s(events.map { Int16(truncatingIfNeeded: $0.event.event.rawValue) }),
            ])
    }
}
