internal import AppStoreModels

// What the App Store Server API has answered about a customer. `enrich` queries the other purchases.

extension FactOrigin {
    /// Whether the document is an answer of the App Store Server API.
    var isAppStoreAnswer: Bool { source == .appStoreServerAPI }
}

extension StoredTransaction {
    /// Whether an answer of the App Store Server API states the transaction.
    package var hasAppStoreAnswer: Bool { origins.contains(where: \.isAppStoreAnswer) }

    /// The purchase of the transaction.
    package var purchaseId: String? { payload.purchaseId }
}

extension Customer {
    /// The purchases with a transaction id, and those of them that an answer of the App Store Server API states.
    package var purchasesByAnswer: (all: Set<String>, answered: Set<String>) {
        var (all, answered): (Set<String>, Set<String>) = ([], [])
        for stored in transactions where stored.payload.transactionId != nil {
            guard let purchase = stored.purchaseId else { continue }
            all.insert(purchase)
            if stored.hasAppStoreAnswer { answered.insert(purchase) }
        }
        return (all, answered)
    }

    /// The purchases that no answer of the App Store Server API states. Purchases with a signed transaction come first, in both
    /// parts from the newest to the oldest. The query names the newest signed transaction of a purchase, because an unsigned one
    /// may not exist.
    package var unansweredPurchases: [UnansweredPurchase] {
        var answered: Set<String> = []
        var places: [String: Int] = [:]
        var found: [UnansweredPurchase] = []
        for stored in transactions {
            guard let id = stored.payload.transactionId else { continue }
            let purchase = UnansweredPurchase(
                originalTransactionId: stored.purchaseId ?? id, transactionId: id, isSigned: stored.isSigned)
            if stored.hasAppStoreAnswer { answered.insert(purchase.originalTransactionId) }
            if let place = places[purchase.originalTransactionId] {
                if purchase.isSigned, !found[place].isSigned { found[place] = purchase }
            } else {
                places[purchase.originalTransactionId] = found.count
                found.append(purchase)
            }
        }
        let open = found.filter { !answered.contains($0.originalTransactionId) }
        return open.filter(\.isSigned) + open.filter { !$0.isSigned }
    }

    /// Whether an answer of the App Store Server API states a purchase.
    package func hasAppStoreAnswer(about purchase: String) -> Bool {
        transactions.contains { $0.purchaseId == purchase && $0.hasAppStoreAnswer }
    }
}

/// A purchase that no answer of the App Store Server API states, and the transaction to query.
package struct UnansweredPurchase: Hashable, Sendable {
    package let originalTransactionId: String
    package let transactionId: String
    /// Whether a document with a verified signature states the transaction.
    package let isSigned: Bool
}
