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
            if !purchase.grantedIds.isEmpty { basis.add(purchase.unit) }
        }
        self.bases = bases
        self.moved = moved
    }

    /// FNV-1a, 64 bits, over the original transaction ids.
    private struct Basis {
        private(set) var value: Int64 = -3_750_763_034_362_895_579

        mutating func add(_ id: String) {
            // The zero separates the ids, because no id contains one.
            for byte in Array(id.utf8) + [0] {
                value = (value ^ Int64(byte)) &* 1_099_511_628_211
            }
        }
    }
}

/// How engines find the purchases for ``TermChanges`` in a store from before they kept bases.
package enum StoredTerms {
    /// A stored payload that contains this text is that of a non-renewing subscription.
    package static let typeMember = "\"type\":\"Non-Renewing Subscription\""
}
