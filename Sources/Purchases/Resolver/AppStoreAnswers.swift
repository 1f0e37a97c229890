internal import AppStoreModels

// What the App Store Server API has answered about a customer. `enrich` queries the other purchases.

extension StoredTransaction {
    /// Whether an answer of the App Store Server API states the transaction.
    package var hasAppStoreAnswer: Bool { origins.contains { $0.source == .appStoreServerAPI } }

    /// The purchase: the original transaction id, or the id of a transaction without one.
    package var purchaseId: String? { payload.originalTransactionId ?? payload.transactionId }
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
}
