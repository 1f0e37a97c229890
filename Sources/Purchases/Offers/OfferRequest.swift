internal import AppStoreModels

// The checks of a customer before a server signs an offer.

/// Whether a customer can redeem a promotional offer in a subscription group.
package enum PromotionalRequest: Hashable, Sendable {
    /// The customer bought a subscription of the group (Apple: customers who have or had one). The team decides which of these
    /// customers get the offer.
    case redeemable(PromotionalCandidate)
    /// The customer bought a subscription of an unknown group: it may be this group.
    case groupUnknown(productId: String?)
    case neverSubscribed
}

extension PurchaseHistory {
    /// - Parameters:
    ///   - group: `subscriptionGroupIdentifier` of the product of the offer.
    ///   - now: milliseconds since 1970-01-01T00:00:00Z.
    package func promotionalRequest(group: String, at now: Int64) -> PromotionalRequest {
        let candidates = promotionalCandidates(at: now)
        if let candidate = candidates.first(where: { $0.group == group }) { return .redeemable(candidate) }
        if let other = candidates.first(where: { $0.group == nil }) {
            return .groupUnknown(productId: other.standing.productId)
        }
        return .neverSubscribed
    }
}

extension OfferVerdict {
    /// Whether the customer had an introductory offer of the group. It counts forever, so no later document changes the verdict.
    package var hadIntroductoryOffer: Bool {
        reasons.contains { $0.rule == .noIntroductoryOfferBefore && $0.outcome == .failed }
    }

    /// Whether the customer can redeem the introductory offer if the developer signs that it is allowed. The developer decides
    /// whether an earlier offer counts, and the App Store decides the rest.
    package var isEligibleByDecision: Bool { obstacles.allSatisfy { $0.rule == .noIntroductoryOfferBefore } }
}

/// Whether answers of the App Store show everything that decides about an introductory offer.
package enum OfferAnswers: Hashable, Sendable {
    /// The purchases to query first, ascending.
    case due([String])
    /// The App Store knows no purchase of the customer, or not the purchase that redeems the offer. StoreKit gives the offer to
    /// the Apple Account of that purchase.
    case notKnown
    /// The App Store knows a purchase that was erased. The store keeps no answer about it, and it may have had the offer.
    case erased
    case complete
}

extension Customer {
    /// A purchase that the App Store does not know, of a deleted Apple Account for example, stays as it is, unless it redeems the
    /// offer.
    /// - Parameters:
    ///   - transactionId: the transaction that redeems the offer.
    ///   - times: when each purchase was queried, in milliseconds since 1970-01-01T00:00:00Z.
    ///   - unknown: the purchases that it does not know.
    ///   - notBefore: answers before this time do not count.
    package func offerAnswers(
        redeeming transactionId: String?, times: [String: Int64], unknown: Set<String>, notBefore: Int64
    ) -> OfferAnswers {
        let redeeming = Set([purchase(of: transactionId)].compactMap(\.self))
        let due = signedPurchases.union(redeeming).filter { id in
            !unknown.contains(id) && times[id] ?? .min < notBefore
        }
        guard due.isEmpty else { return .due(due.sorted()) }
        let known = Set(times.keys).subtracting(unknown)
        guard !known.isEmpty, unknown.isDisjoint(with: redeeming) else { return .notKnown }
        return known.isSubset(of: purchases) ? .complete : .erased
    }

    /// Whether an id for StoreKit's `transactionId` belongs to the customer: the id of a transaction, or the appTransactionId.
    package func redeems(_ id: String) -> Bool {
        transactions.contains { $0.payload.transactionId == id }
            || identities.contains {
                ($0.kind == .originalTransactionId || $0.kind == .appTransactionId) && $0.value == id
            }
    }

    /// The original transaction ids of the customer.
    private var purchases: Set<String> {
        Set(identities.lazy.filter { $0.kind == .originalTransactionId }.map(\.value))
    }

    /// The purchases that signed documents state; all, if there are no signed documents.
    private var signedPurchases: Set<String> {
        let signed = transactions.lazy.filter(\.isSigned).compactMap(\.purchaseId)
        return signed.isEmpty ? purchases : Set(signed)
    }

    /// The purchase of a transaction; nil if the customer has none with the id.
    private func purchase(of transactionId: String?) -> String? {
        let transaction = transactions.first { $0.payload.transactionId == transactionId }
        return transaction?.purchaseId ?? transactionId.flatMap { purchases.contains($0) ? $0 : nil }
    }
}
