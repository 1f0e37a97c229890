internal import AppStoreModels

/// A signed purchase of a non-renewing subscription with its restored copies, as the ledger counts it: only if a signed document
/// states its type. It needs no catalog, unlike ``NonRenewingTermRule``.
package struct NonRenewingPurchase: Comparable, Sendable {
    /// `JWSTransactionDecodedPayload.purchaseId`, which the copies share: a restored transaction counts as the purchase that it
    /// restores.
    package let purchaseId: String
    private var date: Int64
    /// The smallest id of the copies with the earliest purchase date.
    private var firstId: String
    /// The transactions that are not revoked. `CopyRule` revokes all copies or none.
    package private(set) var grantedIds: Set<String> = []

    private init(_ purchaseId: String, date: Int64, firstId: String) {
        (self.purchaseId, self.date, self.firstId) = (purchaseId, date, firstId)
    }

    private mutating func add(_ id: String, _ date: Int64, _ state: PurchaseState) {
        if date < self.date || date == self.date && TransactionIdOrder.precedes(id, firstId) {
            (self.date, firstId) = (date, id)
        }
        if state == .purchased { grantedIds.insert(id) }
    }

    package static func < (left: Self, right: Self) -> Bool {
        if left.date != right.date { return left.date < right.date }
        return left.firstId == right.firstId
            ? left.purchaseId < right.purchaseId : TransactionIdOrder.precedes(left.firstId, right.firstId)
    }

    /// The purchases among the transactions of a customer, in the order in which their terms follow each other.
    package static func signed(among transactions: [StoredTransaction]) -> [NonRenewingPurchase] {
        var purchases: [String: NonRenewingPurchase] = [:]
        for transaction in transactions where transaction.payload.type == .nonRenewingSubscription {
            let payload = transaction.payload
            guard let state = transaction.signedState, let id = payload.transactionId, let date = payload.bought,
                let purchaseId = transaction.purchaseId
            else { continue }
            purchases[purchaseId, default: NonRenewingPurchase(purchaseId, date: date, firstId: id)]
                .add(id, date, state)
        }
        return purchases.values.sorted(by: <)
    }
}
