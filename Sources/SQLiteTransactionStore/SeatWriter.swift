import GRDB
import Purchases
import TransactionStore

/// Appends a ledger entry for each seat claim that the App Store ended, once per claim.
struct SeatWriter {
    private let append: SQLStatement

    init(_ db: Database) throws {
        append = try SQLStatement(
            db,
            """
            INSERT INTO ledger
                (scope_id, transaction_id, number, event, original_transaction_id, seat_claim_id, recorded_at)
            SELECT ?1, ?2, MAX(number) + 1, \(LedgerEntry.Event.seatUnclaimed.rawValue), ?3, ?4,
                \(SQLiteTransactionStore.now)
            FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 GROUP BY transaction_id
            ON CONFLICT (scope_id, seat_claim_id) WHERE seat_claim_id IS NOT NULL DO NOTHING
            """)
    }

    /// - Parameters:
    ///   - claims: the ids of the unclaimed seats.
    ///   - transaction: from a signed document, so the ledger has an entry for it.
    ///   - scopeId: the database id of the app and environment.
    func record(_ claims: [String], of transaction: TransactionFact, _ scopeId: Int64) throws {
        for claim in claims {
            try append.run(
                scopeId, transaction.payload.transactionId ?? "", transaction.storedOriginalTransactionId, claim)
        }
    }
}
