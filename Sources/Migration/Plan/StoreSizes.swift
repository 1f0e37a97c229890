import AppStoreModels
import LegacyReceipts
import Purchases
import TransactionStore

/// The disk space of the rows that records add to a store, with their entries in the indexes.
///
/// A store keeps each row once, so a row that repeats is counted once. The constants were measured on stores of both engines.
/// They are high rather than low, because a full disk stops a migration.
struct StoreSizes {
    /// Identifies a row. The engines have the same keys.
    private struct Key: Hashable {
        enum Table { case transactions, renewalInfos, appTransactions, identities, receipts, verified, users, lines }

        let table: Table
        var scope: StoreScope?
        var id = ""
        var secondId = ""
        var kind: Int64 = 0
        var bytes: [UInt8] = []
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
            let key = Key(
                table: .users, scope: user.scope, id: user.identity.value, kind: Int64(user.identity.kind.rawValue),
                bytes: user.key)
            add(key, content: 0, size + (engine == .sqlite ? 140 : 190))
        }
        for (receipt, _) in additions.receipts {
            let size = receipt.identities.reduce(0) { $0 + $1.value.utf8.count + 3 }
            add(Key(table: .verified, bytes: receipt.key), content: 0, size + (engine == .sqlite ? 120 : 230))
        }
    }

    /// Adds a line of the quarantine.
    mutating func add(quarantined line: QuarantinedRecord) {
        let size = engine == .sqlite ? Self.inPages(line.line.count + 45) + 50 : Self.inChunks(line.line.count) + 140
        add(Key(table: .lines, bytes: line.key), content: 0, size)
    }

    private mutating func add(_ set: FactSet) {
        for fact in set.transactions {
            encoder.encode(fact)
            let (id, original) = (fact.payload.transactionId ?? "", fact.storedOriginalTransactionId)
            let ids = id.utf8.count + original.utf8.count
            var size = size(of: fact.origin, ids: ids)
            // The delivery ledger has signed transactions, and the ends of their periods.
            if fact.origin.kind.isSigned { size += engine == .sqlite ? 2 * ids + 70 : 2 * ids + 190 }
            let key = Key(
                table: .transactions, scope: set.scope, id: original, secondId: id,
                kind: Int64(fact.origin.kind.rawValue))
            add(key, content: content(fact.origin), size)
        }
        for fact in set.renewalInfos {
            encoder.encode(fact)
            let original = fact.payload.originalTransactionId ?? ""
            let key = Key(
                table: .renewalInfos, scope: set.scope, id: original, kind: Int64(fact.origin.kind.rawValue))
            add(key, content: content(fact.origin), size(of: fact.origin, ids: original.utf8.count))
        }
        for identity in set.identities {
            let key = Key(
                table: .identities, scope: set.scope, id: identity.value, kind: Int64(identity.kind.rawValue))
            let size = identity.value.utf8.count
            add(key, content: 0, engine == .sqlite ? 2 * size + 35 : size + 165)
        }
        // The customer, by the identities of this document. A customer with several first identities counts several times.
        guard let customer = set.identities.first else { return }
        if let fact = set.appTransaction {
            encoder.encode(fact)
            let key = Key(table: .appTransactions, scope: set.scope, id: customer.value, kind: fact.rowKind.rawValue)
            add(key, content: content(fact.origin), size(of: fact.origin, ids: 0))
        }
        if let receipt = set.receipt {
            let size = receipt.bytes.count
            let key = Key(
                table: .receipts, scope: set.scope, id: customer.value, kind: Int64(receipt.form.rawValue))
            add(
                key, content: receipt.hash.hashValue,
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

    private mutating func add(_ key: Key, content: Int, _ size: Int) {
        let hash = key.hashValue
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
