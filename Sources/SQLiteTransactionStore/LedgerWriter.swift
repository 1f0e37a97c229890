import AppStoreModels
import GRDB
import Purchases
import TransactionStore

/// Appends to the ledger, within the transaction that writes the facts. A file has only one writer at a time, so
/// positions are committed in order.
struct LedgerWriter {
    private let session: SharedSession
    private let append: SQLStatement
    private let last: SQLStatement
    private let lastState: SQLStatement
    private let findDependent: SQLStatement
    private let findNotification: SQLStatement

    /// - Parameters:
    ///   - db: the database.
    ///   - hasDates: false for a ledger of a schema before 6, which has no dates.
    init(_ db: Database, hasDates: Bool = true) throws {
        session = SharedSession(db: db)
        append = try SQLStatement(
            db,
            """
            INSERT INTO ledger
                (scope_id, transaction_id, number, event, original_transaction_id\(hasDates ? ", recorded_at" : ""))
            VALUES (?1, ?2, ?3, ?4, ?5\(hasDates ? ", \(SQLiteTransactionStore.now)" : "")) ON CONFLICT (scope_id, transaction_id, number) DO NOTHING
            """)
        last = try SQLStatement(
            db,
            """
            SELECT (SELECT MAX(number) FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2), event,
                EXISTS (SELECT 1 FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 AND event = 1)
            FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 AND event <= 4 ORDER BY number DESC LIMIT 1
            """)
        lastState = try SQLStatement(
            db,
            """
            SELECT event FROM ledger WHERE scope_id = ?1 AND transaction_id = ?2 AND event <= 4
            ORDER BY number DESC LIMIT 1
            """)
        // Each payload contains its product.
        findDependent = try SQLStatement(
            db,
            """
            SELECT 1 FROM transactions
            WHERE scope_id = ?1 AND original_transaction_id = ?2
                AND (instr(payload, ?3) = 0 OR \(FactWriter.revokes("transactions")))
            LIMIT 1
            """)
        findNotification = try SQLStatement(
            db,
            """
            SELECT 1 FROM transactions
            WHERE scope_id = ?1 AND original_transaction_id = ?2 AND transaction_id = ?3
                AND kind = \(FactKind.notified.rawValue)
            """)
    }

    /// Whether a server received a cancellation of a transaction in a notification of version 1.
    private func isNotified(_ id: String, _ original: String, _ scopeId: Int64) throws -> Bool {
        try findNotification.integer(scopeId, original, id) != nil
    }

    /// Appends the entries that are due after the facts of a set were written.
    ///
    /// - Parameters:
    ///   - facts: the transactions of the set.
    ///   - changed: the indices of the facts that were new or newer.
    ///   - scopeId: the database id of the app and environment.
    func record(_ facts: [TransactionFact], changed: [Int], _ scopeId: Int64) throws {
        var together = try dependent(facts, changed, scopeId)
        for place in changed {
            let original = facts[place].storedOriginalTransactionId
            guard !together.contains(original) else { continue }
            if try !recordPlain(facts[place], original, scopeId) { together.insert(original) }
        }
        for original in together.sorted() { try record(together: original, scopeId) }
    }

    /// The original transaction ids whose transactions `UpgradeRule` and `CopyRule` must examine together. These are
    /// ids of a changed purchase with a neighbor of another product, or with a cancellation, in the set or in the
    /// store.
    private func dependent(
        _ facts: [TransactionFact], _ changed: [Int], _ scopeId: Int64
    ) throws -> Set<String> {
        var products: [String: [UInt8]] = [:]
        var result: Set<String> = []
        for place in changed {
            let original = facts[place].storedOriginalTransactionId
            if facts[place].revokes { result.insert(original) }
            guard let product = facts[place].storedProduct else { continue }
            if let known = products[original] {
                if known != product { result.insert(original) }
            } else {
                products[original] = product
            }
        }
        for (original, product) in products where !result.contains(original) {
            if try findDependent.integer(scopeId, original, product) != nil { result.insert(original) }
        }
        return result
    }

    /// Appends the entries that are due for the transactions under an original transaction id, also for those whose upgrade or
    /// revocation the others prove or disprove.
    private func record(together original: String, _ scopeId: Int64) throws {
        var assemblers: [Int: CustomerAssembler] = [:]
        try session.addTransactions(of: [SQLPurchase(scopeId: scopeId, original: original)], to: &assemblers)
        let known = assemblers[0]?.joinedTransactions() ?? []
        // The oldest first.
        for transaction in known.reversed() {
            guard let id = transaction.payload.transactionId,
                let due = DueEntry(after: try history(of: id, scopeId), for: transaction)
            else { continue }
            _ = try append(id, original, scopeId, number: due.number, due.event)
        }
    }

    /// Appends the entry of a new plain purchase. Returns false if the purchase must be examined with all its transactions.
    private func recordPlain(_ fact: borrowing TransactionFact, _ original: String, _ scopeId: Int64) throws -> Bool {
        let id = fact.payload.transactionId ?? ""
        // Nearly all facts of a bulk load end here: they are new, or in a newer receipt with the same purchase.
        if fact.isPlainPurchase, try !isNotified(id, original, scopeId) {
            if try append(id, original, scopeId, number: 0, .purchased) { return true }
            let state = try lastState.integer(scopeId, id).flatMap { LedgerEntry.Event(rawValue: $0) }
            if state?.isGrant == true { return true }
        }
        if fact.origin.kind.isSigned { return false }
        // Every signed transaction has an entry.
        return try history(of: id, scopeId) == nil
    }

    /// Returns whether the entry was appended; false if one with this number exists.
    private func append(
        _ id: String, _ original: String, _ scopeId: Int64, number: Int64, _ event: LedgerEntry.Event
    ) throws -> Bool {
        return try append.run(scopeId, id, number, event.rawValue, original) > 0
    }

    private func history(of id: String, _ scopeId: Int64) throws -> LedgerHistory? {
        return try last.rows(scopeId, id) {
            try LedgerHistory(number: $0.integer(0), event: $0.integer(1), wasPurchased: $0.integer(2) != 0)
        }.last
    }

    /// Creates the ledger of a store that has none, subscription by subscription in the order in which they were first
    /// stored.
    func recordAll(_ db: Database) throws {
        let all = try SQLStatement(
            db,
            """
            SELECT scope_id, original_transaction_id FROM transactions
            GROUP BY scope_id, original_transaction_id ORDER BY MIN(rowid)
            """)
        try all.forEachRow {
            let (scopeId, original) = ($0.integer(0), $0.text(1))
            try record(together: original, scopeId)
        }
    }
}
