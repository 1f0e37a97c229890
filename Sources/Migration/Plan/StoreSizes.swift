import AppStoreModels
import LegacyReceipts
import Purchases
import TransactionStore

/// The disk space of the rows that records add to a store, with their entries in the indexes.
///
/// A store keeps each row once, so a row that repeats is counted once. The constants were measured on stores of both engines.
/// They are high rather than low, because a full disk stops a migration.
struct StoreSizes {
    private enum Table {
        case transactions, renewalInfos, appTransactions, identities, receipts, verified, users, lines
    }

    private struct Row {
        let content: Int
        let size: Int
    }

    private let engine: MigrationPlan.StoreEngine
    /// The rows so far, by the hashes of their keys. The keys and the contents would need too much memory.
    private var rows: [Int: Row] = [:]
    private var encoder = FactEncoder()
    private(set) var bytes = 0

    init(_ engine: MigrationPlan.StoreEngine) { self.engine = engine }

    /// The size of a store without rows, and of the checkpoint of a migration of many files.
    static func empty(_ engine: MigrationPlan.StoreEngine) -> Int {
        switch engine {
        case .sqlite: 753_664 + 131_072
        case .postgreSQL: 581_632 + 147_456
        }
    }

    // MARK: Rows

    mutating func add(_ additions: StoreAdditions) {
        for set in additions.facts { add(set) }
        for user in additions.users {
            let size = 2 * user.identity.value.utf8.count + 2 * user.userId.utf8.count + user.carried.utf8.count
            add(.users, [user.scope, user.identity, user.key], size + (engine == .sqlite ? 140 : 190))
        }
        for (receipt, _) in additions.receipts {
            let size = receipt.identities.reduce(0) { $0 + $1.value.utf8.count + 3 }
            add(.verified, [receipt.key], size + (engine == .sqlite ? 120 : 230))
        }
    }

    /// Adds a line of the quarantine.
    mutating func add(quarantined line: QuarantinedRecord) {
        let size = engine == .sqlite ? Self.inPages(line.line.count + 45) + 50 : Self.inChunks(line.line.count) + 140
        add(.lines, [line.key], size)
    }

    private mutating func add(_ set: FactSet) {
        for fact in set.transactions {
            encoder.encode(fact)
            let (id, original) = (fact.payload.transactionId ?? "", fact.storedOriginalTransactionId)
            let ids = id.utf8.count + original.utf8.count
            var size = size(of: fact.origin, ids: ids)
            // The delivery ledger has signed transactions, and the ends of their periods.
            if fact.origin.kind.isSigned { size += engine == .sqlite ? 2 * ids + 70 : 2 * ids + 190 }
            add(.transactions, [set.scope, original, id, fact.origin.kind], content: content(fact.origin), size)
        }
        for fact in set.renewalInfos {
            encoder.encode(fact)
            let original = fact.payload.originalTransactionId ?? ""
            add(
                .renewalInfos, [set.scope, original, fact.origin.kind], content: content(fact.origin),
                size(of: fact.origin, ids: original.utf8.count))
        }
        for identity in set.identities {
            let size = identity.value.utf8.count
            add(.identities, [set.scope, identity], engine == .sqlite ? 2 * size + 35 : size + 165)
        }
        // The customer, by the identities of this document. A customer with several first identities counts several times.
        guard let customer = set.identities.first else { return }
        if let fact = set.appTransaction {
            encoder.encode(fact)
            add(
                .appTransactions, [set.scope, customer.value, fact.rowKind], content: content(fact.origin),
                size(of: fact.origin, ids: 0))
        }
        if let receipt = set.receipt {
            let size = receipt.bytes.count
            add(
                .receipts, [set.scope, customer.value, receipt.form], content: receipt.hash.hashValue,
                engine == .sqlite ? Self.inPages(size + 20) + 40 : Self.inChunks(size) + 200)
        }
    }

    /// The size of a row with the fact that was encoded last.
    /// - Parameters:
    ///   - origin: the origin of the fact.
    ///   - ids: the bytes of its ids.
    private func size(of origin: FactOrigin, ids: Int) -> Int {
        let content =
            encoder.payload.bytes.count + encoder.legacy.bytes.count + origin.documentBytes.count + 2 * ids
        return engine == .sqlite ? Self.inPages(content) + ids + 60 : content + 165
    }

    /// The hash of the fact that was encoded last.
    private func content(_ origin: FactOrigin) -> Int {
        var hasher = Hasher()
        hasher.combine(encoder.payload.bytes)
        hasher.combine(encoder.legacy.bytes)
        hasher.combine(origin.documentBytes)
        return hasher.finalize()
    }

    /// - Parameter key: the values that identify a row of the table, the same for both engines.
    private mutating func add(_ table: Table, _ key: [any Hashable], content: Int = 0, _ size: Int) {
        var hasher = Hasher()
        hasher.combine(table)
        for value in key { hasher.combine(value) }
        let hash = hasher.finalize()
        guard let known = rows[hash] else {
            rows[hash] = Row(content: content, size: size)
            bytes += size
            return
        }
        guard known.content != content else { return }
        switch engine {
        case .sqlite: bytes += max(0, size - known.size)
        // The replaced row takes its space until VACUUM.
        case .postgreSQL: bytes += size
        }
        rows[hash] = Row(content: content, size: max(size, known.size))
    }

    // MARK: Large values

    /// The space of a row in the pages of SQLite. A page has few large rows, and its rest stays empty. Rows of different
    /// sizes leave a fifth more.
    private static func inPages(_ size: Int) -> Int {
        let page = 16_384
        let cell = size + 16
        guard cell > 1_024 else { return cell }
        let space = cell > page ? (cell + page - 1) / page * page : page / (page / cell)
        return space + space / 5
    }

    /// The space of a large value in the TOAST table of PostgreSQL, with its index.
    private static func inChunks(_ size: Int) -> Int { size + size / 7 }
}
