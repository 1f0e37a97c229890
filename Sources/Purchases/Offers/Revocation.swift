package import AppStoreModels

extension JWSTransactionDecodedPayload {
    /// Whether the transaction was refunded, or is no longer shared. An upgraded transaction was not, even if it has a
    /// revocation date.
    package var isRevoked: Bool { revocationDate != nil && isUpgraded != true }

    /// Whether the transaction was refunded. The end of Family Sharing is no refund.
    package var isRefunded: Bool { isRevoked && revocationType != .familyRevoke }
}
