import AppStoreModels
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
        /// `isPlainPurchase` of a transaction.
        var isPlainPurchase = false
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
    /// How many facts the sets have, with those that were outdone by others of the batch.
    let factCount: Int
    let sets: ArraySlice<FactSet>
    /// Sets left out because the notification is in the batch already.
    let repeatedNotifications: Int

    convenience init(_ sets: ArraySlice<FactSet>) {
        var builder = FactBatchBuilder()
        var kept: [FactSet] = []
        var uuids: Set<[UInt8]> = []
        for set in sets {
            if let notification = set.notification, !uuids.insert(Array(notification.notificationUUID.utf8)).inserted {
                continue
            }
            kept.append(set)
            builder.add(set)
        }
        self.init(builder, kept[...], repeated: sets.count - kept.count)
    }

    /// The batch without the sets of these notifications.
    func excluding(notifications uuids: Set<[UInt8]>) -> FactBatch {
        let kept = sets.filter { set in
            set.notification.map { !uuids.contains(Array($0.notificationUUID.utf8)) } ?? true
        }
        var builder = FactBatchBuilder()
        for set in kept { builder.add(set) }
        return FactBatch(builder, kept[...], repeated: repeatedNotifications + sets.count - kept.count)
    }

    private init(_ builder: consuming FactBatchBuilder, _ sets: ArraySlice<FactSet>, repeated: Int) {
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
        factCount = builder.factCount
        self.sets = sets
        repeatedNotifications = repeated
    }
}

/// Where a long list of sets is cut into batches: each is one transaction, long enough that its round trips weigh little
/// and short enough that other writers need not wait for long. A set is never cut.
enum WriteLimits {
    static let facts = 4096
    /// Octets of receipts, notifications and, by estimate, facts.
    static let octets = 4 << 20

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
