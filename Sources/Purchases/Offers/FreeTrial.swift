package import AppStoreModels

extension PurchaseHistory {
    /// The transactions of each purchase, by `SubscriptionStanding.subscriptionId`: the original transaction id, or the own id of
    /// a transaction without one.
    package var transactionsByPurchase: [String: [JWSTransactionDecodedPayload]] {
        Dictionary(grouping: entries.lazy.filter { $0.subscriptionId != nil }.map(\.transaction)) {
            $0.purchaseId ?? ""
        }
    }
}

extension Sequence<JWSTransactionDecodedPayload> {
    /// When the subscription with these transactions started, also if no document states its first periods.
    package var subscriptionStart: Int64? { compactMap(\.firstBought).min() }

    /// Whether the subscription with these transactions was paid for after its free trial: a later period is neither free nor
    /// revoked. A period whose price nothing states counts as paid. Nil if no free trial stayed valid.
    package var isPaidAfterTrial: Bool? {
        let valid = Array(self).notRevoked
        let trials = valid.filter { $0.offerDiscountType == .freeTrial }
        guard let trial = trials.compactMap(\.purchaseDate).min() else { return nil }
        return valid.contains {
            $0.payment(countsUnpricedAsPaid: true) != .free && ($0.purchaseDate ?? .min) > trial
        }
    }
}

extension [JWSTransactionDecodedPayload] {
    /// Without the transactions of revoked purchases. Only one copy of an upgraded period states that the App Store refunded the
    /// period too; `CopyRule` gives all copies the other revocations.
    fileprivate var notRevoked: [JWSTransactionDecodedPayload] {
        func isUpgradedAndRefunded(_ transaction: JWSTransactionDecodedPayload) -> Bool {
            transaction.isUpgraded == true && transaction.hasRevocation
        }
        guard contains(where: isUpgradedAndRefunded) else { return filter { !$0.hasRevocation } }
        let candidates = map { PurchaseCopies.Candidate($0, lineItem: $0.webOrderLineItemId, type: $0.type) }
        return PurchaseCopies.purchases(candidates).flatMap { places -> [JWSTransactionDecodedPayload] in
            let copies = places.map { self[$0] }
            return copies.contains(where: isUpgradedAndRefunded) ? [] : copies.filter { !$0.hasRevocation }
        }
    }
}
