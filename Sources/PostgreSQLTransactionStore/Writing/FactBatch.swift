import AppStoreModels
import Purchases
import TransactionStore

/// Fact sets made ready to be written together: each fact encoded once, of several that compete only the newest, everything
/// in one order, so that two writers that meet wait for each other instead of deadlocking.
///
/// Needs no database and is made while the batch before it is being written.
final class FactBatch: Sendable {
    struct Identity: Sendable {
        /// The place in ``FactBatch/scopes``.
        let scope: Int
        let kind: Int16
        let value: Range<Int>
        /// The customer within the batch that the identity belongs to.
        let component: Int
    }

    struct Row: Sendable {
        /// The place of the purchase in ``FactBatch/identities``; for what hangs on a customer, the component.
        var owner: Int
        let kind: Int16
        let source: Int16
        let signedDate: Int64
        /// The place of the call that the fact came with.
        var call = 0
        /// `isPlainPurchase` of a transaction.
        var isPlainPurchase = false
        /// `revokes` of a transaction: of rows of one date, the one that revokes is kept.
        var revokes = false
        /// `storedProduct` of a transaction; empty if it has none.
        var product: Range<Int> = 0..<0
        /// The transaction id; empty for rows that need none.
        let id: Range<Int>
        let payload: Range<Int>
        let legacy: Range<Int>
    }

    /// What the ranges are ranges of.
    let octets: [UInt8]
    let scopes: [StoreScope]
    /// Each once, by scope, kind and value.
    let identities: [Identity]
    let componentCount: Int
    let transactions: [Row]
    let renewalInfos: [Row]
    let appTransactions: [Row]
    let receipts: [Row]
    /// A set, and the place of the call that it came with.
    struct Given: Sendable {
        let set: FactSet
        let call: Int
    }

    let sets: [Given]
    /// By call: as if nothing of it had been known and nothing changed. Facts that are outdone by others of the batch count,
    /// and so do sets left out because the notification is in the batch already.
    let unchanged: [AppliedFacts]

    /// - Parameter calls: the sets of one or several calls, in their order.
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
        var kept: [Given] = []
        var unchanged = unchanged
        for index in unchanged.indices { unchanged[index].unchanged = 0 }
        for given in sets {
            if let uuid = given.set.notification?.notificationUUID, uuids.contains(Array(uuid.utf8)) {
                unchanged[given.call].repeatedNotifications += 1
            } else {
                kept.append(given)
            }
        }
        return FactBatch(kept, unchanged)
    }

    private convenience init(_ sets: [Given], _ unchanged: [AppliedFacts]) {
        var builder = FactBatchBuilder()
        var unchanged = unchanged
        for given in sets { unchanged[given.call].unchanged += builder.add(given.set, call: given.call) }
        self.init(builder, sets, unchanged)
    }

    private init(_ builder: consuming FactBatchBuilder, _ sets: [Given], _ unchanged: [AppliedFacts]) {
        var builder = builder
        builder.finish()
        octets = builder.octets
        scopes = builder.scopes
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

/// Where a long list of sets is cut into batches: each is one transaction, long enough that its round trips weigh little
/// and short enough that other writers need not wait for long. A set is never cut.
enum WriteLimits {
    static let facts = 4096
    /// Bytes of receipts, notifications and, by estimate, facts.
    static let octets = 4 << 20

    /// Whether the sets of a call are so few that they should share a transaction with those of other calls.
    static func isSmall(_ sets: [FactSet]) -> Bool {
        sets.count <= 64 && batches(sets).count == 1
            && sets.reduce(0) { $0 + $1.transactions.count + $1.renewalInfos.count + $1.identities.count } <= facts / 4
    }

    static func batches(_ sets: [FactSet]) -> [ArraySlice<FactSet>] {
        var result: [ArraySlice<FactSet>] = []
        var (start, facts, octets) = (0, 0, 0)
        for (index, set) in sets.enumerated() {
            let count = set.transactions.count + set.renewalInfos.count + set.identities.count + 2
            let size = count * 512 + (set.receipt?.bytes.count ?? 0) + (set.notification?.body.count ?? 0)
            if index > start, facts + count > Self.facts || octets + size > Self.octets {
                result.append(sets[start..<index])
                (start, facts, octets) = (index, 0, 0)
            }
            facts += count
            octets += size
        }
        if start < sets.count { result.append(sets[start...]) }
        return result
    }
}
