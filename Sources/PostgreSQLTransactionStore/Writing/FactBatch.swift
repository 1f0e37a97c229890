import AppStoreModels
import Purchases
import TransactionStore

/// Fact sets prepared for one write. Each fact is encoded once, and of competing facts only the newest stays. All rows
/// are in one fixed order, so that two writers wait for each other instead of deadlocking.
///
/// Preparing a batch needs no database, so it runs while the previous batch is being written.
final class FactBatch: Sendable {
    struct Identity: Sendable {
        /// The index in ``FactBatch/scopes``.
        let scope: Int
        let kind: Int16
        let value: Range<Int>
        /// The index of the customer within the batch that the identity belongs to.
        let component: Int
    }

    struct Row: Sendable {
        /// The index of the purchase in ``FactBatch/identities``; for rows that belong to a customer, the component.
        var owner: Int
        let kind: Int16
        let source: Int16
        let signedDate: Int64
        /// The index of the call that contained the fact.
        var call = 0
        /// `isPlainPurchase` of a transaction.
        var isPlainPurchase = false
        /// `revokes` of a transaction. Of two rows of the same date, the revoking one is kept.
        var revokes = false
        /// `mayMoveTerms` of a transaction.
        var mayMoveTerms = false
        /// `statesNonRenewingSubscription` of a transaction.
        var statesNonRenewingSubscription = false
        /// `isPeriod` of a transaction.
        var isPeriod = false
        /// `storedProduct` of a transaction; empty if it has none.
        var product: Range<Int> = 0..<0
        /// `lookDate` of a transaction or a renewal info.
        var lookDate: Int64?
        /// The transaction id; empty for rows without one.
        let id: Range<Int>
        let payload: Range<Int>
        let legacy: Range<Int>
        /// The hash of the document; empty if it is not known.
        let document: Range<Int>
    }

    /// The bytes that the ranges refer to.
    let bytes: [UInt8]
    let scopes: [StoreScope]
    /// Each identity once, ordered by scope, kind and value.
    let identities: [Identity]
    let componentCount: Int
    let transactions: [Row]
    let renewalInfos: [Row]
    let appTransactions: [Row]
    let receipts: [Row]
    /// A set, and the index of the call that contained it.
    struct Given: Sendable {
        let set: FactSet
        let call: Int
    }

    let sets: [Given]
    /// For each call, its result if the store already contained everything. The counts include facts that others of the
    /// batch replace, and sets whose notification the batch already contains.
    let unchanged: [AppliedFacts]

    /// - Parameter calls: the sets of one or several calls, in order.
    convenience init(_ calls: [[FactSet]]) {
        var kept: [Given] = []
        var unchanged = [AppliedFacts](repeating: AppliedFacts(), count: calls.count)
        var uuids: Set<[UInt8]> = []
        for (call, sets) in calls.enumerated() {
            for set in sets {
                if let uuid = set.notification?.notificationUUID, !uuids.insert(Array(uuid.utf8)).inserted {
                    unchanged[call].repeatedNotifications += 1
                } else {
                    kept.append(Given(set: set, call: call))
                }
            }
        }
        self.init(kept, unchanged)
    }

    /// The batch without the sets of these notifications.
    func excluding(notifications uuids: Set<[UInt8]>) -> FactBatch {
        reduced { set, result in
            guard let uuid = set.notification?.notificationUUID, uuids.contains(Array(uuid.utf8)) else { return set }
            result.repeatedNotifications += 1
            return nil
        }
    }

    /// The batch without what is about erased identities.
    func removing(_ erased: ErasedIdentities) -> FactBatch {
        erased.isEmpty ? self : reduced { erased.remaining(of: $0, &$1) }
    }

    /// The batch of what is left of each set.
    private func reduced(_ remaining: (FactSet, inout AppliedFacts) -> FactSet?) -> FactBatch {
        var unchanged = unchanged
        for index in unchanged.indices { unchanged[index].unchanged = 0 }
        var kept: [Given] = []
        for given in sets {
            guard let rest = remaining(given.set, &unchanged[given.call]) else { continue }
            kept.append(Given(set: rest, call: given.call))
        }
        return FactBatch(kept, unchanged)
    }

    private convenience init(_ sets: [Given], _ unchanged: [AppliedFacts]) {
        // Without it, the bytes are copied whenever they have doubled.
        var builder = FactBatchBuilder(
            capacity: sets.reduce(0) { $0 + 1_024 * $1.set.transactions.count + ($1.set.receipt?.bytes.count ?? 0) })
        var unchanged = unchanged
        for given in sets { unchanged[given.call].unchanged += builder.add(given.set, call: given.call) }
        self.init(builder, sets, unchanged)
    }

    private init(_ builder: consuming FactBatchBuilder, _ sets: [Given], _ unchanged: [AppliedFacts]) {
        var builder = builder
        builder.finish()
        bytes = builder.bytes
        scopes = builder.scopes.scopes
        identities = builder.identities
        componentCount = builder.componentCount
        transactions = builder.transactions
        renewalInfos = builder.renewalInfos
        appTransactions = builder.appTransactions
        receipts = builder.receipts
        self.sets = sets
        self.unchanged = unchanged
    }
}

/// Limits that split a long list of sets into batches of one transaction each. A batch is large enough to make its
/// round trips cheap, and small enough not to block other writers for long. A set is never split.
enum WriteLimits {
    static let facts = 4096
    /// Bytes of receipts and notifications, and an estimate for facts.
    static let bytes = 4 << 20

    /// Whether a call has so few sets that it should share a transaction with other calls.
    static func isSmall(_ sets: [FactSet]) -> Bool {
        sets.count <= 64 && batches(sets).count == 1
            && sets.reduce(0) { $0 + $1.transactions.count + $1.renewalInfos.count + $1.identities.count } <= facts / 4
    }

    static func batches(_ sets: [FactSet]) -> [ArraySlice<FactSet>] {
        var result: [ArraySlice<FactSet>] = []
        var (start, facts, bytes) = (0, 0, 0)
        for (index, set) in sets.enumerated() {
            let count = set.transactions.count + set.renewalInfos.count + set.identities.count + 2
            let size = count * 512 + (set.receipt?.bytes.count ?? 0) + (set.notification?.body.count ?? 0)
            if index > start, facts + count > Self.facts || bytes + size > Self.bytes {
                result.append(sets[start..<index])
                (start, facts, bytes) = (index, 0, 0)
            }
            facts += count
            bytes += size
        }
        if start < sets.count { result.append(sets[start...]) }
        return result
    }
}
