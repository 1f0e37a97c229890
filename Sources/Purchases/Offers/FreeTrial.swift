internal import AppStoreModels

extension PurchaseHistory {
    /// The entries of each purchase, by `SubscriptionStanding.subscriptionId`: the original transaction id, or the own id of
    /// a transaction without one.
    package var transactionsByPurchase: [String: [Entry]] {
        Dictionary(grouping: entries.filter { $0.subscriptionId != nil }) { $0.transaction.purchaseId ?? "" }
    }
}

extension [PurchaseHistory.Entry] {
    /// When the subscription with these transactions started, also if no document states its first periods.
    package var subscriptionStart: Int64? { compactMap(\.transaction.firstBought).min() }

    /// Whether the subscription with these transactions was paid for after its free trial: a later period is neither free nor
    /// revoked (``refunds``). A period whose price nothing states counts as paid. Nil if no free trial stayed valid.
    package var isPaidAfterTrial: Bool? {
        let valid = zip(self, refunds).compactMap { entry, refund in refund == nil ? entry.transaction : nil }
        let trials = valid.filter { $0.offerDiscountType == .freeTrial }
        guard let trial = trials.compactMap(\.purchaseDate).min() else { return nil }
        return valid.contains {
            $0.payment(countsUnpricedAsPaid: true, refund: nil) != .free && ($0.purchaseDate ?? .min) > trial
        }
    }
}
