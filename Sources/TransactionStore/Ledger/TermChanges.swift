internal import AppStoreModels
public import Purchases

/// Which terms of a customer's non-renewing subscriptions a document can have moved.
///
/// A term depends on the purchases before it and on its length in the catalog, which a store does not have. So the
/// store keeps a number for each granted purchase, the basis. It is a hash of the earlier granted purchases, in the
/// order of the purchase dates. When a document changes the basis (an earlier purchase found late, a refund, a merge of
/// two customers), the ledger gets an entry `termMoved`. The order of the documents does not change the final basis.
///
/// The store does not know which products extend each other, so a term with an entry can equal the previous one. It counts
/// only purchases whose type a signed document states: attribute 1707, or `type` of a JWS. Purchases of old receipts, which
/// have no type, get no entries.
public struct TermChanges: Sendable {
    /// The bases to store instead of the known ones, by transaction id.
    public let bases: [String: Int64]
    /// The transaction ids that get an entry `termMoved`, in the order of the purchases.
    public let moved: [String]
    /// For the ids in ``moved``, ``LedgerEntry/earlierPurchasesBefore``, as an engine stores it in the entry. An id without
    /// a value gets an empty one.
    public let earlierPurchases: [String: [UInt8]]

    /// - Parameters:
    ///   - transactions: those of the customer, or the non-renewing subscriptions among them.
    ///   - known: the bases that the engine keeps for the customer's purchases. A purchase without a basis was not
    ///     granted before, and gets its own entry `purchased` or `reinstated` now.
    public init(of transactions: [StoredTransaction], known: [String: Int64]) {
        var (bases, moved): ([String: Int64], [String]) = ([:], [])
        var basis = Basis()
        for purchase in NonRenewingPurchase.signed(among: transactions) {
            for id in purchase.grantedIds.sorted() {
                bases[id] = basis.value
                if let last = known[id], last != basis.value { moved.append(id) }
            }
            if !purchase.grantedIds.isEmpty { basis.add(purchase.purchaseId) }
        }
        self.bases = bases
        self.moved = moved
        let former = moved.isEmpty ? nil : FormerOrder(of: transactions, known: known)
        var earlier: [String: [UInt8]] = [:]
        for id in moved {
            let purchases = known[id].flatMap { former?.purchases(before: $0) }
            earlier[id] = purchases.map { EarlierPurchases.encode($0) }
        }
        earlierPurchases = earlier
    }

    /// The order of the granted purchases before the document, from the bases alone. A basis and its purchase give the basis
    /// of the next purchase. After a merge of customers, it has the order of each customer.
    private struct FormerOrder {
        /// By the basis that a purchase gives.
        private var steps: [Int64: (purchase: String, basis: Int64)] = [:]

        init(of transactions: [StoredTransaction], known: [String: Int64]) {
            for transaction in transactions {
                guard let id = transaction.payload.transactionId, let before = known[id],
                    let purchaseId = transaction.purchaseId
                else { continue }
                var basis = Basis(value: before)
                basis.add(purchaseId)
                steps[basis.value] = (purchaseId, before)
            }
        }

        /// The purchases before a basis, the oldest first; nil if there are too many to keep, or if one of them was
        /// erased.
        func purchases(before basis: Int64) -> [String]? {
            var found: [String] = []
            var basis = basis
            while basis != Basis().value {
                guard found.count < EarlierPurchases.maximum, let step = steps[basis] else { return nil }
                found.append(step.purchase)
                basis = step.basis
            }
            return Array(found.reversed())
        }
    }

    /// FNV-1a, 64 bits, over the original transaction ids.
    private struct Basis {
        private(set) var value: Int64

        init(value: Int64 = -3_750_763_034_362_895_579) { self.value = value }

        mutating func add(_ id: String) {
            // The zero separates the ids, because no id contains one.
            for byte in Array(id.utf8) + [0] {
                value = (value ^ Int64(byte)) &* 1_099_511_628_211
            }
        }
    }
}

/// ``LedgerEntry/earlierPurchasesBefore`` as one value of a table: a JSON array of strings; empty bytes if it is not known.
public enum EarlierPurchases {
    /// An entry with more purchases names none, because the entries of a customer with thousands of terms would be large.
    static let maximum = 100

    static func encode(_ originalTransactionIds: [String]) -> [UInt8] {
        JSONValue.array(originalTransactionIds.map { .string($0) }).json
    }

    /// The value for an entry. Nil for empty or damaged bytes, because the consumer must get the entry even without it.
    public static func decode(_ stored: [UInt8]) -> [String]? {
        (try? JSONValue.parse(stored))?.array?.compactMap(\.string)
    }
}

/// How engines find the purchases for ``TermChanges`` in a store from before they kept bases.
package enum StoredTerms {
    /// A stored payload that contains this text is that of a non-renewing subscription.
    package static let typeMember = "\"type\":\"Non-Renewing Subscription\""
}
