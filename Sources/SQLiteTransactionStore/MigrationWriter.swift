import GRDB
import Purchases
import TransactionStore

/// Writes the parts of a migration step that are not facts, within the transaction of the step.
struct MigrationWriter {
    let db: Database

    /// - Parameters:
    ///   - step: what to write.
    ///   - facts: the writer of the same transaction.
    func apply(_ step: MigrationStep, _ facts: FactWriter) throws {
        try add(step.users, facts)
        try add(step.receipts, facts)
        try release(step.released, except: step.quarantined)
        try add(step.quarantined)
        if let checkpoint = step.checkpoint { try SharedSession(db: db).keep(checkpoint) }
    }

    private func add(_ users: [UserClaim], _ facts: FactWriter) throws {
        let insert = try db.statement(StoreTable.userClaims.insert)
        for user in users {
            try insert.run(
                try facts.scopeId(user.scope), Int64(user.identity.kind.rawValue), user.identity.value, user.key,
                Array(user.userId.utf8), Array(user.carried.utf8))
        }
    }

    private func add(_ receipts: [VerifiedReceipt], _ facts: FactWriter) throws {
        let insert = try db.statement(StoreTable.verifiedReceipts.insert)
        for receipt in receipts {
            try insert.run(
                receipt.key, try facts.scopeId(receipt.scope), Int64(receipt.form.rawValue),
                StoredIdentities.encode(receipt.identities))
        }
    }

    /// Keeps the lines that are quarantined again, because rewriting a line of several megabytes is expensive.
    private func release(_ keys: [[UInt8]], except quarantined: [QuarantinedRecord]) throws {
        let again = Set(quarantined.map(\.key))
        let delete = try db.statement("DELETE FROM quarantine WHERE key = ?1")
        for key in keys where !again.contains(key) { try delete.run(key) }
    }

    private func add(_ quarantined: [QuarantinedRecord]) throws {
        let insert = try db.statement(StoreTable.quarantine.insert)
        for record in quarantined { try insert.run(record.key, record.line) }
    }
}
