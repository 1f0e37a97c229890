internal import AppStoreModels

extension Sequence<JWSTransactionDecodedPayload> {
    /// Whether the subscription with these transactions was paid for after its free trial: a later period is neither a
    /// free trial nor revoked. Nil if no free trial stayed valid.
    package var isPaidAfterTrial: Bool? {
        let valid = filter { !$0.isRevoked }
        let trials = valid.filter { $0.offerDiscountType == .freeTrial }
        guard let trial = trials.compactMap(\.purchaseDate).min() else { return nil }
        return valid.contains { $0.offerDiscountType != .freeTrial && ($0.purchaseDate ?? .min) > trial }
    }
}
