import Purchases
import TransactionStore

/// The parts of a migration step that are not facts, prepared for one write in the transaction of ``FactWriter``.
///
/// The tables are written in one fixed order and each table in the order of its key, so that two writers wait for each
/// other instead of deadlocking.
final class MigrationBatch: Sendable {
    /// The step without its facts. What it releases and quarantines is ordered by key.
    let step: MigrationStep
    /// The scopes of the users, receipts and left hashes.
    let scopes: [StoreScope]
    /// Ordered by identity and key. `scope` is the index in ``scopes``.
    private let users: [(scope: Int, claim: UserClaim, key: [UInt8])]
    /// Ordered by key. `scope` is the index in ``scopes``.
    private let receipts: [(scope: Int, receipt: VerifiedReceipt)]

    init(_ given: MigrationStep) {
        func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
        var step = given
        step.facts = []
        // Keeps the lines that are quarantined again, because rewriting a line of several megabytes is expensive.
        step.released = Set(step.released).subtracting(step.quarantined.map(\.key)).sorted(by: isBefore)
        step.quarantined.sort { isBefore($0.key, $1.key) }
        self.step = step
        var scopes = ScopeList()
        users = step.users.map { (scope: scopes.place($0.scope), claim: $0, key: $0.key) }.sorted { left, right in
            left.claim.identity == right.claim.identity
                ? isBefore(left.key, right.key) : left.claim.identity < right.claim.identity
        }
        receipts = step.receipts.map { (scope: scopes.place($0.scope), receipt: $0) }
            .sorted { isBefore($0.receipt.key, $1.receipt.key) }
        for hash in step.leftHashes { _ = scopes.place(hash.scope) }
        self.scopes = scopes.scopes
    }

    /// The batch without what is about erased identities.
    func removing(_ erased: ErasedIdentities, _ result: inout AppliedFacts) -> MigrationBatch {
        erased.isEmpty ? self : MigrationBatch(erased.remaining(of: step, &result))
    }

    /// Writes the rows within a transaction.
    /// - Parameters:
    ///   - scopeIds: the ids of ``scopes``.
    ///   - session: the connection with the transaction.
    func write(_ scopeIds: [Int32], _ session: PostgreSQLSession) throws {
        // By the numbers of the scopes, which are the same in every program. Within a scope the order stays.
        let order = users.indices.sorted { (scopeIds[users[$0].scope], $0) < (scopeIds[users[$1].scope], $1) }
        try Self.insert(order, into: .userClaims, session) { place, rows in
            let user = users[place]
            rows.integer(scopeIds[user.scope])
            rows.integer(Int16(truncatingIfNeeded: user.claim.identity.kind.rawValue))
            rows.bytes(user.claim.identity.value.utf8)
            rows.bytes(user.key)
            rows.bytes(user.claim.userId.utf8)
            rows.bytes(user.claim.carried.utf8)
        }
        try Self.insert(receipts, into: .verifiedReceipts, session) { each, rows in
            rows.bytes(each.receipt.key)
            rows.integer(scopeIds[each.scope])
            rows.integer(Int16(truncatingIfNeeded: each.receipt.form.rawValue))
            rows.bytes(StoredIdentities.encode(each.receipt.identities))
        }
        if !step.released.isEmpty { try session.run(Self.release, .byteStrings(step.released)) }
        try Self.insert(step.quarantined, into: .quarantine, session) { record, rows in
            rows.bytes(record.key)
            rows.bytes(record.line)
        }
        if let checkpoint = step.checkpoint { try session.keep(checkpoint) }
    }

    private static let release = Statement(
        "DELETE FROM quarantine AS old USING unnest($1::bytea[]) AS given (key) WHERE old.key = given.key")

    /// Inserts the missing rows, with several statements if they are large.
    private static func insert<Element>(
        _ elements: some Collection<Element>, into table: Table, _ session: PostgreSQLSession,
        _ add: (Element, inout RowBuffer) -> Void
    ) throws {
        var rows = RowBuffer(table, .columns)
        for element in elements {
            rows.beginRow()
            add(element, &rows)
            if rows.isFull { try rows.send(to: session) }
        }
        try rows.send(to: session)
    }
}
