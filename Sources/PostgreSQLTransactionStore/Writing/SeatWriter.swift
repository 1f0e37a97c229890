import Purchases
import TransactionStore

/// Appends a ledger entry for each seat claim that the App Store ended, once per claim, under the lock of
/// ``LedgerWriter``.
struct SeatWriter {
    let session: PostgreSQLSession

    private static let append = Statement(
        """
        INSERT INTO ledger (purchase, scope, number, event, transaction_id, seat_claim_id)
        SELECT last.purchase, s.id,
            (last.number + row_number() OVER (PARTITION BY s.id, given.id ORDER BY given.place))::int4,
            \(LedgerEntry.Event.seatUnclaimed.rawValue), given.id, given.claim
        FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[])
            WITH ORDINALITY AS given (environment, bundle_id, id, claim, place)
        JOIN scopes AS s ON s.environment = given.environment AND s.bundle_id = given.bundle_id
        CROSS JOIN LATERAL (
            SELECT max(number) AS number, min(purchase) AS purchase
            FROM ledger WHERE transaction_id = given.id AND scope = s.id
        ) AS last
        WHERE last.number IS NOT NULL
            AND NOT EXISTS (SELECT FROM ledger AS k WHERE k.scope = s.id AND k.seat_claim_id = given.claim)
        ORDER BY given.place
        """)

    private struct Claim: Hashable {
        let scope: ScopeKey
        let id: String
    }

    func record(_ batch: FactBatch) throws {
        var seen: Set<Claim> = []
        var claims: [(scope: StoreScope, transactionId: String, id: String)] = []
        for set in batch.sets.lazy.map(\.set) {
            // The transaction is from a signed document, so the ledger has an entry for it.
            guard let id = set.transactions.first?.payload.transactionId else { continue }
            for claim in set.unclaimedSeatIds
            where seen.insert(Claim(scope: ScopeKey(scope: set.scope), id: claim)).inserted {
                claims.append((scope: set.scope, transactionId: id, id: claim))
            }
        }
        try session.run(
            Self.append,
            [
                .texts(claims.map { $0.scope.environment.rawValue }), .texts(claims.map { $0.scope.bundleId }),
                .texts(claims.map { $0.transactionId }), .texts(claims.map { $0.id }),
            ])
    }
}
