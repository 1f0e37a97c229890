package import AppStoreModels

extension JWSTransactionDecodedPayload {
    /// Whether a refund or the end of sharing ended the access. The access to an upgraded transaction ended by the upgrade, even if
    /// the transaction has a revocation date.
    package var isRevoked: Bool { revocationDate != nil && isUpgraded != true }

    /// Whether the transaction was refunded, or is no longer shared, also after an upgrade. So it is about what was paid, and
    /// `isRevoked` about access.
    ///
    /// Only the type of its revocation shows that an upgraded transaction was refunded too. Older documents do not state the type,
    /// so their revocation may be the upgrade.
    package var hasRevocation: Bool { isRevoked || revocationDate != nil && revocationType != nil }

    /// Whether the transaction was refunded. The end of Family Sharing or of an assignment is not a refund.
    package var isRefunded: Bool { hasRevocation && !revocationEndsSharing }

    /// Whether a revocation of the transaction is the end of Family Sharing or of an assignment, and not a refund. Older
    /// documents do not state the type of a revocation, and Apple does not document the type for an assignment. Family members
    /// and customers for whom an organization paid did not pay, so there is nothing to refund.
    ///
    /// The ownership does not change, so the result is the same after the revocation was undone.
    package var revocationEndsSharing: Bool {
        if inAppOwnershipType == .assigned { return true }
        return revocationType.map { $0 == .familyRevoke } ?? (inAppOwnershipType == .familyShared)
    }
}

extension [PurchaseHistory.Entry] {
    /// For each entry, the index of the entry that states that its purchase was refunded or is no longer shared: its own, else
    /// that of a copy. Nil if none does. The cost is linear; without a revocation, the usual case, it only looks for one.
    var refunds: [Int?] {
        var refunds: [Int?] = indices.map { self[$0].transaction.hasRevocation ? $0 : nil }
        guard count > 1, refunds.contains(where: { $0 != nil }) else { return refunds }
        let candidates = map { entry in
            PurchaseCopies.Candidate(
                entry.transaction, lineItem: entry.transaction.webOrderLineItemId, type: entry.transaction.type)
        }
        for places in PurchaseCopies.purchases(candidates) where places.count > 1 {
            // Unsigned documents revoke no signed transaction (FactJoining.swift), so the revocation of a signed one is proven.
            let refund = PurchaseCopies.refund(
                among: places, isSigned: { self[$0].isSigned }, isProven: { self[$0].isSigned },
                hasRevocation: { self[$0].transaction.hasRevocation })
            for place in places where refunds[place] == nil { refunds[place] = refund }
        }
        return refunds
    }
}

/// The state of a purchase, for the program that delivers its content.
package enum PurchaseState: Hashable, Sendable {
    /// The customer has bought it, and it was neither revoked nor upgraded.
    case purchased
    /// It was refunded, or is no longer shared.
    case revoked
    /// Another product of the subscription group replaced it.
    case upgraded

    /// If a document states both a revocation and an upgrade, the purchase was upgraded, as in `isRevoked` of the payload: a refund
    /// of the old period must not look like a refund of what the customer has now.
    package init(revocationDate: Int64?, isUpgraded: Bool) {
        self = isUpgraded ? .upgraded : revocationDate != nil ? .revoked : .purchased
    }
}

extension StoredTransaction {
    /// The state of the purchase, which the delivery ledger records; nil if no document with a verified signature states the
    /// transaction.
    package var signedState: PurchaseState? {
        isSigned ? PurchaseState(revocationDate: payload.revocationDate, isUpgraded: payload.isUpgraded == true) : nil
    }

    /// Whether the other transactions of the purchase can change the state that the transaction's own documents show:
    /// `UpgradeRule` can turn a revocation into an upgrade, and `CopyRule` can remove it. They can also revoke or upgrade a
    /// purchased transaction, but then the delivery ledger has an entry that says so.
    package var mayBeChangedByOthers: Bool { payload.revocationDate != nil }
}
