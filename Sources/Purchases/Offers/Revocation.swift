package import AppStoreModels

extension JWSTransactionDecodedPayload {
    /// Whether the transaction was refunded, or is no longer shared. An upgraded transaction was not, even if it has a
    /// revocation date.
    package var isRevoked: Bool { revocationDate != nil && isUpgraded != true }

    /// Whether the transaction was refunded. The end of Family Sharing is no refund.
    package var isRefunded: Bool { isRevoked && !revocationEndsFamilySharing }

    /// Whether a revocation of the transaction is the end of Family Sharing, and not a refund. Older documents do not
    /// state the type of a revocation. A family member has paid nothing, so there is nothing to refund.
    ///
    /// The ownership does not change, so the answer for a family member is the same after the revocation was undone.
    package var revocationEndsFamilySharing: Bool {
        revocationType.map { $0 == .familyRevoke } ?? (inAppOwnershipType == .familyShared)
    }
}
